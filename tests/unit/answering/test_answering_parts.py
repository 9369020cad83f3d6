"""Two questions in one, and what only looks like them."""

from __future__ import annotations

import pytest

from askem.answering.parts import parts_of


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "How many stages has SIDARTHE and what was the rate after schools closed?",
            ("How many stages has SIDARTHE?", "what was the rate after schools closed?"),
        ),
        (
            "Is the vaccine of Oslo safe? How long does it protect a child?",
            ("Is the vaccine of Oslo safe?", "How long does it protect a child?"),
        ),
        (
            "When did the Korvan valve fail, and in which country was it made?",
            ("When did the Korvan valve fail?", "in which country was it made?"),
        ),
    ],
)
def test_two_questions_are_parted(question: str, parts: tuple[str, ...]) -> None:
    assert parts_of(question) == parts


@pytest.mark.parametrize(
    "question",
    [
        "How many stages has SIDARTHE?",
        "What do lichens and mosses need to grow?",
        "What is the Korvan valve and how does it work?",
        "lichens of Oslo and what they need to grow",
        "",
    ],
)
def test_one_question_or_a_part_that_names_too_little_is_not(question: str) -> None:
    assert parts_of(question) == ()
