"""Windows cover every character of a text, in order, and none holds too many tokens."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from askem.encoders.windows import Offsets, passage_windows, split_into_windows


def offsets_of(text: str) -> Offsets:
    """One token a word or sign."""
    return [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]


def squeezed(text: str) -> str:
    return "".join(text.split())


def test_a_text_that_fits_comes_back_whole() -> None:
    text = "  Two words.\n"
    assert split_into_windows(text, offsets_of(text), 3) == [text]


def test_it_is_cut_between_sentences() -> None:
    text = "One two three. Four five. Six seven eight nine."
    windows = split_into_windows(text, offsets_of(text), 7)
    assert windows == ["One two three. Four five.", "Six seven eight nine."]


def test_a_sentence_beyond_the_window_is_cut_between_tokens() -> None:
    text = "one two three four five six seven"
    assert split_into_windows(text, offsets_of(text), 3) == [
        "one two three",
        "four five six",
        "seven",
    ]


@settings(max_examples=100, deadline=None)
@given(
    text=st.lists(st.sampled_from("One two, three. four! Five? (six) 7.5 \n\n — ü".split(" "))).map(
        " ".join
    ),
    limit=st.integers(1, 9),
)
def test_everything_is_covered_once_and_nothing_is_too_long(text: str, limit: int) -> None:
    windows = split_into_windows(text, offsets_of(text), limit)
    assert squeezed("".join(windows)) == squeezed(text)
    assert all(len(offsets_of(window)) <= limit for window in windows)


def test_a_heading_path_stands_at_the_head_of_every_window() -> None:
    text = "Stall > Steps\n\nOne two three. Four five six. Seven eight nine."
    assert passage_windows(text, offsets_of, 8) == [
        "Stall > Steps\n\nOne two three.",
        "Stall > Steps\n\nFour five six.",
        "Stall > Steps\n\nSeven eight nine.",
    ]
    assert passage_windows(text, offsets_of, 99) == [text]


def test_a_path_of_more_than_half_a_window_is_not_repeated() -> None:
    text = "One two three four five\n\nSix seven eight nine."
    windows = passage_windows(text, offsets_of, 8)
    assert windows == ["One two three four five", "Six seven eight nine."]


def test_only_a_line_of_its_own_is_a_path() -> None:
    for text in ("One.\nTwo three four.\n\nFive six.", "One two. Three four five six."):
        assert sum(window.startswith("One") for window in passage_windows(text, offsets_of, 4)) == 1
