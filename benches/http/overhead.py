"""What a router adds to a request: `routelab serve` in front of a mock that answers at once, less the mock
alone; and LiteLLM's proxy, with one worker, in front of the same mock, in the same run.

    apt-get install wrk
    python3 -m venv venv && venv/bin/pip install 'litellm[proxy]==1.110.2'
    cargo build --release
    python3 benches/http/overhead.py target/release --litellm venv/bin/litellm

One thread of wrk asks with so many connections as stated, each as soon as it has its answer. The three
take turns; the numbers are medians over the rounds with the least and the most.
"""

import argparse
import os
import shutil
import socket
import tempfile

from common import KEY, Server, ask, by_turns, middle, spread, written

PROVIDERS = """
default:
  dialect: open_ai
  latency: {first_token: {constant: {ms: 0}}, per_output_token: {constant: {ms: 0}}}
"""
CONFIG = """
model_list:
  - {model_name: m, litellm_params: {model: openai/m, api_base: "MOCK/v1", api_key: sk-a}, model_info: {id: a}}
  - {model_name: m, litellm_params: {model: openai/m, api_base: "MOCK/v1", api_key: sk-b}, model_info: {id: b}}
router_settings: {routing_strategy: simple-shuffle, num_retries: 2}
general_settings: {master_key: KEY}
"""
CHAT = "/v1/chat/completions"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("release", help="target/release")
    parser.add_argument("--litellm", help="LiteLLM's command; without it only ours is measured")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--connections", default="1,8")
    args = parser.parse_args()
    folder = tempfile.mkdtemp()
    started = {}
    try:
        start(args, folder, started)
        servers = {name: (server, CHAT) for name, server in started.items()}
        print("| connections | | p50 | p99 | adds at p50 | adds at p99 | requests/s |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
        for connections in map(int, args.connections.split(",")):
            tell(connections, by_turns(servers, connections, args.seconds, args.rounds))
    finally:
        for server in started.values():
            server.stop()
        shutil.rmtree(folder)


def start(args, folder, started):
    routelab = os.path.join(args.release, "routelab")
    mock = Server(routelab, "mock", "--providers", written(folder, "providers.yaml", PROVIDERS))
    started["mock alone"] = mock
    config = written(folder, "config.yaml", CONFIG.replace("MOCK", mock.url).replace("KEY", KEY))
    address = f"127.0.0.1:{free_port()}"
    command = [routelab, "serve", "--config", config, "--listen", address]
    started["routelab serve"] = Server(*command, url=f"http://{address}")
    if args.litellm:
        port = str(free_port())
        command = [args.litellm, "--config", config, "--port", port, "--host", "127.0.0.1", "--num_workers", "1"]
        environment = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_TELEMETRY": "False", "LITELLM_LOG": "ERROR"}
        url = f"http://127.0.0.1:{port}"
        started["LiteLLM proxy"] = Server(*command, url=url, ready="/health/liveliness", **environment)
    for server in started.values():
        ask(server.url + CHAT)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def tell(connections, runs):
    alone = runs["mock alone"]
    for name, own in runs.items():
        others = sum(run["others"] for run in own)
        if others:
            raise SystemExit(f"{name}: {others} answers were no 200")
        added = ["", ""]
        if own is not alone:
            added = [f"**{middle(own, key) - middle(alone, key):.2f} ms**" for key in ("p50", "p99")]
        cells = [f"{spread(own, key, '{:.2f}')} ms" for key in ("p50", "p99")]
        print(f"| {connections} | {name} | {' | '.join(cells + added)} | {middle(own, 'per_s'):,.0f} |")


if __name__ == "__main__":
    main()
