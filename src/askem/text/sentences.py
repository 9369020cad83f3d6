"""Sentence boundaries by light rules that keep offsets."""

from __future__ import annotations

import re

# A stop, what may close after it (quotes, brackets, reference marks), and white space.
_BOUNDARY = re.compile(
    r"""(?P<stop>[.!?\u2026]{1,8})
        (?P<close>["'\u2019\u201d\u00bb)\]]{0,8})
        (?P<marks>(?:\s?\[\d[\d,;\s\u2013-]{0,60}\]){0,20}
            (?:(?<=[a-z)%]\.)\d{1,3}(?:[,\u2013-]\d{1,3}){0,20})?
            [\u00b9\u00b2\u00b3\u2070-\u2079]{0,20})
        (?P<space>\s+)""",
    re.VERBOSE,
)
_BLANK_LINE = re.compile(r"\n[ \t]*\n|\f")
# What a sentence may begin with: a capital, digit, bracket, quote or other non-letter...
_START = re.compile(r"[\"'\u2018\u201c\u00ab(\[\u2022\u2013\u2014*-]*\s?(?:[^\W\d_a-z]|\d|[^\w\s])")
# ... or an identifier in lower case with a capital or digit inside (mRNA, pH, qPCR, p53).
_IDENTIFIER = re.compile(r"[a-z]{1,4}-?[A-Z0-9]\w*")
_TAIL_CHARS = 100
# A stop, closers, then at most reference marks: "(4)", "[5, 6]", ".7,8" after a letter.
_COMPLETE = re.compile(
    r"""[.!?\u2026:;]\s?["'\u2019\u201d\u00bb)\]]{0,8}
        (?:(?:(?<=[^\W\d_][.!?])|(?<=[)\]%][.!?])|[\s\[(])
            [\d\s,\u2013\-\[\]()\u00b9\u00b2\u00b3\u2070-\u2079]{0,60})?
        \s?\.?\s*$""",
    re.VERBOSE,
)
_OPENED_WORD = re.compile(r"[^\s(\[{\"'\u2018\u201c\u2013\u2014/]+$")
_INITIAL = re.compile(r"[^\W\d_]")
_SECTION_NUMBER = re.compile(r"\(?(?:\d{1,2}|[ivx]{1,4}|[a-zA-Z])")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# These never end a sentence: something always follows.
_NEVER_LAST = _words(
    "fig figs eq eqs ref refs tab suppl supp sect sec e.g i.e eg ie vs v.s cf viz dr mr mrs ms "
    "prof st approx ca resp no nos vol pp ed eds hon gen rev jr mt ft dept univ "
    "subsp spp sp var cv str ser ext incl esp max min avg"
)
# These end one only when what follows can begin nothing else than a sentence.
_SOMETIMES_LAST = _words("al etc inc ltd co corp a.m p.m u.s u.k u.s.a e.u ph.d m.d")
_OFTEN_WORDS = _words("no st max min ed ms co sec mt str gen")
_OPENERS = _words(
    "the this these that those we our in it its however here to for a an as at by after although "
    "they there when while with from on all both but if moreover furthermore thus therefore "
    "similarly since among during results methods"
)


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Offsets (start, end) of the sentences of a text, in order, without outer white space.

    Every character that is not white space lies in exactly one span. A boundary needs a stop
    followed by white space and a possible beginning; abbreviations, initials, list labels
    ("1.", "(i)") and what a stop only abbreviates do not end a sentence. A blank line always
    ends one. Reference marks after a stop belong to the sentence they follow.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for end in _boundaries(text):
        _append_span(spans, text, start, end)
        start = end
    _append_span(spans, text, start, len(text))
    return spans


def ends_sentence(text: str) -> bool:
    """Whether a text may be complete: its last mark, closers and references aside, is a stop.

    A colon or semicolon counts as one, an abbreviation's stop ("Fig. 2") does not.
    """
    tail = text[-_TAIL_CHARS:]
    match = _COMPLETE.search(tail)
    while match is not None:
        word = _OPENED_WORD.search(tail, 0, match.start())
        if word is None or word[0].lower() not in _NEVER_LAST - _OFTEN_WORDS:
            return True
        match = _COMPLETE.search(tail, match.start() + 1)
    return False


def _append_span(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    if left < len(piece):
        spans.append((start + left, start + len(piece.rstrip())))


def _boundaries(text: str) -> list[int]:
    """Offsets at which a new sentence begins, in rising order."""
    ends = [match.end() for match in _BOUNDARY.finditer(text) if _is_boundary(text, match)]
    blank = [match.end() for match in _BLANK_LINE.finditer(text)]
    return sorted({*ends, *blank}) if blank else ends


def _is_boundary(text: str, match: re.Match[str]) -> bool:
    after = match.end()
    if not (_START.match(text, after) or _IDENTIFIER.match(text, after)):
        return False
    if match["stop"] != "." or match["close"] or match["marks"]:
        return True
    found = _OPENED_WORD.search(text, max(0, match.start() - 30), match.start())
    if found is None:
        return match.start() > 0 and text[match.start() - 1] in ")]}\"'\u2019\u201d "
    return not _abbreviates(text, found, after)


def _abbreviates(text: str, found: re.Match[str], after: int) -> bool:
    word, following = found[0], _word_at(text, after)
    lower = word.lower()
    if lower in _NEVER_LAST:
        return not (lower in _OFTEN_WORDS and following.lower() in _OPENERS)
    if lower in _SOMETIMES_LAST or re.fullmatch(r"(?:[A-Za-z]\.)+[A-Za-z]", word):
        return following.lower() not in _OPENERS
    if _INITIAL.fullmatch(word):
        # "J. C. Arnold", but "hepatitis B. The virus"
        return following.lower() not in _OPENERS and (word.isupper() or following[:1].isupper())
    return bool(_SECTION_NUMBER.fullmatch(word)) and _at_sentence_start(text, found.start())


def _word_at(text: str, offset: int) -> str:
    match = re.compile(r"\W*([\w'-]*)").match(text, offset)
    return match[1] if match else ""


def _at_sentence_start(text: str, offset: int) -> bool:
    """A number or letter is a list label where nothing but a stop or line stands before it."""
    before = text[:offset].rstrip(" (")
    return not before or before[-1] in ".:;\n"
