"""What is searched for next, and when no more."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askem.answering.hops import MAX_SEARCHES, next_query
from askem.answering.models import Seen, Source
from askem.answering.sentence_names import names
from askem.text.analysis import question_terms


def seen(query: str, *texts: str) -> Seen:
    return Seen(
        query=query,
        sources=tuple(Source(f"p{n}#p0", f"p{n}", text, 2.0, 0.4) for n, text in enumerate(texts)),
        ranking="proximity",
        idf=dict.fromkeys(question_terms(query), 2.0),
        nearest_distance=0.4,
    )


def test_what_the_first_passage_names_is_searched_with_what_is_open() -> None:
    question = "In which town was the poet who wrote Dune Songs born?"
    search = seen(question, "Dune Songs is a book of verse that the poet Ada Marsh wrote in 1931.")
    assert next_query(question, [search]) == "Ada Marsh town born"


def test_a_covered_question_is_not_searched_again() -> None:
    question = "What do lichens need to grow?"
    assert next_query(question, [seen(question, "Lichens in Oslo need air to grow.")]) is None


def test_a_plain_question_half_covered_is_not_searched_again() -> None:
    question = "What hinders lichens, mosses and ferns?"
    assert next_query(question, [seen(question, "In Oslo lichens and mosses hinders Ada.")]) is None


def test_each_name_of_a_comparison_is_searched() -> None:
    question = "Which is older, Castle Brann or Fort Ellis?"
    search = seen(question, "Castle Brann is a ruin and it was older than the town.")
    assert next_query(question, [search]) == "Fort Ellis"


def test_no_query_is_asked_twice() -> None:
    question = "Which is older, Castle Brann or Fort Ellis?"
    first = seen(question, "Castle Brann was built by Ada Marsh in the town of Lund.")
    asked = [first]
    while (query := next_query(question, asked)) is not None:
        assert query not in [search.query for search in asked]
        asked.append(seen(query))
    assert 1 < len(asked) <= MAX_SEARCHES


def test_where_the_second_search_found_nothing_the_first_is_read_again() -> None:
    question = "In which town was the poet who wrote Dune Songs born?"
    first = seen(question, "Dune Songs, which Ada Marsh wrote, was printed by Olaf Berg.")
    missed = seen("Ada Marsh town born", "Nothing of the kind stands here, says Ivar Hald.")
    query = next_query(question, [first, missed])
    assert query is not None
    assert "Olaf Berg" in query


def test_nothing_found_is_not_followed() -> None:
    assert next_query("Where is it?", []) is None
    assert next_query("Where is Oslo?", [seen("Where is Oslo?")]) is None
    assert next_query("What is it?", [seen("What is it?", "Oslo is.")]) is None


def test_names() -> None:
    text = (
        "The bridge of Lund was seen by Ada Marsh and Olaf Berg. American poets met King of Siam."
    )
    assert names(text) == ["Lund", "Ada Marsh", "Olaf Berg", "King of Siam"]


def test_a_month_or_a_nation_alone_is_no_name() -> None:
    assert names("In March the Swedish poet came to Lund.") == ["Lund"]


def test_a_plain_word_that_only_begins_a_sentence_is_no_name() -> None:
    assert names("Genetic traits differ. Bohol is an island.") == []
    assert names("Bohol. Bohol is an island.") == ["Bohol"]


@given(st.text(max_size=80), st.lists(st.text(max_size=150), max_size=4))
def test_never_raises_and_is_the_same_every_time(question: str, texts: list[str]) -> None:
    searches = [seen(question, *texts)]
    query = next_query(question, searches)
    assert query == next_query(question, searches)
    assert query is None or question_terms(query) != question_terms(question)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Results After the fall of Oslo the price rose.", ["Oslo"]),
        ("RESULTS In 2020 Ada Marsh wrote verse.", ["Ada Marsh"]),
        ("Methods We used X-ray scattering at Lund.", ["Lund"]),
        ("In winter Influenza A spread to Oslo.", ["Influenza A", "Oslo"]),
        ("INTRODUCTION SARS-CoV-2 is a virus.", ["SARS-CoV-2"]),
        ("Break-glass accounts are for the worst case.", []),
    ],
)
def test_labels_openers_and_techniques_are_no_names(text: str, found: list[str]) -> None:
    assert names(text) == found
