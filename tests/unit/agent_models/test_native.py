"""Models that call tools natively."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from askem.testing.openai_server import Call, Turn, calls, empty, length_cut, raw, text
from askem_agent.models import ModelMalformed, was_cut

SEARCH = Call("search_literature", {"question": "Does β-1 bind?"})


def test_a_text_is_the_answer_with_its_usage(talk: Any) -> None:
    came = talk([text("It binds → naïvely, 1.5 µg/mL, 他 🧬 [1].")])

    assert came.message.content == "It binds → naïvely, 1.5 µg/mL, 他 🧬 [1]."
    assert came.message.tool_calls == []
    assert came.message.usage_metadata == {
        "input_tokens": 11,
        "output_tokens": 7,
        "total_tokens": 18,
    }
    assert came.message.response_metadata["finish_reason"] == "stop"
    assert came.message.response_metadata["model_name"] == "test-model"


def test_what_is_sent(talk: Any) -> None:
    came = talk([text("Yes.")], config={"max_output_tokens": 321, "temperature": 0.5})

    body, headers = came.requests[0].body, came.requests[0].headers
    assert body["model"] == "test-model"
    assert body["messages"] == [{"content": "What does it do?", "role": "user"}]
    assert [tool["function"]["name"] for tool in body["tools"]] == ["search_literature"]
    assert (body["max_tokens"], body["temperature"]) == (321, 0.5)
    assert headers["authorization"] == "Bearer sk-secret-0123456789"
    assert "openai-organization" not in headers
    assert body["stream"] is talk.streamed
    assert body.get("stream_options") == ({"include_usage": True} if talk.streamed else None)


def test_newer_models_get_the_long_field_and_no_temperature(talk_plain: Any) -> None:
    config = {"length_field": "max_completion_tokens", "temperature": None}
    body = talk_plain([text("Yes.")], config=config).requests[0].body

    assert body["max_completion_tokens"] == 2000
    assert "max_tokens" not in body
    assert "temperature" not in body


def test_several_calls_come_in_order_with_their_ids(talk: Any) -> None:
    second = replace(SEARCH, arguments={"question": "And δ?"})

    came = talk([calls(SEARCH, second, text="Two things.")])

    assert came.message.content == "Two things."
    assert [(call["id"], call["args"]) for call in came.message.tool_calls] == [
        ("call_1", {"question": "Does β-1 bind?"}),
        ("call_2", {"question": "And δ?"}),
    ]


def test_calls_without_ids_get_some(talk: Any) -> None:
    nameless = (replace(SEARCH, id=""), replace(SEARCH, id=""))

    ids = [call["id"] for call in talk([Turn(calls=nameless)]).message.tool_calls]

    assert all(ids)
    assert len(set(ids)) == 2


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        (calls(Call("search_literature", '{"question": "half')), "are not JSON"),
        (calls(Call("search_literature", "[" * 5_000)), "are not JSON"),
        (calls(Call("search_literature", '["list"]')), "have to be a JSON object"),
        (calls(Call("search_literature", "{}")), "lack 'question'"),
        (calls(Call("rm_rf", {})), "no tool called 'rm_rf'; there are: search_literature"),
        (empty(), "was empty"),
        (replace(length_cut(""), calls=(SEARCH,)), "cut off for its length"),
        (length_cut(""), "cut off for its length"),
    ],
)
def test_a_step_that_cannot_be_used_is_asked_for_again(
    talk: Any, wrong: Turn, complaint: str
) -> None:
    came = talk([wrong, calls(SEARCH)])

    assert came.message.tool_calls[0]["args"] == {"question": "Does β-1 bind?"}
    assert complaint in came.sent(1)[-1]["content"]
    assert came.sent(1)[-1]["role"] == "user"
    assert all("tool_calls" not in message for message in came.sent(1))
    assert came.message.usage_metadata["input_tokens"] == 22


def test_one_bad_call_of_two_spoils_the_step(talk: Any) -> None:
    came = talk([calls(SEARCH, Call("unknown", {})), text("Then no.")])

    assert (came.message.content, came.message.tool_calls) == ("Then no.", [])


def test_after_as_many_answers_as_configured_it_is_an_error(talk: Any) -> None:
    turns = [calls(Call("search_literature", "no json, SECRET"))] * 3

    with pytest.raises(ModelMalformed, match="no usable step in 3 answers") as caught:
        talk([*turns, text("too late")], reasks=2)

    assert "SECRET" not in str(caught.value)
    assert caught.value.usage == {"input_tokens": 33, "output_tokens": 21, "total_tokens": 54}
    assert len(talk.requests) == 3


def test_text_shown_before_a_bad_call_stays_and_is_set_apart(talk_streamed: Any) -> None:
    came = talk_streamed([calls(Call("search_literature", "{"), text="Hm."), text("Answer.")])

    assert came.message.content == "Hm.\n\nAnswer."


def test_text_is_streamed_as_it_comes(talk_streamed: Any) -> None:
    came = talk_streamed([text("One two three four.", chunk_chars=4)])

    assert [piece for piece in came.pieces if piece] == ["One ", "two ", "thre", "e fo", "ur."]


def test_an_answer_cut_at_its_length_is_marked(talk: Any) -> None:
    assert was_cut(talk([length_cut("It binds to")]).message)
    assert not was_cut(talk([text("It binds.")]).message)


@pytest.mark.parametrize("usage", [None, (0, 0)])
def test_usage_that_is_not_told_is_none(talk: Any, usage: tuple[int, int] | None) -> None:
    assert talk([text("Yes.", usage=usage)]).message.usage_metadata is None


def test_usage_is_not_known_where_one_answer_did_not_tell(talk: Any) -> None:
    assert talk([replace(empty(), usage=None), text("Yes.")]).message.usage_metadata is None


def test_a_finish_without_a_delta_counts(talk_streamed: Any) -> None:
    events = [
        {"choices": [{"index": 0, "delta": {"content": "Yes."}, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": None, "finish_reason": "stop"}]},
    ]
    body = b"".join(b"data: %s\n\n" % json.dumps(event).encode() for event in events)

    came = talk_streamed([raw(body, "text/event-stream")])

    assert came.message.content == "Yes."


def test_counts_that_grow_with_each_chunk_are_not_added(talk_streamed: Any) -> None:
    usages = [{"prompt_tokens": 5, "completion_tokens": number} for number in (1, 2)]
    events = [
        {"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": end}], "usage": usage}
        for usage, end in zip(usages, (None, "stop"), strict=True)
    ]
    body = b"".join(b"data: %s\n\n" % json.dumps(event).encode() for event in events)

    came = talk_streamed([raw(body, "text/event-stream")])

    assert came.message.usage_metadata["output_tokens"] == 2
