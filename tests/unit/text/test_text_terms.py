"""Identifiers and their counts."""

from __future__ import annotations

import pytest

from askem.text.terms import term_counts


@pytest.mark.parametrize(
    "word",
    [
        "SIDARTHE",
        "SARS-CoV-2",
        "COVID-19",
        "NW-4021",
        "IL-6",
        "mRNA",
        "PCRs",
        "B.1.1.7/VOC",
        "TGF-\u03b21",
    ],
)
def test_words_with_two_capitals_are_kept_whole(word: str) -> None:
    assert term_counts(f"We saw ({word}), and more.") == [(word, 1)]


@pytest.mark.parametrize("word", ["Mussels", "pH", "B.1.1.7", "x-ray", "2020", "We"])
def test_other_words_are_not(word: str) -> None:
    assert term_counts(f"we saw {word}, and more.") == []


def test_they_come_by_falling_count_then_by_name() -> None:
    text = "RNA, DNA; RNA-DNA. \u201cATP\u201d RNA! ATP/ADP-"
    assert term_counts(text) == [("RNA", 2), ("ATP", 1), ("ATP/ADP", 1), ("DNA", 1), ("RNA-DNA", 1)]


def test_hyphens_of_all_kinds_meet() -> None:
    assert term_counts("IL\u20106 and IL-6") == [("IL-6", 2)]
