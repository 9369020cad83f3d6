"""Models that write their steps as text."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolCall, ToolMessage

from askem.testing.openai_server import (
    Call,
    Turn,
    calls,
    empty,
    length_cut,
    react_answer,
    react_step,
    text,
)
from askem_agent.models import ModelMalformed, was_cut

REACT = {"protocol": "react"}
STEP = react_step("I need more.", "search_literature", {"question": "Does β-1 bind?"})
INVENTED = "\nObservation: [p9] It cures all.\nFinal Answer: It cures all [p9]."


def test_a_step_becomes_a_call(talk: Any) -> None:
    message = talk([STEP], config=REACT).message

    assert message.content == "I need more."
    assert [(call["name"], call["args"]) for call in message.tool_calls] == [
        ("search_literature", {"question": "Does β-1 bind?"})
    ]
    assert message.usage_metadata["total_tokens"] == 18


def test_the_final_answer_comes_without_its_thought(talk: Any) -> None:
    message = talk([react_answer("Yes [p1].\n\n- It does → 他.")], config=REACT).message

    assert (message.content, message.tool_calls) == ("Yes [p1].\n\n- It does → 他.", [])


def test_tools_are_offered_as_text_and_observations_end_the_answer(talk: Any) -> None:
    came = talk([STEP], messages=[SystemMessage("Be brief."), HumanMessage("Why?")], config=REACT)

    system, asked = came.sent(0)
    assert system["content"].startswith(
        "Be brief.\n\nYou can use these tools:\n- search_literature"
    )
    assert '"question": {"type": "string"}' in system["content"]
    assert asked["content"] == "Why?"
    assert came.requests[0].body["stop"] == ["\nObservation:"]
    assert "tools" not in came.requests[0].body


def test_earlier_steps_are_given_as_text(talk_plain: Any) -> None:
    call = ToolCall(name="search_literature", args={"question": "é"}, id="1", type="tool_call")
    messages = [
        HumanMessage("Why?"),
        AIMessage("Look.", tool_calls=[call]),
        ToolMessage("[p1] Since.", tool_call_id="1"),
        ToolMessage("[p2] Because.", tool_call_id="2"),
    ]

    came = talk_plain([react_answer("So.")], messages=messages, config=REACT)

    assert [(sent["role"], sent["content"]) for sent in came.sent(0)[1:]] == [
        ("user", "Why?"),
        (
            "assistant",
            'Thought: Look.\nAction: search_literature\nAction Input: {"question": "é"}',
        ),
        ("user", "Observation: [p1] Since.\n\nObservation: [p2] Because."),
    ]


def test_an_invented_observation_is_no_observation(talk: Any) -> None:
    message = talk([Turn(text=STEP.text + INVENTED)], config=REACT).message

    assert message.tool_calls[0]["args"] == {"question": "Does β-1 bind?"}
    assert "cures" not in str(message)


def test_an_observation_alone_is_no_step(talk: Any) -> None:
    came = talk([Turn(text="Thought: Hm." + INVENTED), react_answer("No.")], config=REACT)

    assert came.message.content == "No."
    assert "only tools observe" in came.sent(1)[-1]["content"]


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        (text("It simply binds."), "neither an 'Action:' nor a 'Final Answer:'"),
        (text("Action: search_literature"), "no 'Action Input:'"),
        (react_step("", "google", "x"), "no tool called 'google'"),
        (react_step("", "search_literature", '{"question": "x'), "is not JSON"),
        (react_step("", "search_literature", {"query": "x"}), "lack 'question'"),
        (react_step("", "search_literature", '""'), "is empty; write the question"),
        (react_answer(" "), "is empty"),
        (empty(), "was empty"),
        (length_cut(STEP.text), "cut off for its length"),
        (calls(Call("search_literature", {"question": "x"})), "called in text"),
    ],
)
def test_what_is_no_step_is_asked_for_again(talk: Any, wrong: Turn, complaint: str) -> None:
    came = talk([wrong, react_answer("Yes.")], config=REACT)

    assert came.message.content == "Yes."
    assert complaint in came.sent(1)[-1]["content"]
    assert came.message.usage_metadata["output_tokens"] == 14


def test_after_as_many_answers_as_configured_it_is_an_error(talk: Any) -> None:
    with pytest.raises(ModelMalformed, match="no usable step in 2 answers") as caught:
        talk([text("SECRET")] * 2, config=REACT, reasks=1)

    assert "SECRET" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_only_the_final_answer_is_streamed(talk_streamed: Any) -> None:
    answer = Turn(text=react_answer("It binds well.").text + "\nObservation: so", chunk_chars=5)

    came = talk_streamed([answer], config=REACT)

    assert len([piece for piece in came.pieces if piece]) > 2
    assert "".join(came.pieces) == came.message.content == "It binds well."


def test_a_long_answer_in_small_pieces_is_read_in_time_that_is_no_square(
    talk_streamed: Any,
) -> None:
    answer = "It binds. " * 1_000

    came = talk_streamed([Turn(text=f"Final Answer: {answer}", chunk_chars=4)], config=REACT)

    assert came.message.content == answer.strip()
    assert len([piece for piece in came.pieces if piece]) < 400


def test_a_final_answer_cut_at_its_length_is_marked(talk: Any) -> None:
    came = talk([length_cut("Final Answer: It binds to")], config=REACT)

    assert was_cut(came.message)
    assert came.message.content == "It binds to"


def test_without_tools_it_has_to_answer(talk: Any) -> None:
    came = talk([STEP, react_answer("Yes.")], tools=False, config=REACT)

    assert came.message.content == "Yes."
    assert "without tools" in came.sent(0)[0]["content"]
    assert "no tool may be used now" in came.sent(1)[-1]["content"]
