"""The simulation beside our own live driver under open load, for every scenario of the library: the table of
"Simulation against our own live driver" in reports/FIDELITY.md.

    cargo build --release
    python3 sim/tests/fidelity/twins.py target/release/routelab [--trace AzureLLMInferenceTrace_conv.csv] [--only NAME ...]

Each runs for 40 s of its time at four times the wall's speed; faults and surges that would come later are
moved into these. It takes some twenty minutes of a machine that has a core to spare.
"""

import argparse
import re
import subprocess

# What begins too late for 40 s, or lasts too long; the rest is run as it is.
MOVED = {
    "bad-key": ["providers.revoked.faults=[{bad_key: {from_s: 8}}]"],
    "brownout": ["providers.east.faults=[{brownout: {from_s: 10, to_s: 30, slowdown: 6, error_share: 0.02, status: 500}}]"],
    "fallback-cascade": ["providers.large.faults=[{outage: {from_s: 10, to_s: 20, status: 500, after_ms: 400}}]"],
    "flapping": ["providers.flapping.faults=[{flapping: {period_s: 12, up_share: 0.667, status: 500, after_ms: 200}}]"],
    "main": [
        "providers.east.faults=[{outage: {from_s: 10, to_s: 20, status: 503, after_ms: 1000}}, "
        "{brownout: {from_s: 20, to_s: 30, slowdown: 3, error_share: 0.05, status: 500}}]"
    ],
    "metastable-retries": [
        "workload.arrivals={pulse: {per_second: 7, factor: 3, from_s: 10, to_s: 20}}",
        "providers.chat.quota.requests_per_minute=60",
    ],
    "region-outage": ["providers.east.faults=[{outage: {from_s: 10, to_s: 30, status: 503, after_ms: 500}}]"],
    "retry-layers": ["providers.chat.faults=[{brownout: {from_s: 10, to_s: 20, slowdown: 8}}]"],
    "retry-storm": [
        "workload.arrivals={pulse: {per_second: 8, factor: 3, from_s: 10, to_s: 20}}",
        "providers.chat.quota.requests_per_minute=60",
    ],
    "azure-2023-outage": ["providers.east.faults=[{outage: {from_s: 10, to_s: 20, status: 503, after_ms: 1000}}]"],
}
# 520 requests a second are what a machine of two cores carries in real time and no faster.
SLOWLY = {"cooldown-cliff": (10, 1)}
METRICS = ["attempts_per_request", "rate_limited_per_request", "fallbacks_per_request", "goodput_ratio", "latency_mean_ms"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("routelab")
    parser.add_argument("--trace", help="the trace of azure-2023-outage; without it that scenario is left out")
    parser.add_argument("--reps", type=int, default=4)
    parser.add_argument("--only", nargs="+", help="these scenarios and no others")
    args = parser.parse_args()
    print("| scenario | verdict | attempts a request | 429s | fallbacks | goodput | mean latency |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for scenario in args.only or library(args.routelab):
        if scenario != "azure-2023-outage" or args.trace:
            print(row(scenario, run(args, scenario)), flush=True)


def library(routelab):
    told = subprocess.run([routelab, "list"], stdout=subprocess.PIPE, text=True, check=True).stdout
    block = told.split("\n\n")[0].splitlines()[1:]
    return [line.split()[0] for line in block]


def run(args, scenario):
    seconds, speed = SLOWLY.get(scenario, (40, 4))
    sets = [f"workload.duration_s={seconds}"]
    if scenario == "azure-2023-outage":
        sets = [f"workload.trace.file={args.trace}", f"workload.trace.to_s={seconds}"]
    command = [args.routelab, "compare", "sim", "live", scenario, "--speed", str(speed), "--reps", str(args.reps)]
    for one in sets + MOVED.get(scenario, []):
        command += ["--set", one]
    told = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if told.returncode not in (0, 1, 3):
        raise SystemExit(f"{scenario}: exit code {told.returncode}")
    return told.stdout


def row(scenario, told):
    """One line of the table from what the command printed."""
    found = {}
    for line in told.splitlines():
        cells = re.split(r"\s{2,}", line.strip())
        if cells[0] in METRICS:
            found[cells[0]] = cells[1:]
    verdict = next(line for line in reversed(told.splitlines()) if line.strip())
    cells = [cell(found[metric]) if metric in found else "" for metric in METRICS]
    return " | ".join([f"| {scenario}", verdict.strip(), *cells]) + " |"


def cell(columns):
    simulated, _, difference = columns[:3]
    difference = re.sub(r" (a request|points|s|ms) ", " ", difference)
    if re.fullmatch(r"[+−]?0\.0+ \(0\.0+ to 0\.0+\)", difference):
        return f"{simulated}, equal"
    return f"{simulated}, live {difference}"


if __name__ == "__main__":
    main()
