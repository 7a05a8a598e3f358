"""Tags through names that are no group's own, and failures that are remembered."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from definitions import AB, BIG, CTX, MINUTE, N0, NOCD, ONE, POL, VECTORS, batch, burst, req, seq, sleep, vec   # noqa: E402

VECTORS.clear()
T = {"enable_tag_filtering": True, "num_retries": 0}
TG = lambda *t: {"metadata": {"tags": list(t)}}
RG = {"routing_groups": [{"group_name": "rg", "models": ["m", "n"], "routing_strategy": "simple-shuffle"}]}
D = [("d", "m", {"tags": ["default"]}), ("free", "m", {"tags": ["free"], "cooldown_time": 60}), ("x", "n", {"tags": ["x"]})]
vec("tags", "tags-called-group", "a called routing group: a tag whose deployment is banned, benched, of nobody; the model itself", {**T, **RG}, D, {"free": 429},
    [req("r1", "rg", TG("free", "!free")), req("r2", "m", TG("free", "!free")), req("r3", "rg", TG("nobody")), req("r4", "m", TG("nobody")), req("r5", "rg", TG("free")), req("r6", "rg", TG("free")), req("r7", "m", TG("free")), req("r8", "rg", {}), req("r9", "rg", TG("x"))])
vec("tags", "tags-alias", "an alias: a tag whose deployment is banned, benched, of nobody", {**T, "model_group_alias": {"al": "m"}}, D, {"free": 429},
    [req("r1", "al", TG("free", "!free")), req("r2", "al", TG("nobody")), req("r3", "al", TG("free")), req("r4", "al", TG("free"))])
vec("tags", "tags-wildcard", "a name with stars: a tag whose deployment is banned, of nobody", T, [("d", "openai/*", {"model": "openai/*", "tags": ["default"]}), ("free", "openai/*", {"model": "openai/*", "tags": ["free"]})], {},
    [req("r1", "openai/x", TG("free", "!free")), req("r2", "openai/x", TG("nobody")), req("r3", "openai/x", TG("free"))])
vec("tags", "tags-called-group-all", "match_any false in a called group", {**T, **RG, "tag_filtering_match_any": False}, D, {}, [req("r1", "rg", TG("free", "x")), req("r2", "rg", TG("nobody")), req("r3", "m", TG("free", "x")), req("r4", "rg", TG("free", "!free"))])
for n in (1, 2, 3, 4):
    vec("retries-per-request", f"retries-per-request-then-benched-{n}", f"num_retries_per_request {n}: the retry is answered 429 and leaves nobody; a fallback", {"num_retries": 1, "cooldown_time": 60, "fallbacks": [{"m": ["f"]}]}, [("a", "m", {"weight": 1e12}), ("b", "m", {"weight": 1}), ("f1", "f")], {"a": 429, "b": 401, "f1": [500, 200]},
        [req("r1")], globals={"num_retries_per_request": n})
    vec("retries-per-request", f"retries-per-request-then-400-{n}", f"num_retries_per_request {n}: the retry is answered 400; a fallback", {"num_retries": 1, "cooldown_time": 60, "fallbacks": [{"m": ["f"]}]}, [("a", "m", {"weight": 1e12}), ("b", "m", {"weight": 1}), ("f1", "f")], {"a": 429, "b": 400, "f1": [500, 200]},
        [req("r1")], globals={"num_retries_per_request": n})
if __name__ == "__main__":
    print(len(VECTORS))
