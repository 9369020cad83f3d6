"""A text as a row of words, numbers and names, with offsets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from askem.answering.names import is_capitalised, is_identifier, name_key
from askem.answering.numbers import MULTIPLIERS, number_key, times
from askem.text.analysis import STOP_WORDS, tokens

# "1,000"; "1.5" and "1.5mL"; else letters and digits joined by hyphens or apostrophes.
_CHUNK = re.compile(
    r"(?<![\d.,])\d{1,3}(?:[,\u2009\u202f\u00a0]\d{3})+(?![\d,])(?:\.\d+)?"
    r"|\d+[.\u00b7]\d+(?:[^\W\d_]{1,4}(?![\w-]))?"
    r"|[^\W_]+(?:['\u2019\u2010\u2011-](?!\d+[.\u00b7]\d)[^\W_]+)*"
)
_ISO_DATE = re.compile(r"(?:1[5-9]|20)\d\d-(?:0[1-9]|1[0-2])-\d\d", re.ASCII)
_HYPHEN = re.compile(r"[\u2010\u2011-]")
_PERCENT = frozenset(["percent", "percentage", "cent"])  # said by "%" as well, which is no word
_PLAIN_PART = re.compile(r"[^\W\d_A-Z]{3,}")
_SENTENCE_MARK = re.compile(r"[.:;!?\u2022\"\u201c|]\s*[\"\u201c(\[*_]*$|^\W*$")


@dataclass(frozen=True, slots=True)
class Lexeme:
    """A word at text[start:end]. At most one of `number` and `name` is set."""

    word: str
    start: int
    end: int
    terms: tuple[str, ...]
    """Analysed; empty for stop words. Of numbers the key, of identifiers the key of the name."""
    number: str | None = None
    name: str | None = None
    identifier: bool = False
    """A name that is told by its form (IL-6), not by a capital alone."""


def lexemes(text: str) -> list[Lexeme]:
    """Words in order; "5-7" are two numbers, "IL-6-induced" a name and a word."""
    found: list[Lexeme] = []
    for chunk in _CHUNK.finditer(text):
        for start, end in _parts(chunk[0], chunk.start()):
            lexeme = _lexeme(text, start, end)
            before = found[-1] if found else None
            if before and before.number and lexeme.word.lower() in MULTIPLIERS:
                key = times(before.number, lexeme.word.lower())
                word = text[before.start : end]
                found[-1] = replace(before, word=word, number=key, terms=(key,), end=end)
            else:
                found.append(lexeme)
        if _ISO_DATE.fullmatch(chunk[0]):
            key = f"month {found[-2].number}"
            found[-2] = replace(found[-2], number=key, terms=(key,))
    return found


def _parts(chunk: str, start: int) -> Iterator[tuple[int, int]]:
    """Offsets of the words of a chunk: an identifier or number word whole, else part by part."""
    spans, at = [], 0
    for part in _HYPHEN.split(chunk):
        spans.append((at, at + len(part)))
        at += len(part) + 1
    low, high = 0, len(spans)
    while low < high and _PLAIN_PART.fullmatch(chunk[slice(*spans[low])]):
        low += 1
    while high > low and _PLAIN_PART.fullmatch(chunk[slice(*spans[high - 1])]):
        high -= 1
    core = chunk[spans[low][0] : spans[high - 1][1]] if low < high else ""
    if len(spans) > 1 and number_key(chunk):
        spans = [(0, len(chunk))]
    elif high - low > 1 and is_identifier(core) and not _counted(core):
        spans = [*spans[:low], (spans[low][0], spans[high - 1][1]), *spans[high:]]
    for a, b in spans:
        yield start + a, start + b


def _counted(core: str) -> bool:
    """ "5-mL", "3-D-12": a number before what it counts, not an identifier such as 2019-nCoV."""
    first, *rest = _HYPHEN.split(core)
    return number_key(first) is not None and all(number_key(f"1{part}") for part in rest)


def _lexeme(text: str, start: int, end: int) -> Lexeme:
    word = text[start:end]
    number = number_key(word)
    if word == "May" and _begins(text, start):
        number = None  # "May" the verb
    if number:
        return Lexeme(word, start, end, (number,), number=number)
    if is_identifier(word):
        key = name_key(word)
        return Lexeme(word, start, end, (key,), name=key, identifier=True)
    terms = _terms(word)
    named = is_capitalised(word) and word.lower() not in STOP_WORDS and len(word) > 2
    if named and not _begins(text, start):
        return Lexeme(word, start, end, terms, name=name_key(word))
    return Lexeme(word, start, end, terms)


def _begins(text: str, start: int) -> bool:
    """Whether a word's capital may be that of a sentence, heading or quotation."""
    return start == 0 or bool(_SENTENCE_MARK.search(text[max(0, start - 6) : start]))


@lru_cache(maxsize=50_000)
def _terms(word: str) -> tuple[str, ...]:
    return () if word.lower() in _PERCENT else tuple(tokens(word))
