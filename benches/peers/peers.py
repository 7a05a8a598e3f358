"""The same model and the same choices in other programs, side by side: Markdown tables of what they take.

`python3 benches/peers/peers.py target/release --simpy VENV/bin/python --litellm VENV/bin/python`

It needs `cargo build --release` for routelab, a Python with `simpy==4.1.1`, and one with `litellm==1.110.2`; what is
not named is left out. NeXosim (1.0.0) is built in benches/peers/nexosim, which is no member of the workspace.

First the toy model (in words in toy_simpy.py): requests for each second of CPU of the whole program, and whether the
three agree: means over replications with their 99 % intervals. Then the Router of LiteLLM 1.110.2 in its own process:
the time of a choice beside that of routelab's core (`cargo bench --bench pick`, an arrival, a pick and an answer), and
calls a second.
"""

import argparse
import json
import math
import os
import re
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
# 99.5 % points of Student's t with 9 degrees of freedom: ten replications.
T = 3.2498
# Of a replication of toy.yaml: 15 a second for 6,000 s, on average.
TOY_REQUESTS = 90_000


def run(command, **more):
    """What it prints, and the CPU seconds that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True, **more)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def lines(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def routelab(release):
    scenario = HERE / "toy.yaml"
    text, cpu_s = run([release / "routelab", "run", scenario, "--no-report", "--jobs", 1, "--format", "json"])
    metrics = json.loads(text)["arms"][0]["metrics"]
    names = ("success_ratio", "attempts_per_request", "latency_mean_ms")
    each = zip(*(metrics[name]["values"] for name in names))
    runs = [{"success": s, "attempts": a, "mean_s": ms / 1000} for s, a, ms in each]
    return runs, cpu_s


def nexosim():
    manifest = HERE / "nexosim" / "Cargo.toml"
    target = HERE.parent.parent / "target" / "peers"
    environment = dict(os.environ, CARGO_TARGET_DIR=str(target))
    run(["cargo", "build", "--release", "--manifest-path", manifest], env=environment)
    text, cpu_s = run([target / "release" / "toy-nexosim", TOY_REQUESTS, 10])
    return lines(text), cpu_s


def simpy(python):
    text, cpu_s = run([python, HERE / "toy_simpy.py", 20_000, 10])
    return lines(text), cpu_s


def interval(values):
    half = T * statistics.stdev(values) / math.sqrt(len(values))
    return statistics.mean(values), half


def toy(found):
    print("| | requests | requests a second of CPU | mean time | attempts a request | answered |")
    print("| --- | --- | --- | --- | --- | --- |")
    figures = {}
    for name, (runs, cpu_s) in found.items():
        requests = sum(one.get("requests", TOY_REQUESTS) for one in runs)
        cells = []
        for key, scale, unit, digits in [("mean_s", 1000, " ms", 1), ("attempts", 1, "", 4), ("success", 100, " %", 2)]:
            mean, half = interval([one[key] * scale for one in runs])
            figures.setdefault(key, {})[name] = (mean, half)
            cells.append(f"{mean:.{digits}f} ± {half:.{digits}f}{unit}")
        print(f"| {name} | {requests:,} | {requests / cpu_s:,.0f} | " + " | ".join(cells) + " |")
    agree = all(
        abs(a[0] - b[0]) <= math.hypot(a[1], b[1])
        for by_name in figures.values() for a in by_name.values() for b in by_name.values()
    )
    print("\nThey agree: no difference of two means is beyond its 99 % interval.\n" if agree else "\nThey DIFFER.\n")
    return agree


def ours(strategies):
    """Microseconds of an arrival, a pick and an answer in the core."""
    names = "|".join(strategies)
    text, _ = run(["cargo", "bench", "-p", "benches", "--bench", "pick", "--", "--warm-up-time", 1, "--measurement-time", 2,
                    f"pick/({names})/(10|100)$"], cwd=HERE.parent.parent)
    found = re.findall(r"^pick/(\S+)/(\d+)\s+time:\s+\[\S+ \S+ (\S+) (\S+)", text, re.M)
    scale = {"ns": 1e-3, "µs": 1.0, "us": 1.0, "ms": 1e3}
    return {(name, int(n)): float(value) * scale[unit] for name, n, value, unit in found}


def choices(python):
    rows = lines(run([python, HERE / "litellm_router.py"])[0])
    core = ours(sorted({row["strategy"] for row in rows}))
    print("| strategy | deployments | LiteLLM's pick | our core, from arrival to answer | × | LiteLLM's calls/s, one by one | 50 at a time |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        us = core[(row["strategy"], row["deployments"])]
        calls = [f"{row[key]:,.0f}" if key in row else "" for key in ("calls_per_s", "calls_per_s_at_once")]
        print(
            f"| {row['strategy']} | {row['deployments']} | {row['pick_us']:,.0f} us | {us:.3f} us | "
            f"{row['pick_us'] / us:,.0f} | {calls[0]} | {calls[1]} |"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("release", type=Path, help="the folder of the built routelab")
    parser.add_argument("--simpy", help="a Python that has SimPy")
    parser.add_argument("--litellm", help="a Python that has LiteLLM")
    args = parser.parse_args()
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"Load of the machine at {time.strftime('%Y-%m-%d %H:%M')}: {load} on {os.cpu_count()} cores\n")
    found = {"routelab": routelab(args.release), "NeXosim 1.0.0": nexosim()}
    if args.simpy:
        found["SimPy 4.1.1"] = simpy(args.simpy)
    agree = toy(found)
    if args.litellm:
        choices(args.litellm)
    sys.exit(0 if agree else 1)


if __name__ == "__main__":
    main()
