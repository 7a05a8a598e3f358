"""Siblings of the given vectors: the same kinds with other statuses, strategies, calls and levels of a setting."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from definitions import AB, BIG, CTX, MINUTE, N0, NOCD, ONE, POL, VECTORS, batch, burst, req, seq, sleep, vec   # noqa: E402

VECTORS.clear()
H, MID, L = {"weight": 1e12}, {"weight": 1e6}, {"weight": 1}
ABC = [("a", "m", H), ("b", "m", MID), ("c", "m", L)]
FB = {"fallbacks": [{"m": ["f"]}]}
F1 = ("f", "f")


def at(ms):
    return {"op": "at", "ms": ms}


def each(statuses, cells=("a", "b")):
    """One group a status, the first deployment preferred."""
    return [(f"{d}{s}", f"m{s}", w) for s in statuses for d, w in zip(cells, (H, L))]


# ---- status: statuses that the others do not have, in calls of other kinds
ST = (400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 504, 529)
for api in ("stream", "sync", "embedding"):
    more = {"stream": {"stream": True}, "sync": {"sync": True}, "embedding": {"api": "embedding"}}[api]
    vec("status", f"status-each-two-{api}", f"each status from a of two, b healthy, num_retries 1: {api}", {"cooldown_time": 60, "num_retries": 1},
        each(ST), {f"a{s}": s for s in ST}, [req(f"r{s}", f"m{s}", **more) for s in ST])
    vec("status", f"status-each-single-{api}", f"each status from a lone deployment, num_retries 0: {api}", {"cooldown_time": 60, "num_retries": 0},
        each(ST, ("a",)), {f"a{s}": s for s in ST}, [x for s in ST for x in (req(f"r{s}", f"m{s}", **more), req(f"again{s}", f"m{s}", **more))])
vec("status", "status-each-three-num-retries-3", "each status from a and b of three, num_retries 3", {"cooldown_time": 60, "num_retries": 3},
    [(f"{d}{s}", f"m{s}", w) for s in ST for d, w in zip("abc", (H, MID, L))], {f"{d}{s}": s for s in ST for d in "ab"}, [req(f"r{s}", f"m{s}") for s in ST])
vec("status", "status-3xx-and-odd", "300, 304, 418, 421, 423, 426, 428, 431, 501, 507, 508, 511, 520, 522, 524 from a of two", {"cooldown_time": 60, "num_retries": 1},
    each((418, 421, 423, 426, 428, 431, 501, 507, 508, 511, 520, 522, 524)), {f"a{s}": s for s in (418, 421, 423, 426, 428, 431, 501, 507, 508, 511, 520, 522, 524)},
    [req(f"r{s}", f"m{s}") for s in (418, 421, 423, 426, 428, 431, 501, 507, 508, 511, 520, 522, 524)])
BODIES = {"quota": {"code": "insufficient_quota", "type": "insufficient_quota", "message": "You exceeded your current quota, please check your plan and billing details."},
          "rate": {"code": "rate_limit_exceeded", "type": "requests", "message": "Rate limit reached for gpt-4o in organization org-x on requests per min (RPM): Limit 3, Used 3, Requested 1."},
          "tokens": {"code": "rate_limit_exceeded", "type": "tokens", "message": "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 40000."},
          "key": {"code": "invalid_api_key", "type": "invalid_request_error", "message": "Incorrect API key provided: sk-x. You can find your API key at https://platform.openai.com/account/api-keys."},
          "model": {"code": "model_not_found", "type": "invalid_request_error", "message": "The model `gpt-9` does not exist or you do not have access to it."},
          "overloaded": {"code": None, "type": "server_error", "message": "The server is overloaded or not ready yet."},
          "inv": {"code": None, "type": "invalid_request_error", "message": "Invalid value for 'temperature'."},
          "filter": {"code": "content_filter", "type": None, "message": "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."}}
for s in (401, 403, 404, 429, 500, 503):
    vec("status", f"status-{s}-body-kinds", f"{s} with different error bodies: class, retry, bench", {"cooldown_time": 60, "num_retries": 1},
        each(BODIES), {f"a{k}": {"status": s, "error": b} for k, b in BODIES.items()}, [req(f"r-{k}", f"m{k}") for k in BODIES])
vec("status", "fault-connection-refused-cooldown", "a refuses the connection six times: benched when", {"cooldown_time": 20, "num_retries": 0}, [("a", "m", {**H, "api_base": "{refused}"}), ("b", "m", L)], {}, seq("r", 7, kw={}))
vec("status", "fault-connection-reset-x6", "a drops the connection six times: benched when", {"cooldown_time": 20, "num_retries": 0}, AB, {"a": {"reset": True}}, seq("r", 7, kw={}))
vec("status", "fault-connection-refused-fallback", "a refuses, fallback f", {**FB, "num_retries": 0}, [("a", "m", {"api_base": "{refused}"}), F1], {}, [req("r1")])
vec("status", "fault-hang-single", "a lone deployment never answers (router timeout 0.3)", {"timeout": 0.3, "num_retries": 1}, ["a"], {"a": {"hang": True}}, [req("r1"), req("r2", kw=N0)])
vec("status", "fault-hang-stream", "a never answers a stream (stream_timeout 0.3), b healthy", {"stream_timeout": 0.3, "num_retries": 1}, AB, {"a": {"hang": True}}, [req("r1", stream=True), req("r2", stream=True, kw=N0)])
vec("status", "fault-reset-stream-and-embedding", "a drops streams and embeddings, b healthy", {"cooldown_time": 60, "num_retries": 1}, AB, {"a": {"reset": True}}, [req("r1", stream=True), req("r2", api="embedding", kw=N0), req("r3", sync=True)])

# ---- ladder
vec("ladder", "ladder-backoff-first-waits", "30 staggered requests on a lone dead deployment (500), num_retries 2", {"num_retries": 2, "disable_cooldowns": True}, ["a"], {"a": 500},
    [batch("b", [req(f"q{i}", delay_ms=i * 30) for i in range(30)])], opts={"cooldowns": False, "repeats": 2})
for s in (408, 429, 503):
    vec("ladder", f"ladder-single-{s}-then-ok", f"lone deployment {s} once, then fine", {}, ["a"], {"a": [s, 200]}, [req("r1")])
vec("ladder", "ladder-three-429-429-200", "three equal deployments, the first two calls anywhere 429", {"cooldown_time": 1}, ["a", "b", "c"], {k: {"shared": "S"} for k in "abc"}, [req("r1"), req("r2")], [["a", "b", "c"]])
VECTORS[-1][0]["upstream"]["shared"] = {"S": [{"status": 429}, {"status": 429}, {"status": 200}]}
vec("ladder", "ladder-two-500-all-dead", "two equal deployments, all 500", {"cooldown_time": 30}, ["a", "b"], {"a": 500, "b": 500}, [burst("f", 3, kw={"num_retries": 2})], [["a", "b"]], opts={"cooldowns": False, "repeats": 10})
vec("ladder", "ladder-stream-single-500-200", "stream: lone deployment 500 then fine", {"num_retries": 1}, ["a"], {"a": [500, 200]}, [req("r1", stream=True)])
vec("ladder", "ladder-stream-two-all-429", "stream: both 429", {"cooldown_time": 5}, ["a", "b"], {"a": 429, "b": 429}, [req("r1", stream=True), req("r2", stream=True)], [["a", "b"]])
vec("ladder", "ladder-embedding-two-all-429", "aembedding: both 429", {"cooldown_time": 5}, ["a", "b"], {"a": 429, "b": 429}, [req("r1", api="embedding"), req("r2", api="embedding")], [["a", "b"]])
vec("ladder", "ladder-sync-all-429", "sync: all three 429, then benched", {"cooldown_time": 5}, ["a", "b", "c"], {"a": 429, "b": 429, "c": 429}, [req("r1", sync=True), req("r2", sync=True)], [["a", "b", "c"]])
vec("ladder", "ladder-sync-embedding", "embedding (sync): lone 429 then fine", {"num_retries": 1}, ["a"], {"a": [429, 200]}, [req("r1", sync=True, api="embedding", kw=N0), req("r2", sync=True, api="embedding")])
vec("ladder", "ladder-alternating-failures", "a and b fail in turn (shared script 500 429 503 200)", {"cooldown_time": 1, "num_retries": 4}, ["a", "b"], {"a": {"shared": "S"}, "b": {"shared": "S"}}, [req("r1")], [["a", "b"]], opts={"repeats": 12})
VECTORS[-1][0]["upstream"]["shared"] = {"S": [{"status": 500}, {"status": 429}, {"status": 503}, {"status": 200}]}

# ---- waits
for n in (0, 1, 5):
    vec("retry-after", f"retry-after-wait-seconds-{n}", f"Retry-After: {n} on a lone 429", {"num_retries": 1}, ["a"], {"a": [{"status": 429, "headers": {"Retry-After": str(n)}}, 200]}, [req("r1")], opts={"repeats": 4})
vec("retry-after", "retry-after-wait-lone-dead", "lone, always 429 with Retry-After 1, num_retries 2", {"num_retries": 2}, ["a"], {"a": {"status": 429, "headers": {"Retry-After": "1"}}}, [req("r1")])
vec("retry-after", "retry-after-single-benched-by-401", "401 with Retry-After 2 on a lone deployment: bench", {"cooldown_time": 9}, ["a"], {"a": [{"status": 401, "headers": {"Retry-After": "2"}}, 200]}, [req("r1"), req("r2"), sleep(2100), req("r3")])
vec("retry-after", "retry-after-cooldown-length-404", "404 and 402 with Retry-After 20 and 0", {"cooldown_time": 5, "num_retries": 0}, each(("404x", "404z", "402x", "402z")),
    {f"a{s}{k}": {"status": s, "headers": {"Retry-After": n}} for s in (404, 402) for k, n in (("x", "20"), ("z", "0"))}, [req(f"r{s}{k}", f"m{s}{k}") for s in (404, 402) for k in "xz"])
vec("retry-after", "retry-after-cooldown-rate-rule", "503 with Retry-After 20: the fifth benches for", {"cooldown_time": 5, "num_retries": 0}, AB, {"a": {"status": 503, "headers": {"Retry-After": "20"}}}, seq("r", 6, kw={}))
vec("retry-after", "retry-after-stream-and-embedding", "429 with Retry-After 20 in streams, embeddings and blocking calls", {"cooldown_time": 5, "num_retries": 1}, each(("s", "e", "b")),
    {f"a{k}": {"status": 429, "headers": {"Retry-After": "20"}} for k in "sb"} | {"ae": {"status": 429, "headers": {"Retry-After": "1"}}}, [req("rs", "ms", stream=True), req("re", "me", api="embedding"), req("rb", "mb", sync=True)])
vec("retry-after", "retry-after-recovery", "429 with Retry-After 1 (router 5): back after a second", {"cooldown_time": 5}, AB, {"a": [{"status": 429, "headers": {"Retry-After": "1"}}, 200]}, [req("r1"), req("r2"), sleep(1100), req("r3")])
vec("retry-after", "retry-after-spellings", "spellings: blanks, +2, 2.0, 1e1, -1, 02, empty, x", {"cooldown_time": 5, "num_retries": 0}, each(range(8)),
    {f"a{i}": {"status": 429, "headers": {"Retry-After": v}} for i, v in enumerate((" 7 ", "+7", "7.0", "1e1", "-1", "07", "", "x"))}, [req(f"r{i}", f"m{i}") for i in range(8)])
for n in (0, 1, 8):
    vec("retry-after-setting", f"retry-after-setting-{n}-lone", f"router retry_after {n}, two retries; lone", {"retry_after": n, "num_retries": 1 if n == 8 else 2}, ["a"], {"a": 500}, [req("r1")])
vec("retry-after-setting", "retry-after-setting-embedding", "router retry_after 2 and the library's own retries", {"retry_after": 2, "num_retries": 1}, ["a"], {"a": 500}, [req("r1", api="embedding")])

# ---- what the client library makes of a hint, inside an attempt
LONG = {"s61": "61", "s90": "90", "s120": "120", "s121": "121", "s300": "300"}
vec("retry-after", "retry-after-client-long", "429 with Retry-After 61 to 300 for the client library's own retries", {"cooldown_time": 5, "num_retries": 0}, each(LONG, ("a",)),
    {f"a{k}": [{"status": 429, "headers": {"Retry-After": n}}, 200] for k, n in LONG.items()}, [batch("b", [req(f"r{k}", f"m{k}", api="embedding") for k in LONG])], opts={"repeats": 2})
vec("retry-after", "retry-after-client-long-chat", "the same for chat, where the deployment's num_retries is handed on", {"cooldown_time": 5, "num_retries": 0}, [(f"a{k}", f"m{k}", {"num_retries": 1}) for k in ("s90", "s121")],
    {f"a{k}": [{"status": 429, "headers": {"Retry-After": LONG[k]}}, 200] for k in ("s90", "s121")}, [batch("b", [req(f"r{k}", f"m{k}") for k in ("s90", "s121")])], opts={"repeats": 2})
SHORT = {"ms": {"Retry-After-Ms": "700"}, "msx": {"Retry-After-Ms": "130000"}, "zero": {"Retry-After": "0"}}
vec("retry-after", "retry-after-client-millis", "429 with Retry-After-Ms alone, and Retry-After 0, for the client library's own retries", {"cooldown_time": 5, "num_retries": 0}, each(SHORT, ("a",)),
    {f"a{k}": [{"status": 429, "headers": h}, 200] for k, h in SHORT.items()}, [batch("b", [req(f"r{k}", f"m{k}", api="embedding") for k in SHORT])], opts={"repeats": 2})

# ---- failure rate
for s in (403, 408, 409, 422, 502, 503, 504, 529):
    vec("failure-rate", f"failure-rate-{s}-x6", f"a answers {s} six times", {"cooldown_time": 20, "num_retries": 0}, AB, {"a": s}, seq("r", 7, kw={}))
for ok in (1, 3, 4, 5, 6):
    n = 9 if ok < 5 else 11
    vec("failure-rate", f"failure-rate-ok-x{ok}-fail", f"{ok} answered, then failures", {"cooldown_time": 20, "num_retries": 0}, AB, {"a": [200] * ok + [500] * 12}, seq("r", ok + n - 3, kw={}))
vec("failure-rate", "failure-rate-half", "failures and answers in turn, ten of each: exactly half is not over half", {"cooldown_time": 20, "num_retries": 0}, AB, {"a": [500, 200] * 6}, seq("r", 12, kw={}))
vec("failure-rate", "failure-rate-stream", "six streams refused with 500", {"cooldown_time": 20, "num_retries": 0}, AB, {"a": 500}, seq("r", 6, kw={}, stream=True))
vec("failure-rate", "failure-rate-embedding", "six embeddings refused with 500", {"cooldown_time": 20, "num_retries": 0}, AB, {"a": 500}, seq("r", 6, kw={}, api="embedding"))
vec("failure-rate", "failure-rate-sync", "six blocking calls refused with 500", {"cooldown_time": 20, "num_retries": 0}, AB, {"a": 500}, seq("r", 6, kw={}, sync=True))
vec("failure-rate", "failure-rate-mixed-statuses", "500, 503, 408, 502, 504: counted together", {"cooldown_time": 20, "num_retries": 0}, AB, {"a": [500, 503, 408, 502, 504, 200]}, seq("r", 6, kw={}))
vec("failure-rate", "failure-rate-two-both-dead", "both of two fail: when is each benched", {"cooldown_time": 20, "num_retries": 0}, AB, {"a": 500, "b": 500}, seq("r", 12, kw={}))
vec("failure-rate", "failure-rate-through-alias-and-id", "failures through the group, an alias and the id are one count", {"cooldown_time": 20, "num_retries": 0, "model_group_alias": {"al": "m"}}, AB, {"a": 500}, [req("r1"), req("r2", "al"), req("r3", "a"), req("r4", "al"), req("r5", "a"), req("r6")])
vec("failure-rate", "failure-rate-retries-of-one-request", "one request with four retries on a", {"cooldown_time": 20, "num_retries": 6}, AB, {"a": 500}, [req("r1"), req("r2")])
vec("failure-rate", "failure-rate-concurrent", "eight at once, all fail", {"cooldown_time": 20, "num_retries": 0}, AB, {"a": {"status": 500, "latency_ms": 100}}, [batch("b", [req(f"q{i}") for i in range(8)]), req("after")])

# ---- allowed fails
for n in (0, 1, 2, 4):
    sts = (401, 404, 408, 429, 503)
    vec("allowed-fails", f"allowed-fails-{n}-each-status", f"allowed_fails {n}: 401, 404, 408, 429, 503 from a of two", {"allowed_fails": n, "cooldown_time": 60, "num_retries": 0}, each(sts), {f"a{s}": s for s in sts},
        [req(f"r{s}-{i}", f"m{s}") for s in sts for i in range(n + 2)])
    vec("allowed-fails", f"allowed-fails-{n}-single-each-status", f"allowed_fails {n}: 401, 404, 408, 429, 503 from lone deployments", {"allowed_fails": n, "cooldown_time": 60, "num_retries": 0}, each(sts, ("a",)), {f"a{s}": s for s in sts},
        [req(f"r{s}-{i}", f"m{s}") for s in sts for i in range(n + 2)])
vec("allowed-fails", "allowed-fails-2-global", "litellm.allowed_fails 1 against the router's 1 and none", {"cooldown_time": 60, "num_retries": 0, "allowed_fails": 1}, AB, {"a": 500}, seq("r", 4, kw={}), globals={"allowed_fails": 1})
vec("allowed-fails", "allowed-fails-1-retries", "allowed_fails 1: retries of one request count", {"allowed_fails": 1, "cooldown_time": 60, "num_retries": 3}, AB, {"a": 500}, [req("r1"), req("r2")])
vec("allowed-fails", "allowed-fails-1-stream-embedding", "allowed_fails 1: a stream, an embedding, a blocking call", {"allowed_fails": 1, "cooldown_time": 60, "num_retries": 0}, AB, {"a": 500}, [req("r1", stream=True), req("r2", api="embedding"), req("r3", sync=True)])
vec("allowed-fails", "allowed-fails-10-500", "allowed_fails 6 switches the rate rule off", {"allowed_fails": 6, "cooldown_time": 60, "num_retries": 0}, AB, {"a": 500}, seq("r", 8, kw={}))
vec("allowed-fails", "allowed-fails-window-anchor", "allowed_fails 2, cooldown 1: failures at 0, 0.7, 1.4, 1.6", {"allowed_fails": 2, "cooldown_time": 1, "num_retries": 0}, AB, {"a": 500}, [req("r1"), at(700), req("r2"), at(1400), req("r3"), at(1600), req("r4"), at(1700), req("r5")])
vec("allowed-fails", "allowed-fails-model-info-0-and-2", "model_info.allowed_fails 0 and 2 against the router's 1", {"allowed_fails": 1, "cooldown_time": 60, "num_retries": 0}, [("a", "m", H, {"allowed_fails": 0}), ("b", "m", L), ("c", "n", H, {"allowed_fails": 2}), ("d", "n", L)], {"a": 500, "c": 500}, seq("r", 2, kw={}) + seq("s", 4, "n", kw={}))
KINDS = {"AuthenticationErrorAllowedFails": 401, "TimeoutErrorAllowedFails": 408, "RateLimitErrorAllowedFails": 429, "ContentPolicyViolationErrorAllowedFails": POL, "BadRequestErrorAllowedFails": 400, "InternalServerErrorAllowedFails": 500}
for n in (0, 1, 3):
    vec("allowed-fails-policy", f"allowed-fails-policy-per-exception-{n}", f"a policy with every field at {n}; two deployments", {"allowed_fails_policy": {k: n for k in KINDS}, "cooldown_time": 60, "num_retries": 0},
        each(range(len(KINDS))), {f"a{i}": s for i, s in enumerate(KINDS.values())}, [req(f"r{i}-{j}", f"m{i}") for i in range(len(KINDS)) for j in range(n + 2)])
for k, s in KINDS.items():
    short = k[:-len("ErrorAllowedFails")].lower()
    vec("allowed-fails-policy", f"allowed-fails-policy-only-{short}", f"a policy with {k} 1 only, allowed_fails 2; its class and 500s", {"allowed_fails_policy": {k: 1}, "allowed_fails": 2, "cooldown_time": 60, "num_retries": 0},
        each(("x", "y")), {"ax": s, "ay": 503}, [req(f"x{j}", "mx") for j in range(4)] + [req(f"y{j}", "my") for j in range(4)])
vec("allowed-fails-policy", "allowed-fails-policy-timeouts", "TimeoutErrorAllowedFails 1 with real timeouts and 504s", {"allowed_fails_policy": {"TimeoutErrorAllowedFails": 1}, "cooldown_time": 60, "num_retries": 0, "timeout": 0.25}, each(("x", "y")),
    {"ax": {"latency_ms": 900}, "ay": 504}, [req(f"x{j}", "mx") for j in range(3)] + [req(f"y{j}", "my") for j in range(3)])
vec("allowed-fails-policy", "allowed-fails-policy-empty", "a policy without a field", {"allowed_fails_policy": {}, "cooldown_time": 60, "num_retries": 0}, each(("x", "y", "z")), {"ax": 429, "ay": 500, "az": 401}, [req(f"{k}{j}", f"m{k}") for k in "xyz" for j in range(5)])

# ---- retry policies
RKINDS = {"AuthenticationErrorRetries": 401, "TimeoutErrorRetries": 408, "RateLimitErrorRetries": 429, "ContentPolicyViolationErrorRetries": POL, "BadRequestErrorRetries": 400, "InternalServerErrorRetries": 500}
RETRY2 = [f"{d}{i}" for i in range(6) for d in "ab"]
for n in (0, 2):
    vec("retry-policy", f"retry-policy-two-deployments-each-{n}", f"a policy with every field at {n}, both of two fail", {"retry_policy": {k: n for k in RKINDS}, "cooldown_time": 60, "num_retries": 1, "disable_cooldowns": True},
        each(range(6)), {f"{d}{i}": s for i, s in enumerate(RKINDS.values()) for d in "ab"}, [req(f"r{i}", f"m{i}") for i in range(6)])
for k, s in RKINDS.items():
    short = k[:-len("ErrorRetries")].lower()
    vec("retry-policy", f"retry-policy-only-{short}", f"{k} 1 alone: its class, and a 503", {"retry_policy": {k: 1}, "num_retries": 2, "cooldown_time": 60}, each(("x", "y")), {"ax": s, "ay": 503}, [req("x", "mx"), req("y", "my")])
for k, s in (("ServiceUnavailableErrorRetries", 503), ("NotFoundErrorRetries", 404), ("DefaultRetries", 402)):
    vec("retry-policy", f"retry-policy-new-field-{s}", f"{k} 1 (a field of 1.110 only)", {"retry_policy": {k: 1}, "num_retries": 2, "cooldown_time": 60}, each(("x", "y")), {"ax": s, "ay": 500}, [req("x", "mx"), req("y", "my")])
vec("retry-policy", "retry-policy-group-other", "a policy of another group; of the group with a field unset", {"model_group_retry_policy": {"n": {"RateLimitErrorRetries": 0}, "m": {"TimeoutErrorRetries": 0}}, "retry_policy": {"RateLimitErrorRetries": 3}, "num_retries": 1, "disable_cooldowns": True}, [("a", "m"), ("b", "n"), ("c", "o")], {"a": 429, "b": 429, "c": [429, 429, 200]}, [req("r1"), req("r2", "n"), req("r3", "o")])
vec("retry-policy", "retry-policy-stream-embedding-sync", "RateLimitErrorRetries 1 in streams, embeddings, blocking calls", {"retry_policy": {"RateLimitErrorRetries": 1}, "num_retries": 0, "disable_cooldowns": True}, AB, {"a": 429}, [req("r1", stream=True), req("r2", api="embedding"), req("r3", sync=True)])
vec("retry-policy", "retry-policy-deployment-num-retries", "a deployment's num_retries against a policy", {"retry_policy": {"RateLimitErrorRetries": 1}, "disable_cooldowns": True}, [("a", "m", {"num_retries": 2})], {"a": 429}, [req("r1"), req("r2", kw=N0)])
vec("retry-policy", "retry-policy-negative", "RateLimitErrorRetries -1", {"retry_policy": {"RateLimitErrorRetries": -1}, "num_retries": 1, "disable_cooldowns": True}, AB, {"a": 429}, [req("r1")])
if __name__ == "__main__":
    print(len(VECTORS))
