"""A scripted OpenAI-compatible upstream on 127.0.0.1 (stdlib only).

One process serves many runs at once: a run's deployments live under /<run>/<deployment>/v1/....
`POST /control/open` loads a script for a run, `POST /control/zero` sets its clock, `POST /control/log` returns and forgets
what it saw. Times in the log are time.monotonic() seconds, which all processes of the machine share.
"""
import asyncio
import json
import re
import sys
import time
from email.utils import formatdate

RUNS = {}
CONTENT_WORDS = "w{}"


class Run:
    def __init__(self, spec):
        self.scripts = spec.get("deployments", {})
        self.shared = spec.get("shared", {})
        self.calls = {}          # calls so far by deployment / shared script
        self.zero = time.monotonic()
        self.log = []
        self.now = {}            # calls in progress by deployment
        self.most = {}

    def reply(self, dep):
        script = self.scripts.get(dep)
        if not script:
            return {}
        if "by_time" in script:
            t = (time.monotonic() - self.zero) * 1000
            for r in script["by_time"]:
                if "until_ms" not in r or t < r["until_ms"]:
                    return r
            return script["by_time"][-1]
        key, replies = dep, script.get("replies")
        if "shared" in script:
            key, replies = "shared:" + script["shared"], self.shared[script["shared"]]
        n = self.calls.get(key, 0)
        self.calls[key] = n + 1
        return replies[min(n, len(replies) - 1)] if replies else {}


def http_date(m):
    return formatdate(time.time() + float(m.group(1)), usegmt=True)


class Gone(Exception):
    """The client closed the connection before the reply."""


async def pause(reader, seconds):
    """Sleep, but notice a client that gives up."""
    if seconds <= 0:
        if reader.at_eof():
            raise Gone
        return
    watch = asyncio.ensure_future(reader.read(1))
    done, _ = await asyncio.wait({watch}, timeout=seconds)
    if done:
        if watch.exception() is not None or watch.result() == b"":
            raise Gone
    else:
        watch.cancel()
        try:
            await watch
        except asyncio.CancelledError:
            pass
        except Exception:
            raise Gone


def head(status, headers, length=None):
    reason = {200: "OK"}.get(status, "Scripted")
    lines = [f"HTTP/1.1 {status} {reason}"]
    for k, v in headers.items():
        lines.append(f"{k}: {re.sub(r'{http_date:([+-]?[0-9.]+)}', http_date, str(v))}")
    lines.append("Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


async def answer(reader, writer, run, dep, path, body):
    """One call of one deployment; returns False when the connection must end."""
    r = run.reply(dep)
    marker = ""
    texts = body.get("messages") or []
    first = texts[0].get("content") if texts else body.get("input", "")
    if isinstance(first, list) and first and isinstance(first[0], str):
        first = first[0]
    m = re.match(r"\[([^\]]*)\]", first if isinstance(first, str) else "")
    if m:
        marker = m.group(1)
    entry = {"deployment": dep, "marker": marker, "start": time.monotonic(), "model": body.get("model"),
             "stream": bool(body.get("stream"))}
    run.log.append(entry)
    run.now[dep] = run.now.get(dep, 0) + 1
    run.most[dep] = max(run.most.get(dep, 0), run.now[dep])
    keep = True
    try:
        keep = await reply_with(reader, writer, r, dep, path, body, entry)
    except (Gone, ConnectionError):
        entry["status"] = "abandoned"
        keep = False
    entry["end"] = time.monotonic()
    run.now[dep] -= 1
    return keep


async def reply_with(reader, writer, r, dep, path, body, entry):
    status = r.get("status", 200)
    if r.get("hang"):
        await pause(reader, 600)
    await pause(reader, r.get("latency_ms", 0) / 1000)
    if r.get("reset"):
        entry["status"] = "reset"
        writer.transport.abort()
        return False
    usage = {"prompt_tokens": 10, "completion_tokens": 5, **r.get("usage", {})}
    usage["total_tokens"] = usage["prompt_tokens"] + usage["completion_tokens"]
    headers = {"Content-Type": "application/json", **r.get("headers", {})}
    entry["status"] = status
    if status != 200:
        error = {"message": f"scripted failure {status}", "type": "scripted", "param": None, "code": None, **r.get("error", {})}
        data = json.dumps({"error": error}).encode()
    elif "embeddings" in path:
        data = json.dumps({"object": "list", "model": body.get("model"),
                           "data": [{"object": "embedding", "index": 0, "embedding": [0.1, 0.2]}],
                           "usage": {"prompt_tokens": usage["prompt_tokens"], "total_tokens": usage["prompt_tokens"]}}).encode()
        headers["x-from"] = dep
    elif body.get("stream"):
        return await stream_with(reader, writer, r, dep, body, entry, usage, headers)
    else:
        data = json.dumps({"id": "c", "object": "chat.completion", "created": int(time.time()), "model": body.get("model"),
                           "choices": [{"index": 0, "finish_reason": r.get("finish_reason", "stop"),
                                        "message": {"role": "assistant", "content": f"from {dep}"}}],
                           "usage": usage}).encode()
    writer.write(head(status, headers, len(data)) + data)
    await writer.drain()
    return True


async def stream_with(reader, writer, r, dep, body, entry, usage, headers):
    headers["Content-Type"] = "text/event-stream"
    writer.write(head(200, headers))
    await writer.drain()
    await pause(reader, r.get("ttft_ms", 0) / 1000)

    def event(obj):
        writer.write(chunk(b"data: " + (obj if isinstance(obj, bytes) else json.dumps(obj).encode()) + b"\n\n"))

    base = {"id": "c", "object": "chat.completion.chunk", "created": int(time.time()), "model": body.get("model")}
    n = r.get("chunks", 3)
    for i in range(n):
        if r.get("break_after") == i:
            if r.get("break_kind") == "error_event":
                event({"error": {"message": "scripted mid-stream failure", "type": "scripted", "code": None, **r.get("error", {})}})
                event(b"[DONE]")
                writer.write(b"0\r\n\r\n")
                await writer.drain()
                return True
            entry["status"] = "break"
            writer.close()
            return False
        if i:
            await pause(reader, r.get("chunk_ms", 0) / 1000)
        delta = {"role": "assistant", "content": f"from {dep} "} if i == 0 else {"content": f"w{i} "}
        event({**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        await writer.drain()
    event({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    if (body.get("stream_options") or {}).get("include_usage"):
        event({**base, "choices": [], "usage": usage})
    event(b"[DONE]")
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True


def control(what, body):
    if what == "open":
        RUNS[body["run"]] = Run(body["upstream"])
        return {}
    run = RUNS[body["run"]]
    if what == "zero":
        run.zero = body["t"]
        return {}
    if what == "log":
        del RUNS[body["run"]]
        return {"log": run.log, "most": run.most}


async def serve(reader, writer):
    try:
        while True:
            try:
                request = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            except (asyncio.IncompleteReadError, ConnectionError):
                return
            path = request.split(" ", 2)[1]
            m = re.search(r"content-length: *(\d+)", request, re.I)
            body = json.loads(await reader.readexactly(int(m.group(1)))) if m and int(m.group(1)) else {}
            parts = path.strip("/").split("/")
            if parts[0] == "control":
                data = json.dumps(control(parts[1], body)).encode()
                writer.write(head(200, {"Content-Type": "application/json"}, len(data)) + data)
                await writer.drain()
                continue
            if not await answer(reader, writer, RUNS[parts[0]], parts[1], path, body):
                return
    except ConnectionError:
        pass
    finally:
        try:
            writer.close()
        except Exception:
            pass


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=1 << 22)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)   # ends with its parent


if __name__ == "__main__":
    asyncio.run(main())
