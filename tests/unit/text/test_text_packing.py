"""Passages of a useful length, and the reference list left out of them."""

from __future__ import annotations

from askem.text.packing import cut_paragraph, pack
from askem.text.references import reference_indices

ENTRIES = [
    "1. Moss TR, Fell AB. Shell growth in cold rivers. J Stream Biol. 2004;12:101-118.",
    "2. Hartley P, Oyelaran S. Alder and its litter. Upland Ecol. 2011;3:44-59.",
    "3. Brook JN. Feeding of bivalves in winter. Limnol Lett. 1998;27:310-322.",
    "4. Sand KL, Pike EW. Labelled leaves. Methods Freshw Res. 2015;8:1-17.",
]
PROSE = "The mussels below the alder grew, as Moss et al. had found, in each of the streams. " * 4


def sentence(words: int) -> str:
    return " ".join(["It", *["grew"] * (words - 2), "fast."])


def lengths(passages: list[str]) -> list[int]:
    return [len(passage.split()) for passage in passages]


def test_short_paragraphs_are_merged_up_to_the_least_length() -> None:
    assert lengths(pack([(sentence(40), False)] * 7)) == [120, 160]


def test_a_short_rest_joins_the_last_passage_if_it_fits() -> None:
    assert lengths(pack([(sentence(120), False), (sentence(30), False)])) == [150]
    assert lengths(pack([(sentence(240), False), (sentence(30), False)])) == [240, 30]


def test_paragraphs_of_a_good_length_stay_by_themselves() -> None:
    parts = [(sentence(110), False), (sentence(240), False), (sentence(130), False)]
    assert pack(parts) == [text for text, _ in parts]


def test_a_heading_leaves_half_a_passage_behind_but_not_less() -> None:
    heading, after = ("Results", True), (sentence(110), False)
    assert lengths(pack([(sentence(60), False), heading, after])) == [60, 111]
    assert lengths(pack([(sentence(40), False), heading, after])) == [151]


def test_a_long_paragraph_is_cut_near_the_target() -> None:
    text = " ".join([sentence(20)] * 30)
    parts = cut_paragraph(text, 250, 150)
    assert lengths(parts) == [160, 140, 160, 140] or lengths(parts) == [140, 160, 140, 160]
    assert " ".join(parts) == text


def test_one_long_sentence_fits_after_all() -> None:
    parts = cut_paragraph(f"{sentence(20)} {sentence(600)}", 250, 150)
    assert max(lengths(parts)) <= 250
    assert sum(lengths(parts)) == 620


def test_a_reference_heading_needs_entries_behind_it() -> None:
    assert reference_indices([PROSE, "References", *ENTRIES], torn=False) == {1, 2, 3, 4, 5}
    for texts in (["References", ENTRIES[0], PROSE], ["References", PROSE, *ENTRIES]):
        assert reference_indices(texts, torn=False) == set()


def test_entries_that_columns_put_before_their_heading_go_from_torn_text_only() -> None:
    texts = [PROSE, *ENTRIES, "References", PROSE]
    assert reference_indices(texts, torn=True) == {1, 2, 3, 4, 5}
    assert reference_indices(texts, torn=False) == set()


def test_the_other_half_of_an_entry_goes_with_it() -> None:
    first, second = ENTRIES[1].split(" Upland ")
    texts = [PROSE, "References", ENTRIES[0], first, f"Upland {second}", *ENTRIES[2:], PROSE]
    assert reference_indices(texts, torn=False) == {1, 2, 3, 4, 5, 6}
