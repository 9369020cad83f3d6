"""Servers that fail, one way after another: each a typed error without a word of theirs."""

from __future__ import annotations

import logging
import socket
from dataclasses import replace
from typing import Any

import pytest

from askem.testing.openai_server import (
    Turn,
    content_filter,
    cut,
    drop,
    endless,
    error,
    hang,
    overloaded,
    raw,
    refusal,
    text,
)
from askem_agent.models import (
    ModelError,
    ModelMalformed,
    ModelOverloaded,
    ModelRefused,
    ModelRejected,
    ModelUnavailable,
)

LONG = "It binds to the receptor of the cell. " * 4


@pytest.mark.parametrize("asked", ["3", "0"])
def test_a_busy_server_is_asked_again_when_it_said(talk: Any, asked: str) -> None:
    came = talk([overloaded(asked), overloaded(asked), text("Yes.")])

    assert came.message.content == "Yes."
    assert came.naps == [float(asked)] * 2


def test_a_pause_in_milliseconds_comes_first(talk: Any) -> None:
    busy = error(429, headers={"Retry-After": "9", "Retry-After-Ms": "250"})

    assert talk([busy, text("Yes.")]).naps == [0.25]


def test_a_server_that_stays_busy_is_overloaded(talk: Any) -> None:
    with pytest.raises(ModelOverloaded) as caught:
        talk([overloaded("4")] * 5, attempts=3)

    assert caught.value.retry_after_s == 4
    assert len(talk.requests) == 3


def test_a_pause_longer_than_patience_is_not_waited_for(talk: Any) -> None:
    with pytest.raises(ModelOverloaded) as caught:
        talk([overloaded("11")], longest_wait_s=10)

    assert (caught.value.retry_after_s, talk.naps) == (11, [])


@pytest.mark.parametrize("wrong", [error(500), error(503), drop(), overloaded(None)])
def test_passing_failures_are_tried_again(talk: Any, wrong: Turn) -> None:
    came = talk([wrong, text("Yes.")])

    assert came.message.content == "Yes."
    assert [0.125 <= nap <= 0.375 for nap in came.naps] == [True]


@pytest.mark.parametrize("wrong", [error(500), error(502), error(503), error(599), drop()])
def test_lasting_failures_are_unavailable(talk: Any, wrong: Turn) -> None:
    with pytest.raises(ModelUnavailable):
        talk([wrong] * 3)


@pytest.mark.parametrize(
    ("status", "hint"),
    [
        (400, "another protocol"),
        (401, "OPENAI_API_KEY"),
        (403, "OPENAI_API_KEY"),
        (404, "OPENAI_BASE_URL"),
        (422, "another protocol"),
        (418, "OPENAI_BASE_URL"),
    ],
)
def test_what_is_configured_wrong_is_rejected_at_once(talk: Any, status: int, hint: str) -> None:
    with pytest.raises(ModelRejected, match=f"answered {status}: .*{hint}"):
        talk([error(status)])

    assert len(talk.requests) == 1


def test_a_used_up_quota_is_not_waited_for(talk: Any) -> None:
    with pytest.raises(ModelRejected, match="quota"):
        talk([error(429, code="insufficient_quota")])

    assert len(talk.requests) == 1


def test_no_redirect_is_followed(talk: Any) -> None:
    with pytest.raises(ModelRejected, match=r"307.*no other address"):
        talk([error(307, headers={"Location": "/v1/elsewhere"}), text("caught")])


@pytest.mark.parametrize("wrong", [error(401, "PRIVATE"), error(400, "PRIVATE")])
def test_words_of_the_server_reach_the_log_and_no_caller(
    talk: Any, wrong: Turn, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING), pytest.raises(ModelError) as caught:
        talk([wrong])

    assert "PRIVATE" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert "PRIVATE" in caplog.text


def test_the_key_reaches_no_log(talk: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(ModelRejected):
        talk([error(401, "bad key sk-secret-0123456789\nforged line")])

    ours = [record for record in caplog.records if record.name.startswith("askem")]
    assert "bad key *** forged line" in ours[0].getMessage()
    assert "sk-secret" not in caplog.text


@pytest.mark.parametrize("wrong", [refusal(), content_filter("It is")])
def test_a_refusal_is_no_answer(talk: Any, wrong: Turn) -> None:
    with pytest.raises(ModelRefused):
        talk([wrong])


@pytest.mark.parametrize("protocol", ["tools", "react"])
@pytest.mark.parametrize("clean", [True, False])
def test_a_stream_cut_in_the_middle_is_no_short_answer(
    talk_streamed: Any, protocol: str, clean: bool
) -> None:
    turn = cut(f"Final Answer: {LONG}", 4, clean=clean)

    with pytest.raises(ModelUnavailable, match="broke"):
        talk_streamed([turn, text("again")], config={"protocol": protocol})

    assert len(talk_streamed.requests) == 1


def test_a_stream_cut_before_its_text_is_tried_again(talk_streamed: Any) -> None:
    assert talk_streamed([cut(LONG, 1), text("Yes.")]).message.content == "Yes."


def test_a_plain_answer_cut_in_the_middle_is_tried_again(talk_plain: Any) -> None:
    assert talk_plain([cut(LONG), text("Yes.")]).message.content == "Yes."


def test_an_error_in_the_middle_of_a_stream_is_an_error(talk_streamed: Any) -> None:
    body = b'data: {"error": {"message": "PRIVATE"}}\n\ndata: [DONE]\n\n'

    with pytest.raises(ModelUnavailable, match="in the middle") as caught:
        talk_streamed([raw(body, "text/event-stream")])

    assert "PRIVATE" not in str(caught.value)


@pytest.mark.parametrize("turn", [hang(), text(LONG, pause_s=30)])
def test_silence_is_waited_for_so_long_and_not_tried_again(talk: Any, turn: Turn) -> None:
    with pytest.raises(ModelUnavailable, match="in time"):
        talk([turn], idle_timeout_s=0.15)

    assert len(talk.requests) == 1


@pytest.mark.parametrize("turn", [endless(), text(LONG, pause_s=30, comments=True)])
def test_an_answer_without_end_is_left_in_time(talk_streamed: Any, turn: Turn) -> None:
    with pytest.raises(ModelUnavailable, match="in time"):
        talk_streamed([turn], total_timeout_s=0.2)


def test_a_plain_answer_without_end_is_left_in_time(talk_plain: Any) -> None:
    with pytest.raises(ModelUnavailable, match="in time"):
        talk_plain([endless()], total_timeout_s=0.2)


def test_slow_tokens_are_waited_for(talk: Any) -> None:
    came = talk([text("Yes, it does bind.", pause_s=0.1)], idle_timeout_s=5)

    assert came.message.content == "Yes, it does bind."


def test_a_huge_answer_is_left(talk: Any) -> None:
    with pytest.raises(ModelMalformed, match="larger"):
        talk([text("x" * 200_000, chunk_chars=5_000)], max_answer_bytes=100_000)

    assert len(talk.requests) == 1


def test_a_large_answer_under_the_cap_is_whole(talk: Any) -> None:
    assert len(talk([text("x" * 200_000, chunk_chars=5_000)]).message.content) == 200_000


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        b"\xff",
        b"[]",
        b"{}",
        b'{"choices": [',
        b'{"choices": null}',
        b'{"choices": []}',
        b"[" * 100_000,
        b'{"choices": [{}]}',
        b'{"choices": [{"message": {"tool_calls": [{"id": 5, "function": {"name": "f"}}]}}]}',
        b'{"choices": [{"message": {"tool_calls": [{"id": "5", "function": null}]}}]}',
        b'{"choices": [{"message": {"content": "a"}, "finish_reason": 3}]}',
        b'{"choices": [{"message": {"content": 3}, "finish_reason": "stop"}]}',
    ],
)
@pytest.mark.parametrize("content_type", ["application/json", "text/html"])
def test_what_is_not_the_protocol_is_malformed(
    talk_plain: Any, body: bytes, content_type: str
) -> None:
    with pytest.raises(ModelMalformed, match="not one of the OpenAI protocol"):
        talk_plain([raw(body, content_type)])


# Pydantic's, about what LangChain does with such events.
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.parametrize(
    "data", [b"<html>", b"[", b'{"choices": [3]}', b'{"choices": [{"delta": {"content": 3}}]}']
)
def test_what_is_no_event_is_malformed(talk_streamed: Any, data: bytes) -> None:
    with pytest.raises(ModelMalformed, match="not one of the OpenAI protocol"):
        talk_streamed([raw(b"data: " + data + b"\n\n", "text/event-stream")])


def test_a_packed_answer_is_not_unpacked(talk: Any) -> None:
    with pytest.raises(ModelMalformed):
        talk([replace(raw(b"\x1f\x8b"), headers={"Content-Encoding": "gzip"})])

    assert talk.requests[0].headers["accept-encoding"] == "identity"


def test_an_address_where_nobody_listens(talk: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        talk([], base_url=f"http://127.0.0.1:{port}/v1")

    assert len(talk.naps) == 2
