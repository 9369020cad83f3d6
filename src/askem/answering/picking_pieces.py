"""What is shown of a passage around a sentence: enough to be understood, not more."""

from __future__ import annotations

import re
from collections.abc import Mapping

from askem.answering.passage_units import Unit, is_section, units_of
from askem.answering.picking_scores import Scored, share
from askem.answering.picking_units import led_by
from askem.answering.sentence_clutter import body_start, is_clutter
from askem.answering.sentence_joints import announces, begins_list, continues_list, refers_back
from askem.text.analysis import tokens

MAX_CHARS = 600
"""Of one sentence; a longer one is cut to the clauses that hold most of the question."""
MAX_CUT_CHARS = 6000
"""How far into an overlong sentence its clauses are looked at."""
MAX_CONTEXT_CHARS = 500
"""Of a sentence together with its neighbours."""
MAX_LIST_CHARS = 800
"""Of an announcing sentence together with its list."""
MAX_STEPS_CHARS = 1_600
"""Of a numbered list that answers how something is done: all that a part of a section holds."""
MAX_GROUP_CHARS = 500
"""Up to which a list is shown whole where one item of it was picked."""
_LABEL_LAST = re.compile(r"(?:[;,:]|\band|\bor)\s(?:and\s)?\(?(?:\d{1,2}|[a-h])[.)]\s*$")
"""The label of an item that a full stop parted from it: "...; and 4."."""
_STRAY_LABEL = re.compile(r"\s+\((?:ii|iii|iv|vi?|[2-9])\)\s*$")
_CLAUSE = re.compile(r"(?<=[;,:])\s+|\s+(?=\((?:\d{1,2}|[a-h]|[ivx]{1,4})\)\s)")


def piece_of(
    sentence: Scored, idf: Mapping[str, float], *, first: bool, procedure: bool = False
) -> tuple[int, int]:
    """Offsets of what to show for a sentence.

    An announcing sentence brings the list that follows it; one that opens with "it" or "these"
    the sentence before it; one that is too long is cut. The next sentence comes along where it
    refers back, and with the first piece of an answer anyway: the answer often stands there.
    Of a section, rows are shown alone, code whole with what leads in, short lists whole, and a
    paragraph whole that says how something is done.
    """
    if sentence.unit.kind != "sentence":
        return _unit_piece(sentence.unit)
    if is_section(sentence.source.text):
        start, end = _prose_piece(sentence, idf, first=first, procedure=procedure)
        return start, _led_end(sentence, start, end)
    return _prose_piece(sentence, idf, first=first, procedure=False)


def _prose_piece(
    sentence: Scored, idf: Mapping[str, float], *, first: bool, procedure: bool
) -> tuple[int, int]:
    if procedure and sentence.spans[-1][1] - sentence.spans[0][0] <= MAX_CONTEXT_CHARS:
        return sentence.spans[0][0], sentence.spans[-1][1]
    if sentence.end - sentence.start > MAX_CHARS:
        return _cut(sentence, idf)
    if announces(sentence.text):
        return sentence.start, _list_end(sentence)
    start = _context_start(sentence) if refers_back(sentence.text) else sentence.start
    end = _context_end(sentence, start, anyway=first)
    return start, _item_end(sentence, start, end)


def _unit_piece(unit: Unit) -> tuple[int, int]:
    start, end = unit.group or unit.span
    limits = {"row": 0, "item": MAX_GROUP_CHARS, "steps": MAX_STEPS_CHARS}
    limit = limits.get(unit.kind, unit.end - unit.start + MAX_CONTEXT_CHARS)
    return (start, end) if end - start <= limit else unit.span


def _led_end(sentence: Scored, start: int, end: int) -> int:
    """The end, moved behind the code or list that the last sentence leads in, as far as whole
    items fit."""
    units = units_of(sentence.source.text)
    led = next((led for u in units if u.end == end and (led := led_by(u, units))), None)
    if led is None:
        return end
    ends = [unit.end for unit in units if unit.group == led.group]
    within = [stop for stop in ends if stop - start <= MAX_LIST_CHARS]
    return max(within, default=ends[0])


def _item_end(sentence: Scored, start: int, end: int) -> int:
    """The end, moved behind the last item where only its label stands there, or before a label
    that belongs to what follows."""
    text = sentence.source.text
    if _LABEL_LAST.search(text, start, end):
        within = (stop for _, stop in sentence.spans if end < stop <= start + MAX_LIST_CHARS)
        return next(within, end)
    stray = _STRAY_LABEL.search(text, start, end)
    return stray.start() if stray else end


def _list_end(sentence: Scored) -> int:
    """End of the list behind an announcing sentence: the next sentence, and further ones while
    they go on with a list. What is itself no sentence ends it."""
    text, end = sentence.source.text, sentence.end
    listed = False
    for number, (start, stop) in enumerate(sentence.spans[sentence.at + 1 :]):
        following = text[start:stop]
        listed = listed or begins_list(following)
        goes_on = number == 0 or continues_list(following) or (listed and begins_list(following))
        if not goes_on or stop - sentence.start > MAX_LIST_CHARS or is_clutter(following):
            break
        end = stop
    return end


def _context_start(sentence: Scored) -> int:
    if sentence.at == 0:
        return sentence.start
    start, stop = sentence.spans[sentence.at - 1]
    before = sentence.source.text[start:stop]
    start += body_start(before)
    if sentence.end - start > MAX_CONTEXT_CHARS or is_clutter(before):
        return sentence.start
    return start


def _context_end(sentence: Scored, shown_from: int, *, anyway: bool) -> int:
    for start, stop in sentence.spans[sentence.at + 1 : sentence.at + 2]:
        following = sentence.source.text[start:stop]
        wanted = anyway or refers_back(following)
        if wanted and stop - shown_from <= MAX_CONTEXT_CHARS and not is_clutter(following):
            return stop
    return sentence.end


def _cut(sentence: Scored, idf: Mapping[str, float]) -> tuple[int, int]:
    """The run of whole clauses within the limit that holds most of the question; the first of
    equals. Words where a sentence has no clauses that are short enough."""
    text = sentence.text[:MAX_CUT_CHARS]
    for joint in (_CLAUSE, re.compile(r"\s+")):
        starts = [0, *(match.end() for match in joint.finditer(text))]
        ends = [*(match.start() for match in joint.finditer(text)), len(text)]
        runs = [_longest(start, ends) for start in starts]
        fitting = [run for run in runs if run is not None]
        if fitting:
            best = max(fitting, key=lambda run: share(frozenset(tokens(text[slice(*run)])), idf))
            return sentence.start + best[0], sentence.start + best[1]
    return sentence.start, sentence.start + MAX_CHARS


def _longest(start: int, ends: list[int]) -> tuple[int, int] | None:
    within = [end for end in ends if start < end <= start + MAX_CHARS]
    return (start, within[-1]) if within else None
