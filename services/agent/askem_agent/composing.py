"""What a model wrote becomes an answer: every sentence checked, every marker one of ours."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from askem.answering.answer_text import AnswerSentence, split_answer
from askem.answering.markers import unbracketed
from askem.answering.models import CheckedSentence, Source
from askem.answering.support import check
from askem.text.decoding import clean
from askem_agent.inert import addresses, inert
from askem_agent.notebook import Notebook
from askem_agent.wire import Limit

NO_MARKER = "no passage is named"
UNKNOWN_MARKER = "the passage it names was not seen"
TOO_LONG = "it is too long to be checked"
FOREIGN_ADDRESS = "the address {} is not in what it cites"
MARK = "(not found in its source)"
MAX_UNIT_CHARS = 4_000
"""Of a sentence; with the next one it bounds the time of a check."""
MAX_SOURCES = 8
"""Of the passages that a sentence names; further ones are not looked at."""
MAX_SHOWN_ADDRESS = 100
MAX_BYTES = 800_000
"""Of an answer with its quotations and passages; a response has some fields besides."""
# As some models write them whatever they are told.
_FOREIGN_MARKER = re.compile(r"\s?\u3010[^\u3010\u3011\n]{0,80}\u3011")
# What a model links to is no source: the words stay. Nothing is given back, so that no text makes
# it slow. What this does not know is made inert in the end.
_LINK = re.compile(r"!?\[([^\[\]\n]{0,200}+)\]\((?:[^()\n]++|\([^()\n]*+\))*+\)")
_STOP = re.compile(r"[.!?]$")
_FRAME = " " * 100
"""As much as the names and numbers around a sentence or a citation."""
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
    stopped: Limit | None = None
    """`time` or `length`, where not all of it was looked at."""

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    @property
    def supported(self) -> bool:
        return any(sentence.verdict != "not found" for sentence in self.sentences)


def compose(
    written: str,
    notebook: Notebook,
    *,
    unsupported: Literal["drop", "mark"] = "drop",
    should_stop: Callable[[], bool] = lambda: False,
) -> Composed:
    """Checks each sentence of `written` against the passages whose numbers it names.

    Headings, and code and sentences without a marker of this run, are not found in any source. Ends
    early, with what it has, once `should_stop()` or when the answer is as large as it may be.
    """
    text = _LINK.sub(_unlinked, _FOREIGN_MARKER.sub("", clean(written).text))
    kept: list[tuple[AnswerSentence, CheckedSentence]] = []
    room = _Room(notebook)
    dropped = 0
    stopped: Limit | None = None
    for unit in split_answer(text):
        if should_stop():
            stopped = "time"
            break
        if unit.kind == "empty":
            continue
        checked = _checked(unit, notebook)
        if checked.verdict == "not found" and (unsupported == "drop" or not unit.needs_citation):
            # A heading without a source is no sentence, and not worth a mark.
            dropped += unit.needs_citation
            continue
        if not room.takes(checked):
            stopped = "length"
            break
        kept.append((unit, checked))
    return _laid_out(text, kept, dropped, stopped)


def _checked(unit: AnswerSentence, notebook: Notebook) -> CheckedSentence:
    """The unit as it will be shown, and what was found of it."""
    plain = _plain(unit)
    shown = inert(plain)
    if len(plain) > MAX_UNIT_CHARS:
        return CheckedSentence(shown[:MAX_UNIT_CHARS] + " \u2026", (), "not found", (TOO_LONG,))
    sources = list(_sources(unit, notebook))[:MAX_SOURCES]
    if not (unit.needs_citation and sources):
        missing = UNKNOWN_MARKER if unit.markers else NO_MARKER
        return CheckedSentence(shown, (), "not found", (missing,))
    checked = check(plain, sources)
    quotes = " ".join(citation.quote for citation in checked.citations)
    foreign = [inert(found) for found in addresses(plain) if found not in quotes]
    if foreign:
        missing = FOREIGN_ADDRESS.format(foreign[0][:MAX_SHOWN_ADDRESS])
        return CheckedSentence(shown, (), "not found", (missing,))
    # Renderers do not act on what stands in a fence, and a command has to be copied as it is.
    whole = unit.kind == "code" and checked.verdict == "found in source"
    return checked if whole else replace(checked, text=shown)


def _sources(unit: AnswerSentence, notebook: Notebook) -> Iterator[Source]:
    for number in unit.markers:
        source = notebook.source(number)
        if source is not None:
            yield source


class _Room:
    """What is left of an answer's size."""

    def __init__(self, notebook: Notebook) -> None:
        self._notebook = notebook
        self._left = MAX_BYTES
        self._cited: set[str] = set()

    def takes(self, checked: CheckedSentence) -> bool:
        """Whether there is room for a sentence and for what it is the first to cite; takes it."""
        cited = {citation.passage_id for citation in checked.citations} - self._cited
        texts = [self._notebook.doc(passage_id).model_dump_json() for passage_id in cited]
        # The sentence stands in `answer` too, with its markers.
        texts += [checked.text, checked.text, *checked.missing]
        texts += [c.quote + c.passage_id + _FRAME for c in checked.citations]
        self._left -= sum(map(_bytes, texts)) + len(_FRAME)
        self._cited |= cited
        return self._left >= 0


def _bytes(text: str) -> int:
    """As JSON, which writes a quotation mark with two characters."""
    return len(json.dumps(text, ensure_ascii=False).encode(errors="replace"))


def _laid_out(
    text: str,
    kept: Sequence[tuple[AnswerSentence, CheckedSentence]],
    dropped: int,
    stopped: Limit | None,
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
    return Composed(tuple(c for _, c in kept), tuple(pieces), tuple(used), dropped, stopped)


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
