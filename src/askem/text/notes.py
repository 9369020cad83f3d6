"""Notes and captions that cut a text in two: of correspondence they go, others move."""

from __future__ import annotations

import re

from askem.text.sentences import ends_sentence

CONTACT_MARK = "e-mail:"  # left where a note stood alone, for its scattered words to be found by
CONTACT = re.compile(r"[\w.+-]{1,60}@[\w-]{1,60}\.[\w.-]+|\be-?mail\s*:", re.IGNORECASE)
_CONTACT_START = re.compile(
    r"\W*(?:(?:to whom|for|author for)\s+correspond|correspond|e-?mail|present address)",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"\S{1,60}@\S{1,60}|\S{1,20}\.(?:com|org|edu|net)")
_NOTE_START = re.compile(
    r"[*\u2020\u2021\u00a7\u00b6\u2016#]\s?[A-Z]|(?:V ?)?C ?\u00a9|\u00a9|\(c\) |copyright\b"
    r"|(?:received|accepted|published|editors?|edited by|reviewed by)\s?:"
    r"|abbreviations?\s?:|this is an open.access article|funding\s?:"
    r"|(?:fig(?:ure|\.)?|table|scheme|box)\s?\d{1,2}\s?[.:|]",
    re.IGNORECASE,
)
_CONTACT_LINES = 5
_NOTE_LINES = 14


def without_contacts(lines: list[str]) -> list[str]:
    """Lines without notes of correspondence; one that stood alone leaves CONTACT_MARK."""
    kept: list[str] = []
    index = 0
    while index < len(lines):
        end = _contact_end(lines, index)
        if end is None:
            kept.append(lines[index])
            index += 1
            continue
        after = lines[end].strip() if end < len(lines) else ""
        if not after and not (kept and kept[-1].strip()):
            kept.append(CONTACT_MARK)
        index = end
    return kept


def _contact_end(lines: list[str], start: int) -> int | None:
    """The index after the contact note that begins at a line, or None if none does."""
    if not _CONTACT_START.match(lines[start]):
        return None
    for index in range(start, min(start + _CONTACT_LINES, len(lines))):
        if not lines[index].strip():
            return None
        if CONTACT.search(lines[index]):
            after = lines[index + 1].strip() if index + 1 < len(lines) else ""
            return index + 2 if _ADDRESS.fullmatch(after) else index + 1
    return None


def lift_notes(lines: list[str]) -> list[str]:
    """Lines with the notes and captions that cut a sentence in two moved behind all others.

    Such a note begins as notes do, under a line that stops in mid-sentence, and ends where
    the next line goes on in lower case.
    """
    kept: list[str] = []
    notes: list[str] = []
    index = 0
    while index < len(lines):
        end = _note_end(lines, index) if kept else None
        if end is None or not _is_open(kept[-1]):
            kept.append(lines[index])
            index += 1
        else:
            notes += ["", *lines[index:end]]
            index = end
    return kept + notes


def _is_open(line: str) -> bool:
    return bool(line.strip()) and not ends_sentence(line)


def _note_end(lines: list[str], start: int) -> int | None:
    if not _NOTE_START.match(lines[start].strip()):
        return None
    for index in range(start, min(start + _NOTE_LINES, len(lines) - 1)):
        line, following = lines[index].strip(), lines[index + 1].strip()
        if not line or not following:
            return None
        closed = ends_sentence(line) or _ADDRESS.fullmatch(line.rsplit(None, 1)[-1]) is not None
        if closed and following[0].islower():
            return index + 1
    return None
