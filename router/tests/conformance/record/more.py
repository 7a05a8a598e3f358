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
