"""papers-v1 over an invented paper, torn in the ways that PDFs tear."""

from __future__ import annotations

import textwrap

import pytest

from askem.text.preprocessing import get_preprocessor
from askem.text.sentences import ends_sentence

TITLE = "Leaf litter of alder feeds mussels of upland streams"

PARAGRAPHS = (
    (
        "Freshwater mussels filter the water of upland streams and bind much of its carbon. "
        "Alder trees shade these streams and drop their leaves into them in late October. How "
        "much of the litter reaches the mussels was unknown. We therefore followed labelled "
        "leaves through four streams of the northern range for two winters, and weighed what "
        "the animals had built into their shells and tissue by spring. Earlier work had relied "
        "on gut contents alone, which say little about what is kept."
    ),
    (
        "Four streams of the third order were chosen, two with alder on both banks and two "
        "without any trees. In each we laid forty cages of steel mesh, ten in every reach, and "
        "put six mussels of known weight into each cage. Leaves had been grown under labelled "
        "carbon dioxide for one summer. They were added in three doses of 25 g, and the cages "
        "were opened every two weeks. Water temperature and flow were logged every ten minutes "
        "at both ends of the reach, and gaps of the loggers were filled by interpolation."
    ),
    (
        "Mussels below alder gained 3.4 g on average, those without trees 1.1 g (Fig. 2). The "
        "label appeared in the tissue after 14 days and in the shell after 38. Cages near the "
        "outlet gained less than cages near the spring, as the flow carried the finer fragments "
        "away before they could settle. No mussel died in the first winter, and nine of 480 "
        "died in the second, all of them in one flood that tore two cages from the bed."
    ),
    (
        "Litter is therefore no side dish for these animals but their main food in winter. "
        "Managers who clear alder to let in light may starve the mussels that keep the water "
        "clear. A strip of ten metres on one bank would have been enough to feed the beds which "
        "we studied. Whether oak or willow would serve as well remains to be tested, since "
        "their leaves are tougher and carry more tannin, and since shredding insects prefer "
        "softer leaves."
    ),
)

REFERENCES = (
    "1. Moss TR, Fell AB. Shell growth in cold rivers. J Stream Biol. 2004;12:101-118.",
    "2. Hartley P, Oyelaran S, Quist M. Alder and its litter. Upland Ecol. 2011;3:44-59.",
    "3. Brook JN. Feeding of bivalves in winter. Limnol Lett. 1998;27:310-322.",
    "4. Sand KL, Pike EW. Labelled leaves as tracers. Methods Freshw Res. 2015;8:1-17.",
    "5. Weir DD, Lock HH, Ford C. Floods and cages. River Sci. 2009;19:205-216.",
)


def words(*texts: str) -> list[str]:
    return " ".join(texts).split()


def wrapped(text: str, width: int = 60) -> list[str]:
    """Lines of at most a width, words unbroken."""
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


def justified(text: str, width: int = 60) -> str:
    return "\n".join(wrapped(text, width))


def side_by_side(left: list[str], right: list[str], width: int = 60) -> list[str]:
    """Two columns as a layout-keeping extractor prints them."""
    rows = max(len(left), len(right))
    left = left + [""] * (rows - len(left))
    right = right + [""] * (rows - len(right))
    return [f" {one:<{width}}    {two}".rstrip() for one, two in zip(left, right, strict=True)]


def passages(text: str) -> list[str]:
    return get_preprocessor("papers-v1")(text)


def assert_whole(found: list[str], *expected: str) -> None:
    """Every expected paragraph stands unbroken in the passages, which begin and end well."""
    text = " ".join(found)
    for paragraph in expected:
        assert paragraph in text
    for passage in found:
        assert passage[0].isupper()
        assert ends_sentence(passage)


def test_clean_paragraphs_are_merged_to_passages_in_order() -> None:
    found = passages("\n\n".join([TITLE, *PARAGRAPHS]))
    assert " ".join(found).split() == words(TITLE, *PARAGRAPHS)
    assert [len(passage.split()) >= 100 for passage in found] == [True] * len(found)
    assert found[0].startswith(TITLE)


def test_a_paragraph_a_line_without_blank_lines_is_the_same() -> None:
    parts = [TITLE, *PARAGRAPHS]
    assert passages("\n".join(parts)) == passages("\n\n".join(parts))


def test_clean_text_keeps_what_would_be_furniture_on_a_page() -> None:
    parts = [PARAGRAPHS[0], "Fell et al.", "2012", PARAGRAPHS[1], "Fell et al.", "7", PARAGRAPHS[2]]
    assert " ".join(passages("\n\n".join(parts))).split() == words(*parts)


def test_wrapped_lines_give_the_passages_of_the_clean_text() -> None:
    torn = "\n\n".join(justified(part) for part in (TITLE, *PARAGRAPHS))
    assert passages(torn) == passages("\n\n".join([TITLE, *PARAGRAPHS]))


def test_paragraphs_end_at_short_lines_when_no_blank_line_marks_them() -> None:
    parts = (PARAGRAPHS[0], "Methods", PARAGRAPHS[1], "Results", PARAGRAPHS[2])
    found = passages("\n".join(justified(part) for part in parts))
    assert_whole(found, *PARAGRAPHS[:3])
    assert any(passage.startswith("Methods Four streams") for passage in found)


def test_broken_words_are_mended() -> None:
    torn = "\n\n".join(justified(part) for part in PARAGRAPHS)
    torn = torn.replace("streams", "stre\u2010\nams", 1).replace("mussels", "mus\u00ad\nsels", 2)
    torn = torn.replace("carbon", "car-\nbon", 1)
    assert_whole(passages(torn), *PARAGRAPHS)


@pytest.mark.parametrize("marks_pages", [True, False])
def test_heads_page_numbers_and_stamps_go(marks_pages: bool) -> None:
    lines = wrapped(" ".join(PARAGRAPHS))
    pages = [lines[start : start + 8] for start in range(0, len(lines), 8)]
    torn = [
        [
            "Fell and Moss",
            "Stream Notes 4 (2012)",
            "",
            *page,
            "",
            f"Copy for one reader, issued on {number + 2} May 2013 by the Upland Library",
            "",
            str(number + 100),
        ]
        for number, page in enumerate(pages)
    ]
    assert len(torn) > 3
    text = ("\f" if marks_pages else "\n\n").join("\n".join(page) for page in torn)
    found = " ".join(passages(text))
    assert found.split() == words(*PARAGRAPHS)


def test_page_furniture_inside_running_text_goes_without_any_page_marks() -> None:
    lines = wrapped(" ".join(PARAGRAPHS * 2), 40)
    for page in range(4):
        start = 20 * (page + 1) + 2 * page
        stamp = f"Downloaded from https://journal.example/a/{page} by guest on 3 May 2013"
        lines[start:start] = [str(page + 311), stamp]
    assert " ".join(passages("\n".join(lines))).split() == words(*PARAGRAPHS * 2)


def test_a_stamp_of_one_page_is_told_by_its_shape() -> None:
    lines = wrapped(" ".join(PARAGRAPHS[:2]))
    lines[8:8] = ["", "Downloaded from https://journal.example by guest on 3 May 2013", ""]
    assert_whole(passages("\n".join(lines)), *PARAGRAPHS[:2])


def test_captions_that_recur_at_page_edges_stay() -> None:
    pages = [f"Figure {n}\n\n{justified(PARAGRAPHS[n])}" for n in range(3)]
    text = " ".join(passages("\f".join(pages)))
    assert [f"Figure {n}" in text for n in range(3)] == [True] * 3


def test_line_numbers_of_a_manuscript_go() -> None:
    lines = wrapped(" ".join(PARAGRAPHS[:2]))
    text = "\n".join(f"{number:>4} {line}" for number, line in enumerate(lines, start=1))
    assert " ".join(passages(text)).split() == words(*PARAGRAPHS[:2])


def test_columns_side_by_side_are_read_one_after_the_other() -> None:
    left = [*wrapped(PARAGRAPHS[0]), "", *wrapped(PARAGRAPHS[1])]
    right = [*wrapped(PARAGRAPHS[2]), "", "", *wrapped(PARAGRAPHS[3])]
    text = "\n".join([f"      {TITLE}", "", *side_by_side(left, right)])
    found = passages(text)
    assert_whole(found, *PARAGRAPHS)
    assert " ".join(found).split() == words(TITLE, *PARAGRAPHS)


def test_columns_whose_lines_alternate_are_read_as_well() -> None:
    left = [part for text in PARAGRAPHS[:2] for line in wrapped(text) for part in (line, "")]
    right = [part for text in PARAGRAPHS[2:] for line in wrapped(text) for part in ("", line)]
    assert_whole(passages("\n".join(side_by_side(left, right))), *PARAGRAPHS)


def test_an_indented_block_is_not_a_column() -> None:
    quote = [" " * 30 + line for line in wrapped(PARAGRAPHS[1], 50)]
    found = passages("\n".join([*wrapped(PARAGRAPHS[0], 80), *quote, *wrapped(PARAGRAPHS[2], 80)]))
    assert " ".join(found).split() == words(*PARAGRAPHS[:3])


def test_a_sentence_goes_on_behind_a_float_and_on_the_next_page() -> None:
    cut = PARAGRAPHS[1].index("wei")
    before, after = PARAGRAPHS[1][:cut].strip(), PARAGRAPHS[1][cut:]
    note = "Table 1. Cages opened in each of the four streams, by winter and by reach."
    first = "\n\n".join(map(justified, (PARAGRAPHS[0], before, note)))
    second = "\n\n".join(map(justified, (after, PARAGRAPHS[2])))
    for gap in ("\n\n", "\f"):
        assert_whole(passages(first + gap + second), *PARAGRAPHS[:3])


def test_a_second_half_that_comes_before_the_first_is_put_back() -> None:
    cut = PARAGRAPHS[2].index("after 38")
    before, after = PARAGRAPHS[2][:cut].strip(), PARAGRAPHS[2][cut:]
    parts = (TITLE, after, PARAGRAPHS[0], PARAGRAPHS[3], before)
    found = passages("\n\n".join(map(justified, parts)))
    assert f"{before} {after}" in " ".join(found)


def test_notes_of_correspondence_do_not_break_a_sentence() -> None:
    lines = wrapped(PARAGRAPHS[0])
    lines[3:3] = ["Correspondence: A. Moss, Institute of Streams,", "e-mail: moss@streams.example"]
    assert_whole(passages("\n".join([*lines, "", *wrapped(PARAGRAPHS[1])])), *PARAGRAPHS[:2])


@pytest.mark.parametrize(
    "note",
    [
        ["\u2020 These authors have done the same work.", "\u00a9 The authors, 2012."],
        ["Figure 1. A map of the reaches, with cages", "as dots and trees as rings."],
    ],
)
def test_a_note_or_caption_in_mid_sentence_moves_behind(note: list[str]) -> None:
    lines = wrapped(PARAGRAPHS[0])
    lines[3:3] = note
    text = " ".join(passages("\n".join([*lines, *wrapped(PARAGRAPHS[1])])))
    assert PARAGRAPHS[0] in text
    assert text.endswith(" ".join(note))


@pytest.mark.parametrize(
    "heading", ["References", "REFERENCES", "6. References", "Literature Cited"]
)
@pytest.mark.parametrize("torn", [True, False])
def test_the_reference_list_is_left_out(heading: str, torn: bool) -> None:
    parts = [*PARAGRAPHS, heading, *REFERENCES]
    text = "\n\n".join(map(justified, parts) if torn else parts)
    assert " ".join(passages(text)).split() == words(*PARAGRAPHS)


def test_a_reference_heading_before_the_body_costs_nothing() -> None:
    parts = [TITLE, "References", *PARAGRAPHS]
    assert " ".join(passages("\n\n".join(parts))).split() == words(*parts)


def test_text_after_the_references_stays() -> None:
    parts = [PARAGRAPHS[0], "References", *REFERENCES, "Appendix", PARAGRAPHS[1]]
    text = " ".join(passages("\n\n".join(parts)))
    assert PARAGRAPHS[1] in text
    assert "Hartley" not in text


def test_long_paragraphs_are_cut_at_sentences_evenly() -> None:
    found = passages(" ".join(PARAGRAPHS * 2))
    assert_whole(found)
    assert " ".join(found).split() == words(*PARAGRAPHS * 2)
    assert all(100 <= len(passage.split()) <= 250 for passage in found)


def test_an_endless_sentence_is_cut_after_a_clause() -> None:
    found = passages("Mud " + "lay on all of the sand, and gravel " * 80 + "here.")
    assert all(len(passage.split()) <= 250 for passage in found)
    assert all(passage.endswith(",") for passage in found[:-1])


def test_a_heading_opens_the_passage_of_its_section() -> None:
    long = " ".join(PARAGRAPHS[:2])
    found = passages("\n\n".join([long, "Results", PARAGRAPHS[2], PARAGRAPHS[3]]))
    assert found[1].startswith("Results Mussels below")
