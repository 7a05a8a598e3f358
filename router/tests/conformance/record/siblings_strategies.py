"""Siblings of the given vectors, third part: strategies, limits, checks, names, construction."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from definitions import AB, BIG, CTX, MINUTE, N0, NOCD, ONE, POL, VECTORS, batch, burst, req, seq, sleep, vec   # noqa: E402

VECTORS.clear()
H, MID, L = {"weight": 1e12}, {"weight": 1e6}, {"weight": 1}
FB = {"fallbacks": [{"m": ["f"]}]}
F1 = ("f", "f")


def at(ms):
    return {"op": "at", "ms": ms}


# ---- least busy
LB = {"routing_strategy": "least-busy"}
SLOW = {"latency_ms": 400}
vec("least-busy", "least-busy-stagger-nine", "nine requests 40 ms apart on three slow ones", LB, ["a", "b", "c"], {k: SLOW for k in "abc"}, [batch("b", [req(f"q{i}", delay_ms=40 * i) for i in range(9)])])
vec("least-busy", "least-busy-streams", "streams count until they end", LB, ["a", "b"], {k: {"chunks": 4, "chunk_ms": 120} for k in "ab"}, [batch("b", [req(f"q{i}", delay_ms=50 * i, stream=True) for i in range(4)])], [["a", "b"]])
vec("least-busy", "least-busy-embedding-and-sync", "embeddings and blocking calls count", LB, ["a", "b"], {k: SLOW for k in "ab"}, [batch("b", [req("e1", api="embedding"), req("e2", api="embedding", delay_ms=60), req("s1", sync=True, delay_ms=120), req("s2", sync=True, delay_ms=200)])])
vec("least-busy", "least-busy-failing-first", "a fails with 500: retries", {**LB, "num_retries": 2}, ["a", "b"], {"a": 500}, [req("r1"), req("r2")])
vec("least-busy", "least-busy-429", "a answers 429: the retry and the next", {**LB, "cooldown_time": 30}, ["a", "b"], {"a": 429}, [req("r1"), req("r2")])
vec("least-busy", "least-busy-weights-ignored", "weights mean nothing", LB, [("a", "m", {"weight": 1}), ("b", "m", {"weight": 1000})], {}, [burst("f", 10)], opts=NOCD)
vec("least-busy", "least-busy-two-groups", "a busy deployment of another group", {**LB, "num_retries": 0}, [("a", "m"), ("b", "m"), ("c", "n"), ("d", "n")], {k: SLOW for k in "abcd"}, [batch("b", [req("q1"), req("q2", "n", delay_ms=50), req("q3", delay_ms=100), req("q4", "n", delay_ms=150)])])
vec("least-busy", "least-busy-fallback", "a fallback group by least-busy", {**LB, "num_retries": 0, **FB}, ["a", ("f1", "f"), ("f2", "f")], {"a": 500, "f1": SLOW, "f2": SLOW}, [batch("b", [req(f"q{i}", delay_ms=60 * i) for i in range(4)])])

# ---- latency
LT = {"routing_strategy": "latency-based-routing"}
FAST, SLOWER = {"latency_ms": 30}, {"latency_ms": 300}
warm = lambda n=12, **k: burst("warm", n, **k)
for b in (0.5, 1, 20):
    vec("latency", f"latency-buffer-{str(b).replace('.', '-')}", f"lowest_latency_buffer {b}: 100 / 140 / 600 ms", {**LT, "routing_strategy_args": {"lowest_latency_buffer": b}}, ["a", "b", "c"], {"a": {"latency_ms": 200}, "b": {"latency_ms": 280}, "c": {"latency_ms": 1200}}, [warm(8, gap_ms=20), burst("f", 12, gap_ms=20)], opts={**NOCD, "repeats": 3})
vec("latency", "latency-sync", "blocking calls: fast against slow", LT, ["a", "b"], {"a": FAST, "b": SLOWER}, [warm(sync=True, gap_ms=30), burst("f", 10, sync=True, gap_ms=30)], opts=NOCD)
vec("latency", "latency-429", "the fast one answers 429 once", {**LT, "cooldown_time": 30}, ["a", "b"], {"a": [FAST] * 3 + [{**FAST, "status": 429}] * 9, "b": SLOWER}, [burst("warm", 5, kw={"num_retries": 1}, gap_ms=30), burst("f", 4, kw={"num_retries": 1}, gap_ms=30)], opts={**NOCD, "repeats": 3})
vec("latency", "latency-500-keeps-being-fast", "a fails at once, b is slow: who is taken", {**LT, "num_retries": 0}, ["a", "b"], {"a": [FAST, FAST, FAST, 500], "b": SLOWER}, [burst("f", 9, gap_ms=30)], opts={**NOCD, "repeats": 3})
vec("latency", "latency-tokens", "same time, a answers with 100 tokens, b with 1", LT, ["a", "b"], {"a": {"latency_ms": 250, "usage": {"completion_tokens": 100}}, "b": {"latency_ms": 250, "usage": {"completion_tokens": 1}}}, [warm(6, gap_ms=30), burst("f", 8, gap_ms=30)], opts={**NOCD, "repeats": 3})
vec("latency", "latency-list-size-1", "max_latency_list_size 1: a turns slow", {**LT, "routing_strategy_args": {"max_latency_list_size": 1}}, ["a", "b"], {"a": [FAST] * 4 + [{"latency_ms": 500}], "b": {"latency_ms": 200}}, [burst("f", 14, gap_ms=30)], opts={**NOCD, "repeats": 3})
vec("latency", "latency-list-size-3", "max_latency_list_size 3: a turns slow", {**LT, "routing_strategy_args": {"max_latency_list_size": 3}}, ["a", "b"], {"a": [FAST] * 4 + [{"latency_ms": 900}], "b": {"latency_ms": 200}}, [burst("f", 16, gap_ms=30)], opts={**NOCD, "repeats": 3})
vec("latency", "latency-stream-and-plain", "streams go by the first token, plain calls by the whole", LT, ["a", "b"], {"a": {"ttft_ms": 20, "chunks": 3, "chunk_ms": 250, "latency_ms": 0}, "b": {"latency_ms": 200, "chunks": 3}}, [warm(8, stream=True, gap_ms=30), burst("s", 6, stream=True, gap_ms=30), burst("p", 6, gap_ms=30)], opts={**NOCD, "repeats": 3})
vec("latency", "latency-408-504-penalty", "a provider's 408 and 504 as penalty", {**LT, "num_retries": 0}, [("a", "m"), ("b", "m"), ("c", "n"), ("d", "n")], {"a": [408, FAST], "b": SLOWER, "c": [504, FAST], "d": SLOWER}, [burst("m", 8, gap_ms=30), burst("n", 8, "n", gap_ms=30)], opts={**NOCD, "repeats": 4})
vec("latency", "latency-three-and-benched", "three, the fastest benched: the second", {**LT, "cooldown_time": 30}, ["a", "b", "c"], {"a": [FAST] * 2 + [401], "b": {"latency_ms": 200}, "c": {"latency_ms": 600}}, [burst("warm", 8, kw={"num_retries": 2}, gap_ms=30), burst("f", 5, kw=N0, gap_ms=30)], opts={**NOCD, "repeats": 3})

# ---- usage
V1, V2 = {"routing_strategy": "usage-based-routing"}, {"routing_strategy": "usage-based-routing-v2"}
for n in (1, 2, 3, 5):
    for k, r in (("v1", V1), ("v2", V2)):
        vec("usage", f"usage-{k}-rpm-{n}", f"usage {k}: rpm {n} on a lone deployment, sequential", {**r, "num_retries": 0}, [("a", "m", {"rpm": n})], {}, [MINUTE, burst("f", n + 3, gap_ms=40)], opts={**NOCD, "repeats": 2})
for k, r in (("v1", V1), ("v2", V2)):
    vec("usage", f"usage-{k}-three", f"usage {k}: three with 10, 20 and 40 tokens", {**r, "num_retries": 0}, ["a", "b", "c"], {x: {"usage": {"prompt_tokens": n, "completion_tokens": 0 if False else 5}} for x, n in zip("abc", (5, 15, 35))}, [MINUTE, burst("f", 21, gap_ms=40)], opts={**NOCD, "repeats": 3})
    vec("usage", f"usage-{k}-limit-spills", f"usage {k}: rpm 3 on a, none on b; tpm 40 on c, none on d", {**r, "num_retries": 0}, [("a", "m", {"rpm": 3}), ("b", "m"), ("c", "n", {"tpm": 40}), ("d", "n")], {}, [MINUTE, burst("m", 8, gap_ms=40), burst("n", 8, "n", gap_ms=40)], opts={**NOCD, "repeats": 3})
    vec("usage", f"usage-{k}-429", f"usage {k}: a answers 429", {**r, "cooldown_time": 30}, ["a", "b"], {"a": 429}, [MINUTE, req("r1"), req("r2"), req("r3")], opts={"repeats": 4})
    vec("usage", f"usage-{k}-sync", f"usage {k}: blocking calls", {**r, "num_retries": 0}, [("a", "m", {"rpm": 3}), ("b", "m", {"rpm": 3})], {}, [MINUTE, burst("f", 8, sync=True, gap_ms=40)], opts={**NOCD, "repeats": 3})
    vec("usage", f"usage-{k}-fallback", f"usage {k}: limit of the lone one, then the fallback", {**r, "num_retries": 0, **FB}, [("a", "m", {"rpm": 2}), ("f", "f", {"rpm": 2})], {}, [MINUTE] + seq("r", 5, kw={}), opts={"repeats": 2})
    vec("usage", f"usage-{k}-prompt-over-tpm", f"usage {k}: a prompt larger than the tpm", {**r, "num_retries": 0}, [("a", "m", {"tpm": 100}), ("b", "n", {"tpm": 100}), ("c", "n", {"tpm": 1000})], {}, [MINUTE, req("r1", words=200), req("r2", words=20), req("r3", "n", words=200)], opts={"repeats": 2})
    vec("usage", f"usage-{k}-embedding", f"usage {k}: embeddings with tpm 25", {**r, "num_retries": 0}, [("a", "m", {"tpm": 25})], {}, [MINUTE, burst("f", 5, api="embedding", gap_ms=40)], opts={**NOCD, "repeats": 2})
    vec("usage", f"usage-{k}-burst-two", f"usage {k}: ten at once on rpm 3 and rpm 3", {**r, "num_retries": 0}, [("a", "m", {"rpm": 3}), ("b", "m", {"rpm": 3})], {x: {"latency_ms": 100} for x in "ab"}, [MINUTE, batch("b", [req(f"q{i}") for i in range(10)])], opts={**NOCD, "repeats": 6})
ENF = {"optional_pre_call_checks": ["enforce_model_rate_limits"], "num_retries": 0}
vec("usage", "enforce-rpm-1-lone", "enforce: rpm 1 on a lone one", ENF, [("a", "m", {"rpm": 1})], {}, [MINUTE] + seq("r", 3, kw={}))
vec("usage", "enforce-stream", "enforce: streams count", ENF, [("a", "m", {"rpm": 2})], {}, [MINUTE] + seq("r", 4, kw={}, stream=True))
vec("usage", "enforce-burst", "enforce: rpm 4, nine at once", ENF, [("a", "m", {"rpm": 4})], {"a": {"latency_ms": 100}}, [MINUTE, batch("b", [req(f"q{i}") for i in range(9)])], opts={"repeats": 3})
vec("usage", "enforce-latency", "enforce under latency routing", {**ENF, **LT}, [("a", "m", {"rpm": 2}), ("b", "m", {"rpm": 2})], {}, [MINUTE, burst("f", 6)], opts={**NOCD, "repeats": 4})

# ---- cost
CB = {"routing_strategy": "cost-based-routing", "num_retries": 0}
price = lambda i, o: {"input_cost_per_token": i, "output_cost_per_token": o}
vec("cost", "cost-three", "three prices; the cheapest two benched in turn", {**CB, "cooldown_time": 30}, [("a", "m", price(3e-6, 3e-6)), ("b", "m", price(1e-6, 1e-6)), ("c", "m", price(2e-6, 2e-6))], {"b": [200, 429], "c": [200, 401]}, seq("r", 5, kw={}))
vec("cost", "cost-tpm", "tpm 40 on the cheap one", CB, [("a", "m", {**price(1e-6, 1e-6), "tpm": 40}), ("b", "m", price(2e-6, 2e-6))], {}, [{"op": "align", "second_min": 1, "second_max": 45}, burst("f", 6, gap_ms=40)], opts={**NOCD, "repeats": 2})
vec("cost", "cost-registry-models", "prices of the table: several known models, bare and prefixed", CB, [("a", "m", {"model": "gpt-4"}), ("b", "m", {"model": "gpt-3.5-turbo"}), ("c", "n", {"model": "gpt-4o"}), ("d", "n", {"model": "gpt-4.1-mini"}), ("e", "n", {"model": "o3-mini"}), ("g", "o", {"model": "openai/gpt-4"}), ("h", "o", {"model": "gpt-4-turbo"})], {}, [burst("m", 4, "m"), burst("n", 4, "n"), burst("o", 4, "o")], opts=NOCD)
vec("cost", "cost-base-model", "base_model of the model_info against none", CB, [("a", "m", {"model": "openai/x"}, {"base_model": "gpt-4"}), ("b", "m", {"model": "openai/y"}, {"base_model": "gpt-4o-mini"})], {}, [burst("m", 4)], opts=NOCD)
vec("cost", "cost-fallback-and-500", "the cheap one fails with 500; retries", {"routing_strategy": "cost-based-routing", "num_retries": 1, **FB}, [("a", "m", price(1e-6, 1e-6)), ("b", "m", price(2e-6, 2e-6)), F1], {"a": 500}, [req("r1"), req("r2", stream=True), req("r3", api="embedding")])
vec("cost", "cost-order", "equal prices with orders, weights", CB, [("a", "m", {**price(1e-6, 1e-6), "weight": 1}), ("b", "m", {**price(1e-6, 1e-6), "weight": 9})], {}, [burst("m", 6)], opts=NOCD)

# ---- max parallel
vec("max-parallel", "max-parallel-1-of-3-retries", "max_parallel_requests 1, three at once, num_retries 2", {}, [("a", "m", {"max_parallel_requests": 1})], {"a": {"latency_ms": 250}}, [batch("b", [req(f"q{i}") for i in range(3)])])
vec("max-parallel", "max-parallel-streams", "max_parallel_requests 1, two streams at once", {"num_retries": 0}, [("a", "m", {"max_parallel_requests": 1})], {"a": {"chunks": 3, "chunk_ms": 150}}, [batch("b", [req("q1", stream=True), req("q2", stream=True, delay_ms=50)])])
vec("max-parallel", "max-parallel-embedding", "max_parallel_requests 2, four embeddings", {"num_retries": 0}, [("a", "m", {"max_parallel_requests": 2})], {"a": {"latency_ms": 250}}, [batch("b", [req(f"q{i}", api="embedding") for i in range(4)])])
vec("max-parallel", "max-parallel-failures-free-slots", "slots are free again after 500s and timeouts", {"num_retries": 0, "timeout": 0.3}, [("a", "m", {"max_parallel_requests": 1}), ("b", "n", {"max_parallel_requests": 1})], {"a": [500, 200], "b": [{"latency_ms": 900}, 200]}, [req("r1"), req("r2"), req("r3", "n"), req("r4", "n")])
vec("max-parallel", "max-parallel-six", "six requests, two deployments with 2 each, retries", {"num_retries": 1, "cooldown_time": 30}, [("a", "m", {"max_parallel_requests": 2}), ("b", "m", {"max_parallel_requests": 2})], {x: {"latency_ms": 250} for x in "ab"}, [batch("b", [req(f"q{i}") for i in range(3)])], opts={"repeats": 6})
vec("max-parallel", "max-parallel-derived-tpm", "tpm 500, 170, 10, and 2000 of four groups", {"num_retries": 0}, [(f"t{n}", f"t{n}", {"tpm": n}) for n in (10, 170, 500, 2000)], {f"t{n}": {"latency_ms": 250} for n in (10, 170, 500, 2000)}, [batch(f"b{n}", [req(f"q{n}-{i}", f"t{n}") for i in range(k)]) for n, k in ((10, 3), (170, 3), (500, 5), (2000, 14))])

# ---- pre-call checks
PC = {"enable_pre_call_checks": True, "num_retries": 0}
vec("precall", "precall-context-window", "windows 50 and 500: short and long prompts", PC, [("a", "m", H, {"max_input_tokens": 50}), ("b", "m", L, {"max_input_tokens": 500})], {}, [req("short", words=5), req("long", words=120), req("longer", words=700), req("s", words=120, stream=True), req("y", words=120, sync=True)])
vec("precall", "precall-known-models", "windows of the table: gpt-4 (8192) and gpt-3.5-turbo (16385)", PC, [("a", "m", {**H, "model": "gpt-4"}), ("b", "m", {**L, "model": "gpt-3.5-turbo"})], {}, [req("r1", words=20), req("r2", words=9000), req("r3", words=17000)])
vec("precall", "precall-known-models-prefixed", "the same with openai/", PC, [("a", "m", {**H, "model": "openai/gpt-4"}), ("b", "m", {**L, "model": "openai/gpt-3.5-turbo"})], {}, [req("r1", words=20), req("r2", words=9000), req("r3", words=17000)])
vec("precall", "precall-window-fallbacks", "nobody fits: context window list, generic list, both, default", {**PC, "context_window_fallbacks": [{"m": ["w"]}], "fallbacks": [{"n": ["g"]}, {"m": ["g"]}], "default_fallbacks": ["d"]}, [("a", "m", {}, {"max_input_tokens": 50}), ("b", "n", {}, {"max_input_tokens": 50}), ("c", "o", {}, {"max_input_tokens": 50}), ("w", "w"), ("g", "g"), ("d", "d")], {}, [req("r1", words=120), req("r2", "n", words=120), req("r3", "o", words=120)])
vec("precall", "precall-region-strategies", "region under other strategies and calls", {**PC, "routing_strategy": "least-busy"}, [("a", "m", {"region_name": "us"}), ("b", "m", {"region_name": "eu"}), ("c", "m")], {}, [req("r1", kw={"allowed_model_region": "eu"}), req("r2", kw={"allowed_model_region": "us"}, stream=True), req("r3", kw={"allowed_model_region": "eu"}, sync=True), req("r4", kw={"allowed_model_region": "ap"})])
vec("precall", "precall-region-fallback", "no deployment of the region, a fallback", {**PC, **FB}, [("a", "m", {"region_name": "us"}), ("f", "f", {"region_name": "eu"})], {}, [req("r1", kw={"allowed_model_region": "eu"}), req("r2", kw={"allowed_model_region": "ap"})])
vec("precall", "precall-region-off", "allowed_model_region without pre-call checks", {"num_retries": 0}, [("a", "m", {**H, "region_name": "us"}), ("b", "m", {**L, "region_name": "eu"})], {}, [req("r1", kw={"allowed_model_region": "eu"})])
for n in (1, 3):
    vec("precall", f"precall-rpm-{n}", f"pre-call checks with rpm {n} on a of two, lone, and under least-busy", PC, [("a", "m", {"rpm": n}), ("b", "m", {"rpm": 100}), ("c", "n", {"rpm": n})], {}, [MINUTE, burst("n", n + 2, "n"), burst("m", 12)], opts={**NOCD, "repeats": 3})
vec("precall", "precall-rpm-usage-v2", "pre-call rpm under usage-v2 and usage v1", {**PC, **V2}, [("a", "m", {"rpm": 3})], {}, [MINUTE, burst("f", 5)], opts={**NOCD, "repeats": 2})
vec("precall", "precall-order", "a window in tier 1, none in tier 2", PC, [("a", "m", {"order": 1}, {"max_input_tokens": 50}), ("b", "m", {"order": 2})], {}, [req("r1"), req("r2", words=120)])
vec("precall", "precall-window-benched", "the one that fits is benched", {**PC, "cooldown_time": 30}, [("a", "m", H, {"max_input_tokens": 50}), ("b", "m", L, {"max_input_tokens": 500})], {"b": 429}, [req("r1", words=120), req("r2", words=120), req("r3")])

# ---- affinity
SA, DA = {"optional_pre_call_checks": ["session_affinity"]}, {"optional_pre_call_checks": ["deployment_affinity"]}
S = lambda s: {"metadata": {"session_id": s}}
K = lambda s: {"metadata": {"user_api_key_hash": s}}
FOUR = ["a", "b", "c", "d"]
vec("affinity", "affinity-deployment-ttl", "key pin with ttl 1: kept while used, gone after idling", {**DA, "deployment_affinity_ttl_seconds": 1}, FOUR, {}, [burst("k", 4, kw=K("k"), gap_ms=100), sleep(1300), burst("k2", 4, kw=K("k"), gap_ms=100)], opts={**NOCD, "repeats": 6})
vec("affinity", "affinity-streams-embeddings-sync", "pins of streams, embeddings, blocking calls", SA, FOUR, {}, [burst("s", 4, kw=S("s"), stream=True), burst("e", 4, kw=S("e"), api="embedding"), burst("b", 12, kw=S("b"), sync=True)], opts={**NOCD, "repeats": 6})
vec("affinity", "affinity-two-groups", "one session in two groups", SA, [("a", "m"), ("b", "m"), ("c", "n"), ("d", "n")], {}, [burst("m", 5, kw=S("s")), burst("n", 5, "n", kw=S("s"))], opts={**NOCD, "repeats": 5})
vec("affinity", "affinity-alias", "one session through an alias and its target", {**SA, "model_group_alias": {"al": "m"}}, FOUR, {}, [burst("m", 3, kw=S("s")), burst("al", 3, "al", kw=S("s"))], opts={**NOCD, "repeats": 6})
vec("affinity", "affinity-fallback", "the session's fallback group is pinned too", {**SA, "num_retries": 0, **FB}, ["a", ("f1", "f"), ("f2", "f"), ("f3", "f")], {"a": 500}, [burst("s", 5, kw=S("s"))], opts={**NOCD, "repeats": 6})
vec("affinity", "affinity-weights", "a session over weights 9:1", SA, [("a", "m", {"weight": 9}), ("b", "m", {"weight": 1})], {}, [burst("s", 5, kw=S("s"))], opts={**NOCD, "repeats": 10})
for st in ("latency-based-routing", "usage-based-routing-v2", "cost-based-routing", "usage-based-routing"):
    vec("affinity", f"affinity-{st}", f"a session under {st}", {**SA, "routing_strategy": st, "num_retries": 0}, ["a", "b"], {}, [burst("s", 6, kw=S("s"))], opts={**NOCD, "repeats": 5})
vec("affinity", "affinity-401-benched", "the pinned one answers 401: retry, then", {**SA, "cooldown_time": 30}, ["a", "b"], {x: [200, 401] + [200] * 5 for x in "ab"}, [req("r1", kw=S("s")), req("r2", kw=S("s")), req("r3", kw=S("s"))], [["a", "b"]], opts={"repeats": 6})
vec("affinity", "affinity-group-config", "model_group_affinity_config for one group", {"model_group_affinity_config": {"m": ["session_affinity"]}}, [("a", "m"), ("b", "m"), ("c", "m"), ("x", "n"), ("y", "n")], {}, [burst("m", 5, kw=S("s")), burst("n", 20, "n", kw=S("s"))], opts={**NOCD, "repeats": 5})

# ---- base_model
CB = {"routing_strategy": "cost-based-routing", "num_retries": 0}
O = {**NOCD, "repeats": 2}
two = lambda nm, a, b: vec("cost", f"cost-base-model-{nm}", f"base_model: {nm}", CB, [("a", "m", *a), ("b", "m", *b)], {}, [burst("m", 3)], opts=O)
two("in-params", ({"model": "openai/x", "base_model": "gpt-4"},), ({"model": "openai/y", "base_model": "gpt-4o-mini"},))
two("over-known-model", ({"model": "gpt-4o-mini"}, {"base_model": "gpt-4"}), ({"model": "gpt-4o"},))
two("under-own-price", ({"model": "openai/x", "input_cost_per_token": 1e-9, "output_cost_per_token": 1e-9}, {"base_model": "gpt-4"}), ({"model": "openai/y"}, {"base_model": "gpt-4o-mini"}))
two("azure", ({"model": "azure/x", "api_version": "1"}, {"base_model": "azure/gpt-4o"}), ({"model": "azure/y", "api_version": "1"}, {"base_model": "azure/gpt-4o-mini"}))
two("unknown", ({"model": "openai/x"}, {"base_model": "nope"}), ({"model": "openai/y"}, {"base_model": "gpt-4o-mini"}))
two("prefixed", ({"model": "openai/x"}, {"base_model": "openai/gpt-4"}), ({"model": "openai/y"}, {"base_model": "openai/gpt-4o-mini"}))
vec("cost", "cost-known-models-more", "prices of the table, bare names only", CB, [("a", "m", {"model": "gpt-4"}), ("b", "m", {"model": "gpt-3.5-turbo"}), ("c", "n", {"model": "gpt-4o"}), ("d", "n", {"model": "gpt-4.1-mini"}), ("e", "n", {"model": "o3-mini"}), ("g", "o", {"model": "gpt-4.1"}), ("h", "o", {"model": "gpt-4-turbo"})], {}, [burst("m", 3, "m"), burst("n", 3, "n"), burst("o", 3, "o")], opts=O)
two("unknown-over-known-model", ({"model": "gpt-4o"},), ({"model": "gpt-4o-mini"}, {"base_model": "nope"}))
two("info-and-params", ({"model": "openai/x", "base_model": "gpt-4o-mini"}, {"base_model": "gpt-4"}), ({"model": "gpt-4o"},))
two("params-and-info", ({"model": "gpt-4o"},), ({"model": "openai/x", "base_model": "gpt-4"}, {"base_model": "gpt-4o-mini"}))
if __name__ == "__main__":
    print(len(VECTORS))
