"""Units of an answer: one by one what a model may write."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askem.answering.answer_text import split_answer
from askem.answering.markers import find_markers


def statements(answer: str) -> list[tuple[str, tuple[int, ...]]]:
    return [(u.text, u.markers) for u in split_answer(answer) if u.needs_citation]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("A fell [1]. B rose [2].", [("A fell.", (1,)), ("B rose.", (2,))]),
        ("A fell.[1] B rose. [2] C?", [("A fell.", (1,)), ("B rose.", (2,)), ("C?", ())]),
        ("A fell [1, 2]. B [1][3].", [("A fell.", (1, 2)), ("B.", (1, 3))]),
        ("A fell [1-3]; B rose [2; 5].", [("A fell; B rose.", (1, 2, 3, 5))]),
        ("A fell [2\u20134].", [("A fell.", (2, 3, 4))]),
        ("A fell [7-3] or [1-900].", [("A fell or.", (7, 3, 1, 900))]),
        ("A fell.\n\n[4]", [("A fell.", (4,))]),
        ("[1] A fell.", [("A fell.", (1,))]),
        ("Smith et al. [2] found it.", [("Smith et al. found it.", (2,))]),
        ("See Fig. 2 and e.g. J. C. Arnold [1].", [("See Fig. 2 and e.g. J. C. Arnold.", (1,))]),
        (
            "It was 1.5 \u00b5g/mL or 1.5 in. wide [1].",
            [("It was 1.5 \u00b5g/mL or 1.5 in. wide.", (1,))],
        ),
        ("In 2020 [2020] A fell [1].", [("In 2020 [2020] A fell.", (1,))]),
        ("See [1](https://example.org) now [2].", [("See [1](https://example.org) now.", (2,))]),
    ],
)
def test_sentences_carry_their_markers(answer, expected):
    assert statements(answer) == expected


def test_brackets_in_a_quotation_are_the_papers_own_where_markers_stand_outside():
    assert statements('It says "as shown [39]" [2].') == [('It says "as shown [39]".', (2,))]
    assert statements("It says \u201cas shown [39]\u201d [2].")[0][1] == (2,)
    assert statements('"A fell [3] then."')[0][1] == (3,)


def test_list_items_are_units_without_their_labels():
    answer = (
        "- A fell [1]\n  by half. And B [2].\n* C [3]\n1. D [4]\n(ii) E [5]\n2) F\n\u2022 G [6]"
    )
    assert statements(answer) == [
        ("A fell\n  by half.", (1,)),
        ("And B.", (2,)),
        ("C", (3,)),
        ("D", (4,)),
        ("E", (5,)),
        ("F", ()),
        ("G", (6,)),
    ]
    assert answer[split_answer(answer)[0].start] == "-"


@pytest.mark.parametrize(
    ("unit", "kind"),
    [
        ("## Findings", "heading"),
        ("**Findings**", "heading"),
        ("Main findings:", "heading"),
        ("**Dose:**", "heading"),
        ("- **Drugs**:", "heading"),
        ("-", "empty"),
        ("2.", "empty"),
        ("---", "empty"),
        ("|---|:-:|", "empty"),
        ("```\nprint(x[1])\n```", "code"),
        ("```\nnever closed [1]. So.", "code"),
    ],
)
def test_what_needs_no_citation(unit, kind):
    units = split_answer(f"A fell [1].\n\n{unit}")
    assert [u.kind for u in units] == ["statement", kind]
    assert not units[1].needs_citation
    assert units[1].markers == ()


def test_bold_that_closes_after_a_stop_ends_a_sentence():
    answer = "**A fell. B rose.** C stayed [1]. **D** too [2]."
    units = split_answer(answer)
    assert [answer[u.start : u.end] for u in units] == [
        "**A fell.",
        "B rose.**",
        "C stayed [1].",
        "**D** too [2].",
    ]


def test_table_rows_are_units_and_the_head_is_a_heading():
    answer = "| Drug | Effect |\n|---|---|\n| A | 12 % [1] |\n| B | none [2] |"
    units = split_answer(answer)
    assert [u.kind for u in units] == ["heading", "empty", "statement", "statement"]
    assert [(u.text, u.markers) for u in units[2:]] == [("A, 12 %", (1,)), ("B, none", (2,))]


def test_an_empty_answer_has_no_units():
    assert split_answer("") == []
    assert split_answer(" \n\n ") == []


PIECES = st.lists(
    st.sampled_from(
        [
            *("A fell", ". ", "! ", "[1]", " [2, 3]", "\n", "\n\n", "- ", "**", "# ", "1. ", '"'),
            *(
                "et al. ",
                "e.g. ",
                "1.5 ",
                "(i) ",
                "_",
                "`",
                "```",
                "> ",
                "***",
                "---",
                "| ",
                "|---|",
            ),
            *("\u201c", "\u00a0"),
        ]
    ),
    max_size=30,
).map("".join)


@given(st.one_of(PIECES, st.text(max_size=200)))
def test_every_visible_character_is_in_exactly_one_unit(answer):
    units = split_answer(answer)
    covered = [0] * len(answer)
    for unit in units:
        assert not answer[unit.start : unit.end][:1].isspace()
        for place in range(unit.start, unit.end):
            covered[place] += 1
    assert max(covered, default=0) <= 1
    assert all(n == 1 for n, char in zip(covered, answer, strict=True) if not char.isspace())
    assert [u.start for u in units] == sorted(u.start for u in units)


def test_many_quotations_with_brackets_are_read_to_the_end() -> None:
    """In a time that does not grow with their square, or this would take a quarter of an hour."""
    assert len(find_markers('"a [1]" ' * 125_000 + "[2]")) == 1
