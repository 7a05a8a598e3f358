"""Definitions of our own vectors (what the given ones leave out). VECTORS = [(vector without facts, recorder options)].

Each is written compactly: deployments as "id" or (id, group, litellm_params, model_info); upstream as {id: [replies]}.
A reply is a status or a map. Weight 1000000 against 1 fixes the first pick.
"""
import json

VECTORS = []
BIG = {"weight": 1000000}
ONE = {"weight": 1}
CTX = {"status": 400, "error": {"code": "context_length_exceeded", "type": "invalid_request_error",
                                "message": "This model's maximum context length is 4097 tokens. However, your messages resulted in 5000 tokens."}}
POL = {"status": 400, "error": {"code": "invalid_prompt", "type": "invalid_request_error",
                                "message": "Invalid prompt: your prompt was flagged as potentially violating our usage policy."}}
N0 = {"num_retries": 0}
MINUTE = {"op": "align", "second_min": 1, "second_max": 45}


def dep(d):
    if isinstance(d, str):
        d = (d, "m")
    e = {"id": d[0], "model_name": d[1], "litellm_params": dict(d[2]) if len(d) > 2 else {}}
    if len(d) > 3:
        e["model_info"] = dict(d[3])
    return e


def req(id, model=None, kw=None, **more):
    s = {"op": "request", "id": id}
    if model:
        s["model"] = model
    if kw is not None:
        s["kwargs"] = kw
    s.update(more)
    return s


def seq(prefix, n, model=None, kw=N0, **more):
    return [req(f"{prefix}{i + 1}", model, kw, **more) for i in range(n)]


def burst(id, count, model=None, kw=None, **more):
    s = {"op": "burst", "id": id, "count": count}
    if model:
        s["model"] = model
    if kw is not None:
        s["kwargs"] = kw
    s.update(more)
    return s


def batch(id, requests):
    return {"op": "batch", "id": id, "requests": [{k: v for k, v in r.items() if k != "op"} for r in requests]}


def sleep(ms):
    return {"op": "sleep", "ms": ms}


def vec(category, name, title, router, deployments, upstream, client, symmetric=None, opts=None, **config):
    scripts = {}
    for k, r in upstream.items():
        if isinstance(r, dict) and ("replies" in r or "by_time" in r or "shared" in r):
            scripts[k] = r
        else:
            scripts[k] = {"replies": [{"status": x} if isinstance(x, int) else x for x in (r if isinstance(r, list) else [r])]}
    v = {"schema": "router-vector/1", "name": name, "category": category, "title": title, "set": "own",
         "config": {"router": router, "deployments": [dep(d) for d in deployments], **config},
         "upstream": {"deployments": scripts}, "client": client}
    if symmetric:
        v["symmetric"] = symmetric
    VECTORS.append((json.loads(json.dumps(v)), {"at_once": 5, **(opts or {})}))


AB = [("a", "m", BIG), ("b", "m", ONE)]
NOCD = {"cooldowns": False}

# ---- status: what the given ones show only lone or only with two
for st in (403, 408, 409, 503, 504):
    vec("status", f"status-{st}-single", f"Upstream {st} from a lone deployment", {"cooldown_time": 1}, ["a"], {"a": st},
        [req("r1"), req("r2", kw=N0), sleep(1100), req("r3", kw=N0)])
for st in (404, 422, 504, 529):
    vec("status", f"status-{st}-two", f"Upstream {st} from a (b healthy, a preferred)", {"cooldown_time": 1}, AB, {"a": st, "b": 200},
        [req("r1"), req("r2", kw=N0), sleep(1100), req("r3", kw=N0)])
U = (402, 405, 410, 424, 425, 451, 505, 599)
vec("status", "status-uncommon-single", "Upstream 402, 405, 410, 424, 425, 451, 505, 599 from lone deployments", {"cooldown_time": 30},
    [(f"a{s}", f"m{s}") for s in U], {f"a{s}": s for s in U}, [req(f"r{s}", f"m{s}", N0) for s in U] + [req(f"again{s}", f"m{s}", N0) for s in (402, 505)])
vec("status", "status-401-three", "Upstream 401 from all of three: each tried once", {"cooldown_time": 1, "num_retries": 5}, ["a", "b", "c"],
    {"a": 401, "b": 401, "c": 401}, [req("r1"), req("r2")], [["a", "b", "c"]])
vec("status", "status-429-three", "Upstream 429 from a and b of three, num_retries 1 and 2", {"cooldown_time": 1},
    [("a", "m", {"weight": 1e12}), ("b", "m", {"weight": 1e6}), ("c", "m", ONE)], {"a": 429, "b": 429}, [req("r1", kw={"num_retries": 1}), sleep(1200), req("r2")])
vec("status", "fault-connection-reset-two", "a drops the connection, b healthy", {"cooldown_time": 1}, AB, {"a": {"reset": True}, "b": 200}, [req("r1"), req("r2", kw=N0)])
vec("status", "fault-hang-two", "a never answers (router timeout 0.3), b healthy", {"timeout": 0.3, "cooldown_time": 1}, AB, {"a": {"hang": True}, "b": 200},
    [req("r1", kw={"num_retries": 1}), req("r2", kw=N0)])
vec("status", "status-429-rate-limit-body", "400 whose text speaks of a rate limit; 500 whose text says too many tokens; 429 with a context-length body", {"cooldown_time": 5},
    [(f"{d}{g}", g, p) for g in ("g1", "g2", "g3") for d, p in (("a", BIG), ("b", ONE))],
    {"ag1": {"status": 400, "error": {"message": "Rate limit reached for requests"}}, "ag2": {"status": 500, "error": {"message": "Request too large for model"}},
     "ag3": {**CTX, "status": 429}}, [req("r1", "g1"), req("r2", "g2"), req("r3", "g3")])

# ---- ladder, waits
vec("ladder", "ladder-single-429-then-ok", "Lone deployment 429 twice then 200", {}, ["a"], {"a": [429, 429, 200]}, [req("r1")])
vec("ladder", "ladder-mixed-500-then-429", "a: 500 then 429; b healthy", {"cooldown_time": 1}, AB, {"a": [500, 429, 200], "b": 200}, [req("r1")])
vec("ladder", "ladder-mixed-429-then-400", "a 429, b 400: what the retry does with another class", {"cooldown_time": 1}, AB, {"a": 429, "b": 400}, [req("r1")])
vec("ladder", "ladder-mixed-401-then-500", "a 401, then lone-left b 500 500 200", {"cooldown_time": 5}, AB, {"a": 401, "b": [500, 500, 200]}, [req("r1", kw={"num_retries": 3})])
vec("ladder", "ladder-stream-429", "stream=True: 429 on a, b streams", {"cooldown_time": 1}, AB, {"a": 429, "b": 200}, [req("r1", stream=True), req("r2", stream=True)])
vec("ladder", "ladder-embedding-500-single", "aembedding: lone deployment 500 then 200", {}, ["a"], {"a": [500, 200]}, [req("r1", api="embedding", kw={"num_retries": 1})])
vec("ladder", "ladder-recovery-by-time", "a is 429 for 1.5 s then healthy (cooldown 1 s)", {"cooldown_time": 1}, AB,
    {"a": {"by_time": [{"until_ms": 1500, "status": 429}, {"status": 200}]}, "b": 200}, [req("r1"), {"op": "at", "ms": 1350}, req("r2"), {"op": "at", "ms": 2800}, req("r3")])
vec("retry-after", "retry-after-wait-other-status", "Retry-After 1 on 500, 503, 408, 409, 403: wait on lone deployments (all at once)", {"num_retries": 1},
    [(f"a{s}", f"m{s}") for s in (500, 503, 408, 409, 403)], {f"a{s}": [{"status": s, "headers": {"Retry-After": "1"}}, 200] for s in (500, 503, 408, 409, 403)},
    [batch("b", [req(f"r{s}", f"m{s}") for s in (500, 503, 408, 409, 403)])])
vec("retry-after", "retry-after-cooldown-http-date", "Retry-After as HTTP dates +30, -30 on 429: length of the cooldown (router 5)", {"cooldown_time": 5},
    [(f"{d}{g}", g, p) for g in ("p30", "m30") for d, p in (("a", BIG), ("b", ONE))],
    {"ap30": {"status": 429, "headers": {"Retry-After": "{http_date:+30}"}}, "am30": {"status": 429, "headers": {"Retry-After": "{http_date:-30}"}}}, [req("p30", "p30"), req("m30", "m30")])
vec("retry-after", "retry-after-deployment-cooldown-time", "deployment cooldown_time 3 against Retry-After 20; and 0 against none", {"cooldown_time": 5},
    [("a", "m", {**BIG, "cooldown_time": 3}), ("b", "m", ONE), ("c", "n", {**BIG, "cooldown_time": 0}), ("d", "n", ONE)],
    {"a": {"status": 429, "headers": {"Retry-After": "20"}}, "c": 429}, [req("r1"), req("r2", "n")])
vec("retry-after", "retry-after-two-429", "two deployments, a 429 with Retry-After 2, b healthy: instant", {}, AB, {"a": {"status": 429, "headers": {"Retry-After": "2"}}}, [req("r1"), req("r2")])
vec("retry-after-setting", "retry-after-setting-cap", "router retry_after 3 against the curve, 2 retries; lone", {"retry_after": 3, "num_retries": 1}, ["a"], {"a": [500, 200]}, [req("r1")])
vec("retry-after-setting", "retry-after-setting-above-cap", "router retry_after 12 (cap 8)", {"retry_after": 12, "num_retries": 1}, ["a"], {"a": [503, 200]}, [req("r1")], opts={"repeats": 3})

# ---- cooldown, allowed fails
vec("cooldown-time", "cooldown-time-model-info", "cooldown_time 2 in model_info, 4 in litellm_params, router 9", {"cooldown_time": 9},
    [("a", "m", BIG, {"cooldown_time": 2}), ("b", "m", ONE), ("c", "n", {**BIG, "cooldown_time": 4}, {"cooldown_time": 2}), ("d", "n", ONE)], {"a": 429, "c": 429}, [req("r1"), req("r2", "n")])
vec("cooldown-time", "cooldown-refail-by-id-while-cooled", "a cooled 2 s, called by id at 1 s (429 again): when does it return", {"cooldown_time": 2}, AB, {"a": [429, 429, 200], "b": 200},
    [req("r1"), {"op": "at", "ms": 1000}, req("r2", "a", N0), {"op": "at", "ms": 2400}, req("r3", kw=N0), {"op": "at", "ms": 3300}, req("r4", kw=N0)])
vec("failure-rate", "failure-rate-after-recovery", "tripped at 5, cooldown 1 s, then one more failure in the window", {"cooldown_time": 1}, AB, {"a": 500, "b": 200},
    [MINUTE] + seq("r", 5) + [sleep(1200), req("r6", kw=N0), req("r7", kw=N0)])
vec("failure-rate", "failure-rate-alternating", "500, ok, 500, ok ... : exactly half never trips", {"cooldown_time": 20}, AB, {"a": [500, 200] * 5, "b": 200}, [MINUTE] + seq("r", 10))
vec("failure-rate", "failure-rate-400-then-500", "four 400 and one 500", {"cooldown_time": 20}, AB, {"a": [400, 400, 400, 400, 500], "b": 200}, [MINUTE] + seq("r", 6))
vec("failure-rate", "failure-rate-retries-count", "num_retries 4 on a dead a: tripped inside one request", {"cooldown_time": 20}, AB, {"a": 500, "b": 200}, [MINUTE, req("r1", kw={"num_retries": 6}), req("r2")])
vec("failure-rate", "failure-rate-three-deployments-503", "three deployments, a 503 five times", {"cooldown_time": 20}, [("a", "m", BIG), ("b", "m", ONE), ("c", "m", {"weight": 0})], {"a": 503}, [MINUTE] + seq("r", 6))
vec("allowed-fails", "allowed-fails-2-mixed-statuses", "router allowed_fails 2: 429, 500, 401", {"allowed_fails": 2, "cooldown_time": 20}, AB, {"a": [429, 500, 401], "b": 200}, [MINUTE] + seq("r", 4))
vec("allowed-fails", "allowed-fails-3-with-500", "router allowed_fails 3 (the default) and 500s", {"allowed_fails": 3, "cooldown_time": 20}, AB, {"a": 500, "b": 200}, [MINUTE] + seq("r", 6))
vec("allowed-fails", "allowed-fails-1-single-500-with-fallback", "allowed_fails 1, lone deployment with and without a fallback", {"allowed_fails": 1, "cooldown_time": 20, "fallbacks": [{"m": ["f"]}]},
    ["a", ("f", "f"), ("n", "n")], {"a": 500, "n": 500}, [MINUTE] + seq("r", 4) + seq("n", 4, "n"))
vec("allowed-fails", "allowed-fails-after-trip", "allowed_fails 1, cooldown 1 s: after the trip, how many more", {"allowed_fails": 1, "cooldown_time": 1}, AB, {"a": 500, "b": 200},
    [MINUTE] + seq("r", 3) + [sleep(1200)] + seq("s", 3) + [sleep(1200)] + seq("t", 2))
vec("allowed-fails", "allowed-fails-model-info-levels", "model_info.allowed_fails 0, 1 and 2 with router allowed_fails 5", {"allowed_fails": 5, "cooldown_time": 20},
    [(f"{d}{n}", f"m{n}", p, {"allowed_fails": n} if d == "a" else {}) for n in (0, 1, 2) for d, p in (("a", BIG), ("b", ONE))], {f"a{n}": 500 for n in (0, 1, 2)},
    [MINUTE] + [r for n in (0, 1, 2) for r in seq(f"m{n}-", 4, f"m{n}")])
PF = {"AuthenticationErrorAllowedFails": 401, "TimeoutErrorAllowedFails": 408, "RateLimitErrorAllowedFails": 429, "InternalServerErrorAllowedFails": 500,
      "ServiceUnavailableErrorAllowedFails": 503, "BadGatewayErrorAllowedFails": 502, "NotFoundErrorAllowedFails": 404, "BadRequestErrorAllowedFails": 400}
vec("allowed-fails-policy", "allowed-fails-policy-each-1-single", "AllowedFailsPolicy with every field 1, lone deployments, no fallback", {"allowed_fails_policy": {k: 1 for k in PF}, "cooldown_time": 30},
    [(f"a{s}", f"m{s}") for s in PF.values()], {f"a{s}": s for s in PF.values()}, [MINUTE] + [r for s in PF.values() for r in seq(f"m{s}-", 3, f"m{s}")])
vec("allowed-fails-policy", "allowed-fails-policy-model-info-each-0", "model_info.allowed_fails_policy with every field 0, two deployments", {"cooldown_time": 30},
    [(f"{d}{s}", f"m{s}", p, {"allowed_fails_policy": {k: 0 for k in PF}} if d == "a" else {}) for s in PF.values() for d, p in (("a", BIG), ("b", ONE))],
    {f"a{s}": s for s in PF.values()}, [MINUTE] + [r for s in PF.values() for r in seq(f"m{s}-", 2, f"m{s}")])
vec("allowed-fails-policy", "allowed-fails-policy-other-exception", "policy RateLimit=1 only: 500s, 401s, 404s, 403s on other deployments", {"allowed_fails_policy": {"RateLimitErrorAllowedFails": 1}, "cooldown_time": 30},
    [(f"{d}{s}", f"m{s}", p) for s in (500, 401, 404, 403, 429) for d, p in (("a", BIG), ("b", ONE))], {f"a{s}": s for s in (500, 401, 404, 403, 429)},
    [MINUTE] + [r for s in (500, 401, 404, 403, 429) for r in seq(f"m{s}-", 6, f"m{s}")], opts={"repeats": 3})
vec("allowed-fails-policy", "allowed-fails-policy-single-with-fallback", "policy RateLimit=1, lone deployment with a fallback", {"allowed_fails_policy": {"RateLimitErrorAllowedFails": 1}, "cooldown_time": 20, "fallbacks": [{"m": ["f"]}]},
    ["a", ("f", "f")], {"a": 429}, [MINUTE] + seq("r", 4))

# ---- retries
RP = {"BadRequestErrorRetries": 400, "AuthenticationErrorRetries": 401, "TimeoutErrorRetries": 408, "RateLimitErrorRetries": 429, "InternalServerErrorRetries": 500,
      "ServiceUnavailableErrorRetries": 503, "NotFoundErrorRetries": 404}
S2 = (400, 401, 403, 404, 408, 409, 422, 429, 500, 502, 503, 504)
vec("retry-policy", "retry-policy-each-1", "RetryPolicy with every field at 1 (router num_retries 0), lone deployments, all at once", {"num_retries": 0, "retry_policy": {k: 1 for k in RP}, "disable_cooldowns": True},
    [(f"a{s}", f"m{s}") for s in S2], {f"a{s}": s for s in S2}, [batch("b", [req(f"r{s}", f"m{s}") for s in S2])])
vec("retry-policy", "retry-policy-cooled-401", "RetryPolicy Authentication=2 on a lone deployment that cools", {"retry_policy": {"AuthenticationErrorRetries": 2}, "cooldown_time": 30}, ["a"], {"a": 401}, [req("r1")])
vec("retry-policy", "retry-policy-context-window", "RetryPolicy BadRequest=1 and a context-window error; ContentPolicy unset and a policy error", {"retry_policy": {"BadRequestErrorRetries": 1}, "disable_cooldowns": True},
    [("a", "m"), ("p", "n")], {"a": CTX, "p": POL}, [batch("b", [req("r1"), req("r2", "n")])])
vec("retry-policy", "retry-policy-two-deployments-500", "RetryPolicy InternalServer=1 over num_retries 3, two deployments", {"num_retries": 3, "retry_policy": {"InternalServerErrorRetries": 1}}, AB, {"a": 500, "b": 200}, [req("r1")])
vec("retry-policy", "retry-policy-fallback-hop", "RetryPolicy RateLimit=1: applied in the fallback group too", {"num_retries": 0, "retry_policy": {"RateLimitErrorRetries": 1}, "fallbacks": [{"m": ["f"]}]}, ["a", ("f", "f")], {"a": 500, "f": [429, 200]}, [req("r1")])
vec("num-retries", "num-retries-request-0-over-deployment-2", "request 0 over deployment 2; and router 0 with deployment 1", {"num_retries": 0}, [("a", "m", {"num_retries": 2}), ("b", "m", {"num_retries": 2}), ("c", "n", {"num_retries": 1}), ("d", "n", {"num_retries": 1})],
    {"a": 403, "b": 403, "c": 403, "d": 403}, [req("r1", kw=N0), req("r2", "n")], [["a", "b"], ["c", "d"]])
vec("num-retries", "num-retries-global-over-router", "litellm.num_retries 1 against Router(num_retries 3), and a request 2", {"num_retries": 3}, ["a", "b"], {"a": 403, "b": 403}, [req("r1"), req("r2", kw={"num_retries": 2})], [["a", "b"]], globals={"num_retries": 1})
vec("num-retries", "num-retries-mixed-deployments", "deployment num_retries 1 on a (403), none on b (403): which count holds", {"num_retries": 3}, [("a", "m", {**BIG, "num_retries": 1}), ("b", "m", ONE)], {"a": 403, "b": 403}, [req("r1")])
vec("num-retries", "num-retries-sync", "sync call with num_retries 1 on 403s", {}, ["a"], {"a": [403, 200]}, [req("r1", kw={"num_retries": 1}, sync=True)])

# ---- fallbacks
F3 = [("a", "m"), ("b", "f1"), ("c", "f2")]
vec("fallback", "fallback-cycle-two", "m -> f, f -> m, both dead", {"fallbacks": [{"m": ["f"]}, {"f": ["m"]}]}, ["a", ("f", "f")], {"a": 500, "f": 500}, [req("r1", kw=N0)])
vec("fallback", "fallback-mesh-three", "three groups, each falls back to the other two, all dead", {"fallbacks": [{"m": ["f1", "f2"]}, {"f1": ["m", "f2"]}, {"f2": ["m", "f1"]}]}, F3, {"a": 500, "b": 500, "c": 500}, [req("r1", kw=N0)])
vec("fallback", "fallback-default-three-all-dead", "default_fallbacks of three, all dead", {"default_fallbacks": ["f1", "f2", "f3"]}, F3 + [("d", "f3")], {k: 500 for k in "abcd"}, [req("r1", kw=N0)])
vec("fallback", "fallback-specific-then-default", "specific f1 (dead), default d: is the default used after it", {"fallbacks": [{"m": ["f1"]}], "default_fallbacks": ["d"]}, [("a", "m"), ("b", "f1"), ("d", "d")], {"a": 500, "b": 500}, [req("r1", kw=N0), req("r2", "f1", N0)])
vec("fallback", "fallback-request-level", "request fallbacks: [] disables; a list of names; a mapping; disable_fallbacks", {"fallbacks": [{"m": ["f1"]}]}, F3, {"a": 500},
    [req("empty", kw={**N0, "fallbacks": []}), req("names", kw={**N0, "fallbacks": ["f2"]}), req("map", kw={**N0, "fallbacks": [{"m": ["f2"]}]}), req("othermap", kw={**N0, "fallbacks": [{"zz": ["f2"]}]}), req("off", kw={**N0, "disable_fallbacks": True})])
vec("fallback", "fallback-client-dict", "client-side fallback as maps with a model", {}, F3, {"a": 500, "b": 500}, [req("r1", kw={**N0, "fallbacks": [{"model": "f1"}, {"model": "f2"}]})])
vec("fallback", "fallback-client-names-all-dead", "client-side list of two, all dead", {}, F3, {"a": 500, "b": 503, "c": 502}, [req("r1", kw={**N0, "fallbacks": ["f1", "f2"]})])
vec("fallback", "fallback-target-deployment-id", "fallback target is a deployment id, also while cooled", {"fallbacks": [{"m": ["x1"]}], "cooldown_time": 5}, ["a", ("x1", "x"), ("x2", "x")], {"a": 500, "x1": [429, 200]}, [req("r1", kw=N0), req("r2", kw=N0)])
vec("fallback", "fallback-self", "m falls back to itself, then f", {"fallbacks": [{"m": ["m", "f"]}]}, ["a", ("f", "f")], {"a": 500}, [req("r1", kw=N0)])
vec("fallback", "fallback-max-fallbacks-0", "max_fallbacks 0", {"max_fallbacks": 0, "fallbacks": [{"m": ["f"]}]}, ["a", ("f", "f")], {"a": 500}, [req("r1", kw=N0)])
vec("fallback", "fallback-context-window-default", "context window error with only default_fallbacks; with context_window_fallbacks of another group", {"default_fallbacks": ["g"], "context_window_fallbacks": [{"z": ["g"]}]}, [("a", "m"), ("g", "g"), ("z", "z")], {"a": CTX, "z": CTX}, [req("r1"), req("r2", "z")])
vec("fallback", "fallback-content-policy-generic-only", "content policy error with generic fallbacks only; and none", {"fallbacks": [{"m": ["g"]}]}, [("a", "m"), ("g", "g"), ("n", "n")], {"a": POL, "n": POL}, [req("r1"), req("r2", "n")])
vec("fallback", "fallback-content-policy-other-group", "content_policy_fallbacks name another group, generic names m", {"fallbacks": [{"m": ["g"]}], "content_policy_fallbacks": [{"z": ["g"]}]}, [("a", "m"), ("g", "g")], {"a": POL}, [req("r1")])
vec("fallback", "fallback-context-window-list", "context_window_fallbacks of two, the first also too small", {"context_window_fallbacks": [{"m": ["f1", "f2"]}]}, F3, {"a": CTX, "b": CTX}, [req("r1")])
vec("fallback", "fallback-429-two-benched", "both of m answer 429, fallbacks set, num_retries 2: stops early", {"fallbacks": [{"m": ["f"]}], "cooldown_time": 3}, [("a", "m", BIG), ("b", "m", ONE), ("f", "f")], {"a": 429, "b": 429}, [req("r1"), req("r2")])
vec("fallback", "fallback-429-single-retries-first", "lone 429 with a fallback: retries with waits first", {"fallbacks": [{"m": ["f"]}], "num_retries": 1}, ["a", ("f", "f")], {"a": 429}, [req("r1")])
vec("fallback", "fallback-sync", "sync completion: m dead, f", {"fallbacks": [{"m": ["f"]}]}, ["a", ("f", "f")], {"a": 500}, [req("r1", kw=N0, sync=True)])
vec("fallback", "fallback-embedding", "aembedding: m dead, f", {"fallbacks": [{"m": ["f"]}]}, ["a", ("f", "f")], {"a": 500}, [req("r1", kw=N0, api="embedding")])
vec("fallback", "fallback-unknown-model-list", "unknown model with a specific entry in fallbacks", {"fallbacks": [{"nope": ["f"]}]}, ["a", ("f", "f")], {}, [req("r1", "nope"), req("r2", "other")])
vec("fallback", "fallback-stream-break-first", "stream breaks / error event before the first chunk (break_after 0), fallback f", {"fallbacks": [{"m": ["f"]}, {"n": ["f"]}]}, ["a", ("f", "f"), ("n", "n")],
    {"a": {"chunks": 3, "break_after": 0}, "n": {"chunks": 3, "break_after": 0, "break_kind": "error_event"}}, [req("r1", kw=N0, stream=True), req("r2", "n", N0, stream=True)])
vec("fallback", "fallback-stream-mid-error-no-fallback", "error event after 2 chunks, no fallbacks, two deployments", {"cooldown_time": 5}, AB, {"a": {"chunks": 4, "break_after": 2, "break_kind": "error_event"}}, [req("r1", stream=True), req("r2", kw=N0, stream=True)])
vec("fallback", "fallback-stream-mid-429-event", "error event with code 429 after 1 chunk, fallback f", {"fallbacks": [{"m": ["f"]}], "cooldown_time": 5}, ["a", ("f", "f")],
    {"a": {"chunks": 4, "break_after": 1, "break_kind": "error_event", "error": {"code": 429, "type": "rate_limit_error", "message": "Rate limit reached"}}}, [req("r1", kw=N0, stream=True)])

# ---- order, weighted failover, weights
O3 = [("a", "m", {"order": 1}), ("b", "m", {"order": 2}), ("c", "m", {"order": 3})]
vec("order", "order-500-promotes-after-retries", "tier 1 500, num_retries 2, two tiers", {}, O3[:2], {"a": 500}, [req("r1")])
vec("order", "order-three-tiers-all-dead", "three dead tiers, num_retries 0, no fallback", {}, O3, {"a": 500, "b": 503, "c": 502}, [req("r1", kw=N0)])
vec("order", "order-max-fallbacks-1", "three dead tiers and max_fallbacks 1, 0", {"max_fallbacks": 1}, O3, {"a": 500, "b": 503, "c": 502}, [req("r1", kw=N0), req("r2", kw={**N0, "disable_fallbacks": True})])
vec("order", "order-model-info", "order in model_info", {}, [("a", "m", {}, {"order": 2}), ("b", "m", {}, {"order": 1})], {}, [burst("f", 10)], opts=NOCD)
vec("order", "order-leak-into-fallback", "tiers dead, fallback group with its own tiers 1 and 2", {"fallbacks": [{"m": ["f"]}]}, O3[:2] + [("f1", "f", {"order": 1}), ("f2", "f", {"order": 2})], {"a": 500, "b": 500}, [req("r1", kw=N0)])
vec("order", "order-content-policy-error", "tier 1 content policy error", {}, O3[:2], {"a": POL}, [req("r1", kw=N0)])
vec("order", "order-all-benched-tier-then-dead", "tier 1 of two benched by 429 one after another, tier 2", {"cooldown_time": 2}, [("a", "m", {"order": 1, "weight": 1000000}), ("b", "m", {"order": 1, "weight": 1}), ("c", "m", {"order": 2, "weight": 1})], {"a": 429, "b": 429}, [req("r1"), req("r2")])
vec("weighted-failover", "weighted-failover-retries", "num_retries 1: attempts per member", {"enable_weighted_failover": True}, AB, {"a": 500, "b": 500}, [req("r1", kw={"num_retries": 1})])
vec("weighted-failover", "weighted-failover-max-fallbacks-1", "max_fallbacks 1 with three members", {"enable_weighted_failover": True, "max_fallbacks": 1}, [("a", "m", {"weight": 1e12}), ("b", "m", {"weight": 1e6}), ("c", "m", ONE)], {"a": 500, "b": 500, "c": 500}, [req("r1", kw=N0), req("r2", kw={**N0, "disable_fallbacks": True})])
vec("weighted-failover", "weighted-failover-429", "429 on a (benched) then 500 on b, c ok", {"enable_weighted_failover": True, "cooldown_time": 3}, [("a", "m", {"weight": 1e12}), ("b", "m", {"weight": 1e6}), ("c", "m", ONE)], {"a": 429, "b": 500}, [req("r1", kw=N0), req("r2", kw=N0)])
vec("weighted-failover", "weighted-failover-stream-open", "stream fails at open", {"enable_weighted_failover": True}, AB, {"a": 500}, [req("r1", kw=N0, stream=True)])
vec("weights", "weights-one-benched", "weights 5:3:2 with the first benched: renormalised", {"cooldown_time": 30}, [("a", "m", {"weight": 1e9}), ("b", "m", {"weight": 3}), ("c", "m", {"weight": 2})], {"a": 429}, [req("r1"), burst("f", 100)], opts=NOCD)
vec("weights", "weights-mixed-metrics", "weight on one, rpm on the other (both orders)", {}, [("w1", "p", {"weight": 1}), ("r1", "p", {"rpm": 30}), ("r2", "q", {"rpm": 30}), ("w2", "q", {"weight": 1})], {}, [burst("p", 60, "p"), burst("q", 60, "q")], opts=NOCD)

# ---- strategies
LB = {"routing_strategy": "least-busy"}
vec("least-busy", "least-busy-stream-abandoned-none", "least-busy with streams: a busy while streaming", LB, ["a", "b"], {"a": [{"chunks": 6, "chunk_ms": 150}], "b": [{"chunks": 6, "chunk_ms": 150}]},
    [batch("b", [req(f"q{i}", stream=True, delay_ms=100 * i) for i in range(1, 5)])], [["a", "b"]])
vec("least-busy", "least-busy-failures-return", "least-busy: a fails (500) not cooled, all retries", LB, ["a", "b"], {"a": 500}, [req("r1", kw={"num_retries": 2}), req("r2", kw=N0)])
vec("least-busy", "least-busy-least-cooled", "least-busy: a (idle) benched, b busy, c idle", {**LB, "cooldown_time": 10}, ["a", "b", "c"], {"a": 429, "b": [{"latency_ms": 700}], "c": [{"latency_ms": 20}]},
    [req("r1"), batch("b", [req(f"q{i}", delay_ms=120 * i) for i in range(1, 5)])])
LAT = {"routing_strategy": "latency-based-routing"}
vec("latency", "latency-embedding", "latency-based on embeddings: a 20 ms, b 250 ms", LAT, ["a", "b"], {"a": {"latency_ms": 20}, "b": {"latency_ms": 250}}, [burst("warm", 6, api="embedding", gap_ms=30), burst("f", 12, api="embedding", gap_ms=30)], opts={**NOCD, "at_once": 2})
vec("latency", "latency-buffer-wide", "lowest_latency_buffer 20: everyone eligible once measured", {**LAT, "routing_strategy_args": {"lowest_latency_buffer": 20}}, ["a", "b"], {"a": {"latency_ms": 50}, "b": {"latency_ms": 200}}, [burst("warm", 8, gap_ms=30), burst("f", 20, gap_ms=5)], opts={**NOCD, "at_once": 2})
vec("latency", "latency-failure-unseen", "latency-based: a fails 500 fast (num_retries 0), b 100 ms", LAT, ["a", "b"], {"a": 500, "b": {"latency_ms": 100}}, [burst("f", 8, kw=N0, gap_ms=30)], opts={**NOCD, "at_once": 2})
vec("latency", "latency-tpm-limit", "latency-based with tpm 40 on the fast one (15 tokens per call)", LAT, [("a", "m", {"tpm": 40}), "b"], {"a": {"latency_ms": 20}, "b": {"latency_ms": 200}}, [MINUTE, burst("f", 10, kw=N0, gap_ms=30)], opts={**NOCD, "at_once": 2})
for ver, strat in (("v1", "usage-based-routing"), ("v2", "usage-based-routing-v2")):
    vec("usage", f"usage-{ver}-rpm-exact", f"usage {ver}: rpm 1, 2, 3 on lone deployments, sequential", {"routing_strategy": strat}, [("a1", "m1", {"rpm": 1}), ("a2", "m2", {"rpm": 2}), ("a3", "m3", {"rpm": 3})], {},
        [MINUTE] + [r for n in (1, 2, 3) for r in seq(f"m{n}-", 4, f"m{n}")])
    vec("usage", f"usage-{ver}-two-limits", f"usage {ver}: two deployments with rpm 2, six calls", {"routing_strategy": strat}, [("a", "m", {"rpm": 2}), ("b", "m", {"rpm": 2})], {}, [MINUTE] + [x for r in seq("r", 6) for x in (r, sleep(60))], [["a", "b"]])
    vec("usage", f"usage-{ver}-failures", f"usage {ver}: a fails 500 without tokens: picked again", {"routing_strategy": strat}, ["a", "b"], {"a": 500}, [MINUTE, burst("f", 8, kw=N0, gap_ms=30)], opts=NOCD)
vec("usage", "enforce-model-rate-limits-two", "enforce_model_rate_limits: two deployments rpm 1 each", {"optional_pre_call_checks": ["enforce_model_rate_limits"], "cooldown_time": 5}, [("a", "m", {**BIG, "rpm": 1}), ("b", "m", {**ONE, "rpm": 1})], {}, [MINUTE] + seq("r", 4, kw={}))
vec("usage", "enforce-model-rate-limits-tpm", "enforce_model_rate_limits: tpm 20, 15 tokens a call", {"optional_pre_call_checks": ["enforce_model_rate_limits"]}, [("a", "m", {"tpm": 20})], {}, [MINUTE] + [x for r in seq("r", 4) for x in (r, sleep(60))])
vec("cost", "cost-rpm-limit", "cheapest with rpm 2, next", {"routing_strategy": "cost-based-routing"}, [("a", "m", {"input_cost_per_token": 1e-6, "output_cost_per_token": 1e-6, "rpm": 2}), ("b", "m", {"input_cost_per_token": 5e-6, "output_cost_per_token": 5e-6})], {}, [MINUTE, burst("f", 6, gap_ms=40)], opts=NOCD)
vec("cost", "cost-partial-and-model-info", "only input price set; prices only in model_info", {"routing_strategy": "cost-based-routing"}, [("pa", "p", {"input_cost_per_token": 1e-6}), ("pb", "p", {"input_cost_per_token": 1, "output_cost_per_token": 1}), ("qa", "q"), ("qb", "q", {}, {"input_cost_per_token": 1e-9, "output_cost_per_token": 1e-9})], {}, [burst("p", 5, "p"), burst("q", 5, "q")], opts=NOCD)
vec("cost", "cost-sync", "sync call under cost-based-routing", {"routing_strategy": "cost-based-routing"}, [("a", "m", {"input_cost_per_token": 1e-6, "output_cost_per_token": 1e-6})], {}, [req("r1", kw=N0, sync=True)])

# ---- admission
vec("max-parallel", "max-parallel-stream", "max_parallel 1: two streams overlap?", {}, [("a", "m", {"max_parallel_requests": 1})], {"a": {"chunks": 4, "chunk_ms": 100}}, [batch("b", [req("q1", kw=N0, stream=True, delay_ms=20), req("q2", kw=N0, stream=True, delay_ms=120)])])
vec("max-parallel", "max-parallel-retry-gets-slot", "max_parallel 1, lone, num_retries 2, the first takes 400 ms", {}, [("a", "m", {"max_parallel_requests": 1})], {"a": {"latency_ms": 400}}, [batch("b", [req("q1", delay_ms=20), req("q2", delay_ms=60)])])
vec("max-parallel", "max-parallel-fallback", "max_parallel 1 full, fallback f", {"fallbacks": [{"m": ["f"]}]}, [("a", "m", {"max_parallel_requests": 1}), ("f", "f")], {"a": {"latency_ms": 300}}, [batch("b", [req("q1", kw=N0, delay_ms=20), req("q2", kw=N0, delay_ms=80)])])
vec("max-parallel", "max-parallel-zero", "max_parallel 0: no limit", {}, [("a", "m", {"max_parallel_requests": 0})], {"a": {"latency_ms": 200}}, [batch("b", [req(f"q{i}", kw=N0) for i in range(3)])])
vec("max-parallel", "max-parallel-queue-order", "1.92 queue of three behind one slot: order of service", {}, [("a", "m", {"max_parallel_requests": 1})], {"a": {"latency_ms": 150}}, [batch("b", [req(f"q{i}", kw=N0, delay_ms=30 * i) for i in range(1, 5)])])
vec("precall", "precall-context-window-one-fits", "of two only b takes the prompt; default pick is a", {"enable_pre_call_checks": True}, [("a", "m", BIG, {"max_input_tokens": 50}), ("b", "m", ONE, {"max_input_tokens": 1000})], {}, [req("r1", words=200), req("r2", words=5)])
vec("precall", "precall-off", "max_input_tokens without enable_pre_call_checks", {}, [("a", "m", {}, {"max_input_tokens": 50})], {}, [req("r1", words=200)])
vec("precall", "precall-region-and-window", "region eu only on a too small deployment", {"enable_pre_call_checks": True}, [("a", "m", {"region_name": "eu"}, {"max_input_tokens": 50}), ("b", "m", {"region_name": "us"})], {}, [req("r1", words=200, kw={**N0, "allowed_model_region": "eu"})])
SA = {"optional_pre_call_checks": ["session_affinity"]}
S = {"metadata": {"session_id": "s"}}
vec("affinity", "affinity-pin-cooldown-return", "pinned a answers 429 once: session during and after the cooldown (1 s)", {**SA, "cooldown_time": 1}, ["a", "b"], {"a": {"by_time": [{"until_ms": 100, "status": 200}, {"until_ms": 700, "status": 429}, {"status": 200}]}, "b": {"by_time": [{"until_ms": 100, "status": 200}, {"until_ms": 700, "status": 429}, {"status": 200}]}},
    [req("r1", kw=S), {"op": "at", "ms": 300}, req("r2", kw={**S, **N0}), {"op": "at", "ms": 750}, req("r3", kw={**S, **N0}), {"op": "at", "ms": 1900}, req("r4", kw=S), req("r5", kw=S)], [["a", "b"]])
vec("affinity", "affinity-500-retries-stay", "pinned deployment fails 500: retries stay on it", SA, ["a", "b", "c", "d"], {x: [200, 500, 500, 200] for x in "abcd"}, [req("r1", kw=S), req("r2", kw={**S, "num_retries": 2})], [["a", "b", "c", "d"]])
vec("affinity", "affinity-off", "session id without the check: spread", {}, ["a", "b"], {}, [burst("f", 30, kw=S)], opts=NOCD)
vec("affinity", "affinity-two-callers", "deployment_affinity: two caller keys, ten calls each", {"optional_pre_call_checks": ["deployment_affinity"]}, ["a", "b", "c", "d", "e", "f"], {}, [burst("k1", 6, kw={"metadata": {"user_api_key_hash": "k1"}}), burst("k2", 6, kw={"metadata": {"user_api_key_hash": "k2"}})], opts=NOCD)
vec("affinity", "affinity-session-over-key", "session pin against the key pin", {"optional_pre_call_checks": ["session_affinity", "deployment_affinity"]}, ["a", "b", "c", "d", "e", "f"], {}, [burst("k", 3, kw={"metadata": {"user_api_key_hash": "k"}}), burst("ks", 4, kw={"metadata": {"user_api_key_hash": "k", "session_id": "s"}})], opts=NOCD)

# ---- names, tags, groups
vec("alias", "alias-hidden", "alias as a map, hidden; fallbacks named after target or alias", {"model_group_alias": {"al": {"model": "m", "hidden": True}, "al2": "m"}, "fallbacks": [{"m": ["f"]}, {"al2": ["f"]}]}, ["a", ("f", "f")], {"a": 500}, [req("r1", "al", N0), req("r2", "al2", N0), req("r3", kw=N0)])
vec("alias", "alias-retry-policy", "model_group_retry_policy of the target for a call of the alias", {"model_group_alias": {"al": "m"}, "model_group_retry_policy": {"m": {"RateLimitErrorRetries": 0}}, "disable_cooldowns": True}, ["a"], {"a": [429, 200, 429]}, [req("r1", "al", {"num_retries": 1}), req("r2", kw={"num_retries": 1})])
W = [("w1", "openai/*", {"model": "openai/*"}), ("w2", "openai/gpt-4*", {"model": "openai/gpt-4*"}), ("w3", "*", {"model": "openai/*"})]
vec("lookup", "lookup-wildcard-specificity", "wildcards: the most specific wins", {}, W, {}, [req("r1", "openai/gpt-4x"), req("r2", "openai/other"), req("r3", "gpt-4z"), req("r4", "anything")])
vec("lookup", "lookup-wildcard-never-cooled", "wildcard deployment 429 / 401: cooled?", {"cooldown_time": 5}, [("w1", "openai/*", {"model": "openai/*"}), ("w2", "openai/*", {"model": "openai/*"})], {"w1": 429, "w2": 401}, seq("r", 4, "openai/zz"))
vec("lookup", "lookup-by-id-while-cooled", "cooled deployment called by its id", {"cooldown_time": 5}, AB, {"a": [429, 200], "b": 200}, [req("r1"), req("r2", "a", N0), req("r3")])
vec("lookup", "lookup-blocked-by-id", "blocked deployment called by a name that is its id and a group's name too; fallback to a blocked group", {"fallbacks": [{"m": ["n"]}]}, [("a", "m"), ("n", "n", {}, {"blocked": True}), ("x", "x", {}, {"blocked": True}), ("y", "x")], {"a": 500}, [req("r1", "x", N0), req("r2", "n", N0), req("r3", kw=N0)])
vec("lookup", "runtime-delete-deployment", "delete a, then the last", {}, AB, {}, [req("r1"), {"op": "delete_deployment", "id": "a"}, req("r2"), {"op": "delete_deployment", "id": "b"}, req("r3", kw=N0)])
vec("lookup", "runtime-update-settings-fallbacks", "update_settings: fallbacks, allowed_fails, retry_after, unknown key, strategy", {}, ["a", "b", ("f", "f")], {"a": 403, "b": 403},
    [req("r1", kw=N0), {"op": "update_settings", "settings": {"fallbacks": [{"m": ["f"]}]}}, req("r2", kw=N0), {"op": "update_settings", "settings": {"num_retries": 1.7, "enable_pre_call_checks": True}}, req("r3")], [["a", "b"]])
T = {"enable_tag_filtering": True}
TD = [("free", "m", {"tags": ["free"]}), ("paid", "m", {"tags": ["paid"]}), ("dflt", "m", {"tags": ["default"]}), ("plain", "m")]
vec("tags", "tags-unknown-and-ban", "unknown tag; a ban of a tag; ban of default; ban with a tag", T, TD, {}, [burst("gold", 20, kw={**N0, "metadata": {"tags": ["gold"]}}), burst("nofree", 20, kw={**N0, "metadata": {"tags": ["!free"]}}), burst("nodefault", 20, kw={**N0, "metadata": {"tags": ["!default"]}}), burst("both", 20, kw={**N0, "metadata": {"tags": ["!paid", "paid"]}})], opts=NOCD)
vec("tags", "tags-failover", "free answers 429, default pool: retry of a tagged request", {**T, "cooldown_time": 5}, TD, {"free": 429}, [req("r1", kw={"metadata": {"tags": ["free"]}}), req("r2", kw={"metadata": {"tags": ["free"]}})])
vec("tags", "tags-fallback-group", "tagged request falls back to a group without tags", {**T, "fallbacks": [{"m": ["f"]}]}, [("free", "m", {"tags": ["free"]}), ("f", "f")], {"free": 500}, [req("r1", kw={**N0, "metadata": {"tags": ["free"]}})])
vec("tags", "tags-sync", "sync call ignores tags", T, TD[:2], {}, [burst("f", 40, kw={**N0, "metadata": {"tags": ["free"]}}, sync=True)], opts=NOCD)
vec("routing-groups", "routing-groups-overlap", "a model in two groups", {"routing_groups": [{"group_name": "g", "models": ["m"], "routing_strategy": "least-busy"}, {"group_name": "h", "models": ["m"], "routing_strategy": "simple-shuffle"}]}, ["a"], {}, [req("r1")])
vec("routing-groups", "routing-groups-reserved-name", "a group named default", {"routing_groups": [{"group_name": "default", "models": ["m"], "routing_strategy": "least-busy"}]}, ["a"], {}, [req("r1")])
vec("routing-groups", "routing-groups-fallback", "group least-busy for f reached by fallback; group called as a model with fallbacks of its name", {"routing_groups": [{"group_name": "g", "models": ["m", "n"], "routing_strategy": "least-busy"}], "fallbacks": [{"g": ["f"]}, {"m": ["f"]}]}, [("a", "m"), ("b", "n"), ("f", "f")], {"a": 500, "b": 500}, [req("r1", kw=N0), req("r2", "g", N0)])
vec("routing-groups", "routing-groups-alias-call", "alias of a model of a cost group: strategy", {"model_group_alias": {"al": "m"}, "routing_groups": [{"group_name": "g", "models": ["m"], "routing_strategy": "cost-based-routing"}]}, [("a", "m", {"input_cost_per_token": 1e-3, "output_cost_per_token": 1e-3}), ("b", "m", {"input_cost_per_token": 1e-6, "output_cost_per_token": 1e-6})], {}, [burst("m", 10), burst("al", 30, "al")], opts=NOCD)

# ---- timeouts
vec("timeout", "timeout-stream-first-chunk", "stream_timeout 0.2: first chunk late; gap late", {"stream_timeout": 0.2}, ["a", ("n", "n")], {"a": {"ttft_ms": 600, "chunks": 3}, "n": {"chunks": 4, "chunk_ms": 500}}, [req("r1", kw=N0, stream=True), req("r2", "n", N0, stream=True)])
vec("timeout", "timeout-two-deployments", "a slow (0.2 timeout), num_retries 1, weighted to a", {"timeout": 0.2}, AB, {"a": [{"latency_ms": 800}, {}]}, [req("r1", kw={"num_retries": 1})])
vec("timeout", "timeout-stream-request", "request timeout 0.2 on a stream against deployment stream_timeout 1", {}, [("a", "m", {"stream_timeout": 1}), ("n", "n")], {"a": {"latency_ms": 400}, "n": {"latency_ms": 400}}, [req("r1", kw={**N0, "timeout": 0.2}, stream=True), req("r2", "n", {**N0, "timeout": 0.2}, stream=True)])
vec("timeout", "timeout-zero", "timeout 0 on the request and the deployment", {}, [("a", "m", {"timeout": 0})], {"a": {"latency_ms": 100}}, [req("r1", kw={**N0, "timeout": 0}), req("r2", kw=N0)])

# ---- construction
for name, title, router in (
        ("config-fallbacks-not-a-list", "fallbacks given as a map", {"fallbacks": {"m": ["f"]}}),
        ("config-content-policy-two-keys", "content_policy_fallbacks entry with two keys", {"content_policy_fallbacks": [{"m": ["f"], "n": ["f"]}]}),
        ("config-context-window-two-keys", "context_window_fallbacks entry with two keys", {"context_window_fallbacks": [{"m": ["f"], "n": ["f"]}]}),
        ("config-routing-group-empty-name", "routing group with an empty name", {"routing_groups": [{"group_name": "", "models": ["m"], "routing_strategy": "least-busy"}]}),
        ("config-unknown-setting", "an unknown keyword", {"no_such_setting": 1}),
        ("config-negative-cooldown", "cooldown_time -1", {"cooldown_time": -1}),
        ("config-provider-budget-strategy", "routing_strategy provider-budget-routing", {"routing_strategy": "provider-budget-routing"})):
    vec("config-error", name, title, router, ["a", "b", ("f", "f")], {"a": 429, "b": 429}, [req("r1", kw=N0)], [["a", "b"]])
vec("config-error", "config-bad-tag-regex", "invalid tag_regex", {"enable_tag_filtering": True}, [("a", "m", {"tag_regex": ["("]})], {}, [req("r1")])
vec("config-error", "config-weight-string", "weight as a string", {}, [("a", "m", {"weight": "3"}), ("b", "m", {"weight": "1"})], {}, [req("r1", kw=N0)])
# ---- mirroring, budgets, queue
vec("mirror", "mirror-silent-model", "silent_model: the primary is not delayed", {}, [("a", "m", {"silent_model": "s"}), ("s", "s")], {"a": {"latency_ms": 100}, "s": {"latency_ms": 20}}, [req("r1")])
vec("budget", "budget-deployment", "deployment max_budget: dropped after the first call", {}, [("a", "m", {**BIG, "max_budget": 1e-9, "budget_duration": "1d", "input_cost_per_token": 1e-3, "output_cost_per_token": 1e-3}), ("b", "m", ONE)], {}, [x for r in seq("r", 3) for x in (r, sleep(200))])
vec("budget", "budget-provider", "provider budget spent: error", {"provider_budget_config": {"openai": {"budget_limit": 1e-9, "time_period": "1d"}}}, [("a", "m", {"input_cost_per_token": 1e-3, "output_cost_per_token": 1e-3})], {}, [x for r in seq("r", 2) for x in (r, sleep(200))])
vec("scheduler", "scheduler-priority", "priority 1 with healthy deployments; all benched", {"cooldown_time": 3}, ["a"], {"a": [200, 401]}, [req("r1", kw={"priority": 1}), req("r2", kw={"priority": 1, "num_retries": 0}), req("r3", kw={"priority": 0, "num_retries": 0}), req("r4", kw={"num_retries": 0, "priority": 2, "timeout": 1})])

# ---- follow-ups
vec("num-retries", "num-retries-global-4-over-router-1", "litellm.num_retries 4 against Router(num_retries 1), two deployments of 500s; and a request 0", {"num_retries": 1}, ["a", "b"], {"a": 500, "b": 500}, [req("r1"), req("r2", kw=N0)], [["a", "b"]], globals={"num_retries": 4})
vec("ladder", "ladder-embedding-statuses", "aembedding with num_retries 0, lone: upstream calls per status (all at once)", {"disable_cooldowns": True}, [(f"a{s}", f"m{s}") for s in S2], {f"a{s}": s for s in S2}, [batch("b", [req(f"r{s}", f"m{s}", N0, api="embedding") for s in S2])])
vec("ladder", "ladder-sync-statuses", "sync completion with num_retries 0, lone: upstream calls per status", {"disable_cooldowns": True}, [(f"a{s}", f"m{s}") for s in (403, 408, 409, 429, 500, 503)], {f"a{s}": s for s in (403, 408, 409, 429, 500, 503)}, [req(f"r{s}", f"m{s}", N0, sync=True) for s in (403, 408, 409, 429, 500, 503)])
vec("fallback", "fallback-content-policy-other-group-default", "content_policy_fallbacks name another group, only default_fallbacks else", {"default_fallbacks": ["g"], "content_policy_fallbacks": [{"z": ["g"]}]}, [("a", "m"), ("g", "g")], {"a": POL}, [req("r1")])
vec("fallback", "fallback-context-window-other-group", "context_window_fallbacks name another group, generic names m", {"fallbacks": [{"m": ["g"]}], "context_window_fallbacks": [{"z": ["g"]}]}, [("a", "m"), ("g", "g")], {"a": CTX}, [req("r1")])
vec("lookup", "lookup-blocked-by-own-id", "blocked deployment called by an id that is no group's name", {}, [("x1", "x", {}, {"blocked": True}), ("x2", "x")], {}, [req("r1", "x1", N0), req("r2", "x", N0)])
vec("lookup", "lookup-id-equals-group-name", "deployment id equal to another group's name", {}, [("g", "m"), ("h", "g"), ("i", "g")], {"h": 200}, [burst("f", 12, "g"), req("r1", "m")], opts=NOCD)
vec("tags", "tags-group-without-tags", "tagged request to a group where nobody has tags; and where only a default is", T, [("p", "plain"), ("q", "plain"), ("d", "dd", {"tags": ["default"]}), ("e", "dd")], {}, [burst("plain", 10, "plain", {**N0, "metadata": {"tags": ["free"]}}), burst("dd", 10, "dd", {**N0, "metadata": {"tags": ["free"]}})], opts=NOCD)
vec("tags", "tags-failover-match-all", "match_any false: the matching one benched, default exists", {**T, "tag_filtering_match_any": False, "cooldown_time": 5}, TD, {"free": 429}, [req("r1", kw={**N0, "metadata": {"tags": ["free"]}}), req("r2", kw={**N0, "metadata": {"tags": ["free"]}})])
vec("tags", "tags-two-matching-one-benched", "two free ones, the first 429: the second", {**T, "cooldown_time": 5}, [("f1", "m", {"tags": ["free"], "weight": 1000000}), ("f2", "m", {"tags": ["free"], "weight": 1}), ("dflt", "m", {"tags": ["default"], "weight": 1})], {"f1": 429}, [req("r1", kw={"metadata": {"tags": ["free"]}})])
vec("tags", "tags-regex", "tag_regex on the user agent", T, [("re", "m", {"tag_regex": ["^User-Agent: claude.*"]}), ("dflt", "m", {"tags": ["default"]})], {}, [burst("match", 8, kw={**N0, "metadata": {"user_agent": "claude-code/1"}}), burst("other", 8, kw={**N0, "metadata": {"user_agent": "curl"}})], opts=NOCD)
vec("routing-groups", "routing-groups-model-over-group-name", "a group named like a model", {"routing_groups": [{"group_name": "n", "models": ["m"], "routing_strategy": "least-busy"}]}, [("a", "m"), ("b", "m"), ("c", "n")], {}, [burst("m", 6, "m"), burst("n", 4, "n")], opts=NOCD)
vec("tags", "tags-fallback-tagged-group", "tagged request falls back to groups with free/default/untagged members; with paid only", {**T, "fallbacks": [{"m": ["f"]}, {"n": ["g"]}]}, [("free", "m", {"tags": ["free"]}), ("f1", "f", {"tags": ["free"]}), ("f2", "f", {"tags": ["default"]}), ("f3", "f"), ("nfree", "n", {"tags": ["free"]}), ("g1", "g", {"tags": ["paid"]})], {"free": {"by_time": [{"status": 500}]}, "nfree": 500}, [burst("f", 20, kw={**N0, "disable_fallbacks": False, "metadata": {"tags": ["free"]}}), req("r1", "n", {**N0, "metadata": {"tags": ["free"]}})], opts=NOCD)
FREE = {**N0, "metadata": {"tags": ["free"]}}
vec("tags", "tags-fallback-untagged-groups", "tagged requests: a lone untagged group called directly; fallback to a lone and to a two-member untagged group; to a paid-only group", {**T, "fallbacks": [{"m1": ["one"]}, {"m2": ["two"]}, {"m3": ["paid"]}]},
    [("x1", "m1", {"tags": ["free"]}), ("x2", "m2", {"tags": ["free"]}), ("x3", "m3", {"tags": ["free"]}), ("o", "one"), ("t1", "two", BIG), ("t2", "two", ONE), ("p", "paid", {"tags": ["paid"]})],
    {"x1": 500, "x2": 500, "x3": 500}, [req("direct", "one", FREE), req("one", "m1", FREE), req("two", "m2", FREE), req("paid", "m3", FREE), req("again", "one", FREE)])

if __name__ == "__main__":
    cats = {}
    for v, _ in VECTORS:
        cats[v["category"]] = cats.get(v["category"], 0) + 1
    names = [v["name"] for v, _ in VECTORS]
    assert len(set(names)) == len(names)
    print(len(VECTORS), cats)
