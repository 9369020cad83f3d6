"""When the extractive model searches again, and what it takes from it."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from askem.answering.models import Seen, Source
from askem_agent.extractive_chat import ExtractiveChat
from askem_agent.notebook import Observation
from askem_agent.tool import SCHEMA

QUESTION = "In which country was the inventor of the Korvan valve born?"
IDF = {"countri": 2.0, "inventor": 2.0, "korvan": 4.0, "valv": 3.0, "born": 2.0}
INVENTOR = "The Korvan valve was made by its inventor Mira Teslin. Mira Teslin sold it in 1931."
BORN = "Mira Teslin was born in Latvia, a country by the sea."


def source(name: str, text: str, score: float) -> Source:
    return Source(name, name, text, score, 0.4)


def observed(query: str, text: str, number: int, *, score: float = 1.3) -> Observation:
    seen = Seen(query, (source(f"p{number}", text, score),), "proximity", IDF)
    return Observation(query, seen, (number,), frozenset({number}))


def reply(*observations: Observation, searching: bool = True) -> AIMessage:
    results = [ToolMessage("", tool_call_id="1", artifact=found) for found in observations]
    messages: list[BaseMessage] = [HumanMessage(QUESTION), *results]
    model = ExtractiveChat()
    answer = (model.bind_tools([SCHEMA]) if searching else model).invoke(messages)
    assert isinstance(answer, AIMessage)
    return answer


FIRST = observed(QUESTION, INVENTOR, 1)


def test_it_searches_for_what_the_first_search_found_in_the_things_place() -> None:
    (call,) = reply(FIRST).tool_calls
    assert "Mira Teslin" in call["args"]["question"]
    assert "born" in call["args"]["question"]


def test_without_the_tool_it_answers() -> None:
    message = reply(FIRST, searching=False)
    assert message.tool_calls == []
    assert "[1]" in str(message.text)


def test_what_the_second_search_adds_is_in_the_answer() -> None:
    second = observed("Mira Teslin country born", BORN, 2)
    assert f"{BORN} [2]" in str(reply(FIRST, second, searching=False).text)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("The Korvan valve lasted 12 days [10, 14] in a shed.", "12 days (10, 14) in a shed. [1]"),
        ("The Korvan valve took 5 [3-7] mg of oil.", "took 5 (3-7) mg of oil. [1]"),
        (
            "The Korvan valve of group [3] was made in a shed.",
            "of group (3) was made in a shed. [1]",
        ),
        ("The Korvan valve was made in a shed [ 8 ].", "made in a shed ( 8 ). [1]"),
    ],
)
def test_numbers_in_brackets_stay_and_are_no_markers(written: str, shown: str) -> None:
    message = reply(observed(QUESTION, written, 1), searching=False)
    assert str(message.text).endswith(shown)
