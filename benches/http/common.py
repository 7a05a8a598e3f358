"""Servers that the measurements start, wrk in front of them, and what it says."""

import json
import os
import re
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from statistics import median

BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Say what a mock server says."}]})
KEY = "sk-bench"


def written(folder, name, text):
    """The path of a new file with this text."""
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    return path


class Server:
    """A command that serves until it is stopped. It tells its address in a line with `listening on`, or is
    known to have one."""

    def __init__(self, *command, url=None, ready="/v1/models", **environment):
        self.log = tempfile.NamedTemporaryFile("w+", suffix=".log")
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE if url is None else self.log,
            stderr=self.log,
            text=True,
            env={**os.environ, "NO_PROXY": "*", **environment},
        )
        self.url = url or self.process.stdout.readline().split()[-1]
        for _ in range(600):
            if self.process.poll() is not None:
                self.log.seek(0)
                raise SystemExit(f"{' '.join(command)} ended: {self.log.read()[-2000:]}")
            if answers(self.url + ready):
                return
            time.sleep(0.2)
        raise SystemExit(f"{' '.join(command)} does not answer at {self.url}{ready}")

    def cpu_s(self):
        """Seconds of processor time that it has used, all threads."""
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()


def answers(url):
    try:
        urllib.request.urlopen(url, timeout=2).read()
        return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


def ask(url):
    """One answer: its headers and its body."""
    headers = {"content-type": "application/json", "authorization": f"Bearer {KEY}"}
    request = urllib.request.Request(url, BODY.encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.getheaders(), answer.read()


def wrk(url, connections, seconds):
    """Requests a second and latencies in milliseconds, of one thread of wrk."""
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(
            f"wrk.method = 'POST'\nwrk.body = [[{BODY}]]\n"
            f"wrk.headers['content-type'] = 'application/json'\nwrk.headers['authorization'] = 'Bearer {KEY}'\n"
        )
        script.flush()
        command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "--timeout", "30s", "-s", script.name]
        told = subprocess.run([*command, url], stdout=subprocess.PIPE, text=True, check=True).stdout
    others = re.search(r"Non-2xx or 3xx responses: (\d+)", told)
    all_of_them = int(re.search(r"(\d+) requests in", told)[1])
    return {
        "per_s": float(re.search(r"Requests/sec:\s+([\d.]+)", told)[1]),
        "requests": all_of_them,
        "others": int(others[1]) if others else 0,
        "p50": milliseconds(re.search(r"(?m)^ +50% +(\S+)", told)[1]),
        "p99": milliseconds(re.search(r"(?m)^ +99% +(\S+)", told)[1]),
    }


def milliseconds(text):
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s|m)", text).groups()
    return float(number) * {"us": 0.001, "ms": 1.0, "s": 1000.0, "m": 60000.0}[unit]


def by_turns(servers, connections, seconds, rounds):
    """wrk in front of each server in turn, round after round; the first one warms up."""
    runs = {name: [] for name in servers}
    for turn in range(rounds + 1):
        for name, (server, path) in servers.items():
            before = server.cpu_s()
            run = wrk(server.url + path, connections, seconds)
            run["cpu_us"] = 1e6 * (server.cpu_s() - before) / run["requests"]
            if turn > 0:
                runs[name].append(run)
    return runs


def middle(runs, key):
    return median(run[key] for run in runs)


def spread(runs, key, form):
    values = [run[key] for run in runs]
    return f"{form.format(median(values))} ({form.format(min(values))} to {form.format(max(values))})"
