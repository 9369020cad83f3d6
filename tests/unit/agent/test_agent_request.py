"""What may be asked, of whom, and by whom."""

from __future__ import annotations

from typing import Any

import pytest

from askem.testing.openai_server import text

QUESTION = "SIDARTHE stages of infection"
ENDPOINT = "http://retriever.test/hybrid"


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://attacker.example/hybrid",
        f"{ENDPOINT}/",
        f"{ENDPOINT}?x=1",
        f" {ENDPOINT}",
        "http://RETRIEVER.test/hybrid",
        "http://retriever.test@attacker.example/hybrid",
        "http://retriever.test:80/hybrid",
        "",
    ],
)
def test_only_a_configured_endpoint_is_called(open_door: Any, endpoint: str) -> None:
    door = open_door()
    response = door.ask(QUESTION, retriever_endpoint=endpoint)
    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == "retriever_endpoint"
    assert "retriever.test" not in response.text
    assert door.retriever.bodies == []


def test_a_configured_endpoint_may_be_named(open_door: Any) -> None:
    assert not open_door().answer(QUESTION, retriever_endpoint=ENDPOINT)["refused"]


def test_only_a_configured_model_is_asked(open_door: Any) -> None:
    door = open_door([text("x")])
    for field in ("model_name", "openai_model_name"):
        response = door.ask(QUESTION, **{field: "gpt-nobody"})
        assert response.status_code == 422
        assert response.json()["errors"] == [
            {"field": field, "message": "must be one of extractive, test-model"}
        ]
    assert door.models.requests == []


@pytest.mark.parametrize(
    "names",
    [
        {"model_name": "extractive"},
        {"openai_model_name": "extractive"},
        {"model_name": "extractive", "openai_model_name": "extractive"},
        {"model_name": None, "openai_model_name": "extractive"},
    ],
)
def test_either_name_of_the_model_will_do(open_door: Any, names: dict[str, Any]) -> None:
    assert open_door([]).answer(QUESTION, **names)["model"] == "extractive"


def test_two_names_that_differ_are_refused(open_door: Any) -> None:
    response = open_door([]).ask(QUESTION, model_name="test-model", openai_model_name="extractive")
    assert [error["field"] for error in response.json()["errors"]] == ["openai_model_name"]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"top_k": 101}, "top_k"),
        ({"temperature": 1}, "temperature"),
        ({"question": " "}, "question"),
        ({"paper_ids": []}, "paper_ids"),
    ],
)
def test_fields_are_those_of_hybrid(open_door: Any, fields: dict[str, Any], field: str) -> None:
    door = open_door()
    response = door.app.request("POST", "/react", json={"question": QUESTION, **fields})
    assert response.status_code == 422
    assert [error["field"] for error in response.json()["errors"]] == [field]
    assert door.retriever.bodies == []


def test_null_is_absent(open_door: Any) -> None:
    door = open_door()
    door.answer(QUESTION, topic=None, retriever_endpoint=None, top_k=None)
    assert door.retriever.bodies == [{"question": QUESTION}]


def test_a_key_is_needed(open_door: Any) -> None:
    door = open_door()
    headers = {"Api-Key": "wrong-key-0123456789"}
    response = door.app.request("POST", "/react", json={"question": QUESTION}, headers=headers)
    assert response.status_code == 401
    assert door.retriever.bodies == []
