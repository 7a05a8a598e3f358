"""What update_settings takes, a key each; negative weights; the rest of what the fuzz showed."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from definitions import AB, BIG, CTX, MINUTE, N0, NOCD, ONE, POL, VECTORS, batch, burst, req, seq, sleep, vec   # noqa: E402

VECTORS.clear()
H, MID, L = {"weight": 1e12}, {"weight": 1e6}, {"weight": 1}
FB = {"fallbacks": [{"m": ["f"]}]}
F = ("f1", "f")
NA = {"num_retries": 0}


def up(**k):
    return {"op": "update_settings", "settings": k}


S = {"metadata": {"session_id": "s"}}
TD = [("x", "m", {"tags": ["x"], "weight": 1}), ("y", "m", {"tags": ["y"], **H})]
vec("lookup", "runtime-update-tags", "update_settings: enable_tag_filtering, then a prefix", NA, TD, {}, [up(enable_tag_filtering=True), req("r1", kw={"metadata": {"tags": ["x"]}}), up(tag_routing_prefix="p:"), req("r2", kw={"metadata": {"tags": ["p:x"]}})])
vec("lookup", "runtime-update-checks", "update_settings: optional_pre_call_checks, enable_pre_call_checks", NA, [("a", "m", {**H, "rpm": 1, "region_name": "us"}, {"max_input_tokens": 60}), ("b", "m", {**L, "region_name": "eu"})], {}, [MINUTE, up(optional_pre_call_checks=["enforce_model_rate_limits"]), req("r1"), req("r2"), up(enable_pre_call_checks=True), req("r3", kw={"allowed_model_region": "eu"})])
vec("lookup", "runtime-update-lists", "update_settings: content_policy_fallbacks, default_fallbacks, max_fallbacks 0", {**NA, **FB}, [("a", "m"), F, ("g1", "g")], {"a": [POL, 500, 500]}, [up(content_policy_fallbacks=[{"m": ["g"]}]), req("r1"), up(default_fallbacks=["g"]), req("r2"), up(max_fallbacks=0), req("r3")])
vec("lookup", "runtime-update-policies", "update_settings: retry_policy, model_group_retry_policy, allowed_fails_policy", {**NA, "cooldown_time": 30}, [("a", "m", H), ("b", "m", L)], {"a": [500]}, [up(retry_policy={"InternalServerErrorRetries": 2}), req("r1"), up(model_group_retry_policy={"m": {"InternalServerErrorRetries": 1}}), req("r2")])
vec("lookup", "runtime-update-limits", "update_settings: timeout 0.9, 1.9, stream_timeout, default_max_parallel_requests", NA, [("a", "m")], {"a": {"latency_ms": 1500}}, [up(timeout=1.9), req("r1"), up(timeout=0.9), req("r2"), up(timeout=3, stream_timeout=0.5), req("r3", stream=True)])
vec("lookup", "runtime-update-retry-after", "update_settings: retry_after 1.9, num_retries 1.9, disable_cooldowns", {**NA, "cooldown_time": 30}, [("a", "m"), ("c", "n", H), ("d", "n", L)], {"a": 500, "c": 429}, [up(retry_after=1.9, num_retries=1.9), req("r1"), up(disable_cooldowns=True, num_retries=0), req("r2", "n")])
vec("lookup", "runtime-update-groups", "update_settings: routing_groups, then none", NA, [("a", "m", {"input_cost_per_token": 2e-6, "output_cost_per_token": 2e-6, **H}), ("b", "m", {"input_cost_per_token": 1e-6, "output_cost_per_token": 1e-6, **L})], {}, [req("r1"), up(routing_groups=[{"group_name": "g", "models": ["m"], "routing_strategy": "cost-based-routing"}]), req("r2"), up(routing_groups=[]), req("r3")])
vec("lookup", "runtime-update-args", "update_settings: routing_strategy_args with the strategy", {**NA, "routing_strategy": "latency-based-routing"}, ["a", "b"], {"a": {"latency_ms": 60}, "b": {"latency_ms": 300}}, [burst("w", 4, gap_ms=30), up(routing_strategy="latency-based-routing", routing_strategy_args={"lowest_latency_buffer": 50}), burst("f", 16, gap_ms=30)], opts={**NOCD, "repeats": 3})
vec("lookup", "runtime-update-strategy-bad", "update_settings: an unknown key; nothing", NA, [("a", "m")], {}, [up(nope=1), req("r1"), up(), req("r2")])
vec("lookup", "runtime-update-alias-gone", "update_settings: aliases replaced", {**NA, "model_group_alias": {"al": "m"}}, [("a", "m")], {}, [req("r1", "al"), up(model_group_alias={"al2": "m"}), req("r2", "al"), req("r3", "al2")])
for nm, ws in (("first", (-1, 3)), ("last", (3, -1)), ("middle", (2, -1, 2)), ("all", (-1, -2)), ("sum-zero", (1, -1)), ("large", (-3, 1))):
    for n in ("lone",) if False else ("",):
        vec("weights", f"weights-negative-{nm}", f"weights {ws}", NA, [("abc"[i], "m", {"weight": w}) for i, w in enumerate(ws)], {}, [burst("f", 60)], opts={**NOCD, "repeats": 3})
vec("weights", "weights-negative-benched", "weights 1, -1, 3 with the first benched", {**NA, "cooldown_time": 60}, [("a", "m", {"weight": 1e9}), ("b", "m", {"weight": -1}), ("c", "m", {"weight": 3})], {"a": 401}, [req("r1"), burst("f", 40)], opts={**NOCD, "repeats": 3})
# ---- what random configurations showed
EV0 = {"chunks": 4, "break_after": 0, "break_kind": "error_event"}
EV2 = {"chunks": 4, "break_after": 2, "break_kind": "error_event"}
LB = {"routing_strategy": "least-busy", **FB, **NA}
SP = {"input_cost_per_token": 1, "output_cost_per_token": 1, "max_budget": 0.1, "budget_duration": "60s"}
for n, ev in ((0, EV0), (2, EV2)):
    vec("stream", f"stream-break-{n}-fallback-retries", "a stream breaks; the lone deployment of the fallback group is tried again", FB, ["a", ("f1", "f")], {"a": ev, "f1": [500, 503, 200]}, [req("r1", stream=True), req("r2", stream=True)])
    vec("stream", f"stream-break-{n}-fallbacks-retries", "a stream breaks; two dead fallback groups, retried in each", {"fallbacks": [{"m": ["f", "g"]}]}, ["a", ("f1", "f"), ("g1", "g")], {"a": ev, "f1": 500, "g1": 500}, [req("r1", stream=True, kw={"num_retries": 1})])
    vec("least-busy", f"least-busy-break-{n}", "a stream breaks and goes on in f: counts of both groups", LB, [("a1", "m"), ("a2", "m"), ("f1", "f"), ("f2", "f")], {"a1": [ev, 200]}, [req("r1", stream=True), sleep(200), req("r2"), sleep(200), req("r3"), burst("f", 20, "f", gap_ms=20)], opts={"repeats": 5})
    vec("least-busy", f"least-busy-break-{n}-no-fallback", "a stream breaks and surfaces: its count is given back", {"routing_strategy": "least-busy", **NA}, [("a1", "m"), ("a2", "m")], {"a1": [ev, 200]}, [req("r1", stream=True), sleep(200), req("r2"), sleep(200), req("r3")], opts={"repeats": 3})
    vec("budget", f"budget-of-a-continuation-{n}", "a stream breaks and goes on on a deployment with a budget", {**FB, **NA}, ["a1", ("f1", "f", {**SP, **H}), ("f2", "f", L)], {"a1": ev}, [req("r1", stream=True), sleep(200), req("r2", "f"), sleep(200), req("r3", "f")], opts={"repeats": 3})
vec("least-busy", "least-busy-cut-stream", "a stream is cut before its first chunk", {"routing_strategy": "least-busy", **NA}, [("a1", "m"), ("a2", "m")], {"a1": [{"chunks": 4, "break_after": 0}, 200]}, [req("r1", stream=True), sleep(200), req("r2"), sleep(200), req("r3")], opts={"repeats": 3})
vec("weighted-failover", "weighted-failover-embedding-two", "embeddings: dead a, b; with a fallback", {"enable_weighted_failover": True, **NA, **FB}, [("a", "m", H), ("b", "m", L), ("f1", "f")], {"a": 400}, [req("r1", api="embedding"), req("r2", api="embedding", kw={"num_retries": 1})])
vec("precall", "precall-base-model-unknown", "a base_model that nobody knows, pre-call checks on and off", {**NA, "enable_pre_call_checks": True}, [("a", "m", {}, {"base_model": "nope"}), ("b", "n", {}, {"base_model": "openai/nope"}), ("c", "o", {}, {"base_model": "gpt-4"}), ("d", "p", {"base_model": "nope"})], {}, [req("r1"), req("r2", "n"), req("r3", "o"), req("r4", "p"), req("r5", "o", words=9000), req("r6", sync=True)])
vec("lookup", "lookup-team", "a deployment of a team: asked without and with the team", NA, [("a", "m", {}, {"team_id": "t"}), ("b", "n", {}, {"team_id": "t"}), ("c", "n")], {}, [req("r1"), req("r2", kw={"metadata": {"user_api_key_team_id": "t"}}), req("r3", kw={"metadata": {"user_api_key_team_id": "u"}}), burst("n", 6, "n"), burst("nt", 20, "n", kw={"metadata": {"user_api_key_team_id": "t"}}), req("r4", sync=True), req("r5", "a")], opts={"repeats": 3})
if __name__ == "__main__":
    print(len(VECTORS))
