#!/usr/bin/env python3
"""Random small configurations and scripts, run once through both versions: vectors for finding rules that are wrong.

  fuzz.py KIND FIRST COUNT OUT [WORKERS]     vectors number FIRST.. of a kind (see KINDS) into OUT
Picks are fixed by weights of a million to one, so that one run of each is enough. What disagrees is looked at by hand and, if
it shows a rule, becomes a definition in more.py.
"""
import json
import os
import queue
import random
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import record                                                                       # noqa: E402
from definitions import CTX, POL                                                    # noqa: E402

LADDER = (1e12, 1e6, 1)


def chance(r, p):
    return r.random() < p


def reply(r, stream=False):
    k = r.choices(["200", "500", "429", "401", "400", "403", "404", "408", "409", "503", "502", "422", "413", "402", "529", "ctx", "pol", "reset", "ra"],
                  [20, 14, 14, 6, 6, 4, 5, 4, 3, 5, 3, 2, 1, 2, 2, 5, 5, 3, 3])[0]
    if k == "ctx":
        return dict(CTX)
    if k == "pol":
        return dict(POL)
    if k == "reset":
        return {"reset": True}
    if k == "ra":
        return {"status": r.choice([429, 500, 503, 401]), "headers": {"Retry-After": str(r.choice([0, 1, 2, 90]))}}
    return {"status": int(k)}


def sticky(r):
    n = r.choices([1, 2, 3], [5, 3, 2])[0]
    return {"replies": [reply(r) for _ in range(n)]}


def policy(r, names, top=2):
    return {n: r.randint(0, top) for n in r.sample(names, r.randint(1, 3))}


RETRY = ["AuthenticationErrorRetries", "TimeoutErrorRetries", "RateLimitErrorRetries", "ContentPolicyViolationErrorRetries", "BadRequestErrorRetries", "InternalServerErrorRetries",
         "ServiceUnavailableErrorRetries", "NotFoundErrorRetries", "DefaultRetries"]
OLD_RETRY = RETRY[:6]
FAILS = ["AuthenticationErrorAllowedFails", "TimeoutErrorAllowedFails", "RateLimitErrorAllowedFails", "ContentPolicyViolationErrorAllowedFails", "BadRequestErrorAllowedFails",
         "InternalServerErrorAllowedFails"]


def names(r, groups, n=2):
    pool = groups + ["m", "nope", "f1"]
    return [r.choice(pool) for _ in range(r.randint(1, n))]


def lists(r, groups):
    keys = r.sample(groups, r.randint(1, min(2, len(groups))))
    return [{k: names(r, groups)} for k in keys]


def ladder(seed):
    """Retries, cooldowns, fallbacks, order, weighted failover."""
    r = random.Random(seed)
    groups = ["m", "f", "g"]
    deps, script = [], {}
    order = chance(r, .3)
    for g in groups:
        n = r.choices([1, 2, 3], [3, 4, 1] if g == "m" else [6, 2, 0])[0]
        for i in range(n):
            id = f"{g}{i + 1}"
            p = {"weight": LADDER[i]} if n > 1 else {}
            info = {}
            if order and chance(r, .75):
                p["order"] = r.randint(1, 3)
            if chance(r, .1):
                p["num_retries"] = r.randint(0, 1)
            if chance(r, .1):
                p["cooldown_time"] = r.choice([0, 40, 90])
            if chance(r, .07):
                info["blocked"] = True
            if chance(r, .06):
                info["allowed_fails"] = r.randint(0, 2)
            if chance(r, .06):
                info["allowed_fails_policy"] = policy(r, FAILS)
            if chance(r, .05):
                info["cooldown_time"] = r.choice([50, 70])
            d = {"id": id, "model_name": g, "litellm_params": p}
            if info:
                d["model_info"] = info
            deps.append(d)
            if chance(r, .85):
                script[id] = sticky(r)
    s = {"cooldown_time": r.choice([30, 60])}
    if chance(r, .6):
        s["num_retries"] = r.choices([0, 1, 2, 3], [4, 4, 1, 1])[0]
    if chance(r, .5):
        s["fallbacks"] = lists(r, groups)
    if chance(r, .2):
        s["default_fallbacks"] = names(r, groups)
    if chance(r, .2):
        s["context_window_fallbacks"] = lists(r, groups)
    if chance(r, .2):
        s["content_policy_fallbacks"] = lists(r, groups)
    if chance(r, .15):
        s["max_fallbacks"] = r.randint(0, 3)
    if chance(r, .15):
        s["allowed_fails"] = r.randint(0, 3)
    if chance(r, .12):
        s["allowed_fails_policy"] = policy(r, FAILS)
    if chance(r, .12):
        s["retry_policy"] = policy(r, OLD_RETRY)
    if chance(r, .1):
        s["model_group_retry_policy"] = {r.choice(groups): policy(r, OLD_RETRY)}
    if chance(r, .25):
        s["enable_weighted_failover"] = True
    if chance(r, .05):
        s["disable_cooldowns"] = True
    if chance(r, .08):
        s["retry_after"] = 1
    if chance(r, .12):
        s["model_group_alias"] = {"al": r.choice(groups)}
    config = {"router": s, "deployments": deps}
    if chance(r, .06):
        config["globals"] = {"num_retries": r.randint(0, 1)}
    client = []
    streams = chance(r, .25)
    for i in range(r.randint(2, 6)):
        q = {"op": "request", "id": f"r{i + 1}", "model": r.choices(["m", "f", "g", "al", "nope", r.choice(deps)["id"]], [20, 3, 2, 2 if "model_group_alias" in s else 0, 1, 2])[0]}
        kw = {}
        if chance(r, .5):
            kw["num_retries"] = r.choices([0, 1, 2], [5, 3, 1])[0]
        if chance(r, .07):
            kw["disable_fallbacks"] = True
        if chance(r, .1):
            kw["fallbacks"] = r.choice([[], names(r, groups), lists(r, groups)])
        if chance(r, .03):
            kw["context_window_fallbacks"] = r.choice([[], lists(r, groups)])
        if chance(r, .03):
            kw["content_policy_fallbacks"] = r.choice([[], lists(r, groups)])
        if kw:
            q["kwargs"] = kw
        if streams and chance(r, .6):
            q["stream"] = True
        elif chance(r, .04):
            q["sync"] = True
        client.append(q)
        if chance(r, .12):
            client.append({"op": "sleep", "ms": r.choice([300, 1200])})
    return vector(f"ladder-{seed}", config, script, client)


def vector(name, config, script, client, **more):
    return {"schema": "router-vector/1", "name": "fuzz-" + name, "category": "fuzz", "title": "random", "set": "fuzz", "config": config,
            "upstream": {"deployments": script}, "client": client, **more}



def stream_reply(r):
    k = r.choice(["ok", "cut0", "cut2", "event0", "event2", "rate0", "rate2", "silent"])
    if k == "ok":
        return {"status": 200, "chunks": 3}
    if k == "silent":
        return {"status": 200, "chunks": 4, "latency_ms": 900}
    n = int(k[-1])
    b = {"chunks": 4, "break_after": n}
    if k.startswith("event"):
        b["break_kind"] = "error_event"
    if k.startswith("rate"):
        b.update(break_kind="error_event", error={"message": "Rate limit reached"})
    return b


TAGS = ["free", "paid", "eu"]


# The recording does not tell the second, and waits may last until the minute turns.
MINUTE_BEGINS = {"op": "align", "second_min": 1, "second_max": 2}


def mix(seed):
    """What ladder draws, with tags, sessions, limits a minute, wildcards, routing groups, streams that break, limits of time, checks and budgets."""
    r = random.Random(f"mix {seed}")
    v = ladder(seed)
    v["name"] = f"fuzz-mix-{seed}"
    s, deps, client, script = v["config"]["router"], v["config"]["deployments"], v["client"], v["upstream"]["deployments"]
    groups = ["m", "f", "g"]
    checks = []
    tags = chance(r, .4)
    if tags:
        s["enable_tag_filtering"] = True
        if chance(r, .3):
            s["tag_filtering_match_any"] = False
        for d in deps:
            if chance(r, .7):
                d["litellm_params"]["tags"] = r.sample(TAGS + ["default"], r.randint(1, 2))
    if chance(r, .3):
        checks.append(r.choice(["session_affinity", "deployment_affinity"]))
    limits = chance(r, .3)
    if limits:
        checks.append("enforce_model_rate_limits")
        for d in deps:
            if chance(r, .6):
                d["litellm_params"]["rpm"] = r.randint(1, 3)
    if checks:
        s["optional_pre_call_checks"] = checks
    if chance(r, .2) and not limits:
        s["enable_pre_call_checks"] = True
        for d in deps:
            if chance(r, .4):
                d["litellm_params"]["region_name"] = r.choice(["eu", "us"])
            if chance(r, .3):
                d.setdefault("model_info", {})["max_input_tokens"] = r.choice([15, 5000])
    if chance(r, .2):
        for d in deps:
            if chance(r, .5):
                d["litellm_params"]["max_parallel_requests"] = 1
    if chance(r, .2):
        for d in deps:
            if chance(r, .4):
                d["litellm_params"].update(input_cost_per_token=0.01, output_cost_per_token=0.01, max_budget=r.choice([0.01, 0.2]), budget_duration="60s")
    if chance(r, .15):
        s["default_litellm_params"] = r.choice([{"num_retries": 1}, {"max_retries": 1}, {"cooldown_time": 33}])
    if chance(r, .12):
        v["config"].setdefault("globals", {})["num_retries_per_request"] = r.randint(0, 4)
    if chance(r, .2):
        s["stream_timeout"] = 0.5
    if chance(r, .15):
        s["routing_groups"] = [{"group_name": "rg", "models": r.sample(groups, 2), "routing_strategy": "simple-shuffle"}]
    if chance(r, .15):
        for d in deps:
            if d["model_name"] == "g":
                d["model_name"] = "g*"
                d["litellm_params"]["model"] = "openai/fake-" + d["id"]
    for id in list(script):
        if chance(r, .3):
            script[id]["replies"][0] = stream_reply(r)
    for i, q in enumerate(client):
        if q["op"] != "request":
            continue
        kw = q.setdefault("kwargs", {})
        if chance(r, .3):
            q["stream"] = True
            q.pop("sync", None)
        elif chance(r, .08):
            q["api"] = "embedding"
            q.pop("stream", None)
            q.pop("sync", None)
        meta = {}
        if tags and chance(r, .6):
            meta["tags"] = r.sample(TAGS + ["!free", "none"], r.randint(1, 2))
        if chance(r, .4) and checks:
            meta["session_id"] = r.choice(["s1", "s2"])
        if chance(r, .2) and checks:
            meta["user_api_key_hash"] = "k1"
        if meta:
            kw["metadata"] = meta
        if s.get("enable_pre_call_checks") and chance(r, .3):
            kw["allowed_model_region"] = r.choice(["eu", "us"])
        if s.get("enable_pre_call_checks") and chance(r, .3):
            q["words"] = 60
        if s.get("routing_groups") and chance(r, .2):
            q["model"] = "rg"
        if chance(r, .05):
            kw["cooldown_time"] = r.choice([0, 44])
        if chance(r, .05):
            kw["timeout"] = 0.4
        if not kw:
            del q["kwargs"]
    if limits:
        client.insert(0, MINUTE_BEGINS)
    return v


def strategies(seed):
    """What mix draws, under strategies whose choice is certain: by cost, by load one by one (but in 1.92 with the idlest out), by usage with other limits."""
    r = random.Random(f"strategies {seed}")
    v = mix(seed)
    v["name"] = f"fuzz-strategies-{seed}"
    s, deps, client = v["config"]["router"], v["config"]["deployments"], v["client"]
    s.pop("routing_groups", None)
    for q in client:
        if q.get("model") == "rg":
            q["model"] = "m"
    name = r.choice(["cost-based-routing", "cost-based-routing", "least-busy", "usage-based-routing"])
    for i, d in enumerate(deps):
        p = d["litellm_params"]
        for k in ("max_budget", "budget_duration", "input_cost_per_token", "output_cost_per_token"):
            p.pop(k, None)
        if name == "cost-based-routing":
            p.update(input_cost_per_token=0.001 * (1 + (i * 7) % 5), output_cost_per_token=0.001 * (1 + (i * 7) % 5))
    if chance(r, .3):
        s["routing_groups"] = [{"group_name": "rg", "models": ["m"], "routing_strategy": name}]
    else:
        s["routing_strategy"] = name
    if name != "least-busy" and not any(q["op"] == "align" for q in client):
        client.insert(0, MINUTE_BEGINS)
    return v


KINDS = {"ladder": ladder, "mix": mix, "strategies": strategies}


def main():
    kind, first, count, out = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    workers = int(sys.argv[5]) if len(sys.argv) > 5 else 3
    os.makedirs(out, exist_ok=True)
    got, lock = {}, threading.Lock()

    def serve(version, jobs):
        w = record.Worker(version)
        while True:
            try:
                n = jobs.get_nowait()
            except queue.Empty:
                return
            v = KINDS[kind](n)
            try:
                f = record.facts(v, w.run({"vector": v, "repeats": 1, "at_once": 1, "cooldowns": True}), True)
            except Exception as e:
                print("FAILED", v["name"], version, repr(e), flush=True)
                w = record.Worker(version)
                continue
            with lock:
                g = got.setdefault(n, {})
                g[version] = f
                if len(g) == 2:
                    v["recorded"] = {k: g[k] for k in record.VERSIONS}
                    with open(os.path.join(out, v["name"] + ".json"), "w") as fh:
                        json.dump(v, fh, indent=1)
                    got[n] = None
    threads = []
    for version in record.VERSIONS:
        jobs = queue.Queue()
        for n in range(first, first + count):
            if not os.path.exists(os.path.join(out, f"fuzz-{kind}-{n}.json")):
                jobs.put(n)
        threads += [threading.Thread(target=serve, args=(version, jobs)) for _ in range(workers)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


if __name__ == "__main__":
    main()
