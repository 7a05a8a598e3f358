#!/usr/bin/env python3
"""Records router vectors: facts of two LiteLLM versions run as black boxes against a scripted upstream on loopback.

  record.py record DEFS.py OUT [names...]     record the definitions of DEFS.py (all, or those whose name matches a glob)
  record.py compare VECTORS names...          record given vectors afresh and compare the exact facts
  record.py summary OUT                       write OUT/SUMMARY.md
The two versions run side by side, one process each (worker.py under that version's python, in ./venv-<version>/).
"""
import fnmatch
import glob
import importlib.util
import json
import os
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
VERSIONS = ("1.92.0", "1.110.2")
NICE = ["chrt", "-r", "10"] if os.geteuid() == 0 else []


def stat(values, digits=0):
    v = sorted(values)
    n = len(v)
    med = v[n // 2] if n % 2 else (v[n // 2 - 1] + v[n // 2]) / 2
    return {"min": round(v[0]), "median": round(med), "max": round(v[-1])}


def spread(values):
    v = sorted(values)
    q = lambda p: round(v[min(len(v) - 1, int(p * len(v)))])
    return {"n": len(v), "min": q(0), "p10": q(.1), "p25": q(.25), "median": q(.5), "p75": q(.75), "p90": q(.9), "max": round(v[-1]),
            "mean": round(sum(v) / len(v))}


# ---------------------------------------------------------------- one raw run -> its own facts

def counted(step):
    """A batch is judged by counts when its requests cannot be told apart, else each request has facts of its own."""
    r = step["requests"]
    if len(r) >= 20:
        return True
    key = {json.dumps({k: v for k, v in q.items() if k != "id"}, sort_keys=True) for q in r}
    return len(r) > 1 and len(key) == 1


def arrange(vector, raw):
    """Attach upstream attempts to requests by the marker in the prompt and rename symmetric deployments by first use."""
    by = {}
    for a in sorted(raw["log"], key=lambda a: a["start"]):
        by.setdefault(a["marker"], []).append(a)
    rename = {}
    for group in vector.get("symmetric", []):
        order = []          # by request, then by attempt: a later request may well reach its deployment first
        for a in [a for r in sorted(raw["records"], key=lambda r: r["begin"]) for a in by.get(r["id"], [])]:
            if a["deployment"] in group and a["deployment"] not in order:
                order.append(a["deployment"])
        order += [d for d in group if d not in order]
        rename.update(dict(zip(order, group)))
    nm = lambda d: rename.get(d, d)
    zero, out = raw["zero"], {}
    for r in raw["records"]:
        attempts, last = [], None
        for a in by.get(r["id"], []):
            f = {"deployment": nm(a["deployment"]), "status": a.get("status", "open"), "start": (a["start"] - r["begin"]) * 1000,
                 "took": (a.get("end", r["end"]) - a["start"]) * 1000}
            if last is not None:
                f["wait"] = (a["start"] - last) * 1000
            last = a.get("end", r["end"])
            attempts.append(f)
        result = dict(r["result"])
        if result.get("ok"):
            if result.get("served_by") is None and attempts:
                result["served_by"] = raw_served = attempts[-1]["deployment"]
            else:
                old = result.get("served_by")
                result["served_by"] = nm(old)
                if result.get("content") and old:
                    result["content"] = result["content"].replace(f"from {old}", f"from {nm(old)}")
        out[r["id"]] = {"started": (r["begin"] - zero) * 1000, "attempts": attempts, "result": result,
                        "elapsed": (r["end"] - r["begin"]) * 1000,
                        "after": (r["end"] - last) * 1000 if last is not None else None,
                        "first": (r["first"] - r["begin"]) * 1000 if "first" in r else None}
    benched = [{"after": b["after"], "at": (b["at"] - zero) * 1000, "cooling": {nm(k): v for k, v in sorted(b["cooling"].items())}}
               for b in raw["benched"]]
    for b in benched:
        b["cooling"] = dict(sorted(b["cooling"].items()))
    return {"requests": out, "benched": benched, "most": {nm(k): v for k, v in raw["most"].items()}, "queries": raw["queries"]}


def path_of(r):
    return ">".join(f"{a['deployment']}:{a['status']}" for a in r["attempts"]) or "no upstream call"


def label(result):
    return f"!{result['exception']}/{result.get('status')}"


def key_of(r):
    res = {k: v for k, v in r["result"].items() if k != "message_head"}
    return json.dumps([[(a["deployment"], a["status"]) for a in r["attempts"]], res], sort_keys=True)


# ---------------------------------------------------------------- all runs -> recorded facts

def facts(vector, raws, cooldowns):
    n = len(raws)
    if not raws[0]["build"]["ok"]:
        return {"repeats": n, "build": raws[0]["build"]}
    runs = [arrange(vector, r) for r in raws]
    out = {"repeats": n, "build": {"ok": True}}
    requests, bursts, batches, varying, batch_seen = [], [], [], [], False
    for s in vector["client"]:
        if s["op"] == "request":
            requests.append(one_request(s["id"], runs))
        elif s["op"] == "burst":
            bursts.append(one_burst(s, runs))
        elif s["op"] == "batch":
            batch_seen = True
            if counted(s):
                batches.append(one_batch(s, runs))
            else:
                requests += [one_request(q["id"], runs) for q in s["requests"]]
    if requests:
        out["requests"] = requests
        varying += [f"requests.{q['id']}" for q in requests if q["varies"]]
    if bursts:
        out["bursts"] = bursts
        varying += [f"bursts.{b['id']}" for b in bursts if not b["sequence_deterministic"]]
    if batches:
        out["batches"] = batches
        varying += [f"batches.{b['id']}" for b in batches if b["varies"]]
    if batch_seen:
        deps = sorted({d for r in runs for d in r["most"]})
        out["max_upstream_calls_at_once"] = {d: stat([r["most"].get(d, 0) for r in runs]) for d in deps}
    if cooldowns:
        out["cooldowns"] = []
        for i, b in enumerate(runs[0]["benched"]):
            seen = {}
            for r in runs:
                k = json.dumps(r["benched"][i]["cooling"], sort_keys=True)
                seen[k] = seen.get(k, 0) + 1
            c = {"after": b["after"], "at_ms": stat([r["benched"][i]["at"] for r in runs])}
            if len(seen) == 1:
                c.update(cooling=b["cooling"], varies=False)
            else:
                c.update(varies=True, variants=[{"seen": m, "cooling": json.loads(k)} for k, m in sorted(seen.items(), key=lambda x: -x[1])])
                varying.append(f"cooldowns.after:{b['after']}")
            out["cooldowns"].append(c)
    if runs[0]["queries"]:
        out["queries"] = runs[0]["queries"]
        if any(r["queries"] != runs[0]["queries"] for r in runs):
            varying.append("queries")
    out["varying_fields"] = varying
    return out


def one_request(name, runs):
    rs = [r["requests"][name] for r in runs]
    groups = {}
    for r in rs:
        groups.setdefault(key_of(r), []).append(r)
    outcomes = []
    for _, same in sorted(groups.items(), key=lambda g: -len(g[1])):
        first = same[0]
        attempts = []
        for i, a in enumerate(first["attempts"]):
            f = {"deployment": a["deployment"], "status": a["status"], "start_ms": stat([s["attempts"][i]["start"] for s in same]),
                 "upstream_ms": stat([s["attempts"][i]["took"] for s in same])}
            if "wait" in a:
                f["wait_before_ms"] = stat([s["attempts"][i]["wait"] for s in same])
            attempts.append(f)
        result = dict(first["result"])
        if len({s["result"].get("message_head") for s in same}) > 1:
            result["message_head_varies"] = True
        o = {"seen": len(same), "attempts": attempts, "result": result, "elapsed_ms": stat([s["elapsed"] for s in same])}
        if first["after"] is not None:
            o["after_last_attempt_ms"] = stat([s["after"] for s in same])
        if first["first"] is not None:
            o["first_chunk_ms"] = stat([s["first"] for s in same if s["first"] is not None])
        outcomes.append(o)
    return {"id": name, "started_at_ms": stat([r["started"] for r in rs]), "varies": len(groups) > 1, "outcomes": outcomes}


def tally(keys):
    out = {}
    for k in keys:
        out[k] = out.get(k, 0) + 1
    return dict(sorted(out.items()))


def one_burst(s, runs):
    n, seqs, per, paths, errors, elapsed, example = s["count"], [], [], [], [], [], None
    for r in runs:
        rs = [r["requests"][f"{s['id']}#{i}"] for i in range(n)]
        seq = [x["result"]["served_by"] if x["result"]["ok"] else label(x["result"]) for x in rs]
        seqs.append(seq)
        per.append(tally(seq))
        for x in rs:
            elapsed.append(x["elapsed"])
            if x["result"]["ok"]:
                paths.append(path_of(x))
            else:
                paths.append(f"{path_of(x)} -> {label(x['result'])[1:]}")
                errors.append(label(x["result"])[1:])
                example = example or x["result"]
    total = n * len(runs)
    served = tally([d for q in seqs for d in q if not d.startswith("!")])
    out = {"id": s["id"], "count": n, "repeats": len(runs), "total": total,
           "served_by": {d: {"requests": c, "fraction": round(c / total, 4)} for d, c in served.items()}, "per_repeat": per,
           "paths": dict(sorted(tally(paths).items(), key=lambda x: -x[1])),
           "distinct_deployments_per_repeat": [len({d for d in q if not d.startswith("!")}) for q in seqs], "elapsed_ms": stat(elapsed)}
    if errors:
        out["errors"] = tally(errors)
        out["error_example"] = example
    if all(q == seqs[0] for q in seqs):
        out.update(sequence=seqs[0], sequence_deterministic=True)
    else:
        out.update(sequences=seqs, sequence_deterministic=False)
    return out


def one_batch(s, runs):
    per, paths, ranks, waits, after, started, example = [], [], [], {}, [], [], None
    for r in runs:
        rs = [r["requests"][q["id"]] for q in s["requests"]]
        per.append(tally(["ok:" + x["result"]["served_by"] if x["result"]["ok"] else label(x["result"]) for x in rs]))
        ranks.append(sorted(x["elapsed"] for x in rs))
        for x in rs:
            paths.append(path_of(x))
            started.append(x["started"])
            if x["after"] is not None:
                after.append(x["after"])
            for i, a in enumerate(x["attempts"]):
                if "wait" in a:
                    waits.setdefault(str(i + 1), []).append(a["wait"])
            if not x["result"]["ok"]:
                example = example or x["result"]
    out = {"id": s["id"], "count": len(s["requests"]), "repeats": len(runs), "per_repeat": per,
           "elapsed_ms_by_rank": [stat(c) for c in zip(*ranks)], "started_at_ms": stat(started),
           "paths": dict(sorted(tally(paths).items(), key=lambda x: -x[1]))}
    if waits:
        out["wait_before_attempt_ms"] = {k: spread(v) for k, v in waits.items()}
        out["after_last_attempt_ms"] = spread(after)
    if example:
        out["error_example"] = example
    out["varies"] = any(p != per[0] for p in per)
    return out


def disturbed(f):
    """The greatest gap that should have been none, in ms (how much other work on the machine disturbed the run)."""
    worst = 0
    for q in f.get("requests", []):
        for o in q["outcomes"]:
            for a in o["attempts"]:
                w = a.get("wait_before_ms")
                if w and w["min"] < 60:
                    worst = max(worst, w["max"])
    return worst


# ---------------------------------------------------------------- version comparison

def short(q):
    out = []
    for o in q["outcomes"]:
        p = path_of(o)
        r = o["result"]
        res = "ok" if r["ok"] else f"{r['exception']}/{r.get('status') or (429 if r['exception'] == 'RouterRateLimitError' else None)}"
        out.append(f"[{p}] {res}" + (" mid-stream" if r.get("mid_stream") else ""))
    return " OR ".join(sorted(set(out)))


def differences(a, b):
    if a["build"]["ok"] != b["build"]["ok"] or a["build"].get("exception") != b["build"].get("exception"):
        say = lambda f: "builds" if f["build"]["ok"] else f["build"]["exception"]
        return [f"router construction: {say(a)} vs {say(b)}"]
    out = []
    for x, y in zip(a.get("requests", []), b.get("requests", [])):
        sx, sy = short(x), short(y)
        if sx != sy and (not (x["varies"] and y["varies"]) or not set(sx.split(" OR ")) & set(sy.split(" OR "))):
            out.append(f"{x['id']}: {sx} vs {sy}")
            continue
        ox, oy = x["outcomes"][0], y["outcomes"][0]
        if abs(ox["elapsed_ms"]["median"] - oy["elapsed_ms"]["median"]) > 1500:
            out.append(f"{x['id']}: elapsed {ox['elapsed_ms']['median']} ms vs {oy['elapsed_ms']['median']} ms")
        hx, hy = ox["result"].get("headers", {}), oy["result"].get("headers", {})
        for h in sorted(set(hx) | set(hy)):
            if h.startswith("x-litellm-") and hx.get(h) != hy.get(h) and not x["varies"]:
                out.append(f"{x['id']}: header {h}: {hx.get(h)} vs {hy.get(h)}")
        if ox["result"].get("content") != oy["result"].get("content") and not x["varies"]:
            out.append(f"{x['id']}: content differs")
    for x, y in zip(a.get("bursts", []), b.get("bursts", [])):
        keys = set(x["served_by"]) | set(y["served_by"])
        fx = {k: x["served_by"].get(k, {}).get("fraction", 0) for k in keys}
        fy = {k: y["served_by"].get(k, {}).get("fraction", 0) for k in keys}
        n = min(x["total"], y["total"])
        far = any(abs(fx[k] - fy[k]) > max(.02, 4 * (0.5 / n) ** .5) for k in keys)
        if far or x.get("errors", {}).keys() != y.get("errors", {}).keys():
            say = lambda b: ", ".join([f"{k} {v['fraction']:.0%}" for k, v in b["served_by"].items()] + [f"{k} x{v}" for k, v in b.get("errors", {}).items()])
            out.append(f"burst {x['id']}: {say(x)} vs {say(y)}")
    for x, y in zip(a.get("batches", []), b.get("batches", [])):
        if x["per_repeat"][0] != y["per_repeat"][0] and not (x["varies"] and y["varies"]):
            out.append(f"batch {x['id']}: {x['per_repeat'][0]} vs {y['per_repeat'][0]}")
    for x, y in zip(a.get("cooldowns", []), b.get("cooldowns", [])):
        if x.get("cooling") is not None and y.get("cooling") is not None and x["cooling"] != y["cooling"]:
            say = lambda c: ", ".join(f"{k} {v['cooldown_s']}s ({v['status']})" for k, v in c["cooling"].items()) or "nothing benched"
            out.append(f"after {x['after']}: {say(x)} vs {say(y)}")
    if a.get("queries") != b.get("queries"):
        out.append("queries differ")
    return out


# ---------------------------------------------------------------- running

class Worker:
    def __init__(self, version):
        python = os.path.join(HERE, f"venv-{version}", "bin", "python")
        self.p = subprocess.Popen(NICE + [python, os.path.join(HERE, "worker.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=open(os.path.join(HERE, f"worker-{version}.log"), "a"), text=True)
        assert json.loads(self.p.stdout.readline())["ready"] == version

    def run(self, job):
        self.p.stdin.write(json.dumps(job) + "\n")
        self.p.stdin.flush()
        out = json.loads(self.p.stdout.readline())
        if "error" in out:
            raise RuntimeError(out["error"])
        return out["runs"]


def record_all(jobs, done):
    """jobs: [(vector, repeats, at_once, cooldowns)]; done(vector, version, facts) is called as each is finished."""
    def one(version):
        w = Worker(version)
        for vector, repeats, at_once, cooldowns in jobs:
            try:
                job = {"vector": vector, "repeats": repeats, "at_once": at_once, "cooldowns": cooldowns}
                best = None
                for again in range(2):
                    f = facts(vector, w.run(job), cooldowns)
                    if best is None or disturbed(f) < disturbed(best):
                        best = f
                    if disturbed(best) <= 80:
                        break
                    job["at_once"] = 1
                done(vector, version, best)
            except Exception as e:
                print(f"FAILED {vector['name']} {version}: {e!r}", flush=True)
                w = Worker(version)
    threads = [threading.Thread(target=one, args=(v,)) for v in VERSIONS]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def load_defs(path):
    spec = importlib.util.spec_from_file_location("defs", path)
    mod = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(mod)
    return mod.VECTORS


def record(path, out, names):
    os.makedirs(out, exist_ok=True)
    defs = [d for d in load_defs(path) if not names or any(fnmatch.fnmatch(d[0]["name"], n) for n in names)]
    defs = [d for d in defs if names or not os.path.exists(os.path.join(out, d[0]["name"] + ".json"))]     # go on where it was stopped
    got, lock = {}, threading.Lock()

    def done(vector, version, f):
        with lock:
            g = got.setdefault(vector["name"], {})
            g[version] = f
            if len(g) == 2:
                v = dict(vector)
                v["recorded"] = {k: g[k] for k in VERSIONS}
                v["differences"] = differences(g[VERSIONS[0]], g[VERSIONS[1]])
                v = {**{k: x for k, x in v.items() if k != "differences"}, "versions_agree": not v["differences"], "differences": v["differences"]}
                with open(os.path.join(out, v["name"] + ".json"), "w") as fh:
                    json.dump(v, fh, separators=(",", ":"))
                    fh.write("\n")
                print(f"{v['name']}: {line_of(v)}", flush=True)
    record_all([(d, o.get("repeats", int(os.environ.get("REPEATS", "5"))), int(os.environ.get("AT_ONCE", o.get("at_once", 1))), o.get("cooldowns", True)) for d, o in defs], done)


# ---------------------------------------------------------------- summary

def observed(v, f):
    if not f["build"]["ok"]:
        return f"construction fails: {f['build']['exception']}"
    bench = {c["after"]: c for c in f.get("cooldowns", [])}
    items = []
    for q in f.get("requests", []):
        o = q["outcomes"][0]
        p, last = [], None
        for a in o["attempts"]:
            k = f"{a['deployment']}:{a['status']}"
            if p and p[-1][0] == k:
                p[-1][1] += 1
            else:
                p.append([k, 1])
        path = "→".join(k + (f"×{n}" if n > 1 else "") for k, n in p) or "no upstream call"
        r = o["result"]
        s = f"{path} " + ("ok" if r["ok"] else f"{r['exception']}/{r.get('status')}") + (" mid-stream" if r.get("mid_stream") else "")
        if o["elapsed_ms"]["median"] >= 250:
            s += f" {o['elapsed_ms']['median'] / 1000:.1f}s"
        if q["varies"]:
            s += " (varies)"
        c = bench.get(q["id"], {}).get("cooling")
        if c and (not items or c != items[-1][3]):
            s += " [benched " + ",".join(f"{k} {x['cooldown_s']:g}s" for k, x in c.items()) + "]"
        if items and items[-1][1] == s:
            items[-1][2] = q["id"]
        else:
            items.append([q["id"], s, None, c])
    out = [f"{a}{'…' + z if z else ''} {s}" for a, s, z, _ in items]
    for b in f.get("bursts", []):
        out.append(f"{b['id']}: " + ", ".join([f"{k} {x['fraction']:.1%}" for k, x in b["served_by"].items()] + [f"{k} ×{n}" for k, n in b.get("errors", {}).items()]))
    for b in f.get("batches", []):
        out.append(f"{b['id']}: " + " ".join(f"{k}×{n}" for k, n in b["per_repeat"][0].items()) + f", last reply {b['elapsed_ms_by_rank'][-1]['median']} ms"
                   + (" (varies)" if b["varies"] else ""))
    for q in f.get("queries", []):
        out.append(f"{q['id']} = {json.dumps(q['value'])}")
    return "; ".join(out)


def line_of(v):
    a, b = (v["recorded"][k] for k in VERSIONS)
    if v["differences"]:
        text = "**differs**: " + "; ".join(v["differences"][:4]) + " — 1.110.2: " + observed(v, b)
    else:
        text = observed(v, b) + " (both)"
    return text


def summary(out):
    vs = [json.load(open(f)) for f in sorted(glob.glob(os.path.join(out, "*.json")))]
    cats = []
    for v in vs:
        if v["category"] not in cats:
            cats.append(v["category"])
    with open(os.path.join(out, "SUMMARY.md"), "w") as fh:
        fh.write(f"# Our own vectors\n\n{len(vs)} vectors. Notation: `a:429→b:200` = attempts in order with upstream status; \"X vs Y\" = 1.92.0 vs 1.110.2.\n")
        for c in cats:
            mine = [v for v in vs if v["category"] == c]
            fh.write(f"\n### {c} ({len(mine)})\n\n| vector | what it shows | observed |\n| --- | --- | --- |\n")
            for v in mine:
                t = line_of(v).replace("|", "\\|")
                fh.write(f"| {v['name']} | {v['title']} | {t if len(t) < 700 else t[:700] + '…'} |\n")
    print(len(vs), {c: sum(v["category"] == c for v in vs) for c in cats})


# ---------------------------------------------------------------- comparison with given vectors

def exact(q):
    """The exact facts of a request: outcomes without times and wording."""
    return {key_of({"attempts": o["attempts"], "result": {k: v for k, v in o["result"].items() if k != "message_head_varies"}}) for o in q["outcomes"]}


def compare_one(given, mine):
    out = []
    if given["build"] != mine["build"]:
        same = {k: v for k, v in given["build"].items() if k != "message_head"} == {k: v for k, v in mine["build"].items() if k != "message_head"}
        out.append(("message only: " if same else "") + f"build {given['build']} / {mine['build']}")
    for x, y in zip(given.get("requests", []), mine.get("requests", [])):
        a, b = exact(x), exact(y)
        if not x["varies"] and a != b and not (b & a and y["varies"]):
            out.append(f"{x['id']}: given {sorted(a - b)} / mine {sorted(b - a)}")
        elif x["varies"] and not b & a:
            out.append(f"{x['id']} (varies): no common outcome: {short(x)} / {short(y)}")
        elif not x["varies"] and y["varies"]:
            out.append(f"{x['id']}: mine varies more: {short(y)}")
        for o, p in zip(x["outcomes"][:1], y["outcomes"][:1]):
            for s, t in zip(o["attempts"], p["attempts"]):
                w, z = s.get("wait_before_ms"), t.get("wait_before_ms")
                if not x["varies"] and w and (z["median"] > w["max"] + 800 or z["median"] < w["min"] - 800):
                    out.append(f"{x['id']}: wait {w} / {z}")
    if len(given.get("requests", [])) != len(mine.get("requests", [])):
        out.append("number of requests")
    for x, y in zip(given.get("bursts", []), mine.get("bursts", [])):
        for k in set(x["served_by"]) | set(y["served_by"]):
            p, q = (b["served_by"].get(k, {}).get("fraction", 0) for b in (x, y))
            if abs(p - q) > max(.001, 5 * (max(p * (1 - p), q * (1 - q)) * 2 / x["total"]) ** .5):
                out.append(f"burst {x['id']}: {k} {p} / {q}")
        if x.get("errors", {}).keys() != y.get("errors", {}).keys():
            out.append(f"burst {x['id']} errors {x.get('errors')} / {y.get('errors')}")
    for x, y in zip(given.get("batches", []), mine.get("batches", [])):
        if x["per_repeat"][0] != y["per_repeat"][0] and y["per_repeat"][0] not in x["per_repeat"]:
            out.append(f"batch {x['id']}: {x['per_repeat']} / {y['per_repeat']}")
    gc, mc = given.get("cooldowns", []), mine.get("cooldowns", [])
    for x, y in zip(gc, mc):
        if "cooling" in x and x["cooling"] != y.get("cooling"):
            out.append(f"benched after {x['after']}: {x['cooling']} / {y.get('cooling', y.get('variants'))}")
    if len(gc) != len(mc):
        out.append("number of benched sets")
    if [q for q in given.get("queries", [])] != mine.get("queries", []):
        out.append(f"queries {given.get('queries')} / {mine.get('queries')}")
    return out


def compare(folder, names, repeats=3):
    files = [f for f in sorted(glob.glob(os.path.join(folder, "*.json"))) if any(fnmatch.fnmatch(os.path.basename(f)[:-5], n) for n in names)]
    jobs, given = [], {}
    for f in files:
        v = json.load(open(f))
        given[v["name"]] = v.pop("recorded")
        jobs.append((v, repeats, repeats, any("cooldowns" in r for r in given[v["name"]].values())))
    bad = {}

    def done(vector, version, f):
        d = compare_one(given[vector["name"]][version], f)
        bad[vector["name"], version] = d
        print(("same      " if not d else "DIFFERS   ") + f"{vector['name']} {version}", *d, sep="\n    " if d else "", flush=True)
    record_all(jobs, done)
    print(f"{sum(not d for d in bad.values())} of {len(bad)} vector runs the same, {len(files)} vectors")


if __name__ == "__main__":
    what, args = sys.argv[1], sys.argv[2:]
    t = time.time()
    if what == "record":
        record(args[0], args[1], args[2:])
    elif what == "compare":
        compare(args[0], args[1:])
    elif what == "summary":
        summary(args[0])
    print(f"{time.time() - t:.0f} s")
