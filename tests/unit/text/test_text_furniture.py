"""Page furniture of papers of two or three pages, and the text that only looks like it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from askem.text.decoding import decode
from askem.text.furniture import remove_furniture
from askem.text.layout import unroll_pages
from askem.text.preprocessing import get_preprocessor
from askem.text.stamps import is_stamp

EXAMPLES = Path(__file__).parents[3] / "examples/papers"

FIRST = [
    "Slow snails of the northern hedges and their winter",
    "shelters under slate",
    "",
    "Brenna Harcastle, Tove Quillfeather",
    "",
    "Introduction",
    "",
    "Snails of the hedges spend the winter under stones, and it",
    "was never known how many of them return to the same one. We",
    "marked the shells of six hundred animals and turned over all",
    "of the slates in spring. The heaviest of the animals had been",
    "the first to leave, and most of them were found again by the",
]
SECOND = [
    "wall which they had left in March. A second count in autumn",
    "gave the same result, although the summer had been a dry one.",
    "",
    "Animals without a slate were lost more often than others were.",
]
THIRD = [
    "Slates can be laid out by anyone who owns a hedge. They have",
    "to be flat and wide, and they should not be moved in winter.",
]
CLOSED = [*FIRST[:-1], "the first to leave, and most of them were found again."]
CLOSED_SECOND = ["The wall was left in March. A second count in autumn", *SECOND[1:]]


def kept(*pages: list[str]) -> list[str]:
    """The lines left of some pages, without empty ones."""
    return [line for page in remove_furniture([*pages]) for line in page if line.strip()]


def filled(*pages: list[str]) -> list[str]:
    return [line for page in pages for line in page if line.strip()]


@pytest.mark.parametrize(
    "head",
    [
        "B. Harcastle et al.",
        "HARCASTLE ET AL.: SHELLS THAT WINTER UNDER STONES",
        "Hedge Notes 12 (2031)               Harcastle et al.",
        "Harcastle and Quillfeather               Where snails winter",
        "Winter shelters                          213",
        "214     Harcastle and Quillfeather",
        "Where snails winter                      Hedge Notes 12",
        "L'escargot en hiver - Hedge Notes 12",
        "Slow snails of the northern hedges",
        "Harcastle & Quillfeather",
        "THE MALACOLOGIST",
    ],
)
def test_a_head_that_occurs_once_goes_and_the_sentence_goes_on(head: str) -> None:
    assert kept(FIRST, [head, "", *SECOND]) == filled(FIRST, SECOND)
    text = "\n".join(FIRST) + "\n\n\f" + "\n".join([head, "", *SECOND])
    joined = " ".join(get_preprocessor("papers-v1")(text))
    assert "found again by the wall which they had left" in joined


@pytest.mark.parametrize(
    "head",
    [
        "Hedge Notes 12 (2031)               Harcastle et al.",
        "Winter shelters                          213",
        "Slow snails of the northern hedges",
        "THE MALACOLOGIST",
    ],
)
def test_a_head_between_whole_sentences_goes_too(head: str) -> None:
    assert kept(CLOSED, [head, "", *CLOSED_SECOND]) == filled(CLOSED, CLOSED_SECOND)


def test_heads_whose_numbers_count_on_with_the_pages_go() -> None:
    pages = [CLOSED, ["88 Where they sleep", "", *CLOSED_SECOND], ["Hedge life 89", "", *THIRD]]
    assert kept(*pages) == filled(CLOSED, CLOSED_SECOND, THIRD)


def test_a_foot_of_several_lines_is_peeled() -> None:
    foot = ["", "\u00a9 2031 The Authors. Published by the Hedge Press.", "ISSN 1234-5678", "", "1"]
    assert kept([*FIRST, *foot], SECOND) == filled(FIRST, SECOND)


def test_a_stamp_at_the_same_words_on_two_pages_goes_from_mid_sentence() -> None:
    stamp = "Licensed copy of the Slate Library, see www.slate.example"
    pages = [[*page[:-2], stamp, *page[-2:]] for page in (FIRST + FIRST[7:], SECOND + THIRD * 3)]
    assert stamp not in kept(*pages)


@pytest.mark.parametrize(
    "stamp",
    [
        "Downloaded by [Slate Library] at 10:15 4 May 2031",
        "Downloaded from https://hedges.example/12 by guest on 4 May 2031",
        "Accessed on 4 May 2031",
    ],
)
def test_a_stamp_of_access_goes_from_the_middle_of_a_paragraph(stamp: str) -> None:
    assert kept([*FIRST[:9], stamp, *FIRST[9:]], SECOND) == filled(FIRST, SECOND)


@pytest.mark.parametrize(
    "stamp",
    [
        ["Received 4 May 2031; accepted 9 June 2031"],
        ["Received: 4 May 2031 | Revised: 1 June 2031 | Accepted: 9 June 2031"],
        ["Copyright \u00a9 2031 Hedge Press. All rights reserved."],
        ["ISSN 1234-567X (print)"],
        ["https://doi.org/10.1234/hedge.12"],
        ["This article is protected by copyright. All rights", "reserved."],
        ["For personal use only."],
    ],
)
def test_a_stamp_of_its_own_lines_goes(stamp: list[str]) -> None:
    assert kept([*CLOSED, "", *stamp, "", *THIRD * 3], SECOND) == filled(CLOSED, THIRD * 3, SECOND)


@pytest.mark.parametrize(
    "line",
    [
        "The sequences were downloaded from https://genes.example on 4 May 2031",
        "downloaded from https://genes.example on 4 May 2031",
        "Downloaded from the archive, the sequences were aligned in 2031.",
        "Received wisdom has it that snails are slow.",
        "Copyright law of 2031 does not cover shells.",
        "Accepted models of growth, 4 May 2031 onwards, are poor.",
    ],
)
@pytest.mark.parametrize("amid_text", [True, False])
def test_a_sentence_about_downloads_or_rights_is_no_stamp(line: str, amid_text: bool) -> None:
    assert not is_stamp(line, amid_text)


def test_a_sentence_about_downloads_at_the_edge_of_a_page_stays() -> None:
    first = [*FIRST[:-1], "All shells of the atlas were downloaded from www.shells.example"]
    second = [
        "on 4 May 2031 and have been",
        "accessed from there by all readers since 2031 or",
        *SECOND,
    ]
    assert kept(first, second) == filled(first, second)


def test_a_first_line_that_goes_on_in_lower_case_stays() -> None:
    second = ["northern hedges of slate                     14", "", *SECOND]
    assert kept(FIRST, second) == filled(FIRST, second)


@pytest.mark.parametrize(
    "heading", ["REFERENCES", "METHODS", "2. Results", "Results and discussion"]
)
def test_section_headings_stay(heading: str) -> None:
    pages = [FIRST, [heading, "", *SECOND], [heading, "", *THIRD]]
    assert kept(*pages) == filled(*pages)


def test_headings_in_capitals_stay_where_headings_are_in_capitals() -> None:
    pages = [[line.upper() if line == "Introduction" else line for line in CLOSED]]
    pages.append(["STUDY AREA", "", *CLOSED_SECOND])
    assert kept(*pages) == filled(*pages)


@pytest.mark.parametrize("heading", ["Snails", "Counting of the empty shells", "Winter shelters"])
def test_other_headings_on_top_of_a_page_stay(heading: str) -> None:
    second = [heading, "", *CLOSED_SECOND]
    assert kept(CLOSED, second) == filled(CLOSED, second)


@pytest.mark.parametrize("between", [[], [""]])
def test_table_rows_at_the_edge_of_a_page_stay(between: list[str]) -> None:
    rows = ["Site of hedge         Snails", "Upper field           14", "Lower field           15"]
    table = [part for row in rows for part in (row, *between)]
    pages = [[*CLOSED, "", "Table 1     18", *table], [*table[len(between) + 1 :], "", *THIRD]]
    assert kept(*pages) == filled(*pages)


def test_lines_that_occur_twice_by_chance_stay() -> None:
    line = "the animals which had been marked in autumn"
    pages = [[*FIRST[:9], line, *FIRST[9:]], [*THIRD * 3, line, *THIRD * 3]]
    assert kept(*pages) == filled(*pages)


def test_a_page_too_short_to_show_its_gutter_has_that_of_the_page_before() -> None:
    left, right = "Snails sleep under slates", "They wake up in the spring"
    pages = [[f"{left:<40}{right}"] * length for length in (8, 3)]
    assert unroll_pages(pages)[1] == [left] * 3 + [""] + [right] * 3
    crossed = ["A line that runs across the whole width of the page", *pages[1]]
    assert unroll_pages([pages[0], crossed])[1] == crossed


FURNITURE = {
    "early-protease-inhibitor": r"Downloaded|Prim Care Trials|Rautenbach et al|Velsotrelvir in v",
    "wastewater-sewershed-lag": r"Valley Water Letters|Finkenbaum et al|Wastewater lead times",
    "classroom-ventilation-co2": r"Indoor Notes|Ventilation in primary schools",
    "peatland-rewetting-methane": r"- \d -|tourbi\u00e8res|Caillavet &",
    "soil-spectroscopy-nir": r"Corresponding author|Received \d|Querstreet et al|Sensing Notes",
    "garnet-llzo-sintering": r"\u00a9|ISSN|SAUTERNES|IONIC CERAMICS",
    "so2-drone-plume": r"Downloaded|from drones +13|Oyelaran et al",
}
GOES_ON = {
    "early-protease-inhibitor": ("ritonavir, since it", "up to one day", "that five days are"),
    "wastewater-sewershed-lag": ("below 3%, the day was",),
    "classroom-ventilation-co2": ("except in order to find the few rooms",),
    "soil-spectroscopy-nir": ("dry combustion after removal",),
    "garnet-llzo-sintering": ("may explain why the conductivity",),
    "so2-drone-plume": ("with a correlation of 0.93",),
}


@pytest.mark.parametrize("paper", FURNITURE)
def test_no_furniture_is_left_in_the_torn_examples(paper: str) -> None:
    (path,) = EXAMPLES.glob(f"*/{paper}.txt")
    text = decode(path.read_bytes()).text
    assert re.search(FURNITURE[paper], text)
    found = get_preprocessor("papers-v1")(text)
    assert [part for part in found if re.search(FURNITURE[paper], part)] == []
    for run in GOES_ON.get(paper, ()):
        assert any(run in part for part in found), run
