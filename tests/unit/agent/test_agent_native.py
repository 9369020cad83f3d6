"""Questions answered by a model that calls tools natively."""

from __future__ import annotations

from typing import Any

from askem.testing.openai_server import Call, calls, text


def search(question: str) -> Any:
    return calls(Call("search_literature", {"question": question}))


def test_an_answer_has_its_sources_checked(open_door: Any) -> None:
    door = open_door([text("The SIDARTHE model has eight stages of infection [1].")])
    answer = door.answer("How many stages does the SIDARTHE model have?")
    assert answer["answer"] == "The SIDARTHE model has eight stages of infection [1]."
    assert [doc["passage_id"] for doc in answer["used_docs"]] == ["sidarthe#p0"]
    (sentence,) = answer["sentences"]
    assert sentence["verdict"] == "found in source"
    (citation,) = sentence["citations"]
    source = answer["used_docs"][0]["text"]
    assert source[citation["start"] : citation["end"]] == citation["quote"]
    assert citation["quote"] == "The SIDARTHE model has eight stages of infection."
    assert (answer["refused"], answer["reason"], answer["stopped"]) == (False, None, None)
    assert answer["usage"] == {
        "model_calls": 1,
        "searches": 1,
        "input_tokens": 11,
        "output_tokens": 7,
        "cost": None,
    }
    assert answer["model"] == "test-model"
