"""How many requests a second `routelab mock` answers with quota accounting and faults on, against a bare
axum handler that returns the same bytes, and against other mock servers where they are installed.

    apt-get install wrk
    cargo build --release && cargo build --release -p mock-providers --features http --example bare --example open_streams
    python3 benches/http/load.py target/release

Other servers are found on PATH or where `--peers` says (`cargo install vidaimock llmposter`). Each
serves with its defaults, without latency. wrk has one thread and 64 connections; servers take turns, and
the numbers are medians over the rounds with the least and the most.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from statistics import median

from common import Server, ask, by_turns, middle, spread, written

# A quota that is counted and never reached, and faults that are drawn for each request and strike few.
PROVIDERS = """
default:
  dialect: open_ai
  latency: {first_token: {constant: {ms: 0}}, per_output_token: {constant: {ms: 0}}}
  quota: {requests_per_minute: 100000000, tokens_per_minute: 100000000000}
  faults:
    - error_rate: {share: 0.0005, status: 500}
    - rate_limit_storm: {from_s: 1000000}
    - bursty: {good_mean_s: 60, bad_mean_s: 1, good_error_share: 0.0002, bad_error_share: 0.01}
"""
# The same answer as the mock's, so that it has as many bytes.
FIXTURES = """
fixtures:
  - match: {user_message: "mock"}
    response: {content: "%s"}
"""
CHAT = "/v1/chat/completions"
# Files of a server that are no streams, with connections of wrk that are not gone yet.
SPARE_FILES = 200


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("release", help="target/release")
    parser.add_argument("--peers", default="", help="a folder with vidaimock and llmposter")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of requests; 0 leaves them out")
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--streams", type=int, default=20_000, help="open streams; 0 leaves them out")
    args = parser.parse_args()
    folder = tempfile.mkdtemp()
    started = {}
    try:
        servers = start(args, folder, started)
        if args.rounds:
            tell(by_turns(servers, args.connections, args.seconds, args.rounds))
        if args.streams:
            streams(args, folder, started)
    finally:
        for server in started.values():
            server.stop()
        shutil.rmtree(folder)


def start(args, folder, started):
    more_files()
    providers = written(folder, "providers.yaml", PROVIDERS)
    mock = Server(os.path.join(args.release, "routelab"), "mock", "--providers", providers)
    started["routelab mock"] = mock
    headers, body = ask(mock.url + CHAT)
    kept = [f"{name}: {value}" for name, value in headers if name.lower() not in ("connection", "content-length", "date")]
    answer = written(folder, "answer.txt", "\n".join(kept) + "\n\n" + body.decode())
    started["bare axum"] = Server(os.path.join(args.release, "examples", "bare"), "127.0.0.1:0", answer)
    path = os.pathsep.join([os.path.abspath(args.peers), os.environ["PATH"]])
    if shutil.which("vidaimock", path=path):
        command = [shutil.which("vidaimock", path=path), "--host", "127.0.0.1", "--port", "18471", "--mode", "benchmark"]
        started["VidaiMock"] = Server(*command, url="http://127.0.0.1:18471")
    if shutil.which("llmposter", path=path):
        text = json.loads(body)["choices"][0]["message"]["content"]
        fixtures = written(folder, "fixtures.yaml", FIXTURES % text)
        command = [shutil.which("llmposter", path=path), "--fixtures", fixtures, "--port", "18472"]
        started["llmposter"] = Server(*command, url="http://127.0.0.1:18472")
    for name, server in started.items():
        print(f"{name}: {len(ask(server.url + CHAT)[1])} bytes of body", file=sys.stderr)
    return {name: (server, CHAT) for name, server in started.items()}


def tell(runs):
    print("| server | requests/s | CPU of the server a request | p99 | against bare | not 2xx |")
    print("| --- | --- | --- | --- | --- | --- |")
    bare = runs["bare axum"]
    for name, own in runs.items():
        ratio = median(a["per_s"] / b["per_s"] for a, b in zip(own, bare))
        others = sum(run["others"] for run in own) / sum(run["requests"] for run in own)
        print(
            f"| {name} | {spread(own, 'per_s', '{:,.0f}')} | {middle(own, 'cpu_us'):.1f} us | {middle(own, 'p99'):.2f} ms "
            f"| {ratio:.2f} | {100 * others:.2f} % |"
        )


def streams(args, folder, started):
    """Streams of 30 tokens, one every two seconds, over as many servers as the system lets have files enough."""
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    count = -(-args.streams // (most - SPARE_FILES))
    if count > 1:
        print(f"a process may have {most} files open here, so {count} servers share the streams", file=sys.stderr)
    providers = os.path.join(folder, "providers.yaml")
    mocks = [Server(os.path.join(args.release, "routelab"), "mock", "--providers", providers) for _ in range(count)]
    started.update({f"mock {place}": mock for place, mock in enumerate(mocks)})
    tool = os.path.join(args.release, "examples", "open_streams")
    share = str(-(-args.streams // count))
    clients = [
        subprocess.Popen([tool, mock.url.removeprefix("http://"), share, "30", "2000"], stdout=subprocess.PIPE, text=True)
        for mock in mocks
    ]
    for client, mock in zip(clients, mocks):
        told = client.communicate()[0].strip()
        with open(f"/proc/{mock.process.pid}/status") as file:
            memory = next(line for line in file if line.startswith("VmHWM")).split()[1]
        print(f"\nstreams: {told}\nserver: {mock.cpu_s():.1f} s of CPU, at most {int(memory) / 1024:.0f} MiB")


def more_files():
    """Each open stream is a file on both sides. Who may not raise the limit gets fewer streams."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    for wanted in (65_536, most):
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, max(wanted, most)))
            return
        except (ValueError, OSError):
            continue


if __name__ == "__main__":
    main()
