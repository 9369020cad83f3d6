"""Reading words that the corpus does not have as the words they most likely stand for.

Letters are parted from digits ("COVID19"), or joined with them ("COVID-19" where papers write
COVID19). Otherwise the most frequent known term within edit distance 1 is taken, a swap of
neighbours included (Damerau 1964), of words with five letters or more and with the same initial,
unless so many words are unknown that the question is in another language.
Numbers are never read as other numbers. Pure: the vocabulary comes in as a function.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from askem.text.analysis import (
    MAX_TERMS,
    Placed,
    folded,
    placed_tokens,
    question_terms,
    tokens,
    word_terms,
)

Vocabulary = Callable[[Sequence[str]], Mapping[str, int]]
"""Those of the terms that the corpus has, and how many passages hold each."""

SHORTEST, LONGEST = 5, 30
"""Letters of a word whose spelling is repaired. Each letter costs some fifty look-ups."""
MOST = 4
"""Words of one question that are repaired; the rest stays as it is."""
FOREIGN_WORDS, FOREIGN_SHARE = 3, 0.4
"""Unknown words, and their share of the question's, from which it is taken to be in another
language, whose words stand for no other; `docs/ranking.md` has what that costs."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_LETTERS_DIGITS = re.compile(r"([^\W\d_]{2,})(\d+)")
"""An abbreviation and its number, as in COVID19; not an ordinal, nor H5N1."""


@dataclass(frozen=True, slots=True)
class Reading:
    """text[start:end] of the question, where unknown terms are read as others."""

    start: int
    end: int
    instead_of: tuple[str, ...]
    terms: tuple[str, ...]
    word: str
    """What to write in the place, for readers of text: lower case."""


@dataclass(frozen=True, slots=True)
class _Unknown:
    """A word that the corpus does not have, and what it may stand for."""

    place: Placed
    rewritten: list[Reading]
    """With letters and digits parted or joined, in the order of preference."""
    neighbours: dict[str, str]
    """Terms at edit distance 1, each with a word that has it."""


def readings(question: str, unknown: Iterable[str], vocabulary: Vocabulary) -> list[Reading]:
    """How the words of `question` with `unknown` terms are read, in the order of the text, without
    overlaps. `vocabulary` is asked once at most, and not where there is nothing to try."""
    missing = frozenset(unknown)
    words = _unknown_words(question, missing, spelling=not _foreign(question, missing))
    asked = {term for word in words for term in word.neighbours}
    asked.update(t for word in words for reading in word.rewritten for t in reading.terms)
    if not asked:
        return []
    known = vocabulary(list(asked))
    found: list[Reading] = []
    for word in words:
        best = _best(word, known)
        if best and (not found or found[-1].end <= best.start):
            found.append(best)
    return found


def repaired(terms: Sequence[str], read: Sequence[Reading]) -> list[str]:
    """The question's distinct `terms` with its readings, in order, at most MAX_TERMS."""
    read_as = {term: reading.terms for reading in read for term in reading.instead_of}
    every = [t for term in terms for t in read_as.get(term, (term,))]
    return list(dict.fromkeys(every))[:MAX_TERMS]


def respelt(question: str, read: Sequence[Reading]) -> str:
    """The text of `question` with its readings in the places of what was asked."""
    for reading in reversed(read):
        question = question[: reading.start] + reading.word + question[reading.end :]
    return question


def surface(reading: Reading, texts: Iterable[str]) -> str:
    """The first place in `texts` where the reading's terms follow one another, as it is written
    there; the reading's own word where there is none."""
    wanted = list(reading.terms)
    for text in texts:
        words = placed_tokens(text)
        for i in range(len(words) - len(wanted) + 1):
            if [word.term for word in words[i : i + len(wanted)]] == wanted:
                return text[words[i].start : words[i + len(wanted) - 1].end]
    return reading.word


def _foreign(question: str, unknown: frozenset[str]) -> bool:
    terms = frozenset(question_terms(question))
    count = len(terms & unknown)
    return count >= FOREIGN_WORDS and count >= FOREIGN_SHARE * len(terms)


def _unknown_words(question: str, unknown: frozenset[str], *, spelling: bool) -> list[_Unknown]:
    words = placed_tokens(question)
    found: dict[str, _Unknown] = {}
    for i, word in enumerate(words):
        if word.term in unknown and word.term not in found and len(found) < MOST:
            text = folded(question[word.start : word.end])
            rewritten = [
                Reading(word.start, word.end, (word.term,), tuple(tokens(parted)), parted)
                for parted in _parted(text)
            ]
            rewritten += _joined(words, i, question, unknown)
            near = _neighbours(text) if spelling else {}
            found[word.term] = _Unknown(word, rewritten, near)
    return list(found.values())


def _best(word: _Unknown, known: Mapping[str, int]) -> Reading | None:
    for reading in word.rewritten:
        if all(term in known for term in reading.terms):
            return reading
    near = word.neighbours.keys() & known.keys()
    if not near:
        return None
    # The most frequent; of equals the first by the alphabet.
    best = min(near, key=lambda term: (-known[term], term))
    place = word.place
    return Reading(place.start, place.end, (place.term,), (best,), word.neighbours[best])


def _parted(word: str) -> list[str]:
    """ "covid 19" for "covid19", nothing for other words."""
    parts = _LETTERS_DIGITS.fullmatch(word)
    return [" ".join(parts.groups())] if parts else []


def _joined(
    words: Sequence[Placed], i: int, question: str, unknown: frozenset[str]
) -> list[Reading]:
    """Word `i` written as one with its neighbour, letters and then digits. A neighbour that the
    corpus has stays what it is."""
    found = []
    for first, second in ((i - 1, i), (i, i + 1)):
        if first < 0 or second >= len(words):
            continue
        pair = words[first], words[second]
        left, right = (folded(question[word.start : word.end]) for word in pair)
        between = question[pair[0].end : pair[1].start]
        if len(between) <= 1 and left.isalpha() and right.isdigit():
            read = [word for word in pair if word.term in unknown]
            replaced = tuple(word.term for word in read)
            joined = left + right
            place = read[0].start, read[-1].end
            found.append(Reading(*place, replaced, tuple(tokens(joined)), joined))
    return found


def _neighbours(word: str) -> dict[str, str]:
    """The terms of all words at edit distance 1 with the same initial, and of each the last of
    these words in the alphabet."""
    if not (word.isalpha() and SHORTEST <= len(word) <= LONGEST):
        return {}
    cuts = [(word[:i], word[i:]) for i in range(1, len(word) + 1)]
    edits = {a + b[1:] for a, b in cuts if b}
    edits.update(a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1)
    edits.update(a + c + b[1:] for a, b in cuts if b for c in _LETTERS)
    edits.update(a + c + b for a, b in cuts for c in _LETTERS)
    listed = sorted(edits)
    found = dict(zip(word_terms(listed), listed, strict=True))
    found.pop("", None)
    return found
