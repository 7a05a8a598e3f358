"""Siblings of the given vectors, fourth part: groups, names, tags, timeouts, construction, run time."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from definitions import AB, BIG, CTX, MINUTE, N0, NOCD, ONE, POL, VECTORS, batch, burst, req, seq, sleep, vec   # noqa: E402

VECTORS.clear()
H, MID, L = {"weight": 1e12}, {"weight": 1e6}, {"weight": 1}
FB = {"fallbacks": [{"m": ["f"]}]}
F1 = ("f", "f")
NA = {"num_retries": 0}
price = lambda i: {"input_cost_per_token": i, "output_cost_per_token": i}


def rg(*groups):
    return {"routing_groups": [{"group_name": n, "models": m, "routing_strategy": s, **(x[0] if x else {})} for n, m, s, *x in groups]}


# ---- routing groups
for st in ("least-busy", "latency-based-routing", "usage-based-routing", "usage-based-routing-v2", "simple-shuffle"):
    vec("routing-groups", f"routing-groups-{st}", f"a group by {st} under a cost-based router", {**NA, "routing_strategy": "cost-based-routing", **rg(("g", ["m"], st))}, [("a", "m", price(2e-6)), ("b", "m", price(1e-6)), ("c", "n", price(2e-6)), ("d", "n", price(1e-6))], {"a": {"latency_ms": 30}, "b": {"latency_ms": 250}},
        [MINUTE, burst("m", 12, gap_ms=20), burst("n", 6, "n")], opts={**NOCD, "repeats": 5})
vec("routing-groups", "routing-groups-args", "arguments of a group: a wide latency buffer", {**NA, **rg(("g", ["m"], "latency-based-routing", {"routing_strategy_args": {"lowest_latency_buffer": 50}}))}, ["a", "b"], {"a": {"latency_ms": 60}, "b": {"latency_ms": 300}}, [burst("warm", 4, gap_ms=30), burst("f", 20, gap_ms=30)], opts={**NOCD, "repeats": 4})
vec("routing-groups", "routing-groups-two-strategies", "two groups, two strategies, a third model", {**NA, **rg(("g", ["m"], "cost-based-routing"), ("h", ["n"], "usage-based-routing-v2"))}, [(x, g, price(1e-6 * i)) for i, (x, g) in enumerate((("a", "m"), ("b", "m"), ("c", "n"), ("d", "n"), ("e", "o"), ("i", "o")), 1)], {}, [MINUTE, burst("m", 6), burst("n", 8, "n"), burst("o", 40, "o")], opts={**NOCD, "repeats": 3})
vec("routing-groups", "routing-groups-called-failing", "a called group: a 429, a 500, a context window, a fallback of its name", {"num_retries": 1, "cooldown_time": 30, "fallbacks": [{"g": ["f"]}], "context_window_fallbacks": [{"g": ["f"]}], **rg(("g", ["m", "n"], "simple-shuffle"))}, [("a", "m", H), ("b", "n", L), F1], {"a": [CTX, 500, 500, 429, 200], "b": [500]}, [req(f"r{i}", "g") for i in range(5)])
vec("routing-groups", "routing-groups-called-limits", "a called group by usage-v2 with rpm", {**NA, **rg(("g", ["m", "n"], "usage-based-routing-v2"))}, [("a", "m", {"rpm": 3}), ("b", "n", {"rpm": 3})], {}, [MINUTE, burst("g", 7, "g")], opts={**NOCD, "repeats": 3})
vec("routing-groups", "routing-groups-none-strategy", "a group without a strategy; without models", {**NA, "routing_groups": [{"group_name": "g", "models": ["m"]}]}, ["a"], {}, [req("r1")])
vec("routing-groups", "routing-groups-no-name", "a group without a name", {**NA, "routing_groups": [{"models": ["m"], "routing_strategy": "least-busy"}]}, ["a"], {}, [req("r1")])
vec("routing-groups", "routing-groups-budget-strategy", "a group by provider-budget-routing", {**NA, **rg(("g", ["m"], "provider-budget-routing"))}, ["a"], {}, [req("r1")])
vec("routing-groups", "routing-groups-unknown-args", "unknown arguments in a group", {**NA, **rg(("g", ["m"], "latency-based-routing", {"routing_strategy_args": {"nope": 1}}))}, ["a"], {}, [req("r1")])
vec("routing-groups", "routing-groups-stream-sync-embedding", "a cost group in streams, embeddings, blocking calls", {**NA, **rg(("g", ["m"], "cost-based-routing"))}, [("a", "m", price(2e-6)), ("b", "m", price(1e-6))], {}, [burst("s", 4, stream=True), burst("e", 4, api="embedding"), burst("y", 4, sync=True)], opts=NOCD)

# ---- alias
vec("alias", "alias-by-call", "an alias in streams, embeddings, blocking calls", {"model_group_alias": {"al": "m"}, **NA}, AB, {}, [req("r1", "al", stream=True), req("r2", "al", api="embedding"), req("r3", "al", sync=True)])
vec("alias", "alias-fallbacks", "fallbacks, context window and policy lists of the alias and of its target", {"model_group_alias": {"al": "m"}, **NA, "fallbacks": [{"m": ["f"]}], "context_window_fallbacks": [{"al": ["f"]}], "content_policy_fallbacks": [{"m": ["f"]}]}, ["a", F1], {"a": [500, CTX, POL, 500]}, [req(f"r{i}", "al") for i in range(4)])
vec("alias", "alias-to-two-names", "two aliases of one group; an alias of a name with stars; of a deployment's id", {"model_group_alias": {"al": "m", "al2": "m", "st": "openai/x", "id": "a"}, **NA}, [("a", "m"), ("w", "openai/*", {"model": "openai/*"})], {}, [req("r1", "al"), req("r2", "al2"), req("r3", "st"), req("r4", "id")])
vec("alias", "alias-order-and-weights", "order and weighted failover through an alias", {"model_group_alias": {"al": "m"}, **NA, "enable_weighted_failover": True}, [("a", "m", {"order": 1, **H}), ("b", "m", {"order": 1, **L}), ("c", "m", {"order": 2})], {"a": 500, "b": 500}, [req("r1", "al"), req("r2")])
vec("alias", "alias-latency", "an alias and its target under latency routing", {"model_group_alias": {"al": "m"}, **NA, "routing_strategy": "latency-based-routing"}, ["a", "b"], {"a": {"latency_ms": 30}, "b": {"latency_ms": 300}}, [burst("m", 6, gap_ms=30), burst("al", 6, "al", gap_ms=30)], opts={**NOCD, "repeats": 4})
vec("alias", "alias-map", "aliases given as maps", {"model_group_alias": {"al": {"model": "m", "hidden": True}, "al2": {"model": "m", "hidden": False}}, **NA}, ["a"], {}, [req("r1", "al"), req("r2", "al2")])

# ---- tags
T = {"enable_tag_filtering": True}
TG = lambda *t: {**N0, "metadata": {"tags": list(t)}}
TD = [("free", "m", {"tags": ["free"]}), ("paid", "m", {"tags": ["paid"]}), ("both", "m", {"tags": ["free", "paid"]}), ("dflt", "m", {"tags": ["default"]}), ("plain", "m")]
vec("tags", "tags-by-call", "a tag in streams and embeddings", T, TD, {}, [burst("s", 12, kw=TG("paid"), stream=True), burst("e", 12, kw=TG("free"), api="embedding"), burst("n", 12, kw=N0)], opts={**NOCD, "repeats": 3})
vec("tags", "tags-none-and-empty", "no metadata, empty tags, null tags", T, TD, {}, [burst("a", 20, kw=N0), burst("b", 20, kw={**N0, "metadata": {"tags": []}}), burst("c", 20, kw={**N0, "metadata": {}})], opts=NOCD)
vec("tags", "tags-case-and-blanks", "Free and ' free'", T, TD, {}, [burst("a", 10, kw=TG("Free")), burst("b", 10, kw=TG(" free"))], opts=NOCD)
vec("tags", "tags-default-asked", "the tag default itself; with another", T, TD, {}, [burst("a", 20, kw=TG("default")), burst("b", 40, kw=TG("default", "free"))], opts=NOCD)
vec("tags", "tags-match-all-one-tag", "match_any false: one tag, two, three", {**T, "tag_filtering_match_any": False}, TD, {}, [burst("a", 30, kw=TG("free")), burst("b", 20, kw=TG("free", "paid")), burst("c", 10, kw=TG("free", "paid", "x"))], opts=NOCD)
vec("tags", "tags-strategies", "tags under least-busy, and cost", {**T, "routing_strategy": "cost-based-routing"}, [("free", "m", {"tags": ["free"], **price(3e-6)}), ("free2", "m", {"tags": ["free"], **price(2e-6)}), ("paid", "m", {"tags": ["paid"], **price(1e-6)})], {}, [burst("a", 6, kw=TG("free"))], opts=NOCD)
vec("tags", "tags-429-retry", "the free one answers 429, another free one; then nobody", {**T, "cooldown_time": 30}, [("f1", "m", {"tags": ["free"], **H}), ("f2", "m", {"tags": ["free"], **L}), ("paid", "m", {"tags": ["paid"]})], {"f1": 429, "f2": [200, 429]}, [req(f"r{i}", kw={"metadata": {"tags": ["free"]}}) for i in range(3)])
vec("tags", "tags-order", "tags with order: a tier without the tag", {**T, **NA}, [("a", "m", {"order": 1, "tags": ["paid"]}), ("b", "m", {"order": 2, "tags": ["free"]}), ("c", "m", {"order": 3, "tags": ["free"]})], {"b": 500}, [req("r1", kw={"metadata": {"tags": ["free"]}}), req("r2", kw={"metadata": {"tags": ["paid"]}})])
vec("tags", "tags-unknown-then-fallback", "a tag that nobody has, with a fallback group that has it", {**T, **NA, **FB}, [("a", "m", {"tags": ["x"]}), ("f", "f", {"tags": ["y"]})], {}, [req("r1", kw={"metadata": {"tags": ["y"]}}), req("r2", kw={"metadata": {"tags": ["z"]}})])

# ---- timeouts
SL = {"latency_ms": 700}
vec("timeout", "timeout-by-call", "router timeout 0.3: stream, embedding, blocking", {"timeout": 0.3, **NA, "disable_cooldowns": True}, ["a"], {"a": SL}, [req("r1", stream=True), req("r2", api="embedding"), req("r3", sync=True)])
vec("timeout", "timeout-two-retries", "a slow, b fine, num_retries 2, cooldown by five", {"timeout": 0.3, "num_retries": 1, "cooldown_time": 30}, AB, {"a": SL}, seq("r", 4, kw={}))
vec("timeout", "timeout-deployment-each", "a's own timeout 0.2, b's 1, both take 0.5", {"num_retries": 1}, [("a", "m", {**H, "timeout": 0.2}), ("b", "m", {**L, "timeout": 1}), ("c", "n", {"timeout": 1})], {x: {"latency_ms": 500} for x in "abc"}, [req("r1"), req("r2", "n", {**N0, "timeout": 0.2})])
vec("timeout", "timeout-stream-whole-longer", "a stream longer than the timeout, with short gaps", {"timeout": 0.4, **NA}, ["a"], {"a": {"chunks": 6, "chunk_ms": 150}}, [req("r1", stream=True)])
vec("timeout", "timeout-stream-gap", "stream_timeout 0.3: gap of 0.8 after the first chunk; a fallback", {"stream_timeout": 0.3, **NA, **FB}, ["a", F1], {"a": {"chunks": 3, "chunk_ms": 800}}, [req("r1", stream=True)])
vec("timeout", "timeout-stream-request-over-deployment", "request stream_timeout 0.2 and 1 against deployment 0.5", NA, [("a", "m", {"stream_timeout": 0.5})], {"a": {"latency_ms": 350}}, [req("r1", kw={"stream_timeout": 0.2}, stream=True), req("r2", kw={"stream_timeout": 1}, stream=True), req("r3", kw={"stream_timeout": 0.2})])
vec("timeout", "timeout-stream-router-fallback", "router stream_timeout 0.2, time to headers 0.5, two deployments", {"stream_timeout": 0.2, "num_retries": 1}, AB, {"a": {"latency_ms": 500}}, [req("r1", stream=True), req("r2", kw=N0, stream=True)])
vec("timeout", "timeout-then-context-list", "a timeout with special lists only, and with default fallbacks", {"timeout": 0.25, **NA, "context_window_fallbacks": [{"m": ["f"]}], "default_fallbacks": ["g"]}, ["a", F1, ("g", "g")], {"a": SL}, [req("r1")])
vec("timeout", "timeout-allowed-fails", "allowed_fails 1 and timeouts", {"timeout": 0.25, **NA, "allowed_fails": 1, "cooldown_time": 30}, AB, {"a": SL}, seq("r", 3, kw={}))
vec("timeout", "timeout-small-and-large", "timeout 0.05 and 30", NA, ["a"], {"a": {"latency_ms": 200}}, [req("r1", kw={"timeout": 0.05}), req("r2", kw={"timeout": 30})])

# ---- construction
ODD = {"router": {"num-retries-text": {"num_retries": "2"}, "num-retries-float": {"num_retries": 1.5}, "num-retries-null": {"num_retries": None}, "cooldown-text": {"cooldown_time": "5"}, "cooldown-null": {"cooldown_time": None}, "timeout-text": {"timeout": "5"}, "timeout-zero": {"timeout": 0}, "allowed-fails-negative": {"allowed_fails": -1},
                  "allowed-fails-text": {"allowed_fails": "1"}, "strategy-null": {"routing_strategy": None}, "strategy-empty": {"routing_strategy": ""}, "strategy-case": {"routing_strategy": "Simple-Shuffle"}, "fallbacks-empty": {"fallbacks": []}, "fallbacks-null": {"fallbacks": None}, "fallbacks-text": {"fallbacks": "f"},
                  "fallbacks-empty-targets": {"fallbacks": [{"m": []}]}, "default-fallbacks-empty": {"default_fallbacks": []}, "max-fallbacks-null": {"max_fallbacks": None}, "precall-checks-text": {"optional_pre_call_checks": "session_affinity"}, "precall-checks-empty": {"optional_pre_call_checks": []},
                  "retry-after-text": {"retry_after": "1"}, "retry-after-float": {"retry_after": 0.7}, "strategy-args-unknown": {"routing_strategy": "latency-based-routing", "routing_strategy_args": {"nope": 1}}, "strategy-args-bad": {"routing_strategy": "latency-based-routing", "routing_strategy_args": {"ttl": "x"}},
                  "strategy-args-shuffle": {"routing_strategy_args": {"ttl": 5}}, "alias-list": {"model_group_alias": ["m"]}, "alias-null": {"model_group_alias": None}, "alias-without-model": {"model_group_alias": {"al": {"hidden": True}}}, "routing-groups-map": {"routing_groups": {"g": ["m"]}}, "routing-groups-empty": {"routing_groups": []},
                  "provider-budget-bad-period": {"provider_budget_config": {"openai": {"budget_limit": 1, "time_period": "1x"}}}, "provider-budget-no-period": {"provider_budget_config": {"openai": {"budget_limit": 1}}}, "provider-budget-unknown-provider": {"provider_budget_config": {"nope": {"budget_limit": 0.0001, "time_period": "1d"}}},
                  "tag-match-text": {"enable_tag_filtering": "true"}, "default-max-parallel-zero": {"default_max_parallel_requests": 0}, "default-max-parallel-negative": {"default_max_parallel_requests": -1}, "affinity-ttl-zero": {"optional_pre_call_checks": ["session_affinity"], "deployment_affinity_ttl_seconds": 0},
                  "affinity-config-unknown": {"model_group_affinity_config": {"m": ["nope"]}}, "content-policy-not-a-list": {"content_policy_fallbacks": {"m": ["f"]}}, "context-window-not-a-list": {"context_window_fallbacks": {"m": ["f"]}}, "unknown-fallback-target": {"fallbacks": [{"m": ["nope"]}]}, "unknown-fallback-group": {"fallbacks": [{"nope": ["f"]}]},
                  "disable-cooldowns-null": {"disable_cooldowns": None}, "max-fallbacks-text": {"max_fallbacks": "1"}, "stream-timeout-text": {"stream_timeout": "5"}}}
for k, r in ODD["router"].items():
    vec("config-error", f"config-{k}", f"the router's {r}", r, ["a", "b", F1], {"a": [429, 200], "b": [429, 200]}, [req("r1", kw=N0), req("r2")], [["a", "b"]], opts={"repeats": 2})
DEPS = {"weight-negative": {"weight": -1}, "weight-null": {"weight": None}, "rpm-zero": {"rpm": 0}, "rpm-negative": {"rpm": -1}, "rpm-text": {"rpm": "10"}, "rpm-bad-text": {"rpm": "x"}, "rpm-float": {"rpm": 1.5}, "tpm-text": {"tpm": "1000"}, "order-text": {"order": "1"}, "order-null": {"order": None}, "order-float": {"order": 1.5},
        "max-parallel-text": {"max_parallel_requests": "1"}, "max-parallel-negative": {"max_parallel_requests": -1}, "timeout-text": {"timeout": "5"}, "timeout-bad-text": {"timeout": "x"}, "cooldown-text": {"cooldown_time": "3"}, "cooldown-negative": {"cooldown_time": -1}, "tags-text": {"tags": "free"}, "unknown-param": {"nope": 1}, "region-number": {"region_name": 1},
        "empty-model": {"model": ""}, "slash-model": {"model": "openai/"}, "provider-only": {"model": "openai"}, "max-budget-text": {"max_budget": "1", "budget_duration": "1d"}, "num-retries-null": {"num_retries": None}, "input-cost-text": {"input_cost_per_token": "0.1"}, "custom-provider-unknown": {"model": "x", "custom_llm_provider": "nope"}}
for k, p in DEPS.items():
    vec("config-error", f"config-deployment-{k}", f"a deployment's {p}", {"cooldown_time": 5}, [("a", "m", p), ("b", "n"), ("c", "n", p)], {"a": [429, 200], "c": [429, 200]}, [req("r1", kw=N0), req("r2", "c", N0), req("r3", kw=N0)], opts={"repeats": 2})
INFO = {"blocked-text": {"blocked": "true"}, "max-input-text": {"max_input_tokens": "10"}, "allowed-fails-text": {"allowed_fails": "1"}, "policy-unknown": {"allowed_fails_policy": {"Nope": 1}}, "tier": {"tier": "free"}, "tier-unknown": {"tier": "gold"}, "id-number": {"id": 5}, "team": {"team_id": "t"}, "base-model": {"base_model": "nope"}, "environments": {"supported_environments": ["production"]}}
for k, p in INFO.items():
    vec("config-error", f"config-model-info-{k}", f"a model_info with {p}", {"cooldown_time": 5, "enable_pre_call_checks": True}, [("a", "m", {}, p), ("b", "n")], {"a": [429, 200]}, [req("r1", kw=N0), req("r2", kw=N0)], opts={"repeats": 2})
# ---- names and run time
vec("lookup", "lookup-by-id-kinds", "by id: stream, embedding, blocking; retries; a fallback of the id's name", {"num_retries": 1, "cooldown_time": 30, "fallbacks": [{"a": ["f"]}]}, [("a", "m"), ("b", "m"), F1], {"a": [200, 200, 200, 500, 500, 429]}, [req("r1", "a", stream=True), req("r2", "a", api="embedding"), req("r3", "a", sync=True), req("r4", "a"), req("r5", "a"), req("r6", "a")])
vec("lookup", "lookup-by-provider-model-kinds", "by the provider's model: two deployments, weights, 429, fallbacks of that name", {"num_retries": 1, "cooldown_time": 30, "fallbacks": [{"openai/x": ["f"]}]}, [("a", "m", {"model": "openai/x", **H}), ("b", "n", {"model": "openai/x", **L}), F1], {"a": 429, "b": [200, 500]}, [req("r1", "openai/x"), req("r2", "openai/x"), req("r3", "openai/x")])
vec("lookup", "lookup-wildcard-kinds", "stars: streams, embeddings, blocking, retries between two, 401", {"num_retries": 1, "cooldown_time": 30}, [("w", "openai/*", {"model": "openai/*", **H}), ("v", "openai/*", {"model": "openai/*", **L})], {"w": [200, 200, 200, 500, 500, 401, 200]}, [req("r1", "openai/x", stream=True), req("r2", "openai/x", api="embedding"), req("r3", "openai/x", sync=True), req("r4", "openai/x"), req("r5", "openai/y"), req("r6", "openai/z")])
vec("lookup", "lookup-blocked-by-strategies", "a blocked one under least-busy, latency, usage-v2; all blocked with a fallback", {"num_retries": 0, "routing_strategy": "least-busy", **FB}, [("a", "n", {}, {"blocked": True}), ("b", "n"), ("c", "m", {}, {"blocked": True}), F1], {}, [burst("n", 5, "n"), req("r1"), req("r2", "c"), req("r3", sync=True)])
vec("lookup", "lookup-case", "names are told apart by case; blanks", {"num_retries": 0}, [("a", "m"), ("b", "M")], {}, [req("r1", "M"), req("r2", "m"), req("r3", " m")])
vec("lookup", "lookup-two-ids-one-name", "two entries with one id: benched once", {"num_retries": 0, "cooldown_time": 30}, [("a", "m", H), ("a", "m", H), ("b", "m", L)], {"a": 429}, [req("r1"), req("r2")])
vec("lookup", "runtime-update-settings-each", "update_settings: cooldown_time, retry_after, allowed_fails, timeout, alias, weighted failover", {"num_retries": 0, "cooldown_time": 30}, [("a", "m", H), ("b", "m", L)], {"a": [429, 500, 500, 500, {"latency_ms": 600}]},
    [{"op": "update_settings", "settings": {"cooldown_time": 1.9}}, req("r1"), sleep(1200), {"op": "update_settings", "settings": {"enable_weighted_failover": True, "model_group_alias": {"al": "m"}}}, req("r2"), req("r3", "al"), {"op": "update_settings", "settings": {"enable_weighted_failover": False, "allowed_fails": 0}}, req("r4"), sleep(1200), {"op": "update_settings", "settings": {"timeout": 0.3}}, req("r5")])
vec("lookup", "runtime-update-settings-strategy", "update_settings: the strategy, policies, context window fallbacks", {"num_retries": 0, "cooldown_time": 30}, [("a", "m", {**H, **price(2e-6)}), ("b", "m", {**L, **price(1e-6)}), F1], {"a": [200, CTX, 500], "b": [200, CTX]},
    [req("r1"), {"op": "update_settings", "settings": {"routing_strategy": "cost-based-routing"}}, req("r2"), {"op": "update_settings", "settings": {"context_window_fallbacks": [{"m": ["f"]}]}}, req("r3"), {"op": "update_settings", "settings": {"routing_strategy": "simple-shuffle", "retry_after": 1}}, req("r4")])
vec("lookup", "runtime-update-settings-ignored", "update_settings: keys that it does not take", {"num_retries": 0, "cooldown_time": 30}, [("a", "m", H), ("b", "m", L)], {"a": [429, 200]},
    [{"op": "update_settings", "settings": {"disable_cooldowns": True, "default_fallbacks": ["b"], "max_fallbacks": 0, "stream_timeout": 0.1, "allowed_fails_policy": {"RateLimitErrorAllowedFails": 3}}}, req("r1"), req("r2")])
vec("lookup", "runtime-delete-and-ask", "delete a: who is left, its id, its benched state; the ids", {"num_retries": 0, "cooldown_time": 30}, [("a", "m", H), ("b", "m", L), ("c", "n")], {"a": 429}, [req("r1"), {"op": "query", "id": "before", "method": "get_model_ids"}, {"op": "delete_deployment", "id": "a"}, {"op": "query", "id": "after", "method": "get_model_ids"}, {"op": "query", "id": "names", "method": "get_model_names"}, req("r2"), req("r3", "a")])
vec("lookup", "runtime-getters", "getters: ids, names", {"model_group_alias": {"al": "m", "hid": {"model": "m", "hidden": True}}}, [("b", "m"), ("a", "n"), ("w", "openai/*", {"model": "openai/*"})], {}, [{"op": "query", "id": "ids", "method": "get_model_ids"}, {"op": "query", "id": "names", "method": "get_model_names"}, {"op": "query", "id": "of", "method": "get_model_ids", "args": {"model_name": "m"}}, {"op": "query", "id": "settings", "method": "get_settings"}, req("r1")], opts={"repeats": 2})
# ---- the testing flags of a request
for flag, router in (("mock_testing_fallbacks", FB), ("mock_testing_context_fallbacks", {"context_window_fallbacks": [{"m": ["f"]}]}), ("mock_testing_content_policy_fallbacks", {"content_policy_fallbacks": [{"m": ["f"]}]}), ("mock_testing_rate_limit_error", FB)):
    vec("fallback", f"fallback-{flag.replace('_', '-')}", f"{flag} in a request: with a list, without, in a stream, an embedding, a blocking call, two retries", {**NA, **router, "cooldown_time": 30}, [("a", "m", H), ("b", "m", L), F1, ("n", "n")], {}, [req("r1", kw={flag: True}), req("r2", "n", {flag: True}), req("r3", kw={flag: True}, stream=True), req("r4", kw={flag: True}, sync=True), req("r5", kw={flag: True, "num_retries": 1}), req("r6", kw={flag: True}, api="embedding"), req("r7", kw={flag: False})])
if __name__ == "__main__":
    print(len(VECTORS))
