"""The one analyzer of both legs: text to index terms.

Tokens are runs of word characters, lower-cased, accents folded, stemmed by Snowball English.
Stop words (Lucene's, and question words, auxiliaries, pronouns, common prepositions and adverbs)
and one-character tokens are dropped from passages as from questions: distances between terms then
count content words alone, which ranks better (`docs/ranking.md`).
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import Stemmer

ANALYZER_ID = "english-v1"

_WORD = re.compile(r"\w+")
_ACCENTS = re.compile("[\u0300-\u036f]")
MAX_TERMS = 128
"""Most distinct terms of a question that are looked up; the rest is ignored."""

# Lucene's EnglishAnalyzer.ENGLISH_STOP_WORDS_SET.
LUCENE_STOP_WORDS = frozenset(
    """a an and are as at be but by for if in into is it no not of on or such that the their then
    there these they this to was will with""".split()
)

STOP_WORDS = LUCENE_STOP_WORDS | frozenset(
    """what which who whom whose when where why how
    am been being do does did doing done has have had having can could may might must shall should
    would ought
    i me my mine we us our ours you your yours he him his she her hers its them theirs itself
    themselves those
    about above across after against along among around before behind below between beyond during
    from off onto out over per since than through toward towards under until upon via within
    without
    also any each ever however just many more most much only other please same some so still tell
    too very yet""".split()
)

_PLACED = re.compile("\\w[\\w\u0300-\u036f]*")
"""A word of a text as it is written, where accents may be characters of their own."""

_local = threading.local()


@dataclass(frozen=True, slots=True)
class Placed:
    """An index term and where its word, text[start:end], stands."""

    term: str
    start: int
    end: int


def tokens(text: str) -> list[str]:
    """Index terms of a text, in order, with repeats."""
    return [_stem(w) for w in _words(text) if len(w) > 1 and w not in STOP_WORDS]


def placed_tokens(text: str) -> list[Placed]:
    """Index terms of a text, in order, with the places of their words in characters."""
    return [
        Placed(term, word.start(), word.end())
        for word in _PLACED.finditer(text)
        for term in tokens(word.group())
    ]


def word_terms(words: Iterable[str]) -> list[str]:
    """The index terms of folded, lower-case words; "" for one that is not indexed. For many words
    that are looked at once: nothing is remembered of them."""
    listed = list(words)
    stems = _stemmer().stemWords(listed)
    return [
        stem if len(word) > 1 and word not in STOP_WORDS else ""
        for word, stem in zip(listed, stems, strict=True)
    ]


def folded(word: str) -> str:
    """Lower case without accents, as words are before they are stemmed."""
    return (word if word.isascii() else _fold(word)).lower()


def question_terms(question: str) -> list[str]:
    """The distinct terms of a question, in the order of their first occurrence, at most 128.

    Empty for a question without content words ("what is it?").
    """
    return list(dict.fromkeys(tokens(question)))[:MAX_TERMS]


def _words(text: str) -> list[str]:
    return _WORD.findall(folded(text))


def _fold(text: str) -> str:
    """Accents off: é becomes e. Marks of other scripts stay: without them words become others."""
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFC", bare)


@lru_cache(maxsize=200_000)
def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word))


def _stemmer() -> Stemmer.Stemmer:
    # A Snowball stemmer holds state while it works: one for each thread.
    stemmer = getattr(_local, "stemmer", None)
    if stemmer is None:
        stemmer = _local.stemmer = Stemmer.Stemmer("english", 0)
    return stemmer
