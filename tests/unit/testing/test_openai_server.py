"""The scripted server, asked by the real openai client."""

from __future__ import annotations

import openai
import pytest

from askem.testing.openai_server import Call, OpenAiServer, Request, Turn, calls, error, text

HELLO: list[openai.types.chat.ChatCompletionMessageParam] = [{"role": "user", "content": "Hello"}]


def client(server: OpenAiServer) -> openai.OpenAI:
    return openai.OpenAI(base_url=server.url, api_key="key", max_retries=0)


def test_it_lists_its_models() -> None:
    with OpenAiServer(models=["a", "b"]) as server, client(server) as asking:
        assert [model.id for model in asking.models.list()] == ["a", "b"]


def test_it_answers_plain_and_streamed_alike() -> None:
    turn = calls(Call("f", {"x": "é"}), Call("g", "{no json"), text="Well, then: é.")
    with OpenAiServer([turn, turn]) as server, client(server) as asking:
        plain = asking.chat.completions.create(model="m", messages=HELLO)
        stream = asking.chat.completions.create(
            model="m", messages=HELLO, stream=True, stream_options={"include_usage": True}
        )
        chunks = list(stream)

    message = plain.choices[0].message
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    arguments = {0: "", 1: ""}
    for delta in deltas:
        for call in delta.tool_calls or []:
            assert call.function is not None
            arguments[call.index] += call.function.arguments or ""
    assert message.content == "".join(delta.content or "" for delta in deltas) == "Well, then: é."
    assert [arguments[0], arguments[1]] == ['{"x": "\\u00e9"}', "{no json"]
    assert [call.id for call in message.tool_calls or []] == ["call_1", "call_2"]
    assert chunks[-1].usage == plain.usage
    assert chunks[-2].choices[0].finish_reason == plain.choices[0].finish_reason == "tool_calls"


def test_usage_is_streamed_only_when_asked_for() -> None:
    with OpenAiServer([text("Hi.")]) as server, client(server) as asking:
        chunks = list(asking.chat.completions.create(model="m", messages=HELLO, stream=True))

    assert all(chunk.usage is None for chunk in chunks)


def test_a_script_may_be_a_function_of_the_request() -> None:
    def echo(request: Request) -> Turn:
        return text(request.body["messages"][0]["content"])

    with OpenAiServer(echo) as server, client(server) as asking:
        answer = asking.chat.completions.create(model="m", messages=HELLO)

    assert answer.choices[0].message.content == "Hello"
    assert server.requests[0].headers["authorization"] == "Bearer key"
    assert server.requests[0].body["model"] == "m"


def test_after_its_end_a_script_refuses_unless_told_otherwise() -> None:
    with OpenAiServer() as server, client(server) as asking, pytest.raises(openai.BadRequestError):
        asking.chat.completions.create(model="m", messages=HELLO)
    with (
        OpenAiServer(then=error(503)) as server,
        client(server) as asking,
        pytest.raises(openai.InternalServerError),
    ):
        asking.chat.completions.create(model="m", messages=HELLO)


def test_other_paths_are_not_known() -> None:
    with OpenAiServer() as server, client(server) as asking, pytest.raises(openai.NotFoundError):
        asking.embeddings.create(model="m", input="x")

    assert server.paths == ["/v1/embeddings"]
