"""Definitions of vectors of our own on limits a minute, usage, cost and latency strategies and routing groups."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import definitions                                                                  # noqa: E402
from definitions import BIG, MINUTE, N0, NOCD, ONE, VECTORS, batch, burst, req, seq, sleep, vec   # noqa: E402, F401

VECTORS.clear()
ENF = {"optional_pre_call_checks": ["enforce_model_rate_limits"]}
V1, V2, COST, LAT, LB, SH = ({"routing_strategy": s} for s in (
    "usage-based-routing", "usage-based-routing-v2", "cost-based-routing", "latency-based-routing", "least-busy", "simple-shuffle"))
CHEAP = {"input_cost_per_token": 1e-6, "output_cost_per_token": 1e-6}
DEAR = {"input_cost_per_token": 1e-3, "output_cost_per_token": 1e-3}
NEVER = {"weight": 0}
WIDE = {"max_parallel_requests": 100}
EMPTY = {"usage": {"prompt_tokens": 10, "completion_tokens": 0}}


def group(name, models, strategy, **more):
    return {"group_name": name, "models": models, **strategy, **more}


def groups(*list_):
    return {"routing_groups": list(list_)}


def priority(**priorities):
    return group("g", list(priorities), {"routing_strategy": "priority"}, model_priorities=priorities)


def update(**settings):
    return {"op": "update_settings", "settings": settings}


def v(category, name, title, router, deployments, client, upstream=None, **more):
    vec(category, f"{category}-{name}", title, router, deployments, upstream or {}, client, opts={"repeats": 3, "at_once": 2}, **more)


A1 = [("a", "m", {**BIG, "rpm": 1}), ("b", "m", {**ONE, "rpm": 100})]
COSTS = [("a", "m", {"weight": 1, **DEAR}), ("b", "m", {**NEVER, **CHEAP})]

# ---- enforce_model_rate_limits
v("enforce", "allowed-fails", "A refusal counts against allowed_fails", {**ENF, "allowed_fails": 1, "cooldown_time": 30}, A1, [MINUTE] + seq("r", 5))
v("enforce", "deployment-cooldown", "A refusal benches for the router's time: deployment 30 s and 0 s, router 3 s", {**ENF, "cooldown_time": 3},
  [(f"{d}{g}", g, {**p, **c}) for g, c in (("g", {"cooldown_time": 30}), ("h", {"cooldown_time": 0})) for d, p in (("a", {**BIG, "rpm": 1}), ("b", {**ONE, "rpm": 9}))],
  [MINUTE] + seq("g", 3, "g") + seq("h", 3, "h"))
v("enforce", "request-retries", "The caller's num_retries 2 after a refusal", {**ENF, "cooldown_time": 30}, A1, [MINUTE] + seq("r", 3, kw={"num_retries": 2}))
v("enforce", "retry-policy", "RateLimitErrorRetries 2 after a refusal", {**ENF, "cooldown_time": 30, "retry_policy": {"RateLimitErrorRetries": 2}}, A1, [MINUTE] + seq("r", 3, kw={}))
v("enforce", "fallback", "A refusal falls back", {**ENF, "fallbacks": [{"m": ["f"]}]}, [("a", "m", {"rpm": 1}), ("f", "f")], [MINUTE] + seq("r", 3, kw={}))
v("enforce", "by-id", "Calls by id: two awaited, two blocking", ENF, [("a", "m", {"rpm": 1})], [MINUTE] + seq("r", 2, "a") + seq("s", 2, "a", sync=True))
v("enforce", "blocking-two", "Blocking calls: no bench, retried on the same", ENF, A1, [MINUTE] + seq("r", 3, kw={}, sync=True))
v("enforce", "zero", "rpm 0 and tpm 0", ENF, [("a", "m", {"rpm": 0}), ("b", "n", {"tpm": 0})], [MINUTE] + seq("m", 2) + seq("n", 3, "n"))
v("enforce", "with-usage-v2", "Both checks: tpm 50 with answers of 15", {**ENF, **V2}, [("a", "m", {"tpm": 50})], [MINUTE] + seq("r", 4))
v("enforce", "with-usage-v2-rpm", "Both checks: rpm 4", {**ENF, **V2}, [("a", "m", {"rpm": 4})], [MINUTE] + seq("r", 4))
v("enforce", "embedding", "Embeddings: rpm 2", ENF, [("a", "m", {"rpm": 2})], [MINUTE] + seq("r", 3, api="embedding"))
# ---- limits from model_info, for each reader
for n, r in (("usage-v1", V1), ("usage-v2", V2), ("enforce", ENF), ("latency", LAT), ("cost", COST)):
    v(n, "model-info-rpm", "rpm 2 in model_info", r, [("a", "m", {}, {"rpm": 2})], [MINUTE] + seq("r", 4))
for n, r in (("usage-v1", V1), ("usage-v2", V2), ("latency", LAT), ("cost", COST)):
    v(n, "zero", "rpm 0 and tpm 0", r, [("a", "m", {"rpm": 0}), ("b", "n", {"tpm": 0})], [MINUTE] + seq("m", 2) + seq("n", 2, "n"))
    v(n, "embedding-rpm", "Embeddings: rpm 3", r, [("a", "m", {"rpm": 3})], [MINUTE] + seq("r", 4, api="embedding"))
    v(n, "stream", "Streams: rpm 3", r, [("a", "m", {"rpm": 3})], [MINUTE] + seq("r", 4, stream=True))
for n, r in (("usage-v1", V1), ("cost", COST), ("latency", LAT)):
    v(n, "empty-answers", "Answers without tokens: rpm 3", r, [("a", "m", {"rpm": 3})], [MINUTE] + seq("r", 4), {"a": EMPTY})
# ---- usage v1
v("usage-v1", "alias", "Calls by an alias", {**V1, "model_group_alias": {"al": "m"}}, ["a", "b"], [MINUTE] + seq("r", 4, "al"))
v("usage-v1", "routing-group-cost", "The router's usage v1, a group by cost", {**V1, **groups(group("g", ["m"], COST))}, COSTS, seq("r", 2))
# ---- usage v2
v("usage-v2", "scope", "A group's reservation is made for other names too", groups(group("g", ["n"], V2)), [("a", "m", {"rpm": 1}), ("nn", "n")], [MINUTE] + seq("r", 3))
v("usage-v2", "blocking", "Blocking calls: rpm 1", V2, [("a", "m", {"rpm": 1})], [MINUTE] + seq("r", 3, sync=True))
v("usage-v2", "by-id", "Calls by id: two awaited, two blocking", V2, [("a", "m", {"rpm": 1})], [MINUTE] + seq("r", 2, "a") + seq("s", 2, "a", sync=True))
v("usage-v2", "burst-after-some", "Eight at once after one: rpm 5", V2, [("w", "w"), ("a", "m", {"rpm": 5, **WIDE})],
  [MINUTE] + seq("w", 2, "w") + seq("m", 1) + [batch("b", [req(f"r{i}", kw=N0) for i in range(8)])], {"a": {"latency_ms": 400}})
# ---- strategies that change at work
v("usage-v1", "update", "Replaced by shuffling for one request, then chosen again", V1, [("a", "m", {"weight": 1}), ("b", "m", NEVER)],
  [MINUTE] + seq("r", 1) + [update(**SH)] + seq("t", 1) + [update(**V1)] + seq("s", 4))
v("usage-v1", "update-unused", "Replaced before its first request", V1, [("a", "m", {"weight": 1}), ("b", "m", NEVER)],
  [MINUTE, update(**SH)] + seq("t", 1) + [update(**V1)] + seq("s", 3))
v("usage-v2", "update", "Replaced by shuffling for one request, then chosen again: tpm 60", V2, [("a", "m", {"tpm": 60})],
  [MINUTE] + seq("r", 1) + [update(**SH)] + seq("t", 1) + [update(**V2)] + seq("s", 4))
v("usage-v2", "update-reservation", "Nothing is reserved while it is replaced: rpm 2", V2, [("a", "m", {"rpm": 2, **WIDE})],
  [MINUTE] + seq("r", 1) + [update(**SH)] + seq("t", 3) + [update(**V2)] + seq("s", 1))
v("cost", "update", "Replaced by shuffling for one request, then chosen again: rpm 4", COST, [("a", "m", {"weight": 1, "rpm": 4, **CHEAP}), ("b", "m", {**NEVER, **DEAR})],
  [MINUTE] + seq("r", 1) + [update(**SH)] + seq("t", 1) + [update(**COST)] + seq("s", 5))
v("latency", "update", "Replaced by shuffling for one request, then chosen again: rpm 4", LAT, [("a", "m", {"rpm": 4})],
  [MINUTE] + seq("r", 1) + [update(**SH)] + seq("t", 1) + [update(**LAT)] + seq("s", 5))
# ---- latency and cost together
v("latency", "with-cost", "A group by latency and one by cost: rpm 4 each", groups(group("g", ["m"], LAT), group("h", ["n"], COST)),
  [("a", "m", {"rpm": 4}), ("b", "n", {"rpm": 4})], [MINUTE] + seq("r", 5) + seq("q", 5, "n"))
# ---- routing groups
v("routing-groups", "update", "By cost, then by least-busy, then none", {**groups(group("g", ["m"], COST)), "routing_strategy": "simple-shuffle"}, COSTS,
  seq("r", 2) + [update(**groups(group("g", ["m"], LB)))] + seq("q", 2) + [update(routing_groups=[])] + seq("s", 2))
v("routing-groups", "alias-listed", "A group that lists an alias", {"model_group_alias": {"al": "m"}, **groups(group("g", ["al"], COST))}, COSTS, seq("al", 3, "al") + seq("m", 3) + seq("g", 2, "g"))
v("routing-groups", "alias-exact-first", "Groups that list an alias and its target", {"model_group_alias": {"al": "m"}, **groups(group("g", ["m"], COST), group("h", ["al"], SH))}, COSTS, seq("al", 3, "al") + seq("m", 3))
v("routing-groups", "default-fallback", "An unknown name that a default fallback stands in for", {"default_fallbacks": ["m"], **groups(group("g", ["m"], COST))}, COSTS, seq("r", 3, "nobody"))
STARS = [("a", "openai/*", {"model": "openai/*", "weight": 1, **DEAR}), ("b", "openai/*", {"model": "openai/*", **NEVER, **CHEAP})]
v("routing-groups", "stars", "A group that lists a name with stars", groups(group("g", ["openai/*"], COST)), STARS, seq("r", 3, "openai/x") + seq("g", 2, "g") + seq("s", 2, "openai/*"))
v("routing-groups", "stars-name", "A group that lists a name that a pattern matches", groups(group("g", ["openai/x"], COST)), STARS, seq("r", 3, "openai/x") + seq("g", 1, "g"))
v("routing-groups", "members-order", "A called group's deployments come model by model", groups(group("g", ["n", "m"], COST)), ["a", ("b", "n")], seq("r", 2, "g"))
v("routing-groups", "half-ghost", "A called group of a model and a name that nobody has", groups(group("g", ["ghost", "m"], LB), group("h", ["ghost2"], LB)), ["a"], seq("g", 1, "g") + seq("h", 1, "h"))
v("routing-groups", "of-ids", "A called group of an id and a provider's name", groups(group("g", ["a", "openai/fake-b"], SH)), ["a", "b"], seq("g", 1, "g"))
v("routing-groups", "name-beats-upstream", "A group called like a provider's model, an alias, an id", {"model_group_alias": {"al": "m"},
  **groups(group("openai/fake-a", ["n"], SH), group("al", ["k"], SH), group("a", ["l"], SH))}, ["a", ("b", "n"), ("c", "k"), ("d", "l")], seq("u", 1, "openai/fake-a") + seq("al", 1, "al") + seq("id", 1, "a"))
v("routing-groups", "alias-to-group", "An alias of a group", {"model_group_alias": {"al": "g"}, **groups(group("g", ["m", "n"], COST))}, [("a", "m", DEAR), ("b", "n", CHEAP)], seq("al", 2, "al"))
v("routing-groups", "in-group", "A group that lists a group", groups(group("h", ["g"], COST), group("g", ["m"], SH)), COSTS, seq("g", 2, "g") + seq("h", 1, "h"))
v("routing-groups", "fallback-target", "A group as fallback target", {"fallbacks": [{"f": ["g"]}], **groups(group("g", ["m", "n"], COST))}, [("a", "m", DEAR), ("b", "n", CHEAP), ("f", "f")], seq("r", 1, "f"), {"f": 500})
v("routing-groups", "own-tiers", "Orders of a called group's members", groups(group("g", ["m", "n"], SH)), [("a", "m", {"order": 1}), ("b", "n", {"order": 2}), ("c", "n")], [req("r1", "g", N0), req("r2", "g", N0)], {"a": 500})
v("routing-groups", "lone-429", "A lone deployment's 429 by its model, then by its group", groups(group("g", ["m", "n"], SH)), [("a", "m", BIG), ("b", "n", ONE)], [req("r1", "m", N0), req("r2", "g", N0), req("r3", "g", N0)], {"a": 429})
v("routing-groups", "lone-500", "A lone deployment's 500s by its group", groups(group("g", ["m", "n"], SH)), [("a", "m", BIG), ("b", "n", ONE)], seq("r", 6, "g"), {"a": 500})
v("routing-groups", "counts-by-name", "Usage by group and by model are two counts", groups(group("g", ["m"], V1)), ["a", "b"], [MINUTE] + seq("g", 1, "g") + seq("m", 1) + seq("h", 2, "g"))
v("routing-groups", "model-twice", "A model twice in a group", groups(group("g", ["m", "m"], LB)), ["a"], [req("r1", kw=N0)])
WF = {"enable_weighted_failover": True}
v("routing-groups", "weighted-failover-shuffle", "Weighted failover: router least-busy, group shuffling", {**WF, **LB, **groups(group("g", ["m"], SH))}, [("a", "m", BIG), ("b", "m", ONE)], [req("r1", kw=N0)], {"a": 500})
v("routing-groups", "weighted-failover-least-busy", "Weighted failover: router shuffling, group least-busy", {**WF, **groups(group("g", ["m"], LB))}, ["a", "b"], [req("r1", kw=N0)], {"a": 500})
v("routing-groups", "weighted-failover-called", "Weighted failover in a called group", {**WF, **LB, **groups(group("g", ["m", "n"], SH))}, [("a", "m", BIG), ("b", "n", ONE)], [req("r1", "g", kw=N0)], {"a": 500})
# ---- groups by priority
MN = ["a", ("b", "n")]
v("routing-groups", "priority-own-order", "Priority: own orders do not count", groups(priority(m=2, n=1)), [("a", "m", {"order": 1}), ("b", "n", {"order": 2, **NEVER}), ("c", "n", {"order": 3, "weight": 1})], seq("r", 2, "g"))
v("routing-groups", "priority-overlap", "Priority overlaps a group by cost", groups(priority(m=1, n=2), group("h", ["m"], COST)), [*COSTS, ("c", "n")], seq("r", 2, "g") + seq("q", 2) + seq("h", 2, "h"))
v("routing-groups", "priority-blocked", "Priority: the first is paused", groups(priority(m=1, n=2)), [("a", "m", {}, {"blocked": True}), ("b", "n")], seq("r", 1, "g"))
v("routing-groups", "priority-weighted-failover", "Priority: weighted failover among equals", {**WF, **groups(priority(m=1, n=1))}, [("a", "m", BIG), ("b", "n", ONE)], [req("r1", "g", kw=N0)], {"a": 500})
P = {"routing_strategy": "priority"}
for n, g in (("missing", group("g", ["m", "n"], P, model_priorities={"m": 1})), ("extra", group("g", ["m"], P, model_priorities={"m": 1, "n": 2})),
             ("zero", group("g", ["m"], P, model_priorities={"m": 0})), ("none", group("g", ["m"], P)), ("empty", group("g", [], P, model_priorities={})),
             ("twice", group("g", ["m", "m"], P, model_priorities={"m": 1})), ("shuffled", group("g", ["m"], SH, model_priorities={"m": 1}))):
    v("routing-groups", f"priority-bad-{n}", f"Priorities that make no sense: {n}", groups(g), MN, [req("r1", "m", N0)])
v("routing-groups", "priority-top", "Priority as the router's strategy", P, MN, [req("r1", "m", N0)])
