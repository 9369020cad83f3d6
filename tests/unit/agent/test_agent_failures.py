"""What goes wrong with a model or the retriever has a type, a status, and no text of theirs."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from askem.testing.openai_server import (
    Call,
    calls,
    cut,
    drop,
    empty,
    error,
    hang,
    overloaded,
    raw,
    refusal,
    text,
)

QUESTION = "SIDARTHE stages of infection"
TRUE = "The SIDARTHE model has eight stages of infection [1]."
SECRET = "upstream-secret-xyz"


@pytest.mark.parametrize(
    ("script", "status", "kind"),
    [
        ([overloaded()] * 3, 503, "model-overloaded"),
        ([error(500, SECRET)] * 3, 503, "model-unavailable"),
        ([drop()] * 3, 503, "model-unavailable"),
        ([cut(TRUE)] * 3, 503, "model-unavailable"),
        ([error(401, SECRET)], 502, "model-rejected"),
        ([error(404, SECRET)], 502, "model-rejected"),
        ([raw(b"<html>" + SECRET.encode())] * 3, 502, "model-malformed"),
        ([calls(Call("search_literature", "{no json"))] * 9, 502, "model-malformed"),
        ([refusal(SECRET)], 502, "model-refused"),
    ],
)
def test_a_model_that_fails(open_door: Any, script: Any, status: int, kind: str) -> None:
    door = open_door(script)
    response = door.ask(QUESTION)
    problem = response.json()
    assert (response.status_code, problem["type"]) == (status, f"urn:askem:{kind}"), problem
    assert response.headers["content-type"] == "application/problem+json"
    assert ("retry-after" in response.headers) == (status == 503)
    assert SECRET not in response.text
    assert "sk-secret" not in response.text
    assert door.stream(QUESTION)[-1][0] == "error"


def test_a_model_that_is_busy_for_a_moment_is_asked_again(open_door: Any) -> None:
    door = open_door([overloaded("0"), error(500), text(TRUE)])
    assert door.answer(QUESTION)["answer"] == TRUE


def test_a_model_that_hangs_is_a_failure_in_time(open_door: Any) -> None:
    door = open_door([hang()] * 3, connection={"idle_timeout_s": 0.2, "attempts": 1})
    response = door.ask(QUESTION)
    assert response.status_code == 503
    assert response.json()["type"] == "urn:askem:model-unavailable"


def test_slow_words_are_waited_for(open_door: Any) -> None:
    door = open_door([text(TRUE, pause_s=0.02)], connection={"idle_timeout_s": 1.0})
    assert door.answer(QUESTION)["answer"] == TRUE


def test_an_empty_answer_is_no_answer(open_door: Any) -> None:
    response = open_door([empty()] * 9).ask(QUESTION)
    assert response.status_code == 502
    assert response.json()["type"] == "urn:askem:model-malformed"


@pytest.mark.parametrize("status", [401, 404, 429, 500, 502, 503, 302])
@pytest.mark.parametrize("number", [1, 2])
def test_a_retriever_that_fails_is_no_empty_result(
    open_door: Any, status: int, number: int
) -> None:
    door = open_door([calls(Call("search_literature", {"question": "biochar"})), text(TRUE)])
    door.retriever.fail = lambda count: (
        httpx.Response(status, json={"detail": SECRET}, headers={"Location": "http://elsewhere/"})
        if count == number
        else None
    )
    response = door.ask(QUESTION)
    assert response.status_code == 503, response.text
    assert response.json()["type"] == "urn:askem:retriever-unavailable"
    assert "retry-after" in response.headers
    assert SECRET not in response.text
    assert len(door.retriever.bodies) == number


def test_a_field_that_the_retriever_refuses_is_named(open_door: Any) -> None:
    door = open_door()
    problem = {"title": "x", "status": 422, "request_id": "1"}
    errors = [{"field": "topic", "message": SECRET}, {"field": SECRET, "message": SECRET}]
    body = {**problem, "errors": errors}
    door.retriever.fail = lambda _: httpx.Response(422, content=json.dumps(body))
    response = door.ask(QUESTION)
    assert response.status_code == 422
    assert response.json()["errors"] == [
        {"field": "topic", "message": "the retriever does not take it"}
    ]


def test_no_server_upstream_has_callers_wait_for_long(open_door: Any) -> None:
    door = open_door()
    door.retriever.fail = lambda _: httpx.Response(429, headers={"Retry-After": "99999999"})
    response = door.ask(QUESTION)
    assert (response.status_code, response.headers["retry-after"]) == (503, "60")


def _said(**message: Any) -> bytes:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **message}}
    return json.dumps({"object": "chat.completion", "id": "1", "choices": [choice]}).encode()


@pytest.mark.parametrize(
    "content", [[{"type": "text", "text": TRUE}], "half a pair: \ud83d [1].", 5]
)
def test_text_that_is_none_is_malformed(open_door: Any, content: Any) -> None:
    response = open_door([raw(_said(content=content))] * 3).ask(QUESTION)
    assert response.status_code == 502, response.text
    assert response.json()["type"] == "urn:askem:model-malformed"


def test_half_a_pair_in_a_models_question_is_asked_for_again(open_door: Any) -> None:
    call = {"id": "1", "type": "function"}
    function = {"name": "search_literature", "arguments": '{"question": "\\ud83d biochar"}'}
    turn = raw(_said(content=None, tool_calls=[{**call, "function": function}]))
    door = open_door([turn, text(TRUE)])
    answer = door.answer(QUESTION)
    assert (answer["answer"], len(answer["steps"])) == (TRUE, 1)


def test_what_nobody_foresaw_is_an_error_event(open_door: Any) -> None:
    door = open_door()

    def fail(_: int) -> httpx.Response:
        raise RuntimeError(SECRET)

    door.retriever.fail = fail
    (name, problem) = door.stream(QUESTION)[-1]
    assert (name, problem["status"]) == ("error", 500)
    assert SECRET not in json.dumps(problem)
