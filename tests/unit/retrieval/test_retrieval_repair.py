"""Which words are read as which: pure, over a vocabulary in a dict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from askem.retrieval.repair import Reading, readings, repaired, respelt, surface
from askem.text.analysis import MAX_TERMS, question_terms

KNOWN = {"infect": 9, "virus": 7, "transmiss": 3, "covid": 5, "19": 5, "sidarth": 1, "mers": 2}


def read(question: str, known: Mapping[str, int] = KNOWN) -> tuple[list[str], list[str]]:
    """The question's terms after repair, and the words that were read as others."""
    unknown = [term for term in question_terms(question) if term not in known]

    def vocabulary(terms: Sequence[str]) -> Mapping[str, int]:
        return {term: known[term] for term in terms if term in known}

    found = readings(question, unknown, vocabulary)
    terms = repaired(question_terms(question), found)
    return terms, [question[r.start : r.end] for r in found]


@pytest.mark.parametrize(
    "word",
    [
        "infectoin",  # swapped in the ending, which the stemmer would have cut
        "infetcion",
        "infction",
        "inffection",
        "infextion",
        "infectionn",
        "INFECTOIN",
        "Infectión".replace("ti", "it"),
    ],
)
def test_one_slip_is_repaired_wherever_in_the_word(word: str) -> None:
    assert read(f"the {word} of cells", {**KNOWN, "cell": 1}) == (["infect", "cell"], [word])


@pytest.mark.parametrize(
    "word",
    [
        "imfectoin",  # two slips
        "onfection",  # another initial
        "nfection",
        "mera",  # four letters
        "virus2x",
        "infectoin9",
        "12345",
        "i" + "n" * 40,
    ],
)
def test_what_is_not_read(word: str) -> None:
    assert read(word) == (question_terms(word), [])


def test_the_most_frequent_reading_wins_and_ties_go_by_the_alphabet() -> None:
    known = {"carbon": 2, "carton": 5}
    assert read("carlon", known)[0] == ["carton"]
    assert read("carlon", {**known, "carbon": 5})[0] == ["carbon"]


def test_words_that_are_known_stay() -> None:
    assert read("virus transmission", {**KNOWN, "viru": 900}) == (["virus", "transmiss"], [])


@pytest.mark.parametrize("word", ["COVID19", "covid19"])
def test_letters_are_parted_from_digits(word: str) -> None:
    assert read(f"{word} infection") == (["covid", "19", "infect"], [word])


@pytest.mark.parametrize("word", ["COVID-19", "covid 19", "Covid_19"])
def test_letters_are_joined_with_digits(word: str) -> None:
    known = {"covid19": 4, "infect": 9}
    expected = (["covid19", "infect"], ["COVID-19"])
    got = read(f"{word} infection", known)
    # Word characters: an underscore does not part them.
    assert got == ((["covid_19", "infect"], []) if "_" in word else (expected[0], [word]))


def test_joining_leaves_a_known_neighbour_alone() -> None:
    known = {"covid19": 4, "covid": 1}
    assert read("COVID-19 wards", {**known, "ward": 1}) == (
        ["covid", "covid19", "ward"],
        ["19"],
    )
    assert read("COVID, in all 19", {"covid19": 4, "covid": 1})[1] == []


@pytest.mark.parametrize("word", ["5th", "20th", "H5N1", "R0", "1Beta", "B117"])
def test_ordinals_and_strains_are_not_parted(word: str) -> None:
    known = {"th": 9, "20": 9, "beta": 9, "117": 9}
    assert read(word, known) == (question_terms(word), [])


def test_parts_that_are_not_known_are_none() -> None:
    assert read("COVID20") == (["covid20"], [])


def test_the_vocabulary_is_asked_once_and_only_for_what_may_be() -> None:
    asked: list[Sequence[str]] = []

    def vocabulary(terms: Sequence[str]) -> Mapping[str, int]:
        asked.append(terms)
        return {}

    assert readings("of infection and 12 ab", ["12", "ab"], vocabulary) == []
    assert readings("what is it", [], vocabulary) == []
    assert asked == []
    words = [f"infectoin{letter}" for letter in "abcdefgh"]
    question = " ".join([*words, *(f"word{number}" for number in range(13))])
    assert readings(question, question_terms(" ".join(words)), vocabulary) == []
    (terms,) = asked
    # Four words of ten letters: the others stay as they are.
    assert len(terms) == len(set(terms)) < 4 * 60 * 10


def test_a_question_in_another_language_is_left_as_it_is() -> None:
    assert read("Wie viele Patienten hatten eine Infektion?")[1] == []
    assert read("Which patients had an infektion?")[1] == ["infektion"]


def test_letters_and_digits_are_parted_in_any_language() -> None:
    assert read("Viele Patienten hatten COVID19?")[1] == ["COVID19"]


def test_a_word_that_is_repeated_is_repaired_everywhere() -> None:
    assert read("infectoin or infectoin")[0] == ["infect"]


def test_terms_stay_within_their_bound() -> None:
    question = "COVID19 " + " ".join(f"word{i}x" for i in range(MAX_TERMS))
    terms, _ = read(question, {"covid": 1, "19": 1})
    assert len(terms) == MAX_TERMS
    assert terms[:3] == ["covid", "19", "word0x"]


def test_a_reading_is_shown_as_the_passages_write_it() -> None:
    texts = ["Nothing here.", "The SIDARTHE model", "Sidarthe, COVID-19"]

    def shown(*terms: str) -> str:
        return surface(Reading(0, 1, ("x",), terms, "its own word"), texts)

    assert shown("sidarth") == "SIDARTHE"
    assert shown("covid", "19") == "COVID-19"
    assert shown("19", "covid") == "its own word"
    assert shown("infect") == "its own word"


def test_the_text_is_spelt_as_it_was_read() -> None:
    question = "Is COVID19 an infectoin (of lungs)?"
    known = {"covid": 1, "19": 1, "infect": 1}
    found = readings(question, ["covid19", "infectoin"], lambda terms: known)
    assert respelt(question, found) == "Is covid 19 an infection (of lungs)?"
    assert respelt(question, []) == question
    (joined,) = readings("COVID-19 wards", ["covid", "19"], lambda terms: {"covid19": 1})
    assert respelt("COVID-19 wards", [joined]) == "covid19 wards"
