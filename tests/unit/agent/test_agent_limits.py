"""A run ends at its limits, with the best answer from what was seen."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest

from askem.testing.openai_server import Call, calls, hang, text
from askem_agent.budget import Limits
from askem_agent.loop import MAX_CALLS

LIMITS = Limits(model_calls=6, searches=4, tokens=100_000, cost=1.0, seconds=20.0)
TRUE = "The SIDARTHE model has eight stages of infection [1]."
QUESTION = "SIDARTHE stages of infection"


def endlessly_searching() -> Any:
    numbers = itertools.count()

    def turn(request: Any) -> Any:
        if "tools" in request.body:
            return calls(Call("search_literature", {"question": f"biochar {next(numbers)}"}))
        return text(TRUE)

    return turn


@pytest.mark.parametrize(
    ("limits", "stopped"),
    [
        (replace(LIMITS, model_calls=3, searches=100), "model calls"),
        (replace(LIMITS, model_calls=100, searches=3), "searches"),
    ],
)
def test_a_model_that_never_stops_searching_is_asked_for_its_answer(
    open_door: Any, limits: Limits, stopped: str
) -> None:
    answer = open_door(endlessly_searching(), limits=limits).answer(QUESTION)
    assert (answer["answer"], answer["stopped"], answer["model"]) == (TRUE, stopped, "test-model")
    assert answer["usage"]["model_calls"] <= limits.model_calls
    assert answer["usage"]["searches"] <= limits.searches


def test_a_model_that_searches_whatever_it_is_told_has_its_answer_picked(open_door: Any) -> None:
    numbers = itertools.count()

    def turn(_: Any) -> Any:
        return calls(Call("search_literature", {"question": f"biochar {next(numbers)}"}))

    answer = open_door(turn).answer(QUESTION)
    assert (answer["stopped"], answer["model"]) == ("searches", "extractive")
    assert answer["used_docs"][0]["passage_id"] == "sidarthe#p0"
    usage = answer["usage"]
    # Every request is counted, those of the last call that came to nothing too.
    assert usage["input_tokens"] == 11 * next(numbers)


def test_one_model_call_is_one_without_the_tool(open_door: Any) -> None:
    door = open_door(endlessly_searching(), limits=replace(LIMITS, model_calls=1))
    answer = door.answer(QUESTION)
    assert (answer["answer"], answer["stopped"]) == (TRUE, "model calls")
    (request,) = door.models.requests
    assert "tools" not in request.body


def test_repeated_questions_end_too(open_door: Any) -> None:
    def turn(request: Any) -> Any:
        same = calls(Call("search_literature", {"question": QUESTION}))
        return same if "tools" in request.body else text(TRUE)

    door = open_door(turn)
    answer = door.answer(QUESTION)
    assert (answer["stopped"], answer["usage"]["searches"]) == ("model calls", 1)
    assert len(door.models.requests) == LIMITS.model_calls


def test_tokens_and_money_that_do_not_suffice_are_not_spent(open_door: Any) -> None:
    """The answer is picked from the passages then, and says so."""
    prices = {"input_price": 1000.0, "output_price": 1000.0}
    for limits, stopped in (
        (replace(LIMITS, tokens=1000), "tokens"),
        (replace(LIMITS, cost=0.01), "cost"),
    ):
        door = open_door([], limits=limits, config=prices)
        answer = door.answer(QUESTION)
        assert (answer["stopped"], answer["model"]) == (stopped, "extractive")
        assert door.models.requests == []
        assert answer["used_docs"][0]["passage_id"] == "sidarthe#p0"


def test_tokens_run_out_in_mid_run(open_door: Any) -> None:
    """What the server counted is what is left to spend."""
    greedy = calls(Call("search_literature", {"question": "biochar"}), usage=(90_000, 5_000))
    door = open_door([greedy])
    answer = door.answer(QUESTION)
    assert (answer["stopped"], answer["model"]) == ("tokens", "extractive")
    assert answer["usage"]["input_tokens"] == 90_000
    assert len(door.models.requests) == 1


def test_use_that_the_server_does_not_count_is_estimated(open_door: Any) -> None:
    answer = open_door([text(TRUE, usage=None)]).answer(QUESTION)
    assert answer["usage"]["input_tokens"] > 300
    assert answer["usage"]["output_tokens"] > 10


def test_time_that_is_up_ends_a_call(open_door: Any) -> None:
    door = open_door([hang(), hang()], limits=replace(LIMITS, seconds=2))
    answer = door.answer(QUESTION)
    assert (answer["stopped"], answer["model"]) == ("time", "extractive")
    assert len(door.models.requests) == 2
    assert all(request.gone.wait(5) for request in door.models.requests)


def test_an_answer_is_checked_as_far_as_it_was_asked_for(open_door: Any) -> None:
    """The server was asked for 2,000 tokens at most; what it sends beyond 8 characters for each
    is not looked at, and the answer says so."""
    false = "It was described in 1849 [1]."
    written = " ".join([TRUE, *(false for _ in range(2000))])
    answer = open_door([text(written, chunk_chars=4000)]).answer(QUESTION)
    assert (answer["answer"], answer["stopped"]) == (TRUE, "length")
    # The last one that counts is cut.
    assert answer["dropped"] == (2000 * 8 - len(TRUE)) // (len(false) + 1) + 1


def test_an_answer_of_the_length_that_was_asked_for_is_whole(open_door: Any) -> None:
    config = {"max_output_tokens": 16}
    most = TRUE + " " * (16 * 8 - len(TRUE))
    for written, stopped in ((most, None), (most + ".", "length")):
        answer = open_door([text(written)], config=config).answer(QUESTION)
        assert (answer["answer"], answer["stopped"]) == (TRUE, stopped)


def test_what_a_call_read_before_it_was_cut_off_is_booked(open_door: Any) -> None:
    prices = {"input_price": 10.0, "output_price": 10.0}
    door = open_door([hang(), hang()], limits=replace(LIMITS, seconds=2), config=prices)
    usage = door.answer(QUESTION)["usage"]
    assert usage["model_calls"] == 2
    # Both calls sent the instructions and the passages.
    assert usage["input_tokens"] > 1000
    assert usage["cost"] > 0


def test_a_step_has_few_searches(open_door: Any) -> None:
    many = calls(*(Call("search_literature", {"question": QUESTION}) for _ in range(500)))
    answer = open_door([many, text(TRUE)]).answer(QUESTION)
    assert (answer["answer"], len(answer["steps"])) == (TRUE, 1 + MAX_CALLS)
