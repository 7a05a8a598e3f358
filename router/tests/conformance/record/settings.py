"""Definitions of vectors about limits of time, default_litellm_params, num_retries_per_request and a request's cooldown_time."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from definitions import N0, VECTORS, req, seq, vec                                   # noqa: E402

VECTORS.clear()
HIGH, MID, LOW = {"weight": 1e12}, {"weight": 1e6}, {"weight": 1}
SLOW = {"status": 200, "latency_ms": 1500}
BOTH = [req("r1"), req("r2", stream=True)]
GLOBAL = {"globals": {"request_timeout": 0.8}}


def added(**params):
    return {"num_retries": 0, "default_litellm_params": params}


# ---- which limit of time counts
for name, router, params, kw, more in [
        ("library", {}, {}, {}, GLOBAL), ("library-over-router", {"timeout": 3}, {}, {}, GLOBAL), ("library-and-router-stream", {"stream_timeout": 0.4}, {}, {}, GLOBAL),
        ("deployment-over-library", {}, {"timeout": 3}, {}, GLOBAL), ("deployment-library-router", {"timeout": 4}, {"timeout": 3}, {}, GLOBAL),
        ("deployment-stream-over-library", {"timeout": 4}, {"stream_timeout": 3}, {}, GLOBAL), ("request-library-router", {"timeout": 4}, {}, {"timeout": 3}, GLOBAL),
        ("router-both", {"timeout": 0.4, "stream_timeout": 0.8}, {}, {}, {}), ("deployment-router-stream", {"timeout": 0.4, "stream_timeout": 0.8}, {"timeout": 3}, {}, {}),
        ("deployment-request-timeout", {"timeout": 4}, {"request_timeout": 0.8}, {}, {}), ("deployment-both", {"timeout": 4}, {"request_timeout": 0.4, "timeout": 0.8}, {}, {}),
        ("request-request-timeout", {"timeout": 4}, {"timeout": 0.4}, {"request_timeout": 0.8}, {}), ("request-both", {"timeout": 4}, {"timeout": 0.4}, {"request_timeout": 0.4, "timeout": 3}, {}),
        ("default-params-stream", {"timeout": 3, "default_litellm_params": {"stream_timeout": 0.4}}, {"timeout": 2.5}, {}, {}),
        ("default-params-whole", {"default_litellm_params": {"timeout": 0.4, "request_timeout": 0.4}}, {}, {}, {}),
        ("default-params-after-router", {"stream_timeout": 3, "default_litellm_params": {"stream_timeout": 0.4}}, {}, {}, {}),
        ("default-params-after-library", {"timeout": 3, "default_litellm_params": {"stream_timeout": 0.4}}, {}, {}, GLOBAL)]:
    vec("timeout", f"timeout-which-{name}", f"which limit of time counts: {name}", {"num_retries": 0, **router}, [("a", "m", params)], {"a": SLOW},
        [req("r1", kw=kw), req("r2", kw=kw, stream=True)], **more)

# ---- default_litellm_params
vec("default-params", "default-params-num-retries", "num_retries 1 added, against deployments' 2 and 0 and requests' 0 and 3", added(num_retries=1),
    [("a", "m", {"num_retries": 2}), ("b", "n", {"num_retries": 0})], {"a": 500, "b": 500}, [req("r1"), req("r2", "n"), req("r3", kw=N0), req("r4", kw={"num_retries": 3})])
vec("default-params", "default-params-num-retries-global", "num_retries 1 added, litellm.num_retries 2", added(num_retries=1), ["a"], {"a": 500}, [req("r1")], globals={"num_retries": 2})
vec("default-params", "default-params-num-retries-policy", "num_retries 1 added, retry policies of 2", {**added(num_retries=1), "retry_policy": {"InternalServerErrorRetries": 2, "RateLimitErrorRetries": 2}},
    [("a", "m"), ("c", "n")], {"a": 500, "c": 429}, [req("r1"), req("r2", "n")])
vec("default-params", "default-params-num-retries-apis", "num_retries 1 added: blocking call, embedding, stream", {"num_retries": 2, "default_litellm_params": {"num_retries": 1}}, ["a"], {"a": 500},
    [req("r1", sync=True), req("r2", api="embedding"), req("r3", stream=True)])
vec("default-params", "default-params-num-retries-fallback", "num_retries 1 added, with a fallback", {**added(num_retries=1), "fallbacks": [{"m": ["g"]}]}, [("a", "m"), ("b", "g")], {"a": 500, "b": 500}, [req("r1")])
vec("default-params", "default-params-max-retries", "max_retries 1 added: chat, embedding, stream, blocking, requests' 0 and 3", added(max_retries=1), ["a"], {"a": 500},
    [req("r1"), req("r2", api="embedding"), req("r3", stream=True), req("r4", sync=True), req("r5", kw={"max_retries": 0}), req("r6", api="embedding", kw={"max_retries": 3}),
     req("r7", api="embedding", kw={"max_retries": 0})])
vec("default-params", "default-params-cooldown-time", "cooldown_time 33 added, against a deployment's 20, Retry-After 7 and a request's 44", added(cooldown_time=33),
    [("a", "m", {"cooldown_time": 20, **HIGH}), ("b", "m", LOW), ("c", "n", HIGH), ("d", "n", LOW), ("e", "o", HIGH), ("f", "o", LOW)],
    {"a": 429, "c": {"status": 429, "headers": {"Retry-After": "7"}}, "e": 429}, [req("r1"), req("r2", "n"), req("r3", "o", kw={"cooldown_time": 44})])
vec("cooldown-time", "cooldown-time-of-a-request", "a request's cooldown_time 44 against a deployment's 20, model_info's 20 and Retry-After 7; and 0", {"num_retries": 0},
    [("a", "m", {"cooldown_time": 20, **HIGH}), ("b", "m", LOW), ("c", "n", HIGH, {"cooldown_time": 20}), ("d", "n", LOW), ("e", "o", HIGH), ("f", "o", LOW), ("g", "p", HIGH), ("h", "p", LOW)],
    {"a": 429, "c": 429, "e": {"status": 429, "headers": {"Retry-After": "7"}}, "g": 429},
    [req("r1", kw={"cooldown_time": 44}), req("r2", "n", kw={"cooldown_time": 44}), req("r3", "o", stream=True, kw={"cooldown_time": 44}), req("r4", "p", kw={"cooldown_time": 0})])

# ---- num_retries_per_request
AB = [("a", "m", HIGH), ("b", "m", LOW)]
FB = [("a", "m", HIGH), ("b", "m", LOW), ("x", "f", HIGH), ("y", "f", LOW)]
for n in (0, 1, 2, 3, 4, 5):
    vec("retries-per-request", f"retries-per-request-{n}", f"num_retries_per_request {n}, num_retries 5, three requests", {"num_retries": 5, "disable_cooldowns": True}, AB, {"a": 500, "b": 500},
        seq("r", 3, kw=None), globals={"num_retries_per_request": n})
for n in (1, 2, 3, 4, 5):
    vec("retries-per-request", f"retries-per-request-{n}-fallback", f"num_retries_per_request {n} with a fallback, requests with 0, 1, 2, 0 and 3 retries",
        {"disable_cooldowns": True, "fallbacks": [{"m": ["f"]}]}, FB, {"a": 500, "b": 500, "x": 500, "y": 500},
        [req(f"r{i}", kw={"num_retries": k}) for i, k in enumerate((0, 1, 2, 0, 3))], globals={"num_retries_per_request": n})
vec("retries-per-request", "retries-per-request-then-ok", "num_retries_per_request 2: failures before an answer", {"num_retries": 4, "disable_cooldowns": True}, AB, {"a": [500, 500, 200], "b": 200},
    seq("r", 3, kw=None), globals={"num_retries_per_request": 2})
vec("retries-per-request", "retries-per-request-apis", "num_retries_per_request 1: blocking, stream, embedding", {"num_retries": 3, "disable_cooldowns": True}, AB, {"a": 500, "b": 500},
    [req("r1", sync=True), req("r2", stream=True), req("r3", api="embedding")], globals={"num_retries_per_request": 1})
vec("retries-per-request", "retries-per-request-policy", "num_retries_per_request 1 with a retry policy", {"num_retries": 1, "retry_policy": {"RateLimitErrorRetries": 3}, "disable_cooldowns": True}, AB,
    {"a": 429, "b": 429}, seq("r", 2, kw=None), globals={"num_retries_per_request": 1})
vec("retries-per-request", "retries-per-request-counts", "num_retries_per_request 1: do refused calls count as failures of the deployment", {"num_retries": 4, "cooldown_time": 30}, AB, {"a": 500, "b": 200},
    seq("r", 2, kw=None), globals={"num_retries_per_request": 1})

# ---- a weight that is a text
T, RETRY_ONCE = {"weight": "3"}, {"num_retries": 1}
for name, title, router, deployments, upstream, client in [
        ("lone", "weight \"3\" on a lone deployment", {}, [("a", "m", T)], {}, seq("r", 1, kw=None)), ("first", "weight \"3\" on the first of two", {}, [("a", "m", T), ("b", "m")], {}, seq("r", 1, kw=None)),
        ("second", "weight \"3\" on the second of two", {}, [("a", "m"), ("b", "m", T)], {}, seq("r", 3, kw=None)),
        ("second-of-numbers", "weight 1 on the first, \"3\" on the second", {}, [("a", "m", LOW), ("b", "m", T)], {}, seq("r", 2, kw=None)),
        ("zero", "weights \"0\" and \"0\"", {}, [("a", "m", {"weight": "0"}), ("b", "m", {"weight": "0"})], {}, seq("r", 1, kw=None)),
        ("other-strategy", "weights \"3\" under least-busy", {"routing_strategy": "least-busy"}, [("a", "m", T), ("b", "m", T)], {}, seq("r", 1, kw=None)),
        ("fallback", "weights \"3\" with a fallback; stream, blocking, embedding, call by id", {"fallbacks": [{"m": ["g"]}]}, [("a", "m", T), ("b", "m", T), ("c", "g")], {},
         [req("r1"), req("r2", stream=True), req("r3", sync=True), req("r4", api="embedding"), req("r5", "a")]),
        ("benched", "order 1 without a weight is benched, order 2 has weight \"3\"", {"cooldown_time": 30}, [("a", "m", {"order": 1}), ("b", "m", {"order": 2, **T})], {"a": 429}, seq("r", 2, kw=None))]:
    vec("weights", f"weight-text-{name}", title, {**RETRY_ONCE, **router}, deployments, upstream, client, [["a", "b"]] if name == "second" else None)
