"""Asks a real LiteLLM what it makes of each fault over HTTP, and prints what it saw as JSON.

    pip install litellm==1.110.2
    cargo build
    python ask_litellm.py ../../../../target/debug/routelab > litellm-1.110.json

Each fault is ordered by a header of `routelab mock`. One router of two deployments, no retries, a
timeout of 2 s for answers and for silence within streams; a fresh router for each question.
"""

import asyncio
import json
import logging
import os
import subprocess
import sys
import tempfile

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
import litellm
from litellm import Router

litellm.suppress_debug_info = True
logging.disable(logging.CRITICAL)

PROVIDERS = """
default:
  dialect: open_ai
  latency: {first_token: {constant: {ms: 20}}, per_output_token: {constant: {ms: 5}}}
"""


def broken(how, **keys):
    return {"broken": {"how": how, **keys}}


def mid_stream(how, after_tokens, **keys):
    return {"mid_stream": {"how": how, "after_tokens": after_tokens, **keys}}


FAULTS = [
    broken("refused"),
    broken("reset"),
    broken("error_object"),
    broken("error_object", **{"class": "rate_limit"}),
    broken("error_object", **{"class": "internal_server"}),
    broken("error_object", **{"class": "context_window_exceeded"}),
    broken("malformed"),
    broken("empty"),
    broken("not_json"),
    broken("no_done"),
    {"hang": {}},
    mid_stream("cut", 3),
    mid_stream("cut", 0),
    mid_stream("malformed", 3),
    mid_stream("no_end", 3),
    mid_stream("no_end", 6),
    mid_stream("error_event", 3),
    mid_stream("error_event", 3, **{"class": "rate_limit"}),
    mid_stream("error_event", 3, **{"class": "context_window_exceeded"}),
    mid_stream("silence", 3),
    mid_stream("silence", 0),
    {"stall": {"after_tokens": 2, "for_s": 3, "keep_alive_s": 0.5}},
    {"stall": {"after_tokens": 2, "for_s": 3}},
    {"stall": {"after_tokens": 0, "for_s": 3}},
    {"stall": {"after_tokens": 0, "for_s": 3, "keep_alive_s": 0.5}},
    {"slow_drip": {"per_token_ms": 600}},
    {"bad_key": {}},
    {"model_gone": {}},
    {"outage": {"status": 500}},
    {"outage": {"status": 502}},
    {"outage": {"status": 503}},
    {"outage": {"status": 504}},
    {"outage": {"status": 529}},
    {"outage": {"class": "bad_request"}},
    {"rate_limit_storm": {"hint": {"seconds": 9}}},
    {"rate_limit_storm": {"hint": "unreadable"}},
    {"content": {"policy_share": 1}},
    {"content": {"context_window_tokens": 1}},
]


async def ask(url, fault, stream):
    deployment = {
        "model": "openai/m",
        "api_base": url,
        "timeout": 2,
        "stream_timeout": 2,
        "max_retries": 0,
    }
    router = Router(
        model_list=[
            {"model_name": "g", "litellm_params": {**deployment, "api_key": key}}
            for key in ("one", "two")
        ],
        num_retries=0,
    )
    words, saw = 0, {"exception": None, "status": None}
    try:
        answer = await router.acompletion(
            model="g",
            messages=[{"role": "user", "content": "say it"}],
            stream=stream,
            max_tokens=6,
            extra_headers={"x-mock-fault": json.dumps(fault)},
        )
        if stream:
            async for chunk in answer:
                text = chunk.choices[0].delta.content if chunk.choices else None
                words += len((text or "").split())
        else:
            words = len((answer.choices[0].message.content or "").split())
    except Exception as error:
        saw = {
            "exception": type(error).__name__,
            "status": getattr(error, "status_code", None),
        }
    # A failure is booked by a callback a moment later.
    await asyncio.sleep(0.2)
    benched = await router.cooldown_cache.async_get_active_cooldowns(
        model_ids=router.get_model_ids(), parent_otel_span=None
    )
    return {"fault": fault, "stream": stream, "tokens": words, **saw, "benched": bool(benched)}


async def main():
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(PROVIDERS)
        file.flush()
        command = [sys.argv[1], "mock", "--providers", file.name]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            url = server.stdout.readline().split()[-1] + "/v1"
            rows = [await ask(url, fault, stream) for fault in FAULTS for stream in (False, True)]
        finally:
            server.kill()
    print("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]")


asyncio.run(main())
