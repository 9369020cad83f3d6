"""What is cited of a section: the row, the item, the code, and never the whole table."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askem.answering.answer_text import split_answer
from askem.answering.models import CheckedSentence, Source
from askem.answering.support import check

CODES = """Kiln codes > Heat

The first letter says which kiln it is.

| Code | Meaning | Time to repair |
|---|---|---|
| KX-11 | Door is open while the kiln is hot | 5 minutes |
| KX-12 | Gas pressure is too low | 40 minutes |
| KX-13 | Lamp of the second pilot is dark | 90 minutes |"""
STEPS = """Kiln runbook > Cold start

Before the shift begins:

1. Open the flue, so that gas can leave:

   ```
   kilnctl flue open --all
   ```
2. Light the pilot with the long lighter.
3. Wait for the blue lamp. It takes 12 minutes."""


def checked(sentence: str, text: str) -> CheckedSentence:
    return check(sentence, [Source("p", "p", text, 1.0, None)])


@pytest.mark.parametrize(
    ("sentence", "row"),
    [
        (
            "KX-12, Gas pressure is too low, 40 minutes",
            "| KX-12 | Gas pressure is too low | 40 minutes |",
        ),
        (
            "With KX-12 the time to repair the kiln, whose gas pressure is too low, is 40 minutes.",
            "| KX-12 | Gas pressure is too low | 40 minutes |",
        ),
        (
            "KX-12 means that the gas pressure is too low.",
            "| KX-12 | Gas pressure is too low | 40 minutes |",
        ),
        (
            "Time to repair of KX-13, where the second pilot has a dark lamp, is 90 minutes.",
            "| KX-13 | Lamp of the second pilot is dark | 90 minutes |",
        ),
        (
            "The kiln code KX-11 means an open door while the kiln is hot.",
            "| KX-11 | Door is open while the kiln is hot | 5 minutes |",
        ),
    ],
)
def test_the_row_is_the_quote(sentence: str, row: str) -> None:
    result = checked(sentence, CODES)
    assert (result.verdict, result.missing) == ("found in source", ())
    assert [citation.quote for citation in result.citations] == [row]


@pytest.mark.parametrize(
    "sentence",
    [
        "KX-12 means that the gas pressure is too low, and repair takes 90 minutes.",
        "KX-13 means that the gas pressure is too low.",
        "When the lamp is dark, the time to repair is 40 minutes.",
        "A too low pilot has a time to repair of 40 minutes.",
    ],
)
def test_what_another_row_says_is_not_found(sentence: str) -> None:
    assert checked(sentence, CODES).verdict != "found in source"


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        ("Light the pilot with the long lighter.", "2. Light the pilot with the long lighter."),
        (
            "For a cold start, light the pilot with the long lighter.",
            "Light the pilot with the long lighter.",
        ),
        ("```\nkilnctl flue open --all\n```", "```\n   kilnctl flue open --all\n   ```"),
    ],
)
def test_the_item_or_the_code_is_the_quote(sentence: str, quote: str) -> None:
    result = checked(sentence, STEPS)
    assert result.verdict == "found in source"
    assert [citation.quote for citation in result.citations] == [quote]


def test_code_that_names_its_source_is_looked_up() -> None:
    with_marker = "Do this [1].\n```\nkilnctl\n```\n[1]\n\nThen wait [1]."
    kinds = [(unit.kind, unit.markers, unit.needs_citation) for unit in split_answer(with_marker)]
    assert kinds == [("statement", (1,), True), ("code", (1,), True), ("statement", (1,), True)]
    assert not split_answer("```\nkilnctl\n```")[0].needs_citation


@given(st.lists(st.sampled_from(CODES.split("\n") + STEPS.split("\n")) | st.text(max_size=9)))
def test_citations_are_exact_and_every_unit_is_found_in_its_own_section(lines: list[str]) -> None:
    text = "\n".join(lines)
    for unit in split_answer(text):
        result = checked(unit.text, text)
        assert all(c.quote == text[c.start : c.end] for c in result.citations)
        assert unit.kind == "empty" or result.verdict == "found in source"
