"""What is negated: cues ("no", "without", "failed to") and the two content words after them."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass

from askem.answering.lexemes import Lexeme

SCOPE = 2
_CUES = frozenset(
    """no not never neither nor none nobody nothing nowhere without cannot lack lacks lacked lacking
    fail fails failed failing absence absent unable hardly barely scarcely""".split()
)
# "Lack of X" is said in many other ways (X-deficient mice): a difference here is a doubt.
_WEAK_CUES = frozenset(
    """lack lacks lacked lacking fail fails failed failing absence absent unable hardly barely
    scarcely""".split()
)
_CLAUSE_END = re.compile(r"[.;:!?]\s|\n\s*\n")
_NUMBER_SIGN = re.compile(r"No\.?\s?\d")
_NOT_ONLY = re.compile(r"not\s+(?:only|just|merely|least)\b", re.IGNORECASE)

_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non", "a", "mis")
# Words that only look like an antonym: "in" + "formed" is not "not formed".
_NO_ANTONYM = frozenset(
    """inform informed information import important increase income instill inside input intake
    invest impress impact implant improve immigrate display discharge discover discuss disease
    union unit until under include involve indeed industry intense inverse institute insight
    infections ineach imply impart inflow influx inborn inhale inlet install indifferent
    illustrate irradiate irradiated discount distill about above across again ago alike along
    among apart around arise aside await away inflammation invitro intent""".split()
)


def is_cue(lexeme: Lexeme) -> bool:
    word = lexeme.word.lower()
    return word in _CUES or word.endswith(("n't", "n\u2019t"))


@dataclass(frozen=True, slots=True)
class Scope:
    """Places of the content words that one cue negates, in order; none at the end of a clause."""

    places: tuple[int, ...]
    weak: bool
    """Of "lack", "fail" and their like."""


def scopes(text: str, words: Sequence[Lexeme], first: int, after: int) -> list[Scope]:
    """Of the cues among words[first:after]."""
    return [
        Scope(_scope(text, words, place, after), words[place].word.lower() in _WEAK_CUES)
        for place in range(first, after)
        if is_cue(words[place]) and not _idiom(text, words[place].start)
    ]


def _idiom(text: str, at: int) -> bool:
    return bool(_NUMBER_SIGN.match(text, at) or _NOT_ONLY.match(text, at))


def _scope(text: str, words: Sequence[Lexeme], cue: int, after: int) -> tuple[int, ...]:
    scope: list[int] = []
    for place in range(cue + 1, after):
        if len(scope) == SCOPE or _CLAUSE_END.search(
            text, words[place - 1].end, words[place].start
        ):
            break
        if words[place].terms and not is_cue(words[place]):
            scope.append(place)
    return tuple(scope)


def opposite(word: str, others: Container[str]) -> str | None:
    """The one of `others` (lower case) that is `word` with a negating prefix, or without it."""
    if len(word) < 4 or word in _NO_ANTONYM:
        return None
    for prefix in _PREFIXES:
        longer = prefix + word
        if longer in others and longer not in _NO_ANTONYM and (len(prefix) > 1 or len(word) > 5):
            return longer
        bare = word.removeprefix(prefix)
        if bare != word and len(bare) >= (4 if len(prefix) > 1 else 6) and bare in others:
            return bare
    return None
