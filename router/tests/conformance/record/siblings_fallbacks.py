"""Siblings of the given vectors, second half: fallbacks to names."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from definitions import AB, BIG, CTX, MINUTE, N0, NOCD, ONE, POL, VECTORS, batch, burst, req, seq, sleep, vec   # noqa: E402

VECTORS.clear()
H, MID, L = {"weight": 1e12}, {"weight": 1e6}, {"weight": 1}
ABC = [("a", "m", H), ("b", "m", MID), ("c", "m", L)]
FB = {"fallbacks": [{"m": ["f"]}]}
F1 = ("f", "f")
SIX = [f"d{i}" for i in range(1, 7)]
ST = (400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 504, 529)


def at(ms):
    return {"op": "at", "ms": ms}


# ---- num_retries
for n in (1, 3):
    vec("num-retries", f"num-retries-router-{n}", f"router num_retries {n}: six of 429, and a lone 500", {"num_retries": n, "cooldown_time": 1}, SIX + [("z", "z")], {**{d: 429 for d in SIX}, "z": 500}, [req("r1"), req("r2", "z")], [SIX])
vec("num-retries", "num-retries-request-0", "request num_retries 0 over router 3, in all calls", {"num_retries": 3, "disable_cooldowns": True}, AB, {"a": 500}, [req("r1", kw=N0), req("r2", kw=N0, stream=True), req("r3", kw=N0, sync=True), req("r4", kw=N0, api="embedding")])
vec("num-retries", "num-retries-deployment-0", "deployment num_retries 0, router 2, lone", {"num_retries": 2}, [("a", "m", {"num_retries": 0}), ("b", "n", {"num_retries": 0})], {"a": 500, "b": 500}, [req("r1"), req("r2", kw={"num_retries": 1}), req("r3", "n", stream=True)])
vec("num-retries", "num-retries-deployment-1-apis", "deployment num_retries 1: stream, embedding, blocking", {"num_retries": 0, "disable_cooldowns": True}, [("a", "m", {**H, "num_retries": 1}), ("b", "m", L)], {"a": 500}, [req("r1", stream=True), req("r2", api="embedding"), req("r3", sync=True), req("r4")])
vec("num-retries", "num-retries-different-on-two", "a num_retries 3, b 0: whose counts", {"num_retries": 1, "cooldown_time": 60}, [("a", "m", {**H, "num_retries": 3}), ("b", "m", {**L, "num_retries": 0}), ("c", "n", {**H, "num_retries": 0}), ("d", "n", {**L, "num_retries": 3})], {"a": 429, "b": 500, "c": 429, "d": 500}, [req("r1"), req("r2", "n")])
vec("num-retries", "num-retries-none-in-request", "num_retries null in the request", {"num_retries": 1, "disable_cooldowns": True}, AB, {"a": 500}, [req("r1", kw={"num_retries": None})])
vec("num-retries", "num-retries-max-retries-router-and-request", "max_retries 3 in requests of other kinds", {"num_retries": 0, "disable_cooldowns": True}, AB, {"a": 500}, [req("r1", kw={"max_retries": 1}, stream=True), req("r2", kw={"max_retries": 1}, sync=True), req("r3", kw={"max_retries": 1}, api="embedding"), req("r4", kw={"max_retries": 0}, api="embedding")])
vec("num-retries", "num-retries-by-status-lone", "num_retries 1: each status from lone deployments (all at once)", {"num_retries": 1, "cooldown_time": 60}, [(f"a{s}", f"m{s}") for s in ST], {f"a{s}": s for s in ST}, [batch("b", [req(f"r{s}", f"m{s}") for s in ST])])

# ---- cooldown time
for c, name in ((0.5, "half"), (2, "2"), (None, "none")):
    vec("cooldown-time", f"cooldown-time-router-{name}", f"router cooldown_time {c}", {} if c is None else {"cooldown_time": c}, AB, {"a": [429, 200]}, [req("r1"), req("r2"), sleep(600), req("r3"), sleep(1600), req("r4")])
vec("cooldown-time", "cooldown-time-deployment-zero", "deployment cooldown_time 0 and 0.4, 401 and 404", {"cooldown_time": 60, "num_retries": 0}, [("a", "m", {**H, "cooldown_time": 0}), ("b", "m", L), ("c", "n", {**H, "cooldown_time": 0.4}), ("d", "n", L)], {"a": 401, "c": 404}, [req("r1"), req("r2"), req("r3", "n"), req("r4", "n")])
vec("cooldown-time", "cooldown-time-by-reason", "cooldown lengths of 429, 401, 404, 402, the rate rule (deployment 7, router 60)", {"cooldown_time": 60, "num_retries": 0}, [(f"{d}{s}", f"m{s}", {**w, "cooldown_time": 7} if d == "a" else w) for s in (429, 401, 404, 402, 500) for d, w in zip("ab", (H, L))],
    {f"a{s}": s for s in (429, 401, 404, 402, 500)}, [req(f"r{s}", f"m{s}") for s in (429, 401, 404, 402)] + [req(f"q{i}", "m500") for i in range(5)])
vec("cooldown-time", "cooldown-time-stream-sync-embedding", "429 in a stream, a blocking call, an embedding: benched and back after a second", {"cooldown_time": 1, "num_retries": 0}, [(f"{d}{k}", f"m{k}", w) for k in "sbe" for d, w in zip("ab", (H, L))], {f"a{k}": [429] * (3 if k == "e" else 1) + [200] for k in "sbe"},
    [req("s1", "ms", stream=True), req("b1", "mb", sync=True), req("e1", "me", api="embedding"), req("s2", "ms", stream=True), req("b2", "mb", sync=True), req("e2", "me", api="embedding"), sleep(1200), req("s3", "ms"), req("b3", "mb"), req("e3", "me")])
vec("cooldown-time", "cooldown-disabled-kinds", "disable_cooldowns: 401, 404, 500 x6, all retries", {"disable_cooldowns": True, "num_retries": 1}, [(f"{d}{s}", f"m{s}", w) for s in (401, 404, 500) for d, w in zip("ab", (H, L))], {f"a{s}": s for s in (401, 404, 500)}, [req("r401", "m401"), req("r404", "m404")] + [req(f"q{i}", "m500", N0) for i in range(7)])
vec("cooldown-time", "cooldown-expiry-to-the-tenth", "cooldown 1 s: calls 0.9 and 1.1 s after", {"cooldown_time": 1, "num_retries": 0}, AB, {"a": [429, 200]}, [req("r1"), at(850), req("r2"), at(1250), req("r3")])
vec("cooldown-time", "cooldown-of-a-lone-401-then-by-id", "lone 401 benched, called by id, by the provider's model", {"cooldown_time": 60, "num_retries": 0}, [("a", "m", {"model": "openai/x"})], {"a": [401, 200]}, [req("r1"), req("r2"), req("r3", "a"), req("r4", "openai/x")])

# ---- all cooling
for kind, more in (("stream", {"stream": True}), ("sync", {"sync": True}), ("embedding", {"api": "embedding"})):
    vec("all-cooling", f"all-cooling-{kind}", f"both benched: a call ({kind}), with and without retries", {"cooldown_time": 5}, ["a", "b"], {"a": 429, "b": 429}, [req("r1"), req("r2", kw=N0, **more), req("r3", **more)], [["a", "b"]])
vec("all-cooling", "all-cooling-three-different-lengths", "three benched for 9, 4 and 6 s: which is told", {"cooldown_time": 5, "num_retries": 0}, [("a", "m", {**H, "cooldown_time": 9}), ("b", "m", {**MID, "cooldown_time": 4}), ("c", "m", {**L, "cooldown_time": 6})], {"a": 429, "b": 429, "c": 429}, seq("r", 5, kw={}))
vec("all-cooling", "all-cooling-fallback-all-cooling", "group and fallback group all benched", {"cooldown_time": 30, **FB, "num_retries": 0}, AB + [("f", "f", H), ("f2", "f", L)], {"a": 429, "b": 429, "f": 429, "f2": 429}, seq("r", 5, kw={}))
vec("all-cooling", "all-cooling-fallback-lone-401", "lone ones benched by 401, with a fallback and default fallback", {"cooldown_time": 30, "default_fallbacks": ["f"], "num_retries": 0}, ["a", F1], {"a": 401, "f": [200, 401, 200]}, seq("r", 4, kw={}))
vec("all-cooling", "all-cooling-retry-policy", "all benched and a retry policy: sleeps and picks again", {"cooldown_time": 1, "retry_policy": {"RateLimitErrorRetries": 3}}, ["a", "b"], {"a": [429, 200], "b": [429, 200]}, [req("r1")], [["a", "b"]])
vec("all-cooling", "all-cooling-returns", "both benched for a second: after it", {"cooldown_time": 1, "num_retries": 0}, ["a", "b"], {"a": [429, 200], "b": [429, 200]}, [req("r1"), req("r2"), req("r3"), sleep(1200), req("r4"), req("r5")], [["a", "b"]])
vec("all-cooling", "all-cooling-by-id-hint", "all benched: hint of a call through an alias, order tiers, tags", {"cooldown_time": 12, "num_retries": 0, "model_group_alias": {"al": "m"}}, [("a", "m", {"order": 1, "cooldown_time": 9}), ("b", "m", {"order": 2, "cooldown_time": 8})], {"a": 429, "b": 429}, [req("r1"), req("r2"), req("r3"), req("r4", "al")])

# ---- fallbacks
vec("fallback", "fallback-by-status-two", "each status from both of two, num_retries 1, a fallback", {"num_retries": 1, "cooldown_time": 60, "fallbacks": [{f"m{s}": ["f"]} for s in ST]}, [(f"{d}{s}", f"m{s}", w) for s in ST for d, w in zip("ab", (H, L))] + [F1], {f"{d}{s}": s for s in ST for d in "ab"}, [req(f"r{s}", f"m{s}") for s in ST])
for kind, more in (("stream", {"stream": True}), ("sync", {"sync": True}), ("embedding", {"api": "embedding"})):
    vec("fallback", f"fallback-by-status-{kind}", f"each status falls back, num_retries 0: {kind}", {"num_retries": 0, "cooldown_time": 60, "fallbacks": [{f"m{s}": ["f"]} for s in ST]}, [(f"a{s}", f"m{s}") for s in ST] + [F1], {f"a{s}": s for s in ST}, [req(f"r{s}", f"m{s}", **more) for s in ST])
for n in (2, 3, 5, 6, 7):
    vec("fallback", f"fallback-nested-{n}", f"a chain of {n} dead groups and a healthy one, default limit", {"num_retries": 0, "fallbacks": [{f"g{i}": [f"g{i + 1}"]} for i in range(n)]}, [(f"d{i}", f"g{i}") for i in range(n + 1)], {f"d{i}": 500 for i in range(n)}, [req("r1", "g0")])
for n in (2, 3):
    vec("fallback", f"fallback-max-fallbacks-{n}", f"max_fallbacks {n}: a list of four, a chain of four", {"num_retries": 0, "max_fallbacks": n, "fallbacks": [{"m": ["g1", "g2", "g3", "g4"]}, {"n": ["h1"]}, {"h1": ["h2"]}, {"h2": ["h3"]}, {"h3": ["h4"]}]},
        [("a", "m"), ("b", "n")] + [(f"{x}{i}", f"{x}{i}") for x in "gh" for i in range(1, 5)], {k: 500 for k in ("a", "b", "g1", "g2", "g3", "h1", "h2", "h3")}, [req("r1"), req("r2", "n")])
vec("fallback", "fallback-disable", "disable_fallbacks of a request, stream and blocking too", {**FB, "num_retries": 0, "default_fallbacks": ["f"]}, ["a", F1, ("n", "n")], {"a": 500, "n": 429}, [req("r1", kw={"disable_fallbacks": True}), req("r2"), req("r3", "n", {"disable_fallbacks": True}), req("r4", kw={"disable_fallbacks": True}, stream=True), req("r5", kw={"disable_fallbacks": True}, sync=True), req("r6", "x", {"disable_fallbacks": True})])
vec("fallback", "fallback-request-list", "a request's own names over the router's list", {**FB, "num_retries": 0}, ["a", F1, ("g", "g"), ("h", "h")], {"a": 500, "g": 503}, [req("r1", kw={"fallbacks": ["g", "h"]}), req("r2", kw={"fallbacks": ["g"]}), req("r3", kw={"fallbacks": [{"m": ["h"]}]}), req("r4", kw={"fallbacks": ["h"]}, stream=True), req("r5", kw={"fallbacks": ["h"]}, sync=True)])
vec("fallback", "fallback-content-policy-two-deployments", "policy error from a of two, no fallbacks; then with generic ones", {"num_retries": 1}, AB, {"a": POL}, [req("r1"), req("r2", kw=N0), req("r3", stream=True)])
vec("fallback", "fallback-special-lists-by-call", "context window and policy lists in streams, embeddings and blocking calls", {"num_retries": 1, "context_window_fallbacks": [{"m": ["f"]}], "content_policy_fallbacks": [{"n": ["f"]}], "fallbacks": [{"m": ["g"]}, {"n": ["g"]}]}, ["a", ("b", "n"), F1, ("g", "g")], {"a": CTX, "b": POL},
    [x for k, more in (("s", {"stream": True}), ("e", {"api": "embedding"}), ("b", {"sync": True})) for x in (req(f"w{k}", **more), req(f"p{k}", "n", **more))])
vec("fallback", "fallback-context-window-many", "context window: two targets, the first of which fails by 500, 429, the window", {"num_retries": 0, "context_window_fallbacks": [{"m": ["f", "g"]}]}, ["a", F1, ("g", "g")], {"a": CTX, "f": [500, 429, CTX]}, [req("r1"), req("r2"), req("r3")])
vec("fallback", "fallback-order-of-lists", "generic, context window and policy lists together: which list for which error", {"num_retries": 0, "fallbacks": [{"m": ["g"]}], "context_window_fallbacks": [{"m": ["w"]}], "content_policy_fallbacks": [{"m": ["p"]}], "default_fallbacks": ["d"]}, ["a", ("g", "g"), ("w", "w"), ("p", "p"), ("d", "d")], {"a": [500, CTX, POL, 400, 500], "g": [200, 200, 500, 500, 500, 500]}, seq("r", 5, kw={}))
vec("fallback", "fallback-first-entry-of-two-for-a-group", "two entries for one group", {"num_retries": 0, "fallbacks": [{"m": ["f"]}, {"m": ["g"]}]}, ["a", F1, ("g", "g")], {"a": 500, "f": [200, 500]}, [req("r1"), req("r2")])
vec("fallback", "fallback-to-itself-and-twice", "a list with the group itself, one target twice", {"num_retries": 0, "fallbacks": [{"m": ["m", "f", "f", "g"]}]}, ["a", F1, ("g", "g")], {"a": 500, "f": 500}, [req("r1")])
vec("fallback", "fallback-cycle-three", "a ring of three dead groups; of three with the last healthy", {"num_retries": 0, "fallbacks": [{"x": ["y"]}, {"y": ["z"]}, {"z": ["x"]}]}, [("a", "x"), ("b", "y"), ("c", "z")], {"a": 500, "b": 500, "c": [500, 200]}, [req("r1", "x"), req("r2", "y")])
vec("fallback", "fallback-default-two", "default_fallbacks of two: in order, and for a fallback itself", {"num_retries": 0, "default_fallbacks": ["f", "g"]}, ["a", F1, ("g", "g")], {"a": 500, "f": 500}, [req("r1"), req("r2", "f"), req("r3", "nope")])
vec("fallback", "fallback-wildcard-group", "a group with stars falls back by the requested name, by the pattern, by default", {"num_retries": 0, "fallbacks": [{"openai/x1": ["f"]}, {"openai/*": ["g"]}]}, [("w", "openai/*", {"model": "openai/*"}), F1, ("g", "g")], {"w": 500}, [req("r1", "openai/x1"), req("r2", "openai/x2")])
vec("fallback", "fallback-retries-in-each-hop", "num_retries 2: 500s in three groups of two", {"num_retries": 2, "cooldown_time": 60, "fallbacks": [{"m": ["f", "g"]}]}, AB + [("f1", "f", H), ("f2", "f", L), ("g1", "g", H), ("g2", "g", L)], {"a": 500, "b": 500, "f1": 500, "f2": 500, "g1": [500, 500, 200]}, [req("r1")])
vec("fallback", "fallback-request-num-retries-travels", "a request's num_retries in the fallback; the fallback's own", {"num_retries": 2, "cooldown_time": 60, **FB}, [("a", "m"), ("f", "f", {"num_retries": 0}), ("n", "n"), ("g", "g")], {"a": 400, "f": [500, 200]}, [req("r1"), req("r2", kw={"num_retries": 1})])
vec("fallback", "fallback-timeout-travels", "a request's timeout in the fallback; the router's", {"timeout": 0.3, "num_retries": 0, **FB}, ["a", F1], {"a": {"latency_ms": 900}, "f": {"latency_ms": 500}}, [req("r1"), req("r2", kw={"timeout": 0.7})])
vec("fallback", "fallback-error-of-unknown-name", "unknown name: no fallbacks; a fallback entry of that name", {"num_retries": 0, "fallbacks": [{"u": ["f"]}]}, ["a", F1], {}, [req("r1", "u"), req("r2", "v")])
vec("fallback", "fallback-group-two-levels-cooling", "m 429 benched, f 429 benched: the walks of the next", {"num_retries": 0, "cooldown_time": 30, "fallbacks": [{"m": ["f", "g"]}]}, AB + [("f1", "f", H), ("f2", "f", L), ("g", "g")], {"a": 429, "f1": 429, "f2": 429}, seq("r", 4, kw={}))

# ---- order
for s in (401, 403, 404, 408, 429, 503):
    vec("order", f"order-{s}-promotes", f"tier 1 answers {s}, num_retries 1: tier 2", {"num_retries": 1, "cooldown_time": 30}, [("a", "m", {"order": 1}), ("c", "m", {"order": 2})], {"a": s}, [req("r1"), req("r2")])
vec("order", "order-two-in-tier-429", "two in tier 1, both 429; one in tier 2", {"num_retries": 2, "cooldown_time": 30}, [("a", "m", {"order": 1}), ("b", "m", {"order": 1}), ("c", "m", {"order": 2})], {"a": 429, "b": 429}, [req("r1"), req("r2")], [["a", "b"]])
vec("order", "order-by-call", "tier 1 dead: stream, embedding, blocking", {"num_retries": 0}, [("a", "m", {"order": 1}), ("c", "m", {"order": 2})], {"a": 500}, [req("r1", stream=True), req("r2", api="embedding"), req("r3", sync=True)])
vec("order", "order-numbers", "orders 0, -1 and 10", {"num_retries": 0, "disable_cooldowns": True}, [("a", "m", {"order": 0}), ("b", "m", {"order": -1}), ("c", "m", {"order": 10})], {"b": [200, 500], "a": [500, 200]}, [req("r1"), req("r2"), req("r3")])
vec("order", "order-weights-in-tier", "weights 3:1 in tier 1, tier 2 heavy", {}, [("a", "m", {"order": 1, "weight": 3}), ("b", "m", {"order": 1, "weight": 1}), ("c", "m", {"order": 2, "weight": 1000})], {}, [burst("f", 150)], opts={**NOCD, "repeats": 2})
vec("order", "order-disable-fallbacks", "disable_fallbacks and max_fallbacks 0: no tiers", {"num_retries": 0, "disable_cooldowns": True}, [("a", "m", {"order": 1}), ("c", "m", {"order": 2})], {"a": 500}, [req("r1", kw={"disable_fallbacks": True}), req("r2"), req("r3", kw={"fallbacks": []}), req("r4", kw={"fallbacks": ["m"]})])
for st, args in (("least-busy", {}), ("latency-based-routing", {}), ("usage-based-routing-v2", {}), ("cost-based-routing", {}), ("usage-based-routing", {})):
    vec("order", f"order-{st}", f"order tiers under {st}", {"routing_strategy": st, "num_retries": 0, "cooldown_time": 30}, [("a", "m", {"order": 2}), ("b", "m", {"order": 1})], {"b": [200, 429]}, [req("r1"), req("r2"), req("r3")])
vec("order", "order-alias-and-fallback-target", "tiers of a group reached by an alias and as a fallback", {"num_retries": 0, "model_group_alias": {"al": "m"}, "fallbacks": [{"n": ["m"]}]}, [("a", "m", {"order": 1}), ("c", "m", {"order": 2}), ("n", "n")], {"a": 500, "n": 500}, [req("r1", "al"), req("r2", "n")])

# ---- weighted failover
for s in (400, 401, 403, 408, 422, 429, 503):
    vec("weighted-failover", f"weighted-failover-{s}-two", f"{s} from a of two, retries 0 and 1", {"enable_weighted_failover": True, "cooldown_time": 30}, AB, {"a": s}, [req("r1", kw=N0), req("r2", kw={"num_retries": 1})])
vec("weighted-failover", "weighted-failover-by-call", "stream, embedding, blocking", {"enable_weighted_failover": True, "num_retries": 0, "disable_cooldowns": True}, ABC, {"a": 500, "b": 500}, [req("r1", stream=True), req("r2", api="embedding"), req("r3", sync=True)])
vec("weighted-failover", "weighted-failover-shares", "weights 6:3:1, the heaviest dead: shares of the rest", {"enable_weighted_failover": True, "num_retries": 0, "disable_cooldowns": True}, [("a", "m", {"weight": 6}), ("b", "m", {"weight": 3}), ("c", "m", {"weight": 1})], {"a": 500}, [burst("f", 100)], opts={**NOCD, "repeats": 2})
vec("weighted-failover", "weighted-failover-max-fallbacks-0", "max_fallbacks 0 and 2", {"enable_weighted_failover": True, "num_retries": 0, "max_fallbacks": 0}, ABC, {"a": 500, "b": 500}, [req("r1")])
vec("weighted-failover", "weighted-failover-lone", "a lone deployment; a fallback", {"enable_weighted_failover": True, "num_retries": 0, **FB}, ["a", F1, ("n", "n")], {"a": 500, "n": 500}, [req("r1"), req("r2", "n")])
vec("weighted-failover", "weighted-failover-no-weights", "no weights, two dead of three", {"enable_weighted_failover": True, "num_retries": 0, "disable_cooldowns": True}, ["a", "b", "c"], {"a": {"shared": "S"}, "b": {"shared": "S"}, "c": {"shared": "S"}}, [req("r1")], [["a", "b", "c"]])
VECTORS[-1][0]["upstream"]["shared"] = {"S": [{"status": 500}, {"status": 500}, {"status": 200}]}
for st in ("latency-based-routing", "usage-based-routing-v2", "cost-based-routing", "usage-based-routing"):
    vec("weighted-failover", f"weighted-failover-{st}", f"enable_weighted_failover under {st}", {"routing_strategy": st, "enable_weighted_failover": True, "num_retries": 0}, ["a", "b"], {"a": 500, "b": 500}, [req("r1")], [["a", "b"]])
vec("weighted-failover", "weighted-failover-in-fallback-group", "failover inside a fallback group", {"enable_weighted_failover": True, "num_retries": 0, **FB}, ["a", ("f1", "f", H), ("f2", "f", L)], {"a": 500, "f1": 500}, [req("r1")])
vec("weighted-failover", "weighted-failover-rate-rule", "six requests over a dead one: benched", {"enable_weighted_failover": True, "num_retries": 0, "cooldown_time": 30}, AB, {"a": 500}, seq("r", 6, kw={}))

# ---- weights
vec("weights", "weights-three-metrics", "weight over rpm over tpm; rpm over tpm", {}, [("a", "w", {"weight": 1, "rpm": 1000}), ("b", "w", {"weight": 3, "rpm": 1}), ("c", "r", {"rpm": 100, "tpm": 1}), ("d", "r", {"rpm": 300, "tpm": 1000000})], {}, [burst("w", 120, "w"), burst("r", 120, "r")], opts={**NOCD, "repeats": 2})
vec("weights", "weights-benched-renormalised", "5:3:2 with the first benched", {"cooldown_time": 60, "num_retries": 0}, [("a", "m", {"weight": 5}), ("b", "m", {"weight": 3}), ("c", "m", {"weight": 2})], {"a": 401}, [burst("warm", 12), burst("f", 120)], opts={**NOCD, "repeats": 2})
vec("weights", "weights-zero-rpm-next", "weights 0 and 0 with rpm 3 and 1; weights 0 and none with tpm", {}, [("a", "w", {"weight": 0, "rpm": 30}), ("b", "w", {"weight": 0, "rpm": 10}), ("c", "r", {"weight": 0, "tpm": 3000}), ("d", "r", {"tpm": 1000})], {}, [burst("w", 120, "w"), burst("r", 120, "r")], opts={**NOCD, "repeats": 2})
vec("weights", "weights-by-call", "weights 4:1 in streams, embeddings, blocking calls, by alias", {"model_group_alias": {"al": "m"}}, [("a", "m", {"weight": 4}), ("b", "m", {"weight": 1})], {}, [burst("s", 60, stream=True), burst("e", 60, api="embedding"), burst("b", 60, sync=True), burst("al", 60, "al")], opts={**NOCD, "repeats": 2})
vec("weights", "weights-fallback-group", "weights 4:1 in a fallback group", {"num_retries": 0, **FB}, ["a", ("f1", "f", {"weight": 4}), ("f2", "f", {"weight": 1})], {"a": 400}, [burst("f", 100)], opts={**NOCD, "repeats": 2})
vec("weights", "weights-model-info-and-top-level", "weight in model_info; rpm at the entry's top", {}, [("a", "m", {}, {"weight": 9}), ("b", "m", {}, {"weight": 1})], {}, [burst("f", 120)], opts={**NOCD, "repeats": 2})
if __name__ == "__main__":
    print(len(VECTORS))
