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
_PLAIN = re.compile(r"[^\W\d_a-z][^\W\dA-Z_]+(?:[\u2010\u2011-][^\W\dA-Z_]+)*")
_LABEL = frozenset(
    """abstract summary background objective objectives aim aims purpose introduction method
    methods result results finding findings discussion conclusion conclusions materials
    importance""".split()
)
"""Headings of a paper's sections, which run into the sentence after them."""
_NO_NAME = re.compile(
    r"\w+(?:ican|[eiy]an|[^s]ish|[aeln]ese)|dutch|french|greek"
    r"|january|february|march|april|may|june|july|august|\w+ember|october"
    r"|another|even|political|although|several|one|two|three|first|later|currently|recently"
    r"|however|while|x-rays?",
    re.IGNORECASE,
)
"""A single word that has a capital for another reason: of nations, months, openers."""


def names(text: str) -> list[str]:
    """The names in a text, in order, without repeats or labels of sections.

    A name has a capital or is one of a run of such words joined by "of", "de" and the like. A word
    that every sentence may begin with ("The", "In") is no part of it, and neither is a plain word
    that only begins a sentence, unless the text has it twice and never in lower case.
    """
    found: list[str] = []
    for start, end in sentence_spans(text):
        for match in _NAME.finditer(text, start, end):
            name = _without_openers(match[0]).rstrip(".'\u2019-")
            if not question_terms(name) or _NO_NAME.fullmatch(name):
                continue
            if match.start() > start or not _PLAIN.fullmatch(name) or _is_kept(name, text):
                found.append(name)
    return list(dict.fromkeys(found))


def _is_kept(word: str, text: str) -> bool:
    as_written = re.findall(rf"\b{re.escape(word)}\b", text)
    return len(as_written) > 1 and not re.search(rf"\b{re.escape(word.lower())}\b", text)


def _without_openers(name: str) -> str:
    words = name.split()
    while words and (_is_opener(words[0]) or words[0].isdigit()):
        words.pop(0)
    while words and len(words[-1]) > 1 and _is_opener(words[-1]):  # "World War I" ends as it is
        words.pop()
    return " ".join(words)


def _is_opener(word: str) -> bool:
    bare = word.lower().rstrip(".")
    return bare in STOP_WORDS or bare in _LABEL
