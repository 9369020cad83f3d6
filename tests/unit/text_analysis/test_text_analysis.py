"""Text to index terms."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askem.text.analysis import (
    LUCENE_STOP_WORDS,
    MAX_TERMS,
    STOP_WORDS,
    folded,
    placed_tokens,
    question_terms,
    tokens,
    word_terms,
)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", []),
        ("  \n\t ", []),
        ("?!.,;—", []),
        ("Infections infecting INFECTED", ["infect", "infect", "infect"]),
        ("The models of the viruses", ["model", "virus"]),
        # Identifiers fall into their parts; parts of one character are dropped.
        ("SARS-CoV-2", ["sar", "cov"]),
        ("B.1.1.7", []),
        ("IL-6, CD4+ and p53", ["il", "cd4", "p53"]),
        ("2020 10.1101/2020.03", ["2020", "10", "1101", "2020", "03"]),
        ("snake_case stays", ["snake_cas", "stay"]),
        ("x y z xy", ["xy"]),
        # Accents
        ("café Ångström naïve", ["cafe", "angstrom", "naiv"]),
        ("cafe\u0301 ÉTUDE", ["cafe", "etud"]),
        ("İstanbul", ["istanbul"]),
        ("Straße Øresund", ["straße", "øresund"]),
        ("ﬁbre \uff12\uff10\uff12\uff10", ["fibr", "2020"]),
        # Other scripts
        ("вирус гриппа", ["вирус", "гриппа"]),
        ("病毒 感染", ["病毒", "感染"]),
        ("\U00020bb7野家", ["\U00020bb7野家"]),
        ("\U0001f9a0\U0001f637", []),
    ],
)
def test_tokens(text: str, wanted: list[str]) -> None:
    assert tokens(text) == wanted


def test_placed_tokens_know_their_words() -> None:
    text = "The café's E\u0301TUDES: COVID-19, of ﬁbres"
    placed = placed_tokens(text)
    assert [word.term for word in placed] == tokens(text)
    words = [text[word.start : word.end] for word in placed]
    assert words == ["café", "E\u0301TUDES", "COVID", "19", "ﬁbres"]


@given(st.text(st.sampled_from("aBé7 -_ß病в\u0301.")))
def test_placed_tokens_are_the_tokens(text: str) -> None:
    assert [word.term for word in placed_tokens(text)] == tokens(text)


def test_word_terms_are_the_tokens_of_single_words() -> None:
    words = ["infections", "the", "x", "19", "cafe"]
    assert word_terms(words) == ["infect", "", "", "19", "cafe"]
    assert word_terms([]) == []
    assert folded("CAFÉ") == "cafe"


def test_stop_words_are_dropped_in_any_case() -> None:
    assert LUCENE_STOP_WORDS <= STOP_WORDS
    assert len(LUCENE_STOP_WORDS) == 33
    for text in (" ".join(STOP_WORDS), " ".join(STOP_WORDS).upper()):
        assert tokens(text) == []


def test_a_stem_that_looks_like_a_stop_word_stays() -> None:
    """Words are dropped before they are stemmed."""
    assert tokens("being doings") == ["do"]


@pytest.mark.parametrize("text", ["Ångström™ units", "℡ numbers", "20 ㎒", "№ five"])
def test_compatibility_letters_are_lower_case_too(text: str) -> None:
    assert tokens(text) == [token.lower() for token in tokens(text)]


def test_question_terms_are_distinct_in_order() -> None:
    question = "Which infection models model infected lungs, and which lungs?"
    assert question_terms(question) == ["infect", "model", "lung"]


@pytest.mark.parametrize("question", ["", "what is it?", "Who are they, and why?", "a b c", "???"])
def test_a_question_without_content_words_has_no_terms(question: str) -> None:
    assert question_terms(question) == []


def test_a_question_has_at_most_128_terms() -> None:
    words = [f"word{n}" for n in range(MAX_TERMS + 50)]
    # Repeats do not use the room up.
    terms = question_terms(" ".join(word for word in words for _ in range(3)))
    assert terms == words[:128]
    assert len(tokens(" ".join(words))) == MAX_TERMS + 50


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60))
def test_any_text_has_tokens_of_two_characters_at_least(text: str) -> None:
    found = tokens(text)
    assert all(found)
    assert not any(character.isspace() for token in found for character in token)
    assert question_terms(text) == list(dict.fromkeys(found))


def test_many_threads_get_the_same_stems() -> None:
    """More distinct words than the cache is warm for, stemmed in many threads at once."""
    endings = "ing ed s ation ational izer fulness ousli ically".split()
    text = " ".join(f"stem{n}{ending}" for n in range(400) for ending in endings)

    def analysed(part: int) -> list[str]:
        return tokens(text.replace("stem", f"root{part}x"))

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(analysed, range(16)))
    plain = [token.replace("root0x", "") for token in found[0]]
    for part, result in enumerate(found):
        assert [token.replace(f"root{part}x", "") for token in result] == plain
    assert plain[: len(endings)] != [f"0{ending}" for ending in endings]


def test_marks_of_other_scripts_are_kept() -> None:
    assert tokens("モデル") == ["モデル"]
