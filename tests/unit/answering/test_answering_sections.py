"""Sections of a handbook: what their units are, and which of them answer."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askem.answering.hops import next_query
from askem.answering.models import Seen, Source
from askem.answering.passage_units import units_of
from askem.answering.picking import Picked, pick
from askem.answering.refusal import Thresholds, confidence, reason_to_refuse
from askem.text.analysis import question_terms
from askem.text.markdown import sections_of

CODES = """Kiln codes > Heat

The first letter says which kiln it is.

| Code | Meaning | Who is told |
|---|---|---|
| KX-11 | Door is open while the kiln is hot | the shift |
| KX-12 | Gas pressure is too low | the fitter; two in a row mean a leak |
| 7 | Spare line | nobody |"""
COLD_START = """Kiln runbook > Cold start > Steps

1. Open the flue, so that gas can leave:

   ```
   kilnctl flue open --all

   kilnctl flue show
   ```
2. Light the pilot.
3. Wait for the blue lamp."""
GLAZES = """Glazes > Kinds

We keep these glazes in the store:

- Ash glaze, made from straw
- Tin glaze, for white ware
- Salt glaze, only in the wood kiln"""
STATE = """Kiln runbook > State

Afterwards look at the lamps:

```sh
kilnctl lamps
# blue, blue, green
```"""
SECTIONS = (CODES, COLD_START, GLAZES, STATE)


def seen(question: str, *texts: str, score: float = 2.0, distance: float = 0.4) -> Seen:
    return Seen(
        query=question,
        sources=tuple(
            Source(f"page#s{n}", "page", text, score, distance) for n, text in enumerate(texts)
        ),
        ranking="proximity",
        idf=dict.fromkeys(question_terms(question), 2.0),
        nearest_distance=distance,
    )


def picked(question: str, *texts: str) -> list[Picked]:
    return pick(question, [seen(question, *texts)])


def units(text: str) -> list[tuple[str, str]]:
    return [(unit.kind, text[unit.start : unit.end]) for unit in units_of(text)]


def test_a_papers_paragraph_is_its_sentences() -> None:
    text = "It burns | at 900 degrees. - Then it cools."
    assert units(text) == [
        ("sentence", "It burns | at 900 degrees."),
        ("sentence", "- Then it cools."),
    ]


def test_a_section_is_its_blocks() -> None:
    assert units(CODES) == [
        ("context", "Kiln codes > Heat"),
        ("sentence", "The first letter says which kiln it is."),
        ("context", "| Code | Meaning | Who is told |"),
        ("context", "|---|---|---|"),
        ("row", "| KX-11 | Door is open while the kiln is hot | the shift |"),
        ("row", "| KX-12 | Gas pressure is too low | the fitter; two in a row mean a leak |"),
        ("row", "| 7 | Spare line | nobody |"),
    ]
    assert [kind for kind, _ in units(COLD_START)] == ["context", "item", "item", "item"]
    assert units(COLD_START)[1][1].endswith("kilnctl flue show\n   ```")
    assert [kind for kind, _ in units(STATE)] == ["context", "sentence", "code"]


def test_units_know_what_they_are_read_under() -> None:
    row = units_of(CODES)[5]
    assert [CODES[a:b] for a, b in row.context] == [
        "Kiln codes > Heat",
        "| Code | Meaning | Who is told |",
    ]
    item = units_of(GLAZES)[2]
    assert [GLAZES[a:b] for a, b in item.context] == [
        "Glazes > Kinds",
        "We keep these glazes in the store:",
    ]


def test_a_first_line_that_is_a_sentence_is_no_path() -> None:
    assert units("The kiln is hot.\n\nWait for it.")[0] == ("sentence", "The kiln is hot.")


def test_of_a_table_the_row_that_is_asked_for_is_shown() -> None:
    rows = [p.text for p in picked("What does code KX-12 mean?", CODES)]
    assert rows == ["| KX-12 | Gas pressure is too low | the fitter; two in a row mean a leak |"]


def test_a_row_is_found_by_a_number_of_one_digit() -> None:
    assert [p.text for p in picked("Who is told of code 7?", CODES)] == [
        "| 7 | Spare line | nobody |"
    ]


def test_rows_that_have_as_much_of_the_question_are_all_shown() -> None:
    rows = "| Ash glaze a pot | 3 |\n| Ash glaze a kilo | 9 |"
    table = f"Fees > Store\n\n| What | Cost |\n|---|---|\n{rows}"
    assert len(picked("What does ash glaze cost?", table)) == 2


def test_the_path_is_never_shown_and_its_words_count() -> None:
    question = "How do I do a cold start of the kiln?"
    texts = [p.text for p in picked(question, STATE, COLD_START)]
    assert not any(" > " in text for text in texts)
    assert texts[0].startswith("1. Open the flue")


def test_how_to_gets_all_steps_in_order() -> None:
    text = picked("How do I do a cold start of the kiln?", COLD_START)[0].text
    assert text == COLD_START.partition("\n\n")[2]


def test_another_question_gets_a_short_list_whole_and_an_item_of_a_long_one() -> None:
    assert picked("Which glaze is for white ware?", GLAZES)[0].text == GLAZES.partition("\n\n")[2]
    long = GLAZES + "".join(
        f"\n- Glaze number {n}, from the old shop in the town" for n in range(20)
    )
    assert picked("Which glaze is for white ware?", long)[0].text == ("Tin glaze, for white ware")


def test_code_is_shown_whole_with_what_leads_in() -> None:
    text = picked("Which command shows the lamps?", STATE)[0].text
    assert text == STATE.partition("\n\n")[2]


def test_a_paragraph_says_how_it_is_done_as_a_whole() -> None:
    text = "Kilns > Closing down\n\nTurn the gas off. Wait an hour. Close the flue of the kiln."
    assert picked("How do I close the flue?", text)[0].text == text.partition("\n\n")[2]


def test_a_sentence_brings_the_code_that_follows_it() -> None:
    text = "Kilns > Check\n\nEvery lamp must be blue. Run this in the hall.\n\n```\nlampctl\n```"
    assert picked("How do I see whether every lamp is blue?", text)[0].text.endswith("```")


def test_neighbours_of_one_paragraph_are_one_piece() -> None:
    text = (
        "Kilns > Waiting\n\nCall the fitter of the gas kiln about the pressure. "
        "Wait for the fitter 10 minutes at most. There is more."
    )
    pieces = picked("How long do I wait for the fitter after the call?", text)
    assert len(pieces) == 1
    assert pieces[0].text.startswith("Call the fitter")


def test_each_question_of_a_compound_one_is_answered() -> None:
    texts = (
        "Kilns > Duty\n\nThe master decides on a new firing of the gas kiln.",
        "Kilns > Duty, too\n\nThe master decides on a new glaze for the gas kiln, and on firing.",
        "Store > Hours\n\nThe store opens at 9.",
    )
    question = "Who decides on a new firing of the gas kiln, and when does the store open?"
    assert "The store opens at 9." in [p.text for p in picked(question, *texts)]


def test_the_value_of_a_quantity_may_stand_beside_its_symbol() -> None:
    text = (
        "The damping constant d was taken from 2,870 runs of the bell. Runs were made by hand. "
        "In the end d was 0.19 in all bells."
    )
    assert picked("What is the damping constant of the bell?", text)[0].text.startswith(
        "In the end"
    )


def test_a_code_in_a_section_is_answered_from_however_far_it_is() -> None:
    question = "What about KX-12?"
    far = seen(question, CODES, score=0.4, distance=0.9)
    assert reason_to_refuse(far, Thresholds()) is None
    other = seen("What about KX-99?", CODES, score=0.4, distance=0.9)
    assert reason_to_refuse(other, Thresholds()) == "not in the corpus"


def test_a_section_needs_a_little_less_than_a_paper() -> None:
    paper = "The glaze is made from straw."
    assert reason_to_refuse(seen("ash glaze", GLAZES, score=1.1), Thresholds()) is None
    assert reason_to_refuse(seen("ash glaze", paper, score=1.1), Thresholds()) is not None


def test_how_to_without_steps_is_not_answered_with_high_confidence() -> None:
    text = "Kilns > Meaning\n\nThe pilot of the kiln has failed to light."
    steps = "Kilns > Pilot\n\n1. Light the pilot of the kiln.\n2. Wait."
    question = "How do I light the pilot of the kiln?"

    def sure(text: str) -> str:
        search = seen(question, text, "Bells > Sound\n\nThe bell is rung at noon.")
        return confidence(search, pick(question, [search]))

    assert [sure(text), sure(steps)] == ["medium", "high"]


LINES = (
    *("| a kiln | b |", "|---|---|", "- ash glaze", "1. light it", "   - deep", "```", "~~~"),
    *("Kilns > Heat", "How do I light it?", "Run this:", "# comment", "\t", "|", "", " "),
    "The kiln is hot.",
)
PARTS = st.sampled_from(LINES)


@given(st.lists(PARTS | st.text(max_size=12), max_size=14))
def test_units_are_exact_apart_and_in_order_for_any_text(lines: list[str]) -> None:
    text = "\n".join(lines)
    found = units_of(text)
    assert all(0 <= u.start < u.end <= len(text) for u in found)
    assert all(a.end <= b.start for a, b in pairwise(found))
    assert all(text[a:b].strip() for u in found for a, b in u.context)
    assert all(u.group is None or u.group[0] <= u.start < u.end <= u.group[1] for u in found)


@given(
    st.lists(PARTS | st.text(max_size=12), max_size=14),
    st.sampled_from(["How do I light the kiln", "What is the ash glaze, and why is it hot?"]),
)
def test_pieces_are_exact_slices_of_any_text(lines: list[str], question: str) -> None:
    for piece in picked(question, "\n".join(lines), "\n\n".join(lines)):
        assert piece.text == piece.source.text[piece.start : piece.end] != ""


@given(st.integers(0, 3), st.data())
def test_code_is_never_shown_in_part(number: int, data: st.DataObject) -> None:
    words = sorted(set(question_terms(" ".join(SECTIONS))))
    asked = data.draw(st.lists(st.sampled_from(words), min_size=1, max_size=5))
    opener = data.draw(st.sampled_from(["How do I", "What is", "Which", "When is"]))
    for piece in picked(f"{opener} {' '.join(asked)}?", SECTIONS[number], *SECTIONS):
        assert piece.text.count("```") % 2 == 0


def test_an_answer_without_the_number_that_is_asked_for_is_not_of_high_confidence() -> None:
    question = "How many lamps does the old kiln have?"

    def sure(text: str) -> str:
        search = seen(question, text, "The bell is rung at noon.")
        return confidence(search, pick(question, [search]))

    without, with_it = "The old kiln does have its lamps.", "The old kiln does have 14 lamps."
    assert [sure(without), sure(with_it)] == ["medium", "high"]


def test_a_clock_time_answers_until_when() -> None:
    table = "Hours > Kiln\n\n| Day | Lit |\n|---|---|\n| Monday | 16:30 |"
    text = "Kilns > Lit\n\nOn Monday the kiln is lit by the master with care."
    assert picked("Until when is the kiln lit on Monday?", text, table)[0].text.startswith("|")


def test_headings_heads_of_tables_and_openers_of_cells_are_not_searched_for() -> None:
    question = "Where was the author of the rule on gas born?"
    query = next_query(question, [seen(question, CODES)])
    assert query is not None
    assert query.startswith("KX-12 ")


@pytest.mark.parametrize("text", SECTIONS)
def test_the_texts_above_are_as_the_preprocessor_writes_them(text: str) -> None:
    path, _, body = text.partition("\n\n")
    *above, heading = path.split(" > ")
    page = "".join(f"{'#' * n} {name}\n\n" for n, name in enumerate((*above, heading), 1)) + body
    assert sections_of(page)[-1].text == text
