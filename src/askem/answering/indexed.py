"""A passage made ready for looking up what a sentence says."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache

from askem.answering.answer_text import split_answer
from askem.answering.lexemes import Lexeme, lexemes
from askem.answering.names import name_key, same_root
from askem.answering.passage_units import Span, is_section, units_of
from askem.text.sentences import sentence_spans

_RUN = re.compile(r"[^\W_]+")
_MIN_INITIALS = 3


@dataclass(frozen=True, slots=True)
class Indexed:
    """Places are indexes into `lexemes`."""

    text: str
    lexemes: tuple[Lexeme, ...]
    sentences: tuple[tuple[int, int, int, int], ...]
    """(start, end) offsets in the text, then (first, after last) places; in a section also of its
    items, rows and code."""
    contexts: tuple[tuple[Span, ...], ...]
    """Parallel to `sentences`: (first, after last) places of what each is read under, the path of
    headings, a table's head; empty in papers."""
    rows: frozenset[int]
    """Indexes of those of `sentences` that are rows: what stands in two of them is not said."""
    verbatim: dict[str, Span]
    """Offsets of sentences, rows and code, by their words in `plain` writing."""
    places: dict[str, tuple[int, ...]]
    """Of analysed terms and number keys."""
    squashed: str
    """Letters and digits of the text alone, as `name_key` writes them."""
    run_starts: dict[int, int]
    """Offset in `squashed` at which a run of letters and digits begins, to its place."""
    run_ends: frozenset[int]
    initials: str

    def find(self, lexeme: Lexeme) -> tuple[int, ...]:
        """Places at which a word, number or name of a sentence stands, in any of its writings."""
        found: set[int] = set()
        for term in lexeme.terms:
            found.update(self.places.get(term, ()))
        if lexeme.name:
            found.update(self._find_name(lexeme.name))
            if lexeme.identifier:
                found.update(self._find_initials(lexeme.word))
            elif not found:
                found.update(self._find_root(lexeme.name))
        return tuple(sorted(found))

    def _find_name(self, key: str) -> set[int]:
        found: set[int] = set()
        for form in {key, key.removesuffix("s"), key + "s"} - {""}:
            at = self.squashed.find(form)
            while at >= 0:
                if at in self.run_starts and at + len(form) in self.run_ends:
                    found.add(self.run_starts[at])
                at = self.squashed.find(form, at + 1)
        return found

    def _find_initials(self, word: str) -> set[int]:
        """ "MERS" where "Middle East respiratory syndrome" is spelt out."""
        letters = word.removesuffix("s")
        if not (letters.isalpha() and letters.isupper() and len(letters) >= _MIN_INITIALS):
            return set()
        at = self.initials.find(letters.lower())
        return {at} if at >= 0 else set()

    def _find_root(self, name: str) -> set[int]:
        return {
            place
            for place, lexeme in enumerate(self.lexemes)
            if lexeme.word[:1].isupper() and same_root(name, lexeme.word.lower())
        }


@lru_cache(maxsize=64)
def indexed(text: str) -> Indexed:
    """Kept for the passages of the answers at work: one passage is cited by several sentences."""
    return build_index(text)


def build_index(text: str) -> Indexed:
    words = lexemes(text)
    starts = [lexeme.start for lexeme in words]

    def within(start: int, end: int) -> Span:
        return bisect_left(starts, start), bisect_left(starts, end)

    units = units_of(text)
    places: dict[str, list[int]] = {}
    for place, lexeme in enumerate(words):
        for term in lexeme.terms:
            places.setdefault(term, []).append(place)
    squashed, run_starts, run_ends = _squash(words)
    return Indexed(
        text=text,
        lexemes=tuple(words),
        sentences=tuple((u.start, u.end, *within(u.start, u.end)) for u in units),
        contexts=tuple(tuple(within(*span) for span in u.context) for u in units),
        rows=frozenset(at for at, unit in enumerate(units) if unit.kind == "row"),
        verbatim=_verbatim(text),
        places={term: tuple(found) for term, found in places.items()},
        squashed=squashed,
        run_starts=run_starts,
        run_ends=frozenset(run_ends),
        initials="".join(lexeme.word[0].lower()[:1] for lexeme in words),
    )


def plain(text: str) -> str:
    """A text without what line breaks and indents add."""
    return " ".join(text.split())


def _verbatim(text: str) -> dict[str, Span]:
    """The first place of each."""
    found = [(text[start:end], start, end) for start, end in sentence_spans(text)]
    if is_section(text):
        found = [(unit.text, unit.start, unit.end) for unit in split_answer(text)] + found
    return {plain(words): (start, end) for words, start, end in reversed(found)}


def _squash(words: list[Lexeme]) -> tuple[str, dict[int, int], set[int]]:
    parts: list[str] = []
    length = 0
    run_starts: dict[int, int] = {}
    run_ends: set[int] = set()
    for place, lexeme in enumerate(words):
        for run in _RUN.findall(lexeme.word):
            key = name_key(run)
            run_starts.setdefault(length, place)
            length += len(key)
            run_ends.add(length)
            parts.append(key)
    return "".join(parts), run_starts, run_ends
