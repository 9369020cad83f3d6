"""What a model wrote becomes an answer: every sentence checked, every marker one of ours."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from askem.answering.answer_text import AnswerSentence, split_answer
from askem.answering.markers import unbracketed
from askem.answering.models import CheckedSentence
from askem.answering.support import check
from askem.text.decoding import clean
from askem_agent.notebook import Notebook

NO_MARKER = "no passage is named"
UNKNOWN_MARKER = "the passage it names was not seen"
MARK = "(not found in its source)"
# As some models write them whatever they are told.
_FOREIGN_MARKER = re.compile(r"\s?\u3010[^\u3010\u3011\n]{0,80}\u3011")
# An image would be fetched by whoever renders the answer: what a model links to is no source.
# Nothing is given back, so that no text makes it slow.
_LINK = re.compile(r"!?\[([^\[\]\n]{0,200}+)\]\((?:[^()\n]++|\([^()\n]*+\))*+\)")
_STOP = re.compile(r"[.!?]$")
_LABEL = re.compile(r"\s*(?:[-*+\u2022]|\d{1,2}[.)])\s+")


@dataclass(frozen=True, slots=True)
class Composed:
    """An answer ready to leave."""

    sentences: tuple[CheckedSentence, ...]
    pieces: tuple[str, ...]
    """Parallel to `sentences`, with markers and white space: joined, they are the answer."""
    used: tuple[str, ...]
    """Passage ids in order of first citation; marker [n] names the n-th."""
    dropped: int

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    @property
    def supported(self) -> bool:
        return any(sentence.verdict != "not found" for sentence in self.sentences)


def compose(
    written: str, notebook: Notebook, *, unsupported: Literal["drop", "mark"] = "drop"
) -> Composed:
    """Checks each sentence of `written` against the passages whose numbers it names.

    Headings, and code and sentences without a marker of this run, are not found in any source.
    """
    text = _LINK.sub(_unlinked, _FOREIGN_MARKER.sub("", clean(written).text))
    kept: list[tuple[AnswerSentence, CheckedSentence]] = []
    dropped = 0
    for unit in split_answer(text):
        if unit.kind == "empty":
            continue
        sources = [s for s in map(notebook.source, unit.markers) if s is not None]
        if unit.needs_citation and sources:
            checked = check(_plain(unit), sources)
        else:
            missing = UNKNOWN_MARKER if unit.markers else NO_MARKER
            checked = CheckedSentence(_plain(unit), (), "not found", (missing,))
        if checked.verdict == "not found" and (unsupported == "drop" or not unit.needs_citation):
            # A heading without a source is no sentence, and not worth a mark.
            dropped += unit.needs_citation
            continue
        kept.append((unit, checked))
    return _laid_out(text, kept, dropped)


def _laid_out(
    text: str, kept: Sequence[tuple[AnswerSentence, CheckedSentence]], dropped: int
) -> Composed:
    used: dict[str, int] = {}
    pieces: list[str] = []
    end = 0
    for unit, checked in kept:
        numbers = [used.setdefault(c.passage_id, len(used) + 1) for c in checked.citations]
        markers = "".join(f"[{number}]" for number in sorted(set(numbers)))
        between = text[end : unit.start] if pieces else ""
        space = "" if not pieces else "\n" if "\n" in between or _label(text, unit) else " "
        mark = MARK if checked.verdict == "not found" else ""
        if unit.kind == "code":
            # On lines of their own: a fence ends with its line, and may stand within an item.
            indent = between.rpartition("\n")[2]
            lines = (checked.text, *filter(None, (markers, mark)))
            pieces.append(space + "\n".join(indent + line for line in lines))
        else:
            mark = mark and f" {mark}"
            words = _with_markers(checked.text, markers)
            pieces.append(f"{space}{_label(text, unit)}{words}{mark}")
        end = unit.end
    return Composed(tuple(c for _, c in kept), tuple(pieces), tuple(used), dropped)


def _unlinked(link: re.Match[str]) -> str:
    """The words of a link; a marker that was one is a marker still."""
    return f"[{link[1]}]" if link[1].isdigit() else link[1]


def _plain(unit: AnswerSentence) -> str:
    """Without what would pass for markers. Brackets of code are its own."""
    return unit.text if unit.kind == "code" else unbracketed(unit.text)


def _with_markers(sentence: str, markers: str) -> str:
    """The markers before the stop, where it has one."""
    stop = _STOP.search(sentence)
    if not markers:
        return sentence
    return (
        f"{sentence[: stop.start()].rstrip()} {markers}{stop[0]}"
        if stop
        else f"{sentence} {markers}"
    )


def _label(text: str, unit: AnswerSentence) -> str:
    """The bullet or number of a list's item; "" for other units."""
    found = _LABEL.match(text[unit.start : unit.end])
    return found[0].lstrip() if found else ""
