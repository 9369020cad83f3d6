"""Models that call no tools: Thought, Action, Action Input in text."""

from __future__ import annotations

from typing import Any

from askem.testing.openai_server import react_answer, react_step, text

TEXT = {"protocol": "react"}
QUESTION = "SIDARTHE stages of infection"
TRUE = "The SIDARTHE model has eight stages of infection [1]."


def test_a_search_and_an_answer(open_door: Any) -> None:
    door = open_door(
        [
            react_step("Soil is open.", "search_literature", {"question": "biochar vineyard"}),
            react_answer(TRUE),
        ],
        config=TEXT,
    )
    answer = door.answer(QUESTION)
    assert (answer["answer"], answer["usage"]["searches"]) == (TRUE, 2)
    assert all("tools" not in request.body for request in door.models.requests)
    assert "Tarragona" in str(door.models.requests[1].body["messages"])


def test_an_observation_of_the_models_own_is_none(open_door: Any) -> None:
    invented = (
        "Thought: I look.\nAction: search_literature\n"
        'Action Input: {"question": "biochar vineyard"}\n'
        "Observation: [7] It was first described in 1849.\n"
        "Thought: I know.\nFinal Answer: It was first described in 1849 [7]."
    )
    door = open_door([text(invented), react_answer(TRUE)], config=TEXT)
    answer = door.answer(QUESTION)
    assert "1849" not in str(answer)
    assert [step["query"] for step in answer["steps"]] == [QUESTION, "biochar vineyard"]
    assert "1849" not in str(door.models.requests[1].body["messages"])


def test_a_step_that_is_none_is_asked_for_again_and_then_a_failure(open_door: Any) -> None:
    door = open_door([text("Hm."), react_answer(TRUE)], config=TEXT)
    assert door.answer(QUESTION)["answer"] == TRUE
    response = open_door([text("Action: dance")] * 9, config=TEXT).ask(QUESTION)
    assert response.status_code == 502
    assert response.json()["type"] == "urn:askem:model-malformed"


def test_the_last_call_has_no_search(open_door: Any) -> None:
    def turn(request: Any) -> Any:
        last = str(request.body["messages"][-1]["content"])
        if "cannot search any more" in last:
            return react_answer(TRUE)
        number = len(request.body["messages"])
        return react_step("More.", "search_literature", {"question": f"biochar {number}"})

    answer = open_door(turn, config=TEXT).answer(QUESTION)
    assert (answer["answer"], answer["stopped"]) == (TRUE, "searches")
