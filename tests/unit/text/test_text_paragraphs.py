"""Lines to paragraphs, headings and asides; halves put together."""

from __future__ import annotations

import pytest

from askem.text.dehyphenate import build_vocabulary
from askem.text.paragraphs import Block, Kind, column_blocks, is_heading, split_lines
from askem.text.reading_order import restore_order

FULL = "a line that fills its column"  # 28 characters


@pytest.mark.parametrize(
    ("lines", "groups"),
    [
        ([FULL, FULL], [[FULL, FULL]]),
        (["It ends here.", "It begins"], [["It ends here."], ["It begins"]]),
        (["it stops", "and goes on"], [["it stops", "and goes on"]]),
        (
            ["a line full up to its end.", "It goes on"],
            [["a line full up to its end.", "It goes on"]],
        ),
        (["a line full up to its end.", "  It begins", FULL], None),
        (["Study sites", "The streams"], [["Study sites"], ["The streams"]]),
        ([FULL, "RESULTS", "The rest"], [[FULL], ["RESULTS"], ["The rest"]]),
        (["one", "", " ", "two"], [["one"], ["two"]]),
        ([], []),
    ],
)
def test_groups_of_lines(lines: list[str], groups: list[list[str]] | None) -> None:
    if groups is None:
        groups = [lines[:1], [line.strip() for line in lines[1:]]]
    assert split_lines(lines, width=28) == groups


@pytest.mark.parametrize(
    "text", ["Introduction", "2. Methods", "IV. RESULTS", "Growth below alder trees", "REFERENCES:"]
)
def test_headings(text: str) -> None:
    assert is_heading(text)


@pytest.mark.parametrize(
    "text",
    [
        "The mussels grew.",
        "Growth of the",
        "results",
        "Moss TR, Fell AB, Hart 2004",
        "https://streams.example/a",
        "P = 0.01",
        "A heading does not go on for as many words as this line of text does",
    ],
)
def test_what_is_no_heading(text: str) -> None:
    assert not is_heading(text)


def test_table_cells_become_one_aside() -> None:
    cells = ["", "12.5", "", "Reach", "", "n = 4", "", FULL]
    blocks = column_blocks([FULL, *cells], 3, build_vocabulary([]), wrapped=True)
    assert [(block.kind, block.text) for block in blocks] == [
        (Kind.TEXT, FULL),
        (Kind.ASIDE, "12.5 Reach n = 4"),
        (Kind.TEXT, FULL),
    ]
    assert {block.page for block in blocks} == {3}


def test_scattered_words_of_a_contact_note_go() -> None:
    lines = [FULL, "", "Institute", "", "of", "", "streams,", "", "e-mail:", "", FULL]
    blocks = column_blocks(lines, 0, build_vocabulary([]), wrapped=True)
    assert [block.text for block in blocks] == [FULL, FULL]


def restored(*parts: tuple[str, int], document: str = "") -> list[str]:
    vocabulary = build_vocabulary([*document.split("\n"), *(text for text, _ in parts)])
    kinds = [Kind.HEADING if is_heading(text) else Kind.TEXT for text, _ in parts]
    blocks = [Block(text, page, kind) for (text, page), kind in zip(parts, kinds, strict=True)]
    return [block.text for block in restore_order(blocks, vocabulary)]


def test_complete_blocks_keep_their_order() -> None:
    parts = [("One grew.", 0), ("Discussion", 0), ("Two died [4] .", 1), ("(a) three hid.", 1)]
    assert restored(*parts) == [text for text, _ in parts]


def test_a_broken_word_finds_its_rest() -> None:
    parts = [
        ("we sieved the sedi-", 0),
        ("gravel of two banks was dry.", 1),
        ("ment of the third bank.", 1),
    ]
    found = restored(*parts, document="the sediment lay")
    assert found[0] == "we sieved the sediment of the third bank."


def test_a_known_pair_of_words_outweighs_a_nearer_block() -> None:
    parts = [
        ("in spring all cages held alder", 0),
        ("was weighed. Each was weighed twice.", 0),
        ("leaves grew. The leaves in three doses.", 0),
    ]
    assert restored(*parts)[0].startswith("in spring all cages held alder was weighed.")
    known = ("Brown alder leaves lay on alder leaves.", 3)
    assert restored(*parts, known)[0].startswith("in spring all cages held alder leaves grew.")


def test_a_new_sentence_does_not_go_on_from_an_open_end() -> None:
    parts = [("the mean weight of the", 0), ("However, none died.", 0)]
    assert restored(*parts) == [text for text, _ in parts]


def test_pages_further_on_are_out_of_reach() -> None:
    parts = [("the mean weight of the", 0), ("shells was low.", 2)]
    assert restored(*parts) == [text for text, _ in parts]
