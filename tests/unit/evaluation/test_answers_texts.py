"""SQuAD's comparison, by hand."""

from __future__ import annotations

import pytest

from askem.evaluation.answers.texts import exact_match, normalised, occurrences, token_f1


def test_case_articles_and_punctuation_do_not_count() -> None:
    assert normalised("The lipid, called TL-88.") == ["lipid", "called", "tl88"]
    assert exact_match("A TL-88", "the TL-88.") == 1.0
    assert exact_match("TL-88 is a lipid", "TL-88") == 0.0


@pytest.mark.parametrize(
    ("said", "gold", "value"),
    [
        ("it is called TL-88", "TL-88", 2 * 1 / (4 + 1)),
        ("two two", "two", 2 * 1 / (2 + 1)),
        ("nothing alike", "TL-88", 0.0),
        ("", "TL-88", 0.0),
        ("the", "a", 1.0),
    ],
)
def test_token_f1(said: str, gold: str, value: float) -> None:
    assert token_f1(said, gold) == pytest.approx(value)


def test_occurrences_are_spans_of_whole_words() -> None:
    text = "NW-4021 (lipid: TL-88), TL-881, tl 88"
    assert [text[a:b] for a, b in occurrences(text, "TL-88.")] == ["TL-88", "tl 88"]
    assert occurrences(text, "...") == []


def test_labels_that_begin_within_a_word_are_found_to_the_letter() -> None:
    assert occurrences("SARS-CoV-2 spread", "ARS-CoV-2 sp") == [(1, 13)]
    assert occurrences("SARS-CoV-2 spread", "ars-cov-2 sp") == []


def test_spans_hold_where_lower_case_is_longer() -> None:
    text = "İİİ TL-88"
    assert [text[a:b] for a, b in occurrences(text, "tl 88")] == ["TL-88"]
