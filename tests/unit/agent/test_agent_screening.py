"""A retriever that gives other passages than were asked for is not believed."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

QUESTION = "SIDARTHE stages of infection"
_TEXT = "The SIDARTHE model has eight stages of infection."


def hit(passage_id: str, text: str = _TEXT, **fields: Any) -> dict[str, Any]:
    return {
        "paper_id": "sidarthe",
        "doc_type": "paragraph",
        "text": text,
        "cosmos_object_id": None,
        "paragraph_terms": ["model"],
        "passage_id": passage_id,
        "topics": ["covid-19"],
        "preprocessor_id": "papers-v1",
        "order": 0,
        "distance": 0.3,
        "score": 2.0,
        **fields,
    }


def serve(door: Any, *hits: dict[str, Any]) -> None:
    headers = {"Content-Type": "application/json"}
    body = json.dumps(hits)
    door.retriever.fail = lambda _: httpx.Response(200, content=body, headers=headers)


@pytest.mark.parametrize(
    ("asked", "other"),
    [
        ({"topic": "COVID-19"}, {"topics": ["biochar"]}),
        ({"doc_type": "paragraph"}, {"doc_type": "figure"}),
        ({"preprocessor_id": "papers-v1"}, {"preprocessor_id": "papers-v2"}),
        ({"paragraph_terms": ["model", "x"]}, {"paragraph_terms": ["y"]}),
        ({"paper_ids": ["sidarthe", "x"]}, {"paper_id": "biochar"}),
        ({"distance": 0.5}, {"distance": 0.6}),
    ],
)
def test_hits_that_do_not_pass_the_filters_are_left_out(
    open_door: Any, asked: dict[str, Any], other: dict[str, Any]
) -> None:
    door = open_door()
    serve(door, hit("other", **other), hit("own"))
    answer = door.answer(QUESTION, **asked)
    assert [doc["passage_id"] for doc in answer["used_docs"]] == ["own"]
    (step, *_) = answer["steps"]
    assert step["hits"] == 1
    assert "filters were not those asked for: 1" in step["note"]
    serve(door, hit("other", **other))
    answer = door.answer(QUESTION, **asked)
    assert (answer["reason"], answer["found_instead"]) == ("nothing found", [])
    # Without the filter there is nothing to object to.
    assert not door.answer(QUESTION)["refused"]


def test_an_alias_of_a_topic_is_the_topic(open_door: Any) -> None:
    door = open_door()
    serve(door, hit("own"))
    assert not door.answer(QUESTION, topic="covid")["refused"]


def test_a_passage_beyond_all_measure_is_left_out(open_door: Any) -> None:
    door = open_door()
    long = f"{_TEXT} " * (100_000 // len(_TEXT))
    wide = {"paragraph_terms": ["x" * 1000] * 100}
    serve(door, hit("long", long + "x" * (100_001 - len(long))), hit("wide", **wide), hit("own"))
    answer = door.answer(QUESTION)
    assert [doc["passage_id"] for doc in answer["used_docs"]] == ["own"]
    assert "more than 100,000 characters: 2" in answer["steps"][0]["note"]


def test_there_are_no_more_hits_than_were_asked_for(open_door: Any) -> None:
    door = open_door()
    serve(door, *(hit(str(number)) for number in range(50)))
    assert door.answer(QUESTION, top_k=3)["steps"][0]["hits"] == 3
