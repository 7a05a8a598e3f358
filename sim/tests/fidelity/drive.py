"""One live repeat: the real LiteLLM Router, in this process, sends the requests of a plan to `routelab
mock` over loopback, in real time, and what the mock saw and the callers got is printed as JSON.

    python drive.py ../../../target/release/routelab scenarios/outage.yaml 1 plan.jsonl

`fidelity.py` calls it. The requests (times, models, lengths, streams) are those of `routelab run
--requests`, and each provider has the luck that it has in the simulation: LiteLLM's own hook tells the
mock which attempt of which request it meets. What differs from the simulation is LiteLLM, its own draws,
the network stack and the wall clock.

The run begins at a full minute, where the scenario's clock begins too, so that what is counted by the
minute is counted alike.
"""

import asyncio
import json
import logging
import os
import random
import socket
import subprocess
import sys
import time
import urllib.request

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["NO_PROXY"] = "*"
import litellm
import yaml
from litellm import Router
from litellm.integrations.custom_logger import CustomLogger

litellm.suppress_debug_info = True
litellm.telemetry = False
logging.disable(logging.CRITICAL)

WARM_UP = 30


class Notes(CustomLogger):
    """Numbers the attempts of each request for the mock, and counts moves to another group."""

    def __init__(self):
        super().__init__()
        self.attempts = {}
        self.fallbacks = 0

    async def async_pre_call_deployment_hook(self, kwargs, call_type):
        headers = dict(kwargs.get("extra_headers") or {})
        request = headers.get("x-mock-request")
        if request is None:
            return None
        attempt = self.attempts.get(request, 0)
        self.attempts[request] = attempt + 1
        headers["x-mock-attempt"] = str(attempt)
        return {**kwargs, "extra_headers": headers}

    async def log_success_fallback_event(self, original_model_group, kwargs, original_exception):
        self.fallbacks += 1

    async def log_failure_fallback_event(self, original_model_group, kwargs, original_exception):
        self.fallbacks += 1


class Mock:
    """`routelab mock` with the providers of the scenario."""

    def __init__(self, routelab, scenario, seed, port):
        command = [routelab, "mock", scenario, "--seed", str(seed), "--listen", f"127.0.0.1:{port}"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().split()[-1]

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=10) as answer:
            return json.load(answer)

    def stop(self):
        self.process.kill()
        self.process.wait()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def router(config, port):
    """The scenario's LiteLLM config, with its deployments at the mock."""
    entries = []
    for entry in config["model_list"]:
        name = entry["model_info"]["id"]
        params = {
            **entry["litellm_params"],
            "model": "openai/" + entry["litellm_params"]["model"].split("/", 1)[-1],
            "api_base": f"http://127.0.0.1:{port}/{name}/v1",
            "api_key": "sk-" + name,
        }
        entries.append({**entry, "litellm_params": params})
    return Router(model_list=entries, **config.get("router_settings", {}))


async def ask(live, line, headers):
    """One call, to its end. Seconds that it took, and the exception if there was one."""
    begun = time.perf_counter()
    error = None
    limit = {} if line["max_tokens"] is None else {"max_tokens": line["max_tokens"]}
    if line["stream"]:
        limit["stream_options"] = {"include_usage": True}
    try:
        answer = await live.acompletion(
            model=line["model"],
            messages=[{"role": "user", "content": "word " * line["prompt_tokens"]}],
            stream=line["stream"],
            extra_headers=headers,
            **limit,
        )
        if line["stream"]:
            async for _ in answer:
                pass
    except Exception as raised:
        error = type(raised).__name__
    return time.perf_counter() - begun, error


def orders(line):
    return {
        "x-mock-request": str(line["request"]),
        "x-mock-prompt-tokens": str(line["prompt_tokens"]),
        "x-mock-output-tokens": str(line["output_tokens"]),
    }


async def warm_up(routelab, scenario, config, plan):
    """What LiteLLM does once and never again (imports, tokenizers), at a mock and a router that are
    thrown away. Returns the seconds that LiteLLM itself adds to a call: the median of calls to a mock
    that answers at once, streams and others alike."""
    port = free_port()
    mock = Mock(routelab, scenario, 0, port)
    live = router({"model_list": config["model_list"]}, port)
    calm = '{"x-mock-first-token-ms": "0", "x-mock-per-token-ms": "0"}'
    times = []
    for line in (plan * WARM_UP)[:WARM_UP]:
        took, error = await ask(live, line, {**orders(line), **json.loads(calm)})
        times += [took] * (error is None)
    mock.stop()
    times.sort()
    return times[len(times) // 2] if times else None


async def run(routelab, scenario, seed, plan_file):
    with open(scenario) as file:
        told = yaml.safe_load(file)
    with open(plan_file) as file:
        plan = [json.loads(line) for line in file]
    config, good_within = told["litellm"], told["slo"]["latency_s"]
    notes = Notes()
    litellm.callbacks = [notes]
    added = await warm_up(routelab, scenario, config, plan)
    notes.__init__()
    random.seed()

    port = free_port()
    live = router(config, port)
    await asyncio.sleep(60 - time.time() % 60 + 0.001)
    mock = Mock(routelab, scenario, seed, port)
    # The mock's clock counts from the full second in which it began.
    zero = time.perf_counter() - mock.get("/_mock/providers")["now_s"]
    latest, calls = 0.0, []
    for line in plan:
        await asyncio.sleep(max(0.0, zero + line["at_s"] - time.perf_counter()))
        latest = max(latest, time.perf_counter() - zero - line["at_s"])
        calls.append(asyncio.create_task(ask(live, line, orders(line))))
    ended = await asyncio.gather(*calls)
    await asyncio.sleep(0.5)
    seen = mock.get("/_mock/requests")
    mock.stop()

    errors = {}
    for _, error in ended:
        if error is not None:
            errors[error] = errors.get(error, 0) + 1
    answered = [took for took, error in ended if error is None]
    by_provider = {}
    for each in seen:
        by_provider[each["provider"]] = by_provider.get(each["provider"], 0) + 1
    return {
        "litellm": litellm_version(),
        "seed": seed,
        "requests": len(plan),
        "attempts": len(seen),
        "rate_limited": sum(each["status"] == 429 for each in seen),
        "fallbacks": notes.fallbacks,
        "completed": len(answered),
        "latency_mean_ms": 1000 * sum(answered) / len(answered),
        "goodput_ratio": sum(took <= good_within for took in answered) / len(plan),
        "errors": errors,
        "attempts_by_provider": by_provider,
        "added_ms": None if added is None else 1000 * added,
        "latest_s": latest,
    }


def litellm_version():
    from importlib.metadata import version

    return version("litellm")


if __name__ == "__main__":
    print(json.dumps(asyncio.run(run(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]))))
