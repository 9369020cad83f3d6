"""Which sentences are picked, how much of the passage comes with them, and that spans are exact."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askem.answering.models import Seen, Source
from askem.answering.picking import PER_PASSAGE, pick
from askem.answering.sentence_clutter import body_start
from askem.text.analysis import question_terms


def seen(question: str, *texts: str, scores: tuple[float, ...] | None = None) -> Seen:
    """A search that found these passages; every term of the question weighs the same."""
    scores = scores or tuple(2.0 for _ in texts)
    return Seen(
        query=question,
        sources=tuple(
            Source(f"paper#p{n}", "paper", text, score, 0.4)
            for n, (text, score) in enumerate(zip(texts, scores, strict=True))
        ),
        ranking="proximity",
        idf=dict.fromkeys(question_terms(question), 2.0),
        nearest_distance=0.4,
    )


def first(question: str, *texts: str) -> str:
    return pick(question, [seen(question, *texts)])[0].text


def test_the_sentence_with_the_questions_words_comes_first() -> None:
    text = (
        "The reservoir lies in a valley. Copper pipes corrode where the water is acidic. "
        "The study was made by students."
    )
    picked = pick("Where do copper pipes corrode?", [seen("Where do copper pipes corrode?", text)])
    assert picked[0].text.startswith("Copper pipes corrode")
    assert picked[0].score >= picked[-1].score
    assert picked[0].lead > 0


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        (
            "How many turbines failed?",
            "In all 14 turbines failed before spring.",
            "Turbines failed for reasons that are not known.",
        ),
        (
            "When was the dam built?",
            "The dam was built in 1931 by the county.",
            "The dam was built by the county with great care.",
        ),
        (
            "Who designed the bridge?",
            "The bridge was designed by Ada Marsh.",
            "The bridge was designed with great care.",
        ),
        (
            "Where is the plant grown?",
            "The plant is grown in Norway.",
            "The plant is grown with great care.",
        ),
        (
            "Why did the glass crack?",
            "The glass did crack because it cooled too fast.",
            "The glass did crack and it cooled too fast.",
        ),
        (
            "What is tephra?",
            "Tephra is rock thrown out by a volcano.",
            "The first map of tephra was drawn by hand.",
        ),
        (
            "What does LWR stand for?",
            "It was run with a light water reactor (LWR) at low power.",
            "The LWR was shut down in the end by the state.",
        ),
    ],
)
def test_a_sentence_that_has_what_is_asked_for_wins(question: str, right: str, wrong: str) -> None:
    assert first(question, wrong, right) == right


def test_the_questions_own_number_is_no_answer() -> None:
    question = "How many of the 40 turbines failed?"
    right, wrong = "Of the turbines 14 failed early.", "Of the 40 turbines some failed early."
    assert first(question, "There is more.", right) == right
    picked = pick(question, [seen(question, wrong, right)])
    assert {p.text: p.score for p in picked}[right] > 2.0


def test_an_announcing_sentence_brings_its_list() -> None:
    text = (
        "The glaze has a number of advantages: It is cheap to make. Second, it lasts for years. "
        "Finally, it is safe for food. The kiln was built later."
    )
    assert first("What are the advantages of the glaze?", text) == text.split(" The kiln")[0]


def test_a_label_does_not_stand_last() -> None:
    text = "The most used glazes are: 1. Ash glaze; 2. Tin glaze; and 3. Salt glaze fired in wood."
    assert first("Which glazes are the most used glazes?", text).endswith("fired in wood.")


def test_the_label_of_what_follows_is_left_out() -> None:
    text = "Which glazes are shown: (i) ash glaze from straw (ii)"
    assert first("Which glazes are shown?", text) == text.removesuffix(" (ii)")


def test_a_sentence_that_refers_back_brings_the_one_before() -> None:
    text = "Zircon is a mineral of old crust. It survives erosion and melting for aeons."
    assert first("What survives erosion and melting?", text) == text


def test_the_first_piece_brings_the_next_sentence_and_others_do_not() -> None:
    question = "What do lichens need to grow?"
    texts = [
        "Lichens need light to grow. Shade kills most of the young ones.",
        "Clean air is what lichens need to grow well. Traffic near a wall harms the rest.",
    ]
    picked = pick(question, [seen(question, *texts, scores=(2.2, 2.0))])
    assert [p.text for p in picked] == [texts[0], "Clean air is what lichens need to grow well."]


@pytest.mark.parametrize(
    "clutter",
    [
        "Growth of lichens on walls and what lichens need to grow",
        "4. Marsh, A. B. et al. What lichens need to grow. https://example.org/lichens",
        "Lichens 3.1 4.2 5.5 grow 6.1 7.2 need 8.8 9.1 10.3 12.4 13.5",
        "The opinions on what lichens need to grow do not necessarily represent the journal.",
        "Need to grow.",
        "Table 2: What lichens need to grow, as it was counted.",
    ],
)
def test_what_is_no_sentence_is_not_picked(clutter: str) -> None:
    question = "What do lichens need to grow?"
    assert pick(question, [seen(question, clutter)]) == []


@pytest.mark.parametrize(
    "label", ["Abstract: BACKGROUND:", "B)", "Introduction", "On Lichens A Marsh Abstract"]
)
def test_labels_are_left_out(label: str) -> None:
    text = f"{label} Lichens need clean air to grow."
    assert first("What do lichens need to grow?", text) == "Lichens need clean air to grow."


def test_the_same_sentence_of_another_paper_is_not_shown_again() -> None:
    question = "What do lichens need?"
    texts = ["Lichens need clean air and light.", "Lichens need clean air and the light."]
    assert len(pick(question, [seen(question, *texts)])) == 1


def test_a_sentence_far_below_the_best_is_not_shown() -> None:
    question = "What do lichens need?"
    texts = ("Lichens need clean air.", "The moss is green in spring.")
    assert len(pick(question, [seen(question, *texts, scores=(3.0, 2.0))])) == 1


def test_one_passage_does_not_fill_the_answer() -> None:
    question = "What do lichens need?"
    text = " ".join(
        f"In {place} the lichens need {thing} of some kind."
        for place, thing in [("Oslo", "air"), ("Rome", "rain"), ("Lima", "fog"), ("Kyiv", "frost")]
    )
    assert len(pick(question, [seen(question, text)], limit=5)) <= PER_PASSAGE


def test_an_overlong_sentence_is_cut_to_the_part_that_answers() -> None:
    filler = "; ".join(f"the gravel of pit {n} was sieved and weighed again" for n in range(40))
    text = f"It was found that {filler}; lichens need clean air to grow; {filler}."
    picked = pick("What do lichens need to grow?", [seen("What do lichens need to grow?", text)])
    assert len(picked[0].text) <= 600
    assert "lichens need clean air to grow" in picked[0].text


@pytest.mark.parametrize(
    "unit", ["gravel ", "a-", "A-", "Ab-", "It is (i) ", "1. ", "Aa B. ", "Name of the "]
)
def test_a_huge_paragraph_without_stops_is_cut(unit: str) -> None:
    question = "What does ABC stand for in gravel?"
    picked = pick(question, [seen(question, "The gravel is " + unit * 20_000 + "of it.")])
    assert all(len(piece.text) <= 800 for piece in picked)


def test_a_later_search_gives_the_last_piece() -> None:
    question = "Where was the author of Dune Songs born?"
    own = seen(question, "The author of Dune Songs was Ada Marsh, a poet of some note.")
    sailors = "Ada Marsh was born in Tromso to a family of sailors."
    later = seen("Ada Marsh born", own.sources[0].text, sailors, scores=(1.0, 2.0))
    picked = pick(question, [own, later])
    assert [p.text for p in picked] == [own.sources[0].text, sailors]


def test_nothing_seen_gives_nothing() -> None:
    assert pick("What?", []) == []
    assert pick("What?", [seen("What?")]) == []


@given(
    question=st.text(max_size=60),
    texts=st.lists(
        st.text(alphabet="aBc \n.;:,()1[]\u00e9\u03b2", max_size=200)
        | st.text(max_size=200)
        | st.lists(
            st.sampled_from(["It is so.", "Rain fell:", "1. One", "and 4.", "The rain, it fell in"])
        ).map(" ".join),
        max_size=4,
    ),
    limit=st.integers(0, 4),
)
def test_pieces_are_exact_slices_and_the_same_every_time(
    question: str, texts: list[str], limit: int
) -> None:
    search = seen(question, *texts)
    picked = pick(question, [search, search], limit)
    assert len(picked) <= limit
    assert picked == pick(question, [search, search], limit)
    for piece in picked:
        assert piece.source.text[piece.start : piece.end] == piece.text
        assert piece.text == piece.text.strip() != ""
        assert piece.lead >= 0


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("INTRODUCTION SARS-CoV-2 is a virus.", "SARS-CoV-2 is a virus."),
        ("INTRODUCTION Middle East fever is rare.", "Middle East fever is rare."),
        ("Results Of 612 participants five left.", "Of 612 participants five left."),
        ("Results RSV-3 was seen.", "RSV-3 was seen."),
        ("Results are shown.", "Results are shown."),
        ("Background radiation is low.", "Background radiation is low."),
        ("RESULTS AND DISCUSSION of it all.", "RESULTS AND DISCUSSION of it all."),
    ],
)
def test_a_heading_that_runs_into_its_sentence_is_left_out(text: str, body: str) -> None:
    assert text[body_start(text) :] == body
