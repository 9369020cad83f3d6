"""What a sentence that is nearly a passage's own says beside it: words, a denial, another name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from askem.answering.compared import Compared, Finding, opposite_in
from askem.answering.indexed import Indexed
from askem.answering.lexemes import Lexeme
from askem.answering.names import name_key
from askem.answering.sentence_items import Found

_MOST_SHOWN = 4
# "The authors report that ..." says who says it, not what.
_FRAME = re.compile(
    r"(?:according to (?:the|this|these) (?:authors?|study|paper|article|passage|source)s?,"
    r"|(?:(?:the|this|these|our|their) )?(?:authors?|study|studies|paper|article|researchers?"
    r"|results?|findings?|data|passage|source|we|they|it) (?:(?:also|thus) )?"
    r"(?:reports?|reported|shows?|showed|finds?|found|states?|stated|says?|said|notes?|noted"
    r"|observed?|describes?|described|writes?|wrote|concludes?|concluded|suggests?|suggested"
    r"|indicates?|indicated|demonstrates?|demonstrated)(?: that)?)\s",
    re.IGNORECASE,
)
# Words that join and carry: they say nothing of their own.
_EMPTY = frozenset(
    """therefore thus hence moreover furthermore nevertheless nonetheless consequently additionally
    accordingly namely whereas while although though because since were been being had""".split()
)
_POINTS_BACK = frozenset(
    "it its they their them this these those the such both he his she her we our here".split()
)
_DENIAL = re.compile(
    r"\b(?:is|are|was|were|be|been|proved|proven) (?:\w+ly )?(?:an? )?"
    r"(?:false|untrue|wrong|incorrect|refuted|myth|misconception|lie)(?!\s+(?:negative|positive))\b"
    r"|\b(?:false|untrue|wrong|incorrect|myth|misconception) that\b"
    r"|\bcontrary to (?:the )?(?:fact|truth)|\b(?:falsely|wrongly|incorrectly) ",
    re.IGNORECASE,
)


def unsaid(compared: Compared) -> Iterator[Finding]:
    """The content words that the window has in no form. Numbers, names and antonyms have rules
    of their own."""
    others = compared.other_words()
    frame = _FRAME.match(compared.sentence.text)
    begins = frame.end() if frame else 0
    absent = [
        f
        for f in compared.found
        if f.item.weight and not compared.window.has(f) and f.item.lexeme.start >= begins
        if not (f.item.lexeme.number or f.item.lexeme.name or opposite_in(f, others))
        if f.item.lexeme.word.lower() not in _EMPTY and not _part_of_name(compared, f)
    ]
    for words, where in (
        ([f for f in absent if not f.places], "not in the passage"),
        ([f for f in absent if f.places], "not beside the rest of the sentence in the passage"),
    ):
        if words:
            shown = ", ".join(f'"{f.item.lexeme.word}"' for f in words[:_MOST_SHOWN])
            verb = "is" if len(words) == 1 else "are"
            yield Finding("word", False, f"{shown} {verb} {where}")


def _part_of_name(compared: Compared, found: Found) -> bool:
    """ "alpha" of "TNF-alpha" where the passage writes it with the letter."""
    place, words = found.item.place, compared.sentence.lexemes
    if place == 0 or not words[place - 1].name:
        return False
    before, word = words[place - 1], words[place]
    joined = compared.sentence.text[before.start : word.end]
    key = name_key(joined)
    whole = Lexeme(joined, before.start, word.end, (key,), name=key, identifier=True)
    return word.start == before.end + 1 and bool(compared.passage.find(whole))


def denials(compared: Compared) -> Iterator[Finding]:
    """ "..., which is false": of what the passage says, or of what the passage denies so."""
    window = compared.passage.text[compared.window.start : compared.window.end]
    own, theirs = _DENIAL.search(compared.sentence.text), _DENIAL.search(window)
    if own and not theirs:
        yield Finding("negation", True, f'the passage does not say "{own[0].strip()}"')
    if theirs and not own:
        words = f'the passage says "{theirs[0].strip()}", the sentence does not'
        yield Finding("negation", False, words)


def stitched(compared: Compared) -> Iterator[Finding]:
    """An identifier from one sentence of the window where most of the rest stands in another,
    which names another identifier instead or has no word ("it", "the vaccine") that could mean
    this one."""
    rows = _rows(compared)
    rest = [f for f in compared.found if f.item.weight and not f.item.lexeme.identifier]
    if len(rows) < 2 or not rest:
        return
    core = max(rows, key=lambda row: sum(_in(f, row) for f in rest))
    if 2 * sum(_in(f, core) for f in rest) <= len(rest):
        return
    words = [compared.passage.lexemes[place] for place in core]
    own = [f for f in compared.found if f.item.lexeme.identifier]
    said = {place for f in own for place in f.places}
    instead = [p for p in core if compared.passage.lexemes[p].identifier and p not in said]
    if not instead and any(word.word.lower() in _POINTS_BACK for word in words):
        return
    other = f', which names "{compared.passage.lexemes[instead[0]].word}"' if instead else ""
    for f in own:
        if f.item.weight and compared.window.holds(f) and not _in(f, core):
            name = f.item.lexeme.word
            shown = f'"{name}" stands in another sentence than the rest{other}'
            yield Finding("name", False, shown)


def _rows(compared: Compared) -> list[range]:
    """Places of each sentence of the window."""
    passage: Indexed = compared.passage
    first, after = compared.window.first, compared.window.after
    return [range(a, b) for _, _, a, b in passage.sentences if first <= a and b <= after]


def _in(found: Found, row: range) -> bool:
    return any(place in row for place in found.places)
