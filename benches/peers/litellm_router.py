"""LiteLLM's Router 1.110.2 in its process, without a network: `python litellm_router.py`, JSON lines.

For each strategy and number of deployments, the time of one choice (`async_get_available_deployment`, what a
request waits for before it is sent) and the calls that one process gets through in a second (`acompletion` with
`mock_response`, so that nothing is sent; one after the other, and 50 at a time). By CPU time of the process. Needs `pip install
litellm==1.110.2`; nothing is fetched.
"""

import asyncio
import json
import logging
import os
import time
import warnings

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm  # noqa: E402
from litellm import Router  # noqa: E402

STRATEGIES = [
    "simple-shuffle",
    "least-busy",
    "latency-based-routing",
    "cost-based-routing",
    "usage-based-routing-v2",
]
MESSAGES = [{"role": "user", "content": "hello"}]


def router(deployments, strategy):
    return Router(
        model_list=[
            {
                "model_name": "m",
                "litellm_params": {"model": f"openai/d{n}", "api_key": "none", "weight": 1},
                "model_info": {"id": f"d{n}"},
            }
            for n in range(deployments)
        ],
        routing_strategy=strategy,
        num_retries=0,
    )


async def pick_us(one, picks):
    begun = time.process_time()
    for _ in range(picks):
        await one.async_get_available_deployment(model="m", messages=MESSAGES, request_kwargs={})
    return (time.process_time() - begun) / picks * 1e6


async def calls_per_s(one, calls, at_once):
    async def worker(share):
        for _ in range(share):
            await one.acompletion(model="m", messages=MESSAGES, mock_response="hello")

    begun = time.process_time()
    await asyncio.gather(*(worker(calls // at_once) for _ in range(at_once)))
    # What is logged behind the call's back belongs to it.
    await asyncio.sleep(0.5)
    return calls / (time.process_time() - begun)


async def main():
    litellm.suppress_debug_info = True
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    for strategy in STRATEGIES:
        for deployments in (10, 100):
            one = router(deployments, strategy)
            await calls_per_s(one, 50, 1)
            result = {"strategy": strategy, "deployments": deployments}
            result["pick_us"] = await pick_us(one, 1000 if deployments == 10 else 300)
            if deployments == 10:
                result["calls_per_s"] = await calls_per_s(one, 300, 1)
                result["calls_per_s_at_once"] = await calls_per_s(one, 300, 50)
            print(json.dumps(result), flush=True)


asyncio.run(main())
