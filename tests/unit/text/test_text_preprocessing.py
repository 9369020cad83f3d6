"""The other preprocessors, the registry, and what holds for any text."""

from __future__ import annotations

import textwrap
import unicodedata
from itertools import count, islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askem.text.preprocessing import (
    PREPROCESSOR_IDS,
    UnknownPreprocessor,
    get_preprocessor,
)


def test_ids_are_known_and_found() -> None:
    assert PREPROCESSOR_IDS == ("papers-v1", "paragraphs-v1", "figures-v1", "markdown-v1")
    for preprocessor_id in PREPROCESSOR_IDS:
        assert get_preprocessor(preprocessor_id).preprocessor_id == preprocessor_id


def test_an_unknown_id_is_an_error_that_names_the_known() -> None:
    with pytest.raises(UnknownPreprocessor, match=r"papers-v9.*paragraphs-v1"):
        get_preprocessor("papers-v9")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "One line\nand more.\n\n\n  Two-\nparts. \n \nThree",
            ["One line and more.", "Two- parts.", "Three"],
        ),
        ("One\nTwo\n\tThree\n", ["One", "Two", "Three"]),
        ("One\fTwo", ["One", "Two"]),
        (" \n\n ", []),
    ],
)
def test_paragraphs_are_taken_as_the_file_has_them(text: str, found: list[str]) -> None:
    assert get_preprocessor("paragraphs-v1")(text) == found


def test_a_figure_file_is_one_caption() -> None:
    text = "Figure 2.\nGrowth of mus-\nsels by reach.\n\nBars: one error.\n"
    assert get_preprocessor("figures-v1")(text) == [
        "Figure 2. Growth of mussels by reach. Bars: one error."
    ]


def test_a_huge_figure_file_is_cut() -> None:
    found = get_preprocessor("figures-v1")("Each bar is a reach of a stream. " * 200)
    assert len(found) > 1
    assert max(len(passage.split()) for passage in found) <= 400


WORDS = st.sampled_from(
    [
        "the",
        "of",
        "mussel",
        "alder-",
        "fed",
        "Fig.",
        "2",
        "(n",
        "[3]",
        "e.g.",
        "1998",
        "RESULTS",
        "References",
        "AB,",
        "12:3-9",
        ".",
        ",",
        ":",
        "e-mail:",
        "a@b.example",
        "x\u2010",
        "\u00ad",
        "\ud800",
        "\x00",
        "\u200b",
        "",
    ]
)
GAPS = st.sampled_from([" ", " ", " ", "\n", "\n", "\n\n", "     ", "\f"])
TORN = st.lists(st.tuples(WORDS, GAPS), max_size=120).map(
    lambda pairs: "".join(part for pair in pairs for part in pair)
)


@pytest.mark.parametrize("preprocessor_id", PREPROCESSOR_IDS)
@settings(max_examples=60, deadline=None)
@given(text=TORN | st.text(st.characters(), max_size=300))
def test_any_text_gives_clean_passages(preprocessor_id: str, text: str) -> None:
    preprocess = get_preprocessor(preprocessor_id)
    passages = preprocess(text)
    assert passages == preprocess(text)
    for passage in passages:
        assert passage
        assert passage == passage.strip()
        if preprocessor_id == "markdown-v1":  # lines are lists' items, tables' rows, code
            passage = passage.replace("\n", " ").replace("\t", " ")
        assert not any(unicodedata.category(char) in {"Cc", "Cs"} for char in passage)
        if preprocessor_id == "papers-v1":
            assert len(passage.split()) <= 250


SENTENCES = st.lists(
    st.lists(
        st.sampled_from(["mussels", "grow", "in", "cold", "streams", "of", "the", "north"]),
        min_size=4,
    ).map(lambda words: " ".join(words).capitalize() + "."),
    min_size=1,
    max_size=30,
).map(" ".join)


@settings(max_examples=60, deadline=None)
@given(st.lists(SENTENCES, max_size=8))
def test_clean_text_keeps_every_word_in_order(paragraphs: list[str]) -> None:
    text = "\n\n".join(paragraphs)
    passages = get_preprocessor("papers-v1")(text)
    assert " ".join(passages).split() == text.split()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(3, 90), min_size=1, max_size=8), st.integers(40, 90))
def test_wrapping_loses_no_word(lengths: list[int], width: int) -> None:
    # Every word is new, since a line that recurs would rightly pass for a running head.
    letters = str.maketrans("0123456789", "abcdefghij")
    made = (f"mud{number}".translate(letters) for number in count())
    paragraphs = [" ".join(islice(made, n)).capitalize() + "." for n in lengths]
    text = "\n\n".join(textwrap.fill(paragraph, width) for paragraph in paragraphs)
    passages = get_preprocessor("papers-v1")(text)
    assert " ".join(passages).split() == " ".join(paragraphs).split()
