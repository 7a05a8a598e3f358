"""The real LiteLLM Router against the simulation: the table of reports/FIDELITY.md.

    python3 -m venv venv && venv/bin/pip install -r requirements.txt
    cargo build --release
    venv/bin/python fidelity.py ../../../target/release/routelab --out ../../../reports/FIDELITY.md

For each scenario and each of ten seeds, `routelab run` simulates the scenario and writes its requests,
and `drive.py` sends the same requests through LiteLLM to `routelab mock`, in real time (a minute each;
several at once with `--at-once`). What has been driven is kept in `--work` and not driven again unless
the scenario has changed. Ends with 1 if a bound does not hold.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from statistics import mean, stdev

HERE = os.path.dirname(os.path.abspath(__file__))
COMMAND = "python sim/tests/fidelity/fidelity.py target/release/routelab --out reports/FIDELITY.md"
# t(n − 1, 97.5 %) for n repeats, from two.
STUDENT = dict(enumerate([
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093,
], start=2))
# As `routelab live` has it.
TOO_LATE_S = 0.5
TRIES = 5
# What is compared: name, title, how a value is shown, and the bound (relative, or absolute in points).
MEASURES = [
    ("attempts", "attempts", "{:.0f}", 0.02),
    ("rate_limited", "429s", "{:.0f}", 0.02),
    ("fallbacks", "fallbacks", "{:.0f}", 0.02),
    ("latency_mean_ms", "mean latency, ms", "{:.0f}", 0.03),
    ("goodput_ratio", "goodput, %", "{:.1f}", 0.01),
]


def simulate(args, scenario, seed):
    """The simulation of one seed; its requests are left in a file, whose name is the second value."""
    plan = os.path.join(args.work, f"{os.path.basename(scenario)}.{seed}.jsonl")
    command = [args.routelab, "run", scenario, "--seed", str(seed), "--reps", "1", "--no-report"]
    command += ["--format", "json", "--requests", plan]
    told = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if told.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {told.stderr}")
    metrics = json.loads(told.stdout)["arms"][0]["metrics"]
    values = {name: metric["values"][0] for name, metric in metrics.items()}
    with open(plan) as file:
        requests = sum(1 for _ in file)
    result = {
        "attempts": round(values["attempts_per_request"] * requests),
        "rate_limited": round(values["rate_limited_per_request"] * requests),
        "fallbacks": round(values["fallbacks_per_request"] * requests),
        "latency_mean_ms": values["latency_mean_ms"],
        "goodput_ratio": values["goodput_ratio"],
        "requests": requests,
    }
    return result, plan


def drive(args, scenario, seed, plan):
    """The live repeat of one seed, from `--work` if it was driven before. One with requests that left late
    tells of the machine and is driven again."""
    name = os.path.basename(scenario)
    with open(scenario, "rb") as text, open(plan, "rb") as requests:
        digest = hashlib.sha256(text.read() + requests.read()).hexdigest()[:16]
    kept = os.path.join(args.work, f"{name}.{seed}.{digest}.json")
    for _ in range(TRIES):
        if not os.path.exists(kept):
            command = [sys.executable, os.path.join(HERE, "drive.py"), args.routelab, scenario, str(seed), plan]
            told = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            with open(kept, "w") as file:
                file.write(told.stdout)
        with open(kept) as file:
            run = json.load(file)
        print(f"{name} {seed}: {json.dumps(run)}", file=sys.stderr)
        if run["latest_s"] <= TOO_LATE_S:
            return run
        print(f"{name} {seed}: a request left {run['latest_s']:.1f} s late; once more", file=sys.stderr)
        os.remove(kept)
    raise SystemExit(f"{name} {seed}: this machine is too slow, or busy: requests leave late")


def judged(measure, live, simulated):
    """Live mean, spread, simulated mean, and the paired difference with its interval, in the bound's unit."""
    name, _, _, bound = measure
    ours, theirs = [run[name] for run in simulated], [run[name] for run in live]
    if not any(ours) and not any(theirs):
        return None
    scale = 1.0 if name == "goodput_ratio" else mean(theirs) or 1.0
    differences = [(a - b) / scale for a, b in zip(ours, theirs)]
    n = len(differences)
    half = STUDENT[n] * stdev(differences) / n**0.5 if n > 1 else None
    return {
        "live": mean(theirs),
        "low": min(theirs),
        "high": max(theirs),
        "ours": mean(ours),
        "difference": mean(differences),
        "half": half,
        "holds": abs(mean(differences)) <= bound,
        "shown": half is not None and abs(mean(differences)) + half <= bound,
    }


def cell(measure, found):
    if found is None:
        return "none"
    unit = " points" if measure[0] == "goodput_ratio" else " %"
    half = "" if found["half"] is None else f" ± {100 * found['half']:.1f}"
    text = f"{100 * found['difference']:+.1f}{half}{unit}".replace("-", "−")
    if not found["holds"]:
        return f"**{text}**"
    return text if found["shown"] else f"*{text}*"


def table(results):
    titles = [title for _, title, _, _ in MEASURES]
    lines = ["| scenario | " + " | ".join(titles) + " |", "| --- |" + " --- |" * len(titles)]
    for name, _, live, ours in results:
        cells = [cell(measure, judged(measure, live, ours)) for measure in MEASURES]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    lines += ["", f"| scenario | | LiteLLM: mean of {len(results[0][2])} (least to most) | simulation |", "| --- | --- | --- | --- |"]
    for name, _, live, ours in results:
        for measure in MEASURES:
            found = judged(measure, live, ours)
            if found is None:
                continue
            factor = 100 if measure[0] == "goodput_ratio" else 1
            show = lambda value: measure[2].format(factor * value)
            theirs = f"{show(found['live'])} ({show(found['low'])} to {show(found['high'])})"
            lines.append(f"| {name} | {measure[1]} | {theirs} | {show(found['ours'])} |")
            name = ""
    return "\n".join(lines)


def machine(runs):
    """What the live side adds of its own."""
    added = [run["added_ms"] for run in runs if run["added_ms"]]
    return (
        f"LiteLLM {runs[0]['litellm']} and the loopback add a median of {min(added):.0f} to {max(added):.0f} ms to a call, "
        f"by repeat (mean {mean(added):.0f} ms), measured before each against the same mock answering at once. The latest "
        f"of all requests left {max(run['latest_s'] for run in runs):.2f} s late; a repeat with one over {TOO_LATE_S} s is "
        "driven again."
    )


def purpose(scenario):
    with open(scenario) as file:
        return file.readline().split(":", 1)[1].strip()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("routelab")
    parser.add_argument("scenarios", nargs="*", help="names; all if none is given")
    parser.add_argument("--repeats", type=int, default=10, help="of each scenario, 20 at most")
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--work", default=os.path.join(HERE, "../../../target/fidelity"))
    parser.add_argument("--out", help="a Markdown file, of which what follows the mark is replaced")
    args = parser.parse_args()
    args.routelab = os.path.abspath(args.routelab)
    os.makedirs(args.work, exist_ok=True)
    folder = os.path.join(HERE, "scenarios")
    names = args.scenarios or sorted(name[:-5] for name in os.listdir(folder) if name.endswith(".yaml"))
    files = {name: os.path.join(folder, name + ".yaml") for name in names}
    seeds = range(1, args.repeats + 1)

    simulated = {(name, seed): simulate(args, files[name], seed) for name in names for seed in seeds}
    with ThreadPoolExecutor(args.at_once) as pool:
        waiting = {
            key: pool.submit(drive, args, files[key[0]], key[1], plan)
            for key, (_, plan) in simulated.items()
        }
        driven = {key: future.result() for key, future in waiting.items()}
    results = [
        (name, purpose(files[name]), [driven[name, s] for s in seeds], [simulated[name, s][0] for s in seeds])
        for name in names
    ]
    text = table(results) + "\n\n" + machine([run for _, _, live, _ in results for run in live])
    print(text)
    if args.out:
        write(args.out, text)
    broken = [
        (name, measure[1])
        for name, _, live, ours in results
        for measure in MEASURES
        if (found := judged(measure, live, ours)) is not None and not found["holds"]
    ]
    for name, title in broken:
        print(f"{name}: {title} is out of its bound", file=sys.stderr)
    return 1 if broken else 0


MARK = "<!-- what follows is written by sim/tests/fidelity/fidelity.py -->\n"


def write(path, text):
    with open(path) as file:
        head, mark, _ = file.read().partition(MARK)
    if not mark:
        raise SystemExit(f"{path} does not have the line {MARK.strip()}")
    with open(path, "w") as file:
        file.write(head + MARK + "\n" + text + "\n")


if __name__ == "__main__":
    sys.exit(main())
