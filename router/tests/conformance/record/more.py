"""Definitions of further vectors of our own, in the notation of definitions.py."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import definitions                                                                  # noqa: E402
from definitions import AB, BIG, CTX, MINUTE, N0, NOCD, ONE, POL, VECTORS, batch, burst, req, seq, sleep, vec   # noqa: E402, F401

VECTORS.clear()
H = {"weight": 1e12}
MID = {"weight": 1e6}
ABC = [("a", "m", H), ("b", "m", MID), ("c", "m", ONE)]
FB = {"fallbacks": [{"m": ["f"]}]}
N1 = {"num_retries": 1}


def at(ms):
    return {"op": "at", "ms": ms}


def event(after=1, chunks=4, **error):
    r = {"chunks": chunks, "break_after": after, "break_kind": "error_event"}
    if error:
        r["error"] = error
    return r


def cut(after=1, chunks=4):
    return {"chunks": chunks, "break_after": after}


def stream(id, model=None, kw=N0, **more):
    return req(id, model, kw, stream=True, **more)


# ---- streams that fail
CTXE = {k: v for k, v in CTX["error"].items()}
POLE = {k: v for k, v in POL["error"].items()}
KINDS = {"ctx": CTXE, "pol": POLE, "rate": {"message": "Rate limit reached"}, "auth": {"message": "Incorrect API key provided", "code": "invalid_api_key", "type": "invalid_request_error"},
         "inv": {"message": "no", "type": "invalid_request_error"}, "code429": {"message": "no", "code": 429}, "code400": {"message": "no", "code": 400}, "code503": {"message": "no", "code": 503}, "over": {"message": "The server had an error processing your request."}}
for n in (0, 1):
    vec("stream", f"stream-event-kinds-after-{n}", f"error events of {len(KINDS)} kinds after {n} chunks, no fallbacks, lone deployments", {"cooldown_time": 30}, [(f"a-{k}", k) for k in KINDS],
        {f"a-{k}": event(n, **e) for k, e in KINDS.items()}, [stream(k, k) for k in KINDS])
    vec("stream", f"stream-event-kinds-after-{n}-fallback", f"error events of {len(KINDS)} kinds after {n} chunks, fallback f", {"cooldown_time": 30, "fallbacks": [{k: ["f"]} for k in KINDS]},
        [(f"a-{k}", k) for k in KINDS] + [("f", "f")], {f"a-{k}": event(n, **e) for k, e in KINDS.items()}, [stream(k, k) for k in KINDS])
vec("stream", "stream-break-first-two-deployments", "a cuts before its first chunk, b healthy, num_retries 2", {"cooldown_time": 5}, AB, {"a": cut(0), "b": 200}, [stream("r1", kw={}), stream("r2")])
vec("stream", "stream-event-first-two-deployments", "a: error event before its first chunk, b healthy, num_retries 1", {"cooldown_time": 5}, AB, {"a": event(0), "b": 200}, [stream("r1", kw=N1), stream("r2")])
vec("stream", "stream-event-first-rate-limit", "a: rate-limit event before its first chunk, b healthy: benched?", {"cooldown_time": 5}, AB, {"a": event(0, message="Rate limit reached"), "b": 200}, [stream("r1", kw=N1), stream("r2")])
vec("stream", "stream-event-first-lone-retries", "lone: error event before the first chunk, then ok; num_retries 1", {}, ["a"], {"a": [event(0), 200]}, [stream("r1", kw=N1)])
vec("stream", "stream-mid-cut-lone-x6", "lone: six streams cut after a chunk; then one more", {"cooldown_time": 20}, AB, {"a": cut(1), "b": 200}, [MINUTE] + [stream(f"r{i}") for i in range(1, 8)])
vec("stream", "stream-mid-event-x6", "six streams with an error event after a chunk (a preferred, b healthy): when is a benched", {"cooldown_time": 20}, AB, {"a": event(1), "b": 200}, [MINUTE] + [stream(f"r{i}") for i in range(1, 8)])
vec("stream", "stream-first-event-x6", "six streams with an error event before a chunk, num_retries 0", {"cooldown_time": 20}, AB, {"a": event(0), "b": 200}, [MINUTE] + [stream(f"r{i}") for i in range(1, 8)])
vec("stream", "stream-mid-event-fallback-dead", "error event after a chunk, fallback f answers 503", FB, ["a", ("f", "f")], {"a": event(1), "f": 503}, [stream("r1"), stream("r2", kw=N1)])
vec("stream", "stream-mid-event-fallback-mid-event", "error event after a chunk, fallback f breaks too, g healthy", {"fallbacks": [{"m": ["f", "g"]}, {"f": ["g"]}]}, ["a", ("f", "f"), ("g", "g")], {"a": event(1), "f": event(2)}, [stream("r1")])
vec("stream", "stream-mid-event-fallback-off", "error event after a chunk, request says disable_fallbacks; request fallbacks list", FB, ["a", ("f", "f"), ("g", "g")], {"a": event(1)}, [stream("r1", kw={**N0, "disable_fallbacks": True}), stream("r2", kw={**N0, "fallbacks": ["g"]}), stream("r3", kw={**N0, "fallbacks": []})])
vec("stream", "stream-mid-event-order", "error event after a chunk on tier 1", {}, [("a", "m", {"order": 1}), ("b", "m", {"order": 2})], {"a": event(1)}, [stream("r1")])
vec("stream", "stream-mid-event-weighted-failover", "error event after a chunk, weighted failover on", {"enable_weighted_failover": True}, AB, {"a": event(1), "b": 200}, [stream("r1")])
vec("stream", "stream-first-event-order", "error event before a chunk on tier 1; cut on tier 1 of n", {}, [("a", "m", {"order": 1}), ("b", "m", {"order": 2}), ("c", "n", {"order": 1}), ("d", "n", {"order": 2})], {"a": event(0), "c": cut(0)}, [stream("r1"), stream("r2", "n")])
vec("stream", "stream-first-event-weighted-failover", "error event before a chunk, weighted failover on", {"enable_weighted_failover": True}, AB, {"a": event(0), "b": 200}, [stream("r1")])
vec("stream", "stream-mid-event-special-fallbacks", "context-window and policy events after a chunk, with lists of their own", {"context_window_fallbacks": [{"m": ["f"]}], "content_policy_fallbacks": [{"n": ["f"]}]}, ["a", ("b", "n"), ("f", "f")], {"a": event(1, **CTXE), "b": event(1, **POLE)}, [stream("r1"), stream("r2", "n")])
vec("stream", "stream-first-event-special-fallbacks", "context-window and policy events before a chunk, with lists of their own", {"context_window_fallbacks": [{"m": ["f"]}], "content_policy_fallbacks": [{"n": ["f"]}]}, ["a", ("b", "n"), ("f", "f")], {"a": event(0, **CTXE), "b": event(0, **POLE)}, [stream("r1"), stream("r2", "n")])
vec("stream", "stream-timeout-gap-fallback", "stream_timeout 0.2: late first chunk, late gap; fallback f", {"stream_timeout": 0.2, "fallbacks": [{"m": ["f"]}, {"n": ["f"]}]}, ["a", ("b", "n"), ("f", "f")], {"a": {"ttft_ms": 600}, "b": {"chunks": 4, "chunk_ms": 500}}, [stream("r1"), stream("r2", "n")])
vec("stream", "stream-timeout-first-two-deployments", "stream_timeout 0.2: a's first chunk late, b healthy, num_retries 1", {"stream_timeout": 0.2}, AB, {"a": {"ttft_ms": 600}, "b": 200}, [stream("r1", kw=N1), stream("r2")])
vec("stream", "stream-timeout-gap-x6", "stream_timeout 0.2: six late gaps on a, b healthy: benched when", {"stream_timeout": 0.2, "cooldown_time": 20}, AB, {"a": {"chunks": 4, "chunk_ms": 500}, "b": 200}, [MINUTE] + [stream(f"r{i}") for i in range(1, 8)])
vec("stream", "stream-open-statuses", "429, 401, 500, 400 before the headers of a stream, two deployments", {"cooldown_time": 5}, [(f"{d}{s}", f"m{s}", p) for s in (429, 401, 500, 400) for d, p in (("a", BIG), ("b", ONE))], {f"a{s}": s for s in (429, 401, 500, 400)}, [stream(f"r{s}", f"m{s}", {}) for s in (429, 401, 500, 400)])
vec("stream", "stream-mid-event-allowed-fails-0", "allowed_fails 0 and an error event after a chunk; a cut; an event before", {"allowed_fails": 0, "cooldown_time": 20}, [(f"{d}{k}", k, p) for k in ("mid", "cut", "first") for d, p in (("a", BIG), ("b", ONE))], {"amid": event(1), "acut": cut(1), "afirst": event(0)}, [MINUTE] + [stream(f"{k}{i}", k) for k in ("mid", "cut", "first") for i in (1, 2)])
RATE = {"message": "Rate limit reached"}
OVER = {"message": "The server had an error processing your request."}
vec("stream", "stream-mid-rate-limit-two-deployments", "rate-limit event after a chunk on a, b healthy: benched? and a server error six times", {"cooldown_time": 20}, AB + [("c", "n", BIG), ("d", "n", ONE)], {"a": event(1, **RATE), "c": event(1, **OVER)}, [MINUTE, stream("r1"), stream("r2")] + [stream(f"n{i}", "n") for i in range(1, 8)])
vec("stream", "stream-mid-allowed-fails-0-statuses", "allowed_fails 0: rate-limit, server-error, context-window event after a chunk", {"allowed_fails": 0, "cooldown_time": 20}, [(f"{d}{k}", k, p) for k in ("rate", "over", "ctx") for d, p in (("a", BIG), ("b", ONE))], {"arate": event(1, **RATE), "aover": event(1, **OVER), "actx": event(1, **CTXE)}, [MINUTE] + [stream(f"{k}{i}", k) for k in ("rate", "over", "ctx") for i in (1, 2)])
vec("stream", "stream-first-over-x6", "server-error event before a chunk, six times, num_retries 0", {"cooldown_time": 20}, AB, {"a": event(0, **OVER), "b": 200}, [MINUTE] + [stream(f"r{i}") for i in range(1, 8)])
vec("stream", "stream-mid-event-fallback-retries", "error event after a chunk, fallback f answers 503 then ok, router num_retries 1", {**FB, "num_retries": 1}, ["a", ("f", "f")], {"a": event(1), "f": [503, 200]}, [stream("r1", kw={}), stream("r2", kw={})])
vec("stream", "stream-mid-event-fallback-two-429", "error event after a chunk, fallback group of two, one 429", {**FB, "cooldown_time": 5}, ["a", ("f1", "f", BIG), ("f2", "f", ONE)], {"a": event(1), "f1": 429}, [stream("r1", kw={})])
vec("stream", "stream-mid-event-list-goes-on", "error event after a chunk, list f then g, f breaks too and has no list of its own", {"fallbacks": [{"m": ["f", "g"]}]}, ["a", ("f", "f"), ("g", "g")], {"a": event(1), "f": event(2)}, [stream("r1")])
vec("stream", "stream-mid-event-list-dead-then-g", "error event after a chunk, f answers 500, g ok", {"fallbacks": [{"m": ["f", "g"]}]}, ["a", ("f", "f"), ("g", "g")], {"a": event(1), "f": 500}, [stream("r1")])
vec("stream", "stream-mid-event-chain-max-fallbacks-1", "chain m, f, g, all breaking after a chunk but g; max_fallbacks 1", {"max_fallbacks": 1, "fallbacks": [{"m": ["f"]}, {"f": ["g"]}]}, ["a", ("f", "f"), ("g", "g")], {"a": event(1), "f": event(1)}, [stream("r1")])
vec("stream", "stream-mid-event-in-fallback", "a 500, f breaks after a chunk, f's list g; m's list f, h", {"fallbacks": [{"m": ["f", "h"]}, {"f": ["g"]}]}, ["a", ("f", "f"), ("g", "g"), ("h", "h")], {"a": 500, "f": event(1)}, [stream("r1")])
vec("stream", "stream-mid-event-in-fallback-no-list", "a 500, f breaks after a chunk, no list of its own; m's list f, h", {"fallbacks": [{"m": ["f", "h"]}]}, ["a", ("f", "f"), ("h", "h")], {"a": 500, "f": event(1)}, [stream("r1")])
vec("stream", "stream-mid-event-order-three-and-fallback", "tiers a and b break after a chunk, c 500, fallback f", FB, [("a", "m", {"order": 1}), ("b", "m", {"order": 2}), ("c", "m", {"order": 3}), ("f", "f")], {"a": event(1), "b": event(1), "c": 500}, [stream("r1")])
vec("stream", "stream-mid-event-default-fallbacks", "error event after a chunk, default_fallbacks; unknown target first", {"default_fallbacks": ["nope", "f"]}, ["a", ("f", "f")], {"a": event(1)}, [stream("r1")])
vec("stream", "stream-mid-rate-limit-fallback-two", "rate-limit event after a chunk on lone a, then fallback: benched? a again", {**FB, "cooldown_time": 5}, [("a", "m", BIG), ("b", "m", ONE), ("f", "f")], {"a": event(1, **RATE)}, [stream("r1"), stream("r2")])
vec("stream", "stream-ok-after-retry", "stream 500 then ok, lone, num_retries 1; 503 then mid event", {}, ["a", ("b", "n")], {"a": [500, 200], "b": [503, event(1)]}, [stream("r1", kw=N1), stream("r2", "n", N1)])
vec("stream", "stream-mid-event-fallback-error-kinds", "events of three kinds after a chunk; the fallback answers 503, 429, 400: which error surfaces", {"fallbacks": [{f"{e}{s}": [f"f{s}"]} for e in ("plain", "rate", "over") for s in (503, 429, 400)]},
    [(f"a{e}{s}", f"{e}{s}") for e in ("plain", "rate", "over") for s in (503, 429, 400)] + [(f"f{s}", f"f{s}") for s in (503, 429, 400)],
    {**{f"a{e}{s}": event(1, **k) for e, k in (("plain", {}), ("rate", RATE), ("over", OVER)) for s in (503, 429, 400)}, **{f"f{s}": s for s in (503, 429, 400)}},
    [stream(f"{e}{s}", f"{e}{s}") for e in ("plain", "rate", "over") for s in (503, 429, 400)])
vec("stream", "stream-mid-event-fallback-lone-statuses", "error event after a chunk; a lone fallback answers 500, 429, 408, 403 then ok; num_retries 2", {"fallbacks": [{f"m{s}": [f"f{s}"]} for s in (500, 429, 408, 403)]},
    [(f"a{s}", f"m{s}") for s in (500, 429, 408, 403)] + [(f"f{s}", f"f{s}") for s in (500, 429, 408, 403)], {**{f"a{s}": event(1) for s in (500, 429, 408, 403)}, **{f"f{s}": [s, 200] for s in (500, 429, 408, 403)}},
    [stream(f"r{s}", f"m{s}", {"num_retries": 2}) for s in (500, 429, 408, 403)])
vec("stream", "stream-mid-event-fallback-two-500", "error event after a chunk; a fallback group of two answers 500 (f1 preferred), router num_retries 1, request 3", {**FB, "num_retries": 1}, ["a", ("f1", "f", BIG), ("f2", "f", ONE)], {"a": event(1), "f1": 500}, [stream("r1", kw={"num_retries": 3}), stream("r2", kw={}), stream("r3", kw=N0)])
vec("stream", "stream-first-event-fallback-lone-retries", "error event before a chunk; lone fallback 503 then ok, num_retries 2", FB, ["a", ("f", "f")], {"a": event(0), "f": [503, 200]}, [stream("r1", kw={"num_retries": 2})])

# ---- lone deployments and allowed fails: which fallbacks count
def three(name, model, kw=N0):
    return [req(f"{name}{i}", model, kw) for i in (1, 2, 3)]


LONE = [(f"a{i}", f"m{i}") for i in (1, 2, 3, 4, 5, 6, 7, 8, 10, 11)] + [("a9", "openai/m9"), ("f", "f")]
vec("allowed-fails", "allowed-fails-lone-which-fallbacks-count", "allowed_fails 1, lone, 500s: specific, context-window only, another group's, the request's, an alias's, the target's of an alias, called by id, disabled, provider stripped, itself, unknown",
    {"allowed_fails": 1, "cooldown_time": 30, "fallbacks": [{"m1": ["f"]}, {"zz": ["f"]}, {"al5": ["f"]}, {"m6": ["f"]}, {"m7": ["f"]}, {"m8": ["f"]}, {"m9": ["f"]}, {"m10": ["m10"]}, {"m11": ["nope"]}],
     "context_window_fallbacks": [{"m2": ["f"]}], "model_group_alias": {"al5": "m5", "al6": "m6"}}, LONE, {f"a{i}": 500 for i in range(1, 12)},
    [MINUTE] + three("spec", "m1") + three("cw", "m2") + three("other", "m3") + three("own", "m4", {**N0, "fallbacks": ["f"]}) + three("alias", "al5") + three("target", "al6") + three("id", "a7")
    + three("off", "m8", {**N0, "disable_fallbacks": True}) + three("strip", "openai/m9") + three("itself", "m10") + three("unknown", "m11"), opts={"repeats": 3})
vec("allowed-fails", "allowed-fails-lone-default-fallbacks", "allowed_fails 1, lone, 500s, default_fallbacks", {"allowed_fails": 1, "cooldown_time": 30, "default_fallbacks": ["f"]}, ["a", ("f", "f")], {"a": 500}, [MINUTE] + three("r", "m"), opts={"repeats": 3})
vec("allowed-fails", "allowed-fails-lone-max-fallbacks-0", "allowed_fails 1, lone, 500s, a fallback but max_fallbacks 0", {"allowed_fails": 1, "cooldown_time": 30, "max_fallbacks": 0, **FB}, ["a", ("f", "f")], {"a": 500}, [MINUTE] + three("r", "m"), opts={"repeats": 3})
vec("allowed-fails", "allowed-fails-lone-in-fallback-hop", "allowed_fails 1: the lone fallback f fails twice; f has no fallback", {"allowed_fails": 1, "cooldown_time": 30, **FB}, [("a", "m", BIG), ("b", "m", ONE), ("f", "f")], {"a": 400, "f": 500}, [MINUTE] + three("r", "m"), opts={"repeats": 3})
PA = {"RateLimitErrorAllowedFails": 1}
vec("allowed-fails-policy", "allowed-fails-policy-own-other-class", "a policy in model_info that names another class: 429, 401, 500, 404 four times each; router policy and allowed_fails beside it", {"cooldown_time": 60},
    [(f"{d}{s}", f"m{s}", p, {"allowed_fails_policy": {"ContentPolicyViolationErrorAllowedFails": 1}} if d == "a" else {}) for s in (429, 401, 500, 404) for d, p in (("a", BIG), ("b", ONE))],
    {f"a{s}": s for s in (429, 401, 500, 404)}, [MINUTE] + [r for s in (429, 401, 500, 404) for r in seq(f"m{s}-", 5, f"m{s}")], opts={"repeats": 2})
vec("allowed-fails-policy", "allowed-fails-policy-own-over-router", "own policy without the class, router policy with it (RateLimit 0), router allowed_fails 1; own allowed_fails 2 beside the policy", {"cooldown_time": 60, "allowed_fails": 1, "allowed_fails_policy": {"RateLimitErrorAllowedFails": 0}},
    [("a", "m", BIG, {"allowed_fails_policy": {"TimeoutErrorAllowedFails": 0}}), ("b", "m", ONE), ("c", "n", BIG, {"allowed_fails": 2, "allowed_fails_policy": {"TimeoutErrorAllowedFails": 0}}), ("d", "n", ONE)], {"a": 429, "c": 429},
    [MINUTE] + seq("m", 4, "m") + seq("n", 5, "n"), opts={"repeats": 2})
vec("num-retries", "num-retries-global-0", "litellm.num_retries 0: unset router; request 1", {}, ["a", "b"], {"a": 403, "b": 403}, [req("r1"), req("r2", kw=N1)], [["a", "b"]], globals={"num_retries": 0})
vec("num-retries", "num-retries-global-0-router-1", "litellm.num_retries 0 with Router(num_retries 1); deployment 1", {"num_retries": 1}, ["a", "b", ("c", "n", {"num_retries": 1}), ("d", "n", {"num_retries": 1})], {x: 403 for x in "abcd"}, [req("r1"), req("r2", kw=N0), req("r3", "n", N0)], [["a", "b"], ["c", "d"]], globals={"num_retries": 0})
for what, target in (("id", "f1"), ("alias", "al"), ("upstream-model", "openai/fake-f1"), ("second", "f")):
    vec("fallback", f"fallback-default-stand-in-{what}", f"unknown model with default_fallbacks [{target}]: who stands in", {"default_fallbacks": ["zz", "f"] if what == "second" else [target], "model_group_alias": {"al": "f"}}, ["a", ("f1", "f"), ("f2", "f")], {"f1": 200},
        [req("r1", "nope", {**N0, "disable_fallbacks": True}), req("r2", "nope", N0)], [["f1", "f2"]], opts={"repeats": 8})
G0 = (500, 429, 403, 503, 408, 401)
vec("num-retries", "num-retries-global-0-by-status", "litellm.num_retries 0, request 1 on several statuses, two dead deployments each", {"disable_cooldowns": True}, [(f"{d}{s}", f"m{s}", p) for s in G0 for d, p in (("a", BIG), ("b", ONE))], {f"{d}{s}": s for s in G0 for d in "ab"},
    [req(f"r{s}", f"m{s}", N1) for s in G0], globals={"num_retries": 0}, opts={"repeats": 2})
vec("num-retries", "num-retries-global-1-by-status", "litellm.num_retries 1, request 0 on several statuses, two dead deployments each", {"disable_cooldowns": True}, [(f"{d}{s}", f"m{s}", p) for s in G0 for d, p in (("a", BIG), ("b", ONE))], {f"{d}{s}": s for s in G0 for d in "ab"},
    [req(f"r{s}", f"m{s}", N0) for s in G0], globals={"num_retries": 1}, opts={"repeats": 2})
vec("num-retries", "num-retries-deployment-0-by-status", "deployment num_retries 0, request 1 on several statuses, two dead deployments each", {"disable_cooldowns": True}, [(f"{d}{s}", f"m{s}", {**p, "num_retries": 0}) for s in G0 for d, p in (("a", BIG), ("b", ONE))], {f"{d}{s}": s for s in G0 for d in "ab"},
    [req(f"r{s}", f"m{s}", N1) for s in G0], opts={"repeats": 2})
vec("num-retries", "num-retries-global-0-in-fallback", "litellm.num_retries 0, router 0, request 1, with a fallback; a request with fallbacks of its own", {"num_retries": 0, **FB}, [("a", "m", BIG), ("b", "m", ONE), ("f", "f")], {"a": 500, "b": 500, "f": 500},
    [req("r1", kw=N1), req("r2", kw={**N1, "fallbacks": [{"m": ["f"]}]}), req("r3", kw={**N1, "fallbacks": ["f"]}), req("r4", kw={**N1, "disable_fallbacks": True})], globals={"num_retries": 0}, opts={"repeats": 2})
vec("fallback", "fallback-default-stand-in-group", "unknown model with default_fallbacks [f]: who stands in", {"default_fallbacks": ["f"]}, ["a", ("f1", "f"), ("f2", "f")], {"f1": 200},
    [req("r1", "nope", {**N0, "disable_fallbacks": True}), req("r2", "nope", N0)], [["f1", "f2"]], opts={"repeats": 8})
vec("fallback", "fallback-default-stand-in-pattern", "unknown model with default_fallbacks [openai/x] that a pattern serves", {"default_fallbacks": ["openai/x"]}, ["a", ("w", "openai/*", {"model": "openai/*"})], {}, [req("r1", "nope", {**N0, "disable_fallbacks": True}), req("r2", "nope", N0)])

# ---- what follows a walk, and from where a hop was reached
CHAIN = [("a", "m"), ("b", "f1"), ("c", "f2"), ("h", "h")]
for kind, extra in (("plain", {}), ("weighted", {"enable_weighted_failover": True})):
    vec("fallback", f"fallback-to-own-deployment-id-{kind}", f"f falls back to the id of its own deployment, then m ({kind}); a request whose group's only entry is that id", {"fallbacks": [{"f": ["x1", "m"]}, {"g": ["y1"]}], **extra},
        [("x1", "f"), ("y1", "g", BIG), ("y2", "g", ONE), ("a", "m")], {"x1": 500, "y1": 500, "y2": 503}, [req("r1", "f", N0), req("r2", "g", N0), req("r3", "f", N1)])
CW2 = {**CTX}
vec("order", "order-context-window-then-500", "1.110's tiers on context-window errors: tier 1 too long, tier 2 503 (no lists)", {}, [("a", "m", {"order": 1}), ("b", "m", {"order": 2}), ("c", "m", {"order": 3})], {"a": CW2, "b": 503, "c": 502}, [req("r1", kw=N0)])
vec("order", "order-context-window-lists", "tier 1 too long, tier 2 too long too; with a context-window list; with a generic list; with both",
    {"context_window_fallbacks": [{"m": ["f"]}, {"o": ["f"]}], "fallbacks": [{"n": ["f"]}, {"o": ["g"]}]},
    [(f"{d}{g}", g, {"order": o}) for g in "mno" for d, o in (("a", 1), ("b", 2))] + [("f", "f"), ("g", "g")], {f"{d}{g}": CW2 for g in "mno" for d in "ab"}, [req("m", "m", N0), req("n", "n", N0), req("o", "o", N0)])
vec("order", "order-context-window-lists-500", "tier 1 too long, tier 2 500; with a context-window list; a generic list; both",
    {"context_window_fallbacks": [{"m": ["f"]}, {"o": ["f"]}], "fallbacks": [{"n": ["f"]}, {"o": ["g"]}]},
    [(f"{d}{g}", g, {"order": o}) for g in "mno" for d, o in (("a", 1), ("b", 2))] + [("f", "f"), ("g", "g")], {**{f"a{g}": CW2 for g in "mno"}, **{f"b{g}": 500 for g in "mno"}}, [req("m", "m", N0), req("n", "n", N0), req("o", "o", N0)])
vec("order", "order-500-then-context-window", "tier 1 500, tier 2 too long, with a context-window list and a generic list", {"context_window_fallbacks": [{"m": ["f"]}], "fallbacks": [{"m": ["g"]}]}, [("a", "m", {"order": 1}), ("b", "m", {"order": 2}), ("f", "f"), ("g", "g")], {"a": 500, "b": CW2, "g": 500}, [req("r1", kw=N0)])
vec("fallback", "fallback-client-list-nested-router-list", "client list f1, f2; the router's lists of f1 (h) and of m (h)", {"fallbacks": [{"f1": ["h"]}, {"m": ["h"]}]}, CHAIN, {x: 500 for x in "abch"}, [req("r1", kw={**N0, "fallbacks": ["f1", "f2"]}), req("r2", kw={**N0, "fallbacks": ["f1"]}), req("r3", kw={**N0, "fallbacks": ["m"]})])
vec("fallback", "fallback-client-list-context-window", "client list f1; f1 and m too long; context-window lists of m and f1; none of the client's that is not tried", {"context_window_fallbacks": [{"f1": ["h"]}, {"m": ["f2"]}]}, CHAIN, {"a": CTX, "b": CTX}, [req("r1", kw={**N0, "fallbacks": ["f1"]}), req("r2", kw={**N0, "fallbacks": ["m"]}), req("r3", "f1", {**N0, "fallbacks": ["nope"]})])
vec("fallback", "fallback-client-mapping-nested", "client mapping m: f1; the router's mapping f1: h; default d", {"fallbacks": [{"f1": ["h"]}], "default_fallbacks": ["f2"]}, CHAIN, {x: 500 for x in "ab"}, [req("r1", kw={**N0, "fallbacks": [{"m": ["f1"]}]}), req("r2", kw={**N0, "fallbacks": [{"m": ["f1"]}, {"*": ["f2"]}]}), req("r3", kw={**N0, "fallbacks": [{"*": ["f1", "f2"]}]})])
D = {"default_fallbacks": ["d"]}
FROM = [("a", "m"), ("b", "f1"), ("c", "f2"), ("d", "d")]
for kind, rep in (("context-window", CTX), ("content-policy", POL)):
    key = kind.replace("-", "_") + "_fallbacks"
    vec("fallback", f"fallback-default-after-{kind}-list", f"m: {kind} error, list f1; f1 500; f1 {kind} error; is the default list used", {**D, key: [{"m": ["f1"]}, {"n": ["f2"]}]}, FROM + [("n", "n")], {"a": rep, "b": 500, "n": rep, "c": rep}, [req("r1", kw=N0), req("r2", "n", N0)])
vec("fallback", "fallback-default-after-client-list", "client list f1 (500), the router has default d", D, FROM, {"a": 500, "b": 500}, [req("r1", kw={**N0, "fallbacks": ["f1"]})])
vec("fallback", "fallback-default-after-order", "tiers dead, default d: used after the tiers? and a specific entry whose group has tiers", {**D, "fallbacks": [{"n": ["m"]}]}, [("a", "m", {"order": 1}), ("b", "m", {"order": 2}), ("d", "d"), ("n", "n")], {"a": 500, "b": 500, "n": 500}, [req("r1", kw=N0), req("r2", "n", N0)])
vec("fallback", "fallback-default-after-weighted", "weighted failover dead, default d; a specific entry whose group has two members", {**D, "enable_weighted_failover": True, "fallbacks": [{"n": ["m"]}]}, AB + [("d", "d"), ("n", "n")], {"a": 500, "b": 500, "n": 500}, [req("r1", kw=N0), req("r2", "n", N0)])
vec("fallback", "fallback-default-chain", "default d1, d2 dead; d1 has an entry of its own (e)", {"default_fallbacks": ["d1", "d2"], "fallbacks": [{"d1": ["e"]}]}, [("a", "m"), ("b", "d1"), ("c", "d2"), ("e", "e")], {x: 500 for x in "abc"}, [req("r1", kw=N0), req("r2", "d1", N0)])
vec("fallback", "fallback-client-map-itself", "client maps naming the failed group itself, then f1; one map twice", {}, CHAIN, {"a": 500, "b": 500}, [req("r1", kw={**N0, "fallbacks": [{"model": "m"}, {"model": "f1"}]}), req("r2", kw={**N0, "fallbacks": [{"model": "f1"}, {"model": "f1"}, {"model": "f2"}]})])
vec("fallback", "fallback-request-special-lists", "request's context-window and policy lists: with entry, empty, of another group; the router has generic lists", {"fallbacks": [{"m": ["h"]}, {"n": ["h"]}]}, [("a", "m"), ("p", "n"), ("b", "f1"), ("h", "h")], {"a": CTX, "p": POL},
    [req("cw", kw={**N0, "context_window_fallbacks": [{"m": ["f1"]}]}), req("cw-empty", kw={**N0, "context_window_fallbacks": []}), req("cw-other", kw={**N0, "context_window_fallbacks": [{"z": ["f1"]}]}),
     req("cp", "n", {**N0, "content_policy_fallbacks": [{"n": ["f1"]}]}), req("cp-empty", "n", {**N0, "content_policy_fallbacks": []}), req("cp-other", "n", {**N0, "content_policy_fallbacks": [{"z": ["f1"]}]}),
     req("generic-empty", kw={**N0, "fallbacks": []}), req("generic-empty-cw", kw={**N0, "fallbacks": [], "context_window_fallbacks": [{"m": ["f1"]}]})])
vec("fallback", "fallback-request-mixed-list", "request fallbacks of names and mappings mixed; strings in the router's list of entries", {}, CHAIN, {"a": 500, "b": 500}, [req("r1", kw={**N0, "fallbacks": ["f1", {"m": ["f2"]}]}), req("r2", kw={**N0, "fallbacks": [{"m": ["f2"]}, "f1"]}), req("r3", kw={**N0, "fallbacks": [{"z": ["f2"]}, "f1", "f2"]})])
vec("fallback", "fallback-all-cooling-client-list", "429 with nobody left and a client list: retries stop; with an empty client list and router fallbacks", {"fallbacks": [{"m": ["f1"]}], "cooldown_time": 30}, [("a", "m", BIG), ("a2", "m", ONE), ("b", "f1"), ("x", "x", BIG), ("x2", "x", ONE)], {"a": 429, "a2": 429, "x": 429, "x2": 429},
    [req("r1", kw={"num_retries": 3, "fallbacks": []}), req("r2", "x", {"num_retries": 3, "fallbacks": ["f1"]})])
vec("config-error", "config-fallbacks-map-other-group", "fallbacks as a map of another group, called with m", {"fallbacks": {"f1": ["zz"], "f2": ["zz"]}}, CHAIN, {"a": 500}, [req("r1", kw=N0)])
vec("config-error", "config-fallbacks-list-of-names", "router fallbacks as a list of names", {"fallbacks": ["f1"]}, CHAIN, {"a": 500}, [req("r1", kw=N0)])
vec("config-error", "config-fallbacks-map-entries", "router fallbacks whose targets are maps with a model", {"fallbacks": [{"m": [{"model": "f1"}, "f2"]}]}, CHAIN, {"a": 500, "b": 500}, [req("r1", kw=N0)])
vec("config-error", "config-context-window-string-target", "context_window_fallbacks target as a text", {"context_window_fallbacks": [{"m": "h"}]}, CHAIN, {"a": CTX}, [req("r1", kw=N0)])
vec("config-error", "config-content-policy-string-target", "content_policy_fallbacks target as a text", {"content_policy_fallbacks": [{"m": "h"}]}, CHAIN, {"a": POL}, [req("r1", kw=N0)])
vec("config-error", "config-default-fallbacks-string", "default_fallbacks as a text", {"default_fallbacks": "h"}, CHAIN, {"a": 500}, [req("r1", kw=N0)])
vec("config-error", "config-empty-entry", "an empty entry in fallbacks; in context_window_fallbacks", {"fallbacks": [{}]}, CHAIN, {"a": 500}, [req("r1", kw=N0)])
vec("config-error", "config-empty-list-of-entry", "fallbacks entry with an empty list, and default_fallbacks", {"fallbacks": [{"m": []}], "default_fallbacks": ["f1"]}, CHAIN, {"a": 500}, [req("r1", kw=N0)])
vec("config-error", "config-bare-unknown-model", "litellm_params.model without a provider that nobody knows", {}, [("a", "m", {"model": "nosuchmodel"})], {}, [req("r1", kw=N0)])
vec("config-error", "config-bare-unknown-model-with-provider", "the same with custom_llm_provider", {}, [("a", "m", {"model": "nosuchmodel", "custom_llm_provider": "openai"})], {}, [req("r1", kw=N0)])
vec("config-error", "config-negative-max-fallbacks", "max_fallbacks -1", {"max_fallbacks": -1, "fallbacks": [{"m": ["f1"]}]}, CHAIN, {"a": 500}, [req("r1", kw=N0)])
vec("config-error", "config-negative-retry-after", "retry_after -5", {"retry_after": -5}, ["a"], {"a": [500, 200]}, [req("r1", kw=N1)])
vec("config-error", "config-alias-to-alias-and-self", "alias of itself; empty alias map", {"model_group_alias": {"al": "al"}}, ["a"], {}, [req("r1", "al", N0), req("r2", kw=N0)])

# ---- which list comes first for a special error
for kind, rep in (("context-window", CTX), ("content-policy", POL)):
    key = kind.replace("-", "_") + "_fallbacks"
    vec("fallback", f"fallback-{kind}-first-list", f"{kind} error and: client list with the router's list of another group; the group's list dead then the client list; the group's list dead then generic; request's own special list with a client list",
        {key: [{"z": ["h"]}, {"n": ["f1"]}, {"o": ["f1"]}], "fallbacks": [{"o": ["h"]}, {"n": ["h"]}]}, CHAIN + [("n", "n"), ("o", "o")], {"a": rep, "b": 500, "n": rep, "o": rep},
        [req("other", kw={**N0, "fallbacks": ["f2"]}), req("dead-client", "n", {**N0, "fallbacks": ["f2"]}), req("dead-generic", "o", N0), req("own", kw={**N0, "fallbacks": ["f2"], key: [{"m": ["h"]}]}), req("own-empty", kw={**N0, "fallbacks": ["f2"], key: []})])
    vec("fallback", f"fallback-{kind}-first-list-order", f"{kind} error on tier 1; the group's list dead; then tiers? generic?", {key: [{"m": ["f1"]}], "fallbacks": [{"m": ["h"]}, {"n": ["h"]}]},
        [("a", "m", {"order": 1}), ("a2", "m", {"order": 2}), ("b", "f1"), ("h", "h"), ("n1", "n", {"order": 1}), ("n2", "n", {"order": 2})], {"a": rep, "b": 500, "n1": rep, "n2": 500}, [req("r1", kw=N0), req("r2", "n", {**N0, "fallbacks": ["f1"]}), req("r3", "n", {**N0, "fallbacks": []})])
    vec("fallback", f"fallback-{kind}-weighted", f"{kind} error with weighted failover: lists given or not", {key: [{"m": ["f"]}], "enable_weighted_failover": True}, [(f"{d}{g}", g, p) for g in "mn" for d, p in (("a", BIG), ("b", ONE))] + [("f", "f")], {"am": rep, "an": rep}, [req("r1", "m", N0), req("r2", "n", N0)])
vec("fallback", "fallback-default-after-special-of-specific", "n -> m by a specific entry; m too long -> f1 by its list; f1 500; default d", {"default_fallbacks": ["d"], "fallbacks": [{"n": ["m"]}], "context_window_fallbacks": [{"m": ["f1"]}]}, FROM + [("n", "n")], {"n": 500, "a": CTX, "b": 500}, [req("r1", "n", N0)])
G5 = [("a", "n"), ("c", "f2"), ("c3", "f3"), ("h", "h"), ("g", "g")]
for name, cwl, fb, dead in (("then-long-own-generic", ["f2"], [{"n": ["h"]}], {"c": CTX}), ("then-long-nested-generic", ["f2"], [{"f2": ["h"]}], {"c": CTX}), ("then-500-both", ["f2"], [{"f2": ["h"]}, {"n": ["g"]}], {"c": 500, "h": 500}),
                           ("then-policy-own-generic", ["f2"], [{"n": ["h"]}], {"c": POL}), ("then-long-500-own-generic", ["f2", "f3"], [{"n": ["h"]}], {"c": CTX, "c3": 500}), ("then-500-long-own-generic", ["f2", "f3"], [{"n": ["h"]}], {"c": 500, "c3": CTX}),
                           ("then-unknown", ["nope"], [{"n": ["h"]}], {}), ("then-429-star", ["f2"], [{"*": ["h"]}], {"c": 429})):
    for kind, rep in (("context-window", CTX), ("content-policy", POL)):
        d = {k: (rep if v is CTX else v) for k, v in dead.items()}
        vec("fallback", f"fallback-{kind}-{name}", f"{kind} error of n, its list {cwl} dead: {name}", {kind.replace('-', '_') + "_fallbacks": [{"n": cwl}], "fallbacks": fb}, G5, {"a": rep, **d}, [req("r1", "n", N0)])
for kind, rep in (("context-window", CTX), ("content-policy", POL)):
    key = kind.replace('-', '_') + "_fallbacks"
    vec("fallback", f"fallback-{kind}-chain", f"{kind} lists n: f2, f2: f3; all but h dead of it; f3's generic h", {key: [{"n": ["f2"]}, {"f2": ["f3"]}], "fallbacks": [{"f3": ["h"]}]}, G5, {"a": rep, "c": rep, "c3": rep}, [req("r1", "n", N0), req("r2", "f2", N0), req("r3", "f3", N0)])
    vec("fallback", f"fallback-{kind}-chain-500", f"{kind} lists n: f2, f2: f3; f3 500; generic n: h", {key: [{"n": ["f2"]}, {"f2": ["f3"]}], "fallbacks": [{"n": ["h"]}]}, G5, {"a": rep, "c": rep, "c3": 500}, [req("r1", "n", N0)])
    vec("fallback", f"fallback-{kind}-after-generic", f"n 500 -> f2 {kind} error (list of another group) -> its generic h; and with *", {key: [{"z": ["g"]}], "fallbacks": [{"n": ["f2"]}, {"f2": ["h"]}, {"f3": ["f2"]}]}, G5, {"a": 500, "c": rep, "c3": rep}, [req("r1", "n", N0), req("r2", "f3", N0)])
    vec("fallback", f"fallback-{kind}-unset-after-special", f"{kind} error, no list of its kind, generic f2 with the same error, f2's generic h, n's generic second g", {"fallbacks": [{"n": ["f2", "g"]}, {"f2": ["h"]}]}, G5, {"a": rep, "c": rep, "h": rep}, [req("r1", "n", N0)])
    vec("fallback", f"fallback-{kind}-tried-already", f"{kind} list names only who was tried", {key: [{"n": ["n"]}, {"f2": ["n"]}], "fallbacks": [{"n": ["f2"]}, {"f2": ["h"]}]}, G5, {"a": [rep, 500], "c": rep}, [req("r1", "n", N0), req("r2", "n", N0)])
for kind, rep in (("context-window", CTX), ("content-policy", POL)):
    key = kind.replace('-', '_') + "_fallbacks"
    vec("fallback", f"fallback-{kind}-500-generic-dead", f"{kind} list f2 (500), f3 ok; n's generic h dead", {key: [{"n": ["f2", "f3"]}], "fallbacks": [{"n": ["h"]}]}, G5, {"a": rep, "c": 500, "h": 500}, [req("r1", "n", N0)])
    vec("fallback", f"fallback-{kind}-500-no-generic", f"{kind} list f2 (500), f3 ok; no generic; and f3 dead too: what surfaces", {key: [{"n": ["f2", "f3"]}, {"f2": ["f3"]}]}, G5, {"a": rep, "c": 500, "c3": [200, 500]}, [req("r1", "n", N0), req("r2", "n", N0)])
    vec("fallback", f"fallback-{kind}-500-two-generic", f"{kind} list f2 (500), f3 ok; n's generic h, g: h dead", {key: [{"n": ["f2", "f3"]}], "fallbacks": [{"n": ["h", "g"]}]}, G5, {"a": rep, "c": 500, "h": 500}, [req("r1", "n", N0)])
T2 = [("a", "m", {"order": 1}), ("b", "m", {"order": 2}), ("g", "g"), ("h", "h")]
for name, lst, more in (("nope-g", ["nope", "g"], []), ("g-nope", ["g", "nope"], []), ("nope", ["nope"], []), ("g-h", ["g", "h"], []), ("nope-g-own", ["nope", "g"], [{"g": ["nope"]}]), ("g-h-own", ["g", "h"], [{"g": ["h"]}]), ("h-g-own", ["h", "g"], [{"g": ["h"]}])):
    vec("order", f"order-then-list-{name}", f"dead tiers (409, 403), then {lst} dead (g 502, h 503): what surfaces; with a policy error on tier 2", {"fallbacks": [{"m": lst}] + more}, T2, {"a": 409, "b": [403, POL, CTX], "g": 502, "h": 503}, [req("r1", kw=N0), req("r2", kw=N0), req("r3", kw=N0)])
vec("fallback", "fallback-default-stand-in-weighted", "unknown name, default m of two, weighted failover", {"default_fallbacks": ["m"], "enable_weighted_failover": True}, AB, {"a": 500, "b": 503}, [req("r1", "nope", N0), req("r2", "nope", N1)])
vec("fallback", "fallback-default-stand-in-order", "unknown name, default m of two tiers", {"default_fallbacks": ["m"]}, [("a", "m", {"order": 1}), ("b", "m", {"order": 2})], {"a": 500, "b": 503}, [req("r1", "nope", N0)])
vec("fallback", "fallback-default-stand-in-lone", "unknown name, default m of one: waits", {"default_fallbacks": ["m"]}, ["a"], {"a": 500}, [req("r1", "nope", N1)])
vec("weighted-failover", "weighted-failover-alias", "weighted failover through an alias; by a provider's model; tiers through an alias", {"enable_weighted_failover": True, "model_group_alias": {"al": "m", "al2": "n"}}, AB + [("c", "n", {"order": 1}), ("d", "n", {"order": 2}), ("e", "o", {"model": "openai/x", "weight": 1000000}), ("f", "o", {"model": "openai/x", "weight": 1})], {"a": 500, "b": 503, "c": 500, "d": 503, "e": 500, "f": 503}, [req("r1", "al", N0), req("r2", "al2", N0), req("r3", "openai/x", N0)])
TT = [("a", "m", {"order": 1}), ("b", "m", {"order": 2}), ("c", "m", {"order": 3}), ("d", "m", {"order": 4}), ("g", "g"), ("h", "h"), ("i", "i")]
DEAD = {"a": 409, "b": 403, "c": 422, "d": 413, "g": 502, "h": 503, "i": 500}
for name, ids, lst, m in (("two-three", "abghi", "ghi", None), ("three-two", "abcgh", "gh", None), ("two-two-max-1", "abgh", "gh", 1), ("two-two-max-2", "abgh", "gh", 2), ("two", "ab", "", None), ("three-max-2", "abc", "", 2), ("four", "abcd", "", None), ("four-max-1", "abcd", "", 1), ("four-max-2", "abcd", "", 2),
                          ("three-two-max-1", "abcgh", "gh", 1), ("three-two-max-2", "abcgh", "gh", 2), ("three-two-max-3", "abcgh", "gh", 3)):
    vec("order", f"order-dead-{name}", f"tiers and list all dead, max_fallbacks {m}: who surfaces", {**({"fallbacks": [{"m": list(lst)}]} if lst else {}), **({"max_fallbacks": m} if m else {})}, [t for t in TT if t[0] in ids], {k: DEAD[k] for k in ids}, [req("r1", kw=N0)])
