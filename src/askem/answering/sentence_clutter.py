"""What stands in a passage beside prose: titles, labels, tables, reference lists."""

from __future__ import annotations

import re

_LABEL = re.compile(
    r"\s*(?:(?:\(?(?:abstract|summary|backgrounds?|objectives?|aims?|purpose|introduction|methods?"
    r"|materials and methods|methods and findings|methodology(?: and principal findings)?"
    r"|methodology/principal findings|principal findings|design|setting|participants|patients"
    r"|results?|findings|main results|discussion|conclusions?|conclusions?/significance"
    r"|significance|interpretation|importance|text|funding|highlights|key ?words"
    r"|main body(?: of the abstract)?|short conclusion)\)?)\s?[:.\u2014\u2013-]\s+)",
    re.IGNORECASE,
)
# The title, authors or heading that a paper's text runs into its first sentence, which begins with
# a capital: "Results Of 612 participants", "INTRODUCTION SARS-CoV-2 is".
_HEAD = re.compile(
    r"(?:[^.]{0,400}\b(?:Abstract|ABSTRACT)|Introduction|Background|Methods|Results|Discussion"
    r"|Conclusions?)\s+(?=[A-Z][\w-]*\s[a-z\d])"
    r"|(?:INTRODUCTION|BACKGROUND|METHODS|RESULTS|DISCUSSION|CONCLUSIONS?)\s+"
    r"(?=[A-Z][a-z]+\s|[A-Z][\w-]*\s[a-z\d])"
)
_PANEL = re.compile(r"\s*\(?[A-H]\)\s+(?=[A-Z])")
_CAPTION = re.compile(r"\s*(?:supplementary )?table \w{1,3}[:.|]\s", re.IGNORECASE)
_STOP = re.compile(r"[.!?:;\u2026][\"'\u2019\u201d)\]]*(?:\s?\[[\d,;\s\u2013-]+\]|\d{1,3})?\s*$")
_LITTLE_WORD = re.compile(
    r"\b(?:the|a|an|of|and|in|to|is|are|was|were|for|with|by|that|which|on|as|from|be|has|have"
    r"|had|can|may|it|this|these|or|at|not)\b",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|can|could|may|might|will|would|should|does|did"
    r"|must)\b"
)
_WORD = re.compile(r"[^\W_]+")
_AUTHORS = re.compile(r"\b[A-Z][\w'\u2019-]{1,40},? (?:[A-Z]\.?-?){1,3}(?=[,;.]|\s(?:and|et al)\b)")
_REFERENCE = re.compile(
    r"\bdoi\b|\b10\.\d{4,}/|https?://|\b(?:19|20)\d\d;\s?\d+|\bvol\. ?\d|\bpp\. ?\d"
    r"|\b\d+\(\d+\):\s?\d+|\bPMID\b|\bISBN\b|\blicen[cs]e: |\bcopyright\b|\ball rights reserved\b",
    re.IGNORECASE,
)
_ENTRY = re.compile(
    r"\s*\[?\d{1,3}[.\])]?\s+[A-Z][\w'\u2019-]+,? (?:[A-Z]\.?,?\s?){1,3}(?:,|\bet al\b|&)"
)
_DISCLAIMER = re.compile(
    r"\bnot necessarily (?:represent|reflect)|\b(?:competing|conflicts? of) interests?\b"
    r"|\bno role in (?:the )?(?:study )?design|\bcreative commons\b|\bpeer[- ]review(?:ed)?\)",
    re.IGNORECASE,
)
MIN_WORDS = 4


def body_start(sentence: str) -> int:
    """Offset at which a sentence begins after labels and headings ("Abstract: BACKGROUND:")."""
    start = 0
    while match := _opening(sentence, start):
        start = match.end()
    return start


def _opening(sentence: str, start: int) -> re.Match[str] | None:
    found = (shape.match(sentence, start) for shape in (_LABEL, _HEAD, _PANEL))
    return next(filter(None, found), None)


def is_clutter(sentence: str) -> bool:
    """Whether a text is no sentence a reader could use: too short, a title, a table's
    caption or row, an entry of a list of references, a line about licence or copyright."""
    words = _WORD.findall(sentence)
    if len(words) < MIN_WORDS:
        return True
    if not _STOP.search(sentence) and not _VERB.search(sentence):
        return True
    if (
        _CAPTION.match(sentence)
        or _ENTRY.match(sentence)
        or _DISCLAIMER.search(sentence)
        or _reference(sentence, len(words))
    ):
        return True
    numbers = sum(any(map(str.isdigit, word)) for word in words)
    capitals = sum(word[0].isupper() for word in words)
    little = len(_LITTLE_WORD.findall(sentence)) / len(words)
    return little < 0.1 and (numbers > 0.4 * len(words) or numbers + capitals > 0.6 * len(words))


def _reference(sentence: str, words: int) -> bool:
    if len(_AUTHORS.findall(sentence)) >= 3:
        return True
    marks = len(_REFERENCE.findall(sentence))
    return marks >= 2 or (marks == 1 and words < 25 and len(_LITTLE_WORD.findall(sentence)) < 3)
