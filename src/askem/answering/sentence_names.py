"""Names in a text: runs of capitalised words, acronyms."""

from __future__ import annotations

import re

from askem.text.analysis import STOP_WORDS, question_terms
from askem.text.sentences import sentence_spans

_PART = r"[^\W\d_a-z][\w'\u2019-]*\.?"
_NAME = re.compile(
    rf"{_PART}(?:(?:\s(?:of(?:\sthe)?|de(?:\sla)?|van|von|der|du|di|&))?\s"
    rf"(?:{_PART}|\d+))*"
)
_NO_NAME = re.compile(
    r"\w+(?:ican|[eiy]an|[^s]ish|[aeln]ese)|dutch|french|greek"
    r"|january|february|march|april|may|june|july|august|\w+ember|october"
    r"|another|even|political|although|several|one|two|three|first|later|currently|recently"
    r"|however|while",
    re.IGNORECASE,
)
"""A single word that has a capital for another reason: of nations, months, openers."""


def names(text: str) -> list[str]:
    """The names in a text, in order, without repeats.

    A name has a capital or is one of a run of such words joined by "of", "de" and the like; a
    word that every sentence may begin with ("The", "In") is no part of it.
    """
    found: list[str] = []
    for start, end in sentence_spans(text):
        for match in _NAME.finditer(text, start, end):
            name = _without_openers(match[0]).rstrip(".'\u2019-")
            if question_terms(name) and not _NO_NAME.fullmatch(name):
                found.append(name)
    return list(dict.fromkeys(found))


def _without_openers(name: str) -> str:
    words = name.split()
    while words and words[0].lower().rstrip(".") in STOP_WORDS:
        words.pop(0)
    return " ".join(words)
