"""The answer in the passages' own words, and the refusal."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from askem.answering.refusal import Thresholds
from askem.testing.openai_server import text
from askem_agent.budget import Limits

QUESTION = "How many stages of infection has the SIDARTHE model?"


def test_every_word_is_a_passages(open_door: Any) -> None:
    answer = open_door().answer(QUESTION)
    assert (answer["model"], answer["refused"]) == ("extractive", False)
    texts = {doc["passage_id"]: doc["text"] for doc in answer["used_docs"]}
    for sentence in answer["sentences"]:
        assert sentence["verdict"] == "found in source"
        (citation,) = sentence["citations"]
        assert citation["quote"] == sentence["text"]
        assert citation["quote"] in texts[citation["passage_id"]]
    assert answer["sentences"][0]["text"] == "The SIDARTHE model has eight stages of infection."
    usage = answer["usage"]
    assert (usage["input_tokens"], usage["output_tokens"], usage["cost"]) == (None, None, None)
    assert answer["confidence"] in ("high", "medium", "low")


def test_references_of_a_paper_do_not_pass_for_markers(open_door: Any) -> None:
    answer = open_door().answer("When did tremor of the volcano precede the eruption?")
    assert answer["answer"].count("[") == len(answer["sentences"])
    assert "[39]" not in answer["answer"]
    assert "9 hours" in answer["answer"]


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("what is it?", "no content"),
        ("quasar luminosity", "nothing found"),
    ],
)
def test_a_refusal_asks_no_model(open_door: Any, question: str, reason: str) -> None:
    door = open_door([])
    answer = door.answer(question)
    assert (answer["refused"], answer["reason"]) == (True, reason)
    assert (answer["used_docs"], answer["sentences"]) == ([], [])
    assert answer["usage"]["model_calls"] == 0
    assert len(answer["found_instead"]) <= 3
    assert door.models.requests == []
    assert answer["answer"].startswith("No answer")


def test_what_is_too_far_is_offered_as_found_instead(open_door: Any) -> None:
    door = open_door([], thresholds=Thresholds(score=99.0, distance=2.0))
    answer = door.answer("SIDARTHE stages")
    assert (answer["refused"], answer["reason"]) == (True, "not in the corpus")
    assert answer["found_instead"][0]["passage_id"] == "sidarthe#p0"
    assert door.models.requests == []


def test_repairs_are_shown(open_door: Any) -> None:
    answer = open_door().answer("stages of SIDARTEH infection")
    assert answer["repairs"] == [{"word": "SIDARTEH", "read_as": "SIDARTHE"}]


def test_a_foreign_retriever_will_do(open_door: Any) -> None:
    """It gives a bare list, with a passage twice, and more than was asked for."""
    door = open_door([text("It has eight stages of infection [1].")])
    hit = {
        "paper_id": "other",
        "doc_type": "paragraph",
        "text": "It has eight stages of infection.",
        "cosmos_object_id": None,
        "paragraph_terms": [],
        "topics": [],
        "preprocessor_id": "x",
        "order": 0,
        "distance": 0.3,
        "score": 0.01,
    }
    hits = [{**hit, "passage_id": name} for name in ("a", "a", "b", "c")]
    door.retriever.fail = lambda _: httpx.Response(200, json=hits)
    answer = door.answer("stages of infection", top_k=2)
    assert [doc["passage_id"] for doc in answer["used_docs"]] == ["a"]
    assert answer["steps"][0]["hits"] == 2
    assert "no measures" in answer["steps"][0]["note"]


TWO = "How many stages of infection has SIDARTHE and what raised soil carbon in a vineyard?"
STRICT = Thresholds(score=1.5, distance=2.0)


def test_two_questions_in_one_are_searched_apart_before_they_are_refused(open_door: Any) -> None:
    answer = open_door(thresholds=STRICT).answer(TWO)
    assert not answer["refused"]
    assert "eight stages" in answer["answer"]
    assert "Biochar" in answer["answer"]
    parts = [step["query"] for step in answer["steps"][1:3]]
    assert parts == [
        "How many stages of infection has SIDARTHE?",
        "what raised soil carbon in a vineyard?",
    ]


def test_one_part_that_can_be_answered_is_enough(open_door: Any) -> None:
    question = "How many stages of infection has SIDARTHE and who sank the quasar frigate?"
    answer = open_door(thresholds=STRICT).answer(question)
    assert "eight stages" in answer["answer"]


def test_two_parts_without_an_answer_are_refused(open_door: Any) -> None:
    question = "Which infection sank the quasar frigate and what soil buried the harbour of Oslo?"
    answer = open_door(thresholds=STRICT).answer(question)
    assert (answer["refused"], answer["reason"]) == (True, "not in the corpus")
    assert len(answer["steps"]) == 3


def test_parts_are_not_searched_beyond_the_limit(open_door: Any) -> None:
    limits = Limits(model_calls=6, searches=1, tokens=100_000, cost=1.0, seconds=20.0)
    answer = open_door(thresholds=STRICT, limits=limits).answer(TWO)
    assert (answer["refused"], len(answer["steps"])) == (True, 1)
