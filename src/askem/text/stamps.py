"""Lines that a publisher or an archive stamped on a page, told by their shape."""

from __future__ import annotations

import re

_MAX_CHARS = 200
_MAX_GROUP_LINES = 3
_SPACES = re.compile(r"\s+")
_MONTH = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]{0,6}\.?"
_DATE = (
    rf"(?:\d{{1,2}}(?:st|nd|rd|th)? {_MONTH},? \d{{4}}|{_MONTH} \d{{1,2}},? \d{{4}}"
    rf"|{_MONTH} \d{{4}}|\d{{1,2}}[./-]\d{{1,2}}[./-]\d{{2,4}}|\d{{4}}-\d\d-\d\d)"
)
_TIME = r"\d{1,2}:\d{2}(?::\d{2})?"
_WEB = r"(?:https?://|www\.)\S+"
_TAKEN = r"(?:downloaded|accessed|retrieved|printed) (?:from|by|on|at|via|for)\b"
_STAMPS = re.compile(
    # "Received 4 May 2021; accepted 9 June 2021", "Received: 04/05/2021 | Revised: ..."
    r"(?:article history:? ?)?(?:(?:manuscript |first )?"
    r"(?:received|submitted|revised|accepted|published|available|posted)"
    rf"(?: (?:on|online|in (?:revised|final) form|for publication))*:? {_DATE}[;,.|/ ]*)+"
    # "(c) 2021 The Authors. Published by ...", "Copyright: 2021 ..."
    r"|(?:\u00a9|\(c\) ?(?=(?:19|20)\d\d)|copyright:? ?(?=\u00a9|\(c\)|(?:19|20)\d\d|by )).{4,160}"
    r"|(?:[ep]-?)?issn(?: \(\w+\))?:? ?\d{4}-?\d{3}[\dx]\b.{0,80}"
    r"|(?:https?://(?:dx\.)?doi\.org/|doi:? ?)10\.\d{4,9}/\S+"
    r"|this article is protected by copyright\b.{0,80}"
    r"|(?:this copy is )?for (?:your )?(?:personal|private|internal|non-?commercial)"
    r"(?:, (?:personal|private|non-?commercial))* use only\b.{0,80}"
    r"|all rights reserved\b.{0,80}|no re-?use allowed without permission\b.{0,40}",
    re.IGNORECASE,
)
# One that stands apart need only name a time or an address somewhere ...
_APART = re.compile(rf"{_TAKEN}(?=.*(?:{_DATE}|{_TIME}|{_WEB})).*", re.IGNORECASE)
# ... but among the lines of a paragraph it must end with one too.
_AMID = re.compile(
    rf"{_TAKEN}.*(?:{_DATE}|{_TIME}(?: ?[ap]m)?(?: [A-Z]{{2,4}})?|{_WEB}|by guest)[.)\]]?",
    re.IGNORECASE,
)
_LOWER_START = re.compile(r"(?!https?:|doi|[ep]-?ISSN)[a-z]")
_SENTENCE_WORDS = re.compile(r"\b(?:was|were|is(?! protected)|are|we|they|had|then)\b")


def is_stamp(line: str, amid_text: bool = False) -> bool:
    """Whether a line is a stamp: of access, dates of receipt, copyright, ISSN or DOI.

    Args:
        line: the line, as it stands.
        amid_text: whether it has text directly before or behind; then only a stamp of access
            counts, and only one that ends as it must.
    """
    plain = _SPACES.sub(" ", line).strip()
    if len(plain) > _MAX_CHARS or _LOWER_START.match(plain):
        return False
    if amid_text:
        return _AMID.fullmatch(plain) is not None and not _SENTENCE_WORDS.search(plain)
    if _APART.fullmatch(plain):
        return not _SENTENCE_WORDS.search(plain)
    return _STAMPS.fullmatch(plain) is not None


def stamp_indices(lines: list[str]) -> set[int]:
    """The stamps among lines: in groups of few lines of their own, of access anywhere.

    A group whose first line begins a stamp which the others end ("This article is protected by
    copyright. All rights" / "reserved.") goes as a whole.
    """
    found: set[int] = set()
    group: list[int] = []
    for index, line in enumerate([*lines, ""]):
        if line.strip():
            group.append(index)
            continue
        found.update(_stamps_of_group(lines, group))
        group = []
    return found


def _stamps_of_group(lines: list[str], group: list[int]) -> list[int]:
    if len(group) > _MAX_GROUP_LINES:
        return [index for index in group if is_stamp(lines[index], amid_text=True)]
    if len(group) == 2 and is_stamp(" ".join(lines[index] for index in group)):
        return group
    return [index for index in group if is_stamp(lines[index])]
