"""The official clients, unmodified: `openai` against `routelab serve` in front of `routelab mock`, of
whose providers one fails, and `anthropic` against `routelab mock`.

    python3 -m venv venv && venv/bin/pip install -r requirements.txt
    cargo build
    venv/bin/python check.py ../../../target/debug/routelab

Ends with 0 if every check holds; says which does not.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
import traceback

import anthropic
import openai

HERE = os.path.dirname(os.path.abspath(__file__))
MASTER = "sk-master-of-this-test"
MESSAGES = [{"role": "user", "content": "say it"}]
ALONE = ["limited", "locked", "short", "gone", "silent", "breaking"]


def config(mock):
    """Two deployments of `chat`, one of which fails, and a group for each error."""
    entries = [("chat", "good"), ("chat", "failing")] + [(name, name) for name in ALONE]
    entries.append(("broken", "failing"))
    listed = "\n".join(
        f"- model_name: {group}\n"
        f"  litellm_params: {{model: openai/{name}, api_base: '{mock}/{name}/v1', api_key: os.environ/UPSTREAM_KEY}}\n"
        f"  model_info: {{id: {group}-{name}}}"
        for group, name in entries
    )
    return (
        f"model_list:\n{listed}\n"
        "router_settings:\n"
        "  num_retries: 4\n"
        "  retry_policy: {RateLimitErrorRetries: 0, AuthenticationErrorRetries: 0, InternalServerErrorRetries: 4}\n"
        "  disable_cooldowns: true\n"
        "general_settings: {master_key: os.environ/MASTER_KEY}\n"
    )


class Server:
    """A command that serves until it is stopped, and the address that it tells."""

    def __init__(self, *command, **environment):
        self.log = tempfile.NamedTemporaryFile("w+", suffix=".log")
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            env={**os.environ, **environment, "NO_PROXY": "*"},
        )
        line = self.process.stdout.readline()
        if "listening on " not in line:
            self.log.seek(0)
            raise SystemExit(f"{' '.join(command)} does not serve: {line}{self.log.read()}")
        self.url = line.split()[-1]
        self.said = line

    def stop(self):
        self.process.terminate()
        self.said += self.process.stdout.read()
        code = self.process.wait(timeout=40)
        self.log.seek(0)
        self.said += self.log.read()
        return code


def raises(kind, call):
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was not raised")


def client(door, **changes):
    settings = {"base_url": door.url + "/v1", "api_key": MASTER, "max_retries": 0, **changes}
    return openai.OpenAI(**settings)


def ask(door, model, **keys):
    return client(door).chat.completions.create(model=model, messages=MESSAGES, **keys)


# -- openai ---------------------------------------------------------------------------------------


def completions_come_from_whoever_answers(door):
    retried = 0
    for _ in range(8):
        raw = client(door).chat.completions.with_raw_response.create(model="chat", messages=MESSAGES)
        answer = raw.parse()
        assert raw.headers["x-litellm-model-id"] == "chat-good", raw.headers
        assert answer.choices[0].message.content.startswith("This answer"), answer
        assert answer.usage.completion_tokens == 50, answer.usage
        assert answer.usage.total_tokens == answer.usage.prompt_tokens + 50
        assert raw.headers["x-litellm-attempted-fallbacks"] == "0"
        retried += int(raw.headers["x-litellm-attempted-retries"]) > 0
    assert retried > 0, "the failing provider was never asked"


def streams_come_piece_by_piece(door):
    options = {"include_usage": True}
    chunks = list(ask(door, "chat", stream=True, stream_options=options, max_tokens=5))
    words = [c.choices[0].delta.content for c in chunks if c.choices and c.choices[0].delta.content]
    assert len(words) == 5, chunks
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "length"
    assert chunks[-1].usage.completion_tokens == 5, chunks[-1]


def a_stream_can_be_left(door):
    stream = ask(door, "chat", stream=True)
    next(iter(stream))
    stream.close()
    nothing_is_left(door)


def the_async_client_is_served_at_once(door):
    async def all_of_them():
        asking = openai.AsyncOpenAI(base_url=door.url + "/v1", api_key=MASTER, max_retries=0)
        calls = [asking.chat.completions.create(model="chat", messages=MESSAGES) for _ in range(20)]
        return await asyncio.gather(*calls)

    assert len(asyncio.run(all_of_them())) == 20


def embeddings_and_models_are_served(door):
    answer = client(door).embeddings.create(model="chat", input=["one", "two"])
    assert len(answer.data) == 2 and len(answer.data[0].embedding) == 8, answer
    names = [model.id for model in client(door).models.list()]
    assert names == ["chat", *ALONE, "broken"], names


def rate_limits_are_rate_limit_errors(door):
    error = raises(openai.RateLimitError, lambda: ask(door, "limited"))
    assert error.status_code == 429 and error.code == "429", error
    assert error.type == "rate_limit_error", error.type
    assert error.response.headers["retry-after"] == "7", error.response.headers
    assert error.response.headers["llm_provider-retry-after"] == "7"
    assert error.response.headers["x-litellm-model-id"] == "limited-limited"
    assert "litellm.RateLimitError" in error.message, error.message


def wrong_keys_are_authentication_errors(door):
    stranger = client(door, api_key="sk-wrong")
    error = raises(openai.AuthenticationError, lambda: stranger.models.list())
    assert error.type == "auth_error" and error.code == "401", error.body
    error = raises(openai.AuthenticationError, lambda: ask(door, "locked"))
    assert error.response.headers["x-litellm-model-id"] == "locked-locked"


def bad_requests_are_bad_request_errors(door):
    error = raises(openai.BadRequestError, lambda: ask(door, "short"))
    assert "ContextWindowExceededError" in error.message, error.message
    error = raises(openai.BadRequestError, lambda: ask(door, "nobody"))
    assert "Invalid model name" in error.message, error.message
    error = raises(openai.BadRequestError, lambda: ask(door, "chat", extra_body={"timeout": "soon"}))
    assert error.param == "timeout" and error.type == "invalid_request_error", error.body


def what_is_gone_is_a_not_found_error(door):
    error = raises(openai.NotFoundError, lambda: ask(door, "gone"))
    assert error.code == "404", error.body


def failures_are_internal_server_errors(door):
    error = raises(openai.InternalServerError, lambda: ask(door, "broken"))
    assert error.status_code == 500 and error.type == "internal_server_error", error.body
    assert error.response.headers["x-litellm-attempted-retries"] == "4", error.response.headers


def the_clients_own_time_limit_is_a_timeout_and_leaves_nothing(door):
    hasty = client(door, timeout=0.4)
    call = lambda: hasty.chat.completions.create(model="silent", messages=MESSAGES)
    raises(openai.APITimeoutError, call)
    nothing_is_left(door)


def a_time_limit_of_the_request_is_the_routers(door):
    extra = {"timeout": 0.3, "num_retries": 0}
    error = raises(openai.APIStatusError, lambda: ask(door, "silent", extra_body=extra))
    assert error.status_code == 408 and "Timeout" in error.message, error.message


def a_request_may_bring_fallbacks(door):
    raw = client(door).chat.completions.with_raw_response.create(
        model="broken", messages=MESSAGES, extra_body={"fallbacks": ["chat"], "num_retries": 0}
    )
    assert int(raw.headers["x-litellm-attempted-fallbacks"]) >= 1, raw.headers


def a_stream_that_breaks_is_an_error_in_the_stream(door):
    came = []
    error = raises(openai.APIError, lambda: came.extend(ask(door, "breaking", stream=True)))
    assert len(came) >= 3 and "APIConnectionError" in str(error), (came, error)


def nothing_is_left(door):
    for _ in range(200):
        told = client(door).get("/../health", cast_to=object)
        if told["unfinished_requests"] == 0:
            return
        time.sleep(0.05)
    raise AssertionError(told)


# -- anthropic ------------------------------------------------------------------------------------


def claude(mock, name):
    return anthropic.Anthropic(base_url=f"{mock.url}/{name}", api_key="sk-any", max_retries=0)


def say(asking, **keys):
    return asking.messages.create(model="claude", max_tokens=6, messages=MESSAGES, **keys)


def messages_are_served(mock):
    raw = claude(mock, "claude").messages.with_raw_response.create(
        model="claude", max_tokens=6, messages=MESSAGES
    )
    answer = raw.parse()
    assert answer.content[0].text.startswith("This answer"), answer
    assert answer.usage.output_tokens == 6 and answer.stop_reason == "max_tokens", answer
    assert raw.headers["anthropic-ratelimit-requests-limit"] == "1000", raw.headers


def messages_are_streamed(mock):
    with claude(mock, "claude").messages.stream(
        model="claude", max_tokens=6, messages=MESSAGES
    ) as stream:
        words = list(stream.text_stream)
        last = stream.get_final_message()
    assert len(words) == 6 and last.usage.output_tokens == 6, (words, last)


def errors_are_of_their_classes(mock):
    error = raises(anthropic.RateLimitError, lambda: say(claude(mock, "claude-limited")))
    assert error.response.headers["retry-after"] == "7", error.response.headers
    assert error.body["error"]["type"] == "rate_limit_error", error.body
    raises(anthropic.AuthenticationError, lambda: say(claude(mock, "claude-locked")))
    error = raises(anthropic.InternalServerError, lambda: say(claude(mock, "claude-overloaded")))
    assert error.status_code == 529, error


def main():
    command = sys.argv[1]
    mock = Server(command, "mock", "--providers", os.path.join(HERE, "providers.yaml"))
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(config(mock.url))
        file.flush()
        door = Server(
            command,
            *("serve", "--config", file.name, "--listen", "127.0.0.1:0"),
            MASTER_KEY=MASTER,
            UPSTREAM_KEY="sk-upstream-of-this-test",
        )
    failed = []
    of_door = [
        completions_come_from_whoever_answers,
        streams_come_piece_by_piece,
        a_stream_can_be_left,
        the_async_client_is_served_at_once,
        embeddings_and_models_are_served,
        rate_limits_are_rate_limit_errors,
        wrong_keys_are_authentication_errors,
        bad_requests_are_bad_request_errors,
        what_is_gone_is_a_not_found_error,
        failures_are_internal_server_errors,
        the_clients_own_time_limit_is_a_timeout_and_leaves_nothing,
        a_time_limit_of_the_request_is_the_routers,
        a_request_may_bring_fallbacks,
        a_stream_that_breaks_is_an_error_in_the_stream,
    ]
    of_mock = [messages_are_served, messages_are_streamed, errors_are_of_their_classes]
    for check, server in [(c, door) for c in of_door] + [(c, mock) for c in of_mock]:
        try:
            check(server)
            print(f"holds: {check.__name__.replace('_', ' ')}")
        except Exception:
            failed.append(check.__name__)
            print(f"FAILS: {check.__name__.replace('_', ' ')}")
            traceback.print_exc()
    codes = door.stop(), mock.stop()
    said = door.said + mock.said
    if codes != (0, 0):
        failed.append(f"the servers ended with {codes}: {said}")
    if "sk-" in said:
        failed.append(f"a key was printed: {said}")
    if failed:
        sys.exit("FAILED: " + ", ".join(failed))
    print(f"{len(of_door) + len(of_mock)} checks hold")


main()
