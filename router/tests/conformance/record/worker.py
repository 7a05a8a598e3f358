"""Runs vectors on one installed LiteLLM as a black box. Started by record.py with that version's python.

Reads one JSON job a line: {"vector", "repeats", "at_once", "cooldowns"}; answers one line: {"runs": [raw run, ...]}.
Every run is a process forked from this one, so no state is shared between runs. Only public calls of the router are used,
and its cooldown cache is read after each step.
"""
import asyncio
import gc
import http.client
import inspect
import json
import os
import random
import re
import subprocess
import sys
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["LITELLM_LOG"] = "ERROR"
HERE = os.path.dirname(os.path.abspath(__file__))
upstream = subprocess.Popen([sys.executable, os.path.join(HERE, "upstream.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
PORT = int(upstream.stdout.readline())

import warnings                                                                     # noqa: E402
warnings.simplefilter("ignore")
import litellm                                                                      # noqa: E402
from litellm.types.router import AllowedFailsPolicy, RetryPolicy                    # noqa: E402

litellm.suppress_debug_info = True
litellm.telemetry = False
FILLER = " word"
from importlib.metadata import version                                              # noqa: E402
FORKABLE = tuple(int(x) for x in version("litellm").split(".")[:2]) < (1, 100)


def control(what, **body):
    c = http.client.HTTPConnection("127.0.0.1", PORT, timeout=10)
    c.request("POST", f"/control/{what}", json.dumps(body), {"Content-Type": "application/json"})
    out = json.loads(c.getresponse().read())
    c.close()
    return out


# ---------------------------------------------------------------- the router from a vector's config

def deployment_entry(run, d):
    p = dict(d.get("litellm_params", {}))
    if not d.get("_omit_model"):
        p.setdefault("model", f"openai/fake-{d['id']}")
    if p.get("model") == "{omit}":
        del p["model"]
    if p.get("api_base") == "{refused}":
        p["api_base"] = "http://127.0.0.1:1/v1"
    p.setdefault("api_base", f"http://127.0.0.1:{PORT}/{run}/{d['id']}/v1")
    p.setdefault("api_key", "sk-scripted")
    entry = {"litellm_params": p, "model_info": {"id": d["id"], **d.get("model_info", {})}}
    if "model_name" in d:
        entry["model_name"] = d["model_name"]
    for k in ("rpm", "tpm"):
        if k in d:
            entry[k] = d[k]
    return entry


def build(run, config):
    s = json.loads(json.dumps(config.get("router", {})))
    if isinstance(s.get("allowed_fails_policy"), dict):
        s["allowed_fails_policy"] = AllowedFailsPolicy(**s["allowed_fails_policy"])
    if isinstance(s.get("retry_policy"), dict):
        s["retry_policy"] = RetryPolicy(**s["retry_policy"])
    if isinstance(s.get("model_group_retry_policy"), dict):
        s["model_group_retry_policy"] = {g: RetryPolicy(**p) for g, p in s["model_group_retry_policy"].items()}
    for k, v in (config.get("globals") or {}).items():
        setattr(litellm, k, v)
    if not config.get("omit_model_list"):
        s["model_list"] = [deployment_entry(run, d) for d in config.get("deployments", [])]
    return litellm.Router(**s)


# ---------------------------------------------------------------- facts of one result

KEPT = re.compile(r"^(retry-after|x-ratelimit-|x-litellm-)", re.I)


def kept_headers(h):
    out = {}
    for k, v in dict(h or {}).items():
        if KEPT.match(str(k)):
            out[str(k).lower()] = v if isinstance(v, (int, float, str, bool)) or v is None else str(v)
    return out


def clean(text, n=240):
    text = re.sub(r"http://127\.0\.0\.1:\d+(/r\d+)?", "{upstream}", text)
    text = re.sub(r"[ \n]+", " ", text)
    return text[:n]


def message_facts(text):
    f = {}
    m = re.search(r"Try again in ([\d.]+) seconds", text)
    if m:
        f["try_again_in_seconds"] = float(m.group(1))
    if "No deployments available" in text:
        f["says_no_deployments_available"] = True
    if "no healthy deployments" in text:
        f["says_no_healthy_deployment"] = True
    if "cooldown_list" in text:
        f["mentions_cooldown_list"] = True
    if re.search("fallbacks|Model Group Fallbacks", text):
        f["mentions_fallbacks"] = True
    if "Received Model Group" in text:
        f["mentions_model_group"] = True
    if "max_parallel_requests slots" in text:
        f["says_max_parallel"] = True
    if "RateLimitError" in text or "crossed" in text:
        f["says_crossed_limit"] = True
    if "No models have context window" in text:
        f["says_no_models_have_context_window"] = True
    if "timed out" in text.lower():
        f["says_timeout"] = True
    m = re.search(r"Retried: (\d+) times(?:, LiteLLM Max Retries: (\d+))?", text)
    if m:
        f["retried"] = int(m.group(1))
        if m.group(2):
            f["max_retries"] = int(m.group(2))
    return f


def failure_facts(e):
    text = str(e)
    out = {"ok": False, "exception": type(e).__name__, "status": getattr(e, "status_code", None)}
    for k in ("num_retries", "max_retries", "cooldown_time", "code", "type", "llm_provider"):
        v = getattr(e, k, None)
        if v is not None and isinstance(v, (int, float, str)):
            out[k] = v
    if "code" in out:
        out["code"] = str(out["code"])
    h = kept_headers(getattr(e, "litellm_response_headers", None) or getattr(getattr(e, "response", None), "headers", None))
    if h:
        out["headers"] = h
    out["message"] = message_facts(text)
    out["message_head"] = clean(text)
    bases = [c.__name__ for c in type(e).__mro__[1:] if c.__name__ not in ("Exception", "BaseException", "object")
             and c.__module__ != "abc"]
    if bases:
        out["exception_bases"] = bases
    return out


def success_facts(content, response, served=None):
    hidden = getattr(response, "_hidden_params", {}) or {}
    h = hidden.get("additional_headers", {}) if isinstance(hidden, dict) else getattr(hidden, "additional_headers", {})
    m = re.match(r"from (\S+)", content or "")
    out = {"ok": True, "served_by": served or (m.group(1) if m else None), "headers": kept_headers(h)}
    if content is not None:
        out["content"] = content
    return out


# ---------------------------------------------------------------- the client script

class Client:
    def __init__(self, run, vector, cooldowns):
        self.run, self.v, self.cooldowns = run, vector, cooldowns
        self.settle = vector.get("settle_ms", 60) / 1000
        self.records, self.benched, self.queries = [], [], []
        self.ids = sorted({d["id"] for d in vector["config"].get("deployments", [])})

    def prompt(self, marker, step):
        kw = step.get("kwargs", {})
        if "messages" in kw:
            return kw["messages"]
        n = step.get("words")
        return [{"role": "user", "content": f"[{marker}] go" + (FILLER * n if n is not None else " and say hi")}]

    async def call(self, step, marker, burst=None, batch=None):
        rec = {"id": marker, "burst": burst, "batch": batch}
        self.records.append(rec)
        kw = {k: v for k, v in step.get("kwargs", {}).items() if k != "messages"}
        kw = json.loads(json.dumps(kw))
        kw["model"] = step.get("model", "m")
        api = step.get("api", "completion")
        if api == "embedding":
            kw["input"] = [f"[{marker}] go and say hi"]
        else:
            kw["messages"] = self.prompt(marker, step)
        if step.get("stream"):
            kw["stream"] = True
        rec["begin"] = time.monotonic()
        text, opened = "", False
        try:
            if step.get("sync"):
                fn = getattr(self.router, api)
                response = await asyncio.to_thread(fn, **kw)
            else:
                response = await getattr(self.router, "a" + api)(**kw)
            if step.get("stream"):
                opened = True
                async for c in response:
                    piece = (c.choices[0].delta.content if c.choices else None) or ""
                    if piece and "first" not in rec:
                        rec["first"] = time.monotonic()
                    text += piece
                rec["end"] = time.monotonic()
                rec["result"] = success_facts(text.strip(), response)
            else:
                rec["end"] = time.monotonic()
                if api == "embedding":
                    rec["result"] = success_facts(None, response)
                else:
                    rec["result"] = success_facts(response.choices[0].message.content, response)
        except Exception as e:
            rec["end"] = time.monotonic()
            rec["result"] = failure_facts(e)
            if opened:
                rec["result"]["mid_stream"] = True
                rec["result"]["content_before_failure"] = text.strip()

    async def after(self, name):
        if not self.cooldowns:
            return
        await asyncio.sleep(self.settle)
        at = time.monotonic()
        entries = self.router.cooldown_cache.async_get_active_cooldowns(model_ids=self.ids, parent_otel_span=None)
        if inspect.isawaitable(entries):
            entries = await entries
        cooling = {}
        for key, value in entries:
            get = value.get if isinstance(value, dict) else lambda k, v=value: getattr(v, k, None)
            cooling[str(key)] = {"cooldown_s": get("cooldown_time"), "status": str(get("status_code"))}
        self.benched.append({"after": name, "at": at, "cooling": cooling})

    async def step(self, s):
        op = s["op"]
        if op == "request":
            await self.call(s, s["id"])
            await self.after(s["id"])
        elif op == "burst":
            for i in range(s["count"]):
                await self.call(s, f"{s['id']}#{i}", burst=s["id"])
                if s.get("gap_ms"):
                    await asyncio.sleep(s["gap_ms"] / 1000)
            await self.after(s["id"])
        elif op == "batch":
            async def one(r):
                if r.get("delay_ms"):
                    await asyncio.sleep(r["delay_ms"] / 1000)
                await self.call(r, r["id"], batch=s["id"])
            await asyncio.gather(*[one(r) for r in s["requests"]])
            await self.after(s["id"])
        elif op == "sleep":
            await asyncio.sleep(s["ms"] / 1000)
        elif op == "at":
            await asyncio.sleep(max(0, self.zero + s["ms"] / 1000 - time.monotonic()))
        elif op == "align":
            while not s["second_min"] <= time.time() % 60 <= s["second_max"]:
                await asyncio.sleep(0.05)
        elif op == "update_settings":
            self.router.update_settings(**s["settings"])
        elif op == "delete_deployment":
            self.router.delete_deployment(id=s["id"])
        elif op == "query":
            v = getattr(self.router, s["method"])(**s.get("args", {}))
            if inspect.isawaitable(v):
                v = await v
            self.queries.append({"id": s["id"], "value": json.loads(json.dumps(v, default=str))})
        else:
            raise ValueError(op)

    async def go(self):
        if not FORKABLE:
            control("open", run="warm", upstream={"deployments": {"e429": {"replies": [{"status": 429}]}, "e500": {"replies": [{"status": 500}]}}})
            try:
                await warm_calls(router_too=False)
            except Exception:
                traceback.print_exc()
        try:
            self.router = build(self.run, self.v["config"])
        except Exception as e:
            f = failure_facts(e)
            return {"build": {"ok": False, **{k: v for k, v in f.items() if k != "ok"}}}
        self.zero = time.monotonic()
        control("zero", run=self.run, t=self.zero)
        for s in self.v["client"]:
            await self.step(s)
        await asyncio.sleep(0.15 if self.v.get("_late") is None else self.v["_late"])
        return {"build": {"ok": True}, "zero": self.zero, "records": self.records, "benched": self.benched, "queries": self.queries}


def forget_threads():
    """A fork has none of its parent's threads, but its pools believe in them: the first task given to one would wait for the second."""
    for pool in gc.get_objects():
        if isinstance(pool, ThreadPoolExecutor):
            pool._threads.clear()
            pool._idle_semaphore = threading.Semaphore(0)


def child(vector, cooldowns, n, path):
    forget_threads()
    run = f"r{os.getpid()}"
    random.seed(os.urandom(16))
    control("open", run=run, upstream=vector["upstream"])
    devnull = open(os.devnull, "w")
    os.dup2(devnull.fileno(), 1)
    out = asyncio.run(Client(run, vector, cooldowns).go())
    out.update(control("log", run=run))
    with open(path, "w") as f:
        json.dump(out, f, default=str)


def run_job(job):
    runs, waiting, left = [], {}, list(range(job["repeats"]))
    while left or waiting:
        while left and len(waiting) < job.get("at_once", 1):
            n = left.pop(0)
            path = f"/tmp/rec-{os.getpid()}-{n}.json"
            pid = os.fork()
            if pid == 0:
                code = 0
                try:
                    child(job["vector"], job["cooldowns"], n, path)
                except BaseException:
                    traceback.print_exc()
                    code = 1
                sys.stderr.flush()
                os._exit(code)
            waiting[pid] = path
            if left and job.get("at_once", 1) > 1:
                time.sleep(0.3 if FORKABLE else 0.75)      # so that one run's start does not disturb another
        pid, status = os.wait()
        if pid in waiting:
            path = waiting.pop(pid)
            if status:
                raise RuntimeError(f"run failed ({status}) in {job['vector']['name']}")
            runs.append(json.load(open(path)))
            os.unlink(path)
    return runs


LISTS = ("callbacks", "success_callback", "failure_callback", "input_callback", "service_callback", "_async_success_callback",
         "_async_failure_callback", "_async_input_callback")


async def warm_calls(router_too=True):
    """A few plain calls and one router call, so that lazy imports and tokenizers are loaded before the runs are forked."""
    def params(dep, **more):
        return dict(model="openai/fake-warm", api_key="sk-scripted", api_base=f"http://127.0.0.1:{PORT}/warm/{dep}/v1", max_retries=0, **more)
    hello = [{"role": "user", "content": "[warm] go"}]
    await litellm.acompletion(messages=hello, **params("ok"))
    async for _ in await litellm.acompletion(messages=hello, stream=True, **params("ok")):
        pass
    await litellm.aembedding(input=["x"], **params("ok"))
    await asyncio.to_thread(litellm.completion, messages=hello, **params("ok"))
    for dep in ("e429", "e500"):
        try:
            await litellm.acompletion(messages=hello, **params(dep))
        except Exception:
            pass
    if not router_too:
        return
    router = litellm.Router(model_list=[{"model_name": "warm", "litellm_params": params("ok"), "model_info": {"id": "warm"}}], num_retries=0)
    await router.acompletion(model="warm", messages=hello)
    await asyncio.sleep(0.3)


def warm():      # where the version allows forking after calls; the compiled one does not, its runs make plain calls of their own first
    litellm.token_counter(model="gpt-3.5-turbo", messages=[{"role": "user", "content": "[warm] go"}])
    if not FORKABLE:
        return
    before = {k: list(getattr(litellm, k)) for k in LISTS if isinstance(getattr(litellm, k, None), list)}
    control("open", run="warm", upstream={"deployments": {"e429": {"replies": [{"status": 429}]}, "e500": {"replies": [{"status": 500}]}}})
    try:
        asyncio.run(warm_calls())
    except Exception:
        traceback.print_exc()
    for k, v in before.items():
        getattr(litellm, k)[:] = v
    for name in ("in_memory_llm_clients_cache",):
        try:
            getattr(litellm, name).flush_cache()
        except Exception:
            traceback.print_exc()


def main():
    warm()
    print(json.dumps({"ready": version("litellm")}), flush=True)
    for line in sys.stdin:
        try:
            out = {"runs": run_job(json.loads(line))}
        except Exception as e:
            out = {"error": repr(e)}
        print(json.dumps(out), flush=True)
    upstream.stdin.close()


if __name__ == "__main__":
    main()
