"""Lines joined to a running text, words broken at line ends mended by the document's words."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SOFT_HYPHEN = "\u00ad"
_HYPHENS = "-\u2010\u2011\u00ad"
_WORD = re.compile(r"[^\W_]+(?:[-\u2010\u2011][^\W_]+)*")
_BROKEN = re.compile(r"([^\W_]+(?:[-\u2010\u2011'\u2019][^\W_]+)*)([-\u2010\u2011\u00ad]\u00ad?)$")
_TIED = re.compile(r"[^\W_][/\u2013]$")  # "serum/" + "plasma", "1998\u2013" + "2004"
_CLOSED = re.compile(r"(?<![\w-])[^\W_]+(?:-[^\W_]+)*(?![\w-])")
_ENOUGH_LINES = 60  # of which some would end in a hyphen, were they kept
_SUSPENDED = re.compile(r"(and|or|to|versus|und|et)\s")
_PLAIN = re.compile(r"[^\W\d_a-z]?[^\W\d_A-Z]+")
_TAIL_CHARS = 80
_OVERLONG = 1.25  # of the width: two lines closed up into one
_JOINT = (0.75, 1.2)  # where in such a line, in widths, the first of the two ended
_MIN_PART_CHARS = 3
_TO_HYPHEN = str.maketrans({"\u2010": "-", "\u2011": "-", SOFT_HYPHEN: None})
# First halves that keep their hyphen unless the document writes the joined word.
_ALWAYS_HYPHENATED = _words(
    "self well ill all high low long short cross half two three four five six seven eight nine "
    "ten one first second third"
)
_COMBINING = _ALWAYS_HYPHENATED | _words(
    "non anti pre post co semi multi ex quasi real time open single double meta pro intra inter "
    "sub super ultra"
)

# Second halves of compounds: joined to a word the document knows, they keep the hyphen.
_FINALS = _words(
    "associated based binding bound containing coupled deficient dependent derived driven enriched "
    "expressing fold free independent induced infected like linked mediated labeled labelled "
    "negative positive processing reactive related resistant sensitive sense specific stimulated "
    "terminal transfected treated type wide associate"
)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a document shows of its own words.

    Attributes:
        words: lower-cased word to its count, hyphenated words whole (hyphens as "-"), words
            broken at a line end left out.
        breaking: the hyphen characters which the document uses only to break words, so that
            the others stand for hyphens the authors wrote.
        closed_up: whether its extractor seems to have deleted every hyphen at a line end,
            which closes up compounds as well as broken words.
        hyphenated: if so, words without their hyphens ("hiv1positive") to the way the document
            usually writes them ("hiv-1-positive"); else empty.
    """

    words: Counter[str]
    breaking: frozenset[str]
    closed_up: bool
    hyphenated: dict[str, str]


def build_vocabulary(lines: Sequence[str]) -> Vocabulary:
    """Collect the unbroken words of a document's lines, and how it breaks the others."""
    words: Counter[str] = Counter()
    at_end: Counter[str] = Counter()
    inside: Counter[str] = Counter()
    broken_before = False
    for line in filter(None, map(str.strip, lines)):
        found = _WORD.findall(line.translate(_TO_HYPHEN).lower())
        if broken_before and found:
            found = found[1:]
        broken_before = _BROKEN.search(line[-_TAIL_CHARS:]) is not None
        if broken_before:
            found = found[:-1]
            at_end[line[-1]] += 1
        words.update(found)
        inside.update(char for char in line[:-1] if char in _HYPHENS)
    closed_up = len(lines) >= _ENOUGH_LINES and inside["-"] > 0 and not at_end["-"]
    forms = _hyphenated(words) if closed_up else {}
    return Vocabulary(words, frozenset(_breaking(at_end, inside)), closed_up, forms)


def _hyphenated(words: Counter[str]) -> dict[str, str]:
    forms: dict[str, str] = {}
    for word, count in sorted(words.items()):
        closed = word.replace("-", "")
        rival = max(2 * words[closed], words[forms.get(closed, "")] + 1)
        if closed != word and count >= rival and len(closed) > 3:
            forms[closed] = word
    return forms


def _breaking(at_end: Counter[str], inside: Counter[str]) -> Iterable[str]:
    yield SOFT_HYPHEN
    for char in "\u2010\u2011":
        # A typesetter's hyphen stands nearly always at line ends; an author's seldom does.
        if at_end[char] >= 4 and at_end[char] > 0.7 * inside[char]:
            yield char


def join_lines(lines: Iterable[str], vocabulary: Vocabulary) -> str:
    """The lines as one line of text: broken words mended, white space single."""
    parts: list[str] = []
    for raw in lines:
        line = _reopen(" ".join(raw.split()), vocabulary)
        if line and parts:
            kept, between = _seam(parts[-1], line, vocabulary)
            parts[-1] = kept
            parts += [between, line]
        elif line:
            parts.append(line)
    return "".join(parts)


def _reopen(line: str, vocabulary: Vocabulary) -> str:
    """The line, its words hyphenated again where the document elsewhere writes them so."""
    if not vocabulary.hyphenated:
        return line
    return _CLOSED.sub(lambda match: _with_hyphens(match[0], vocabulary), line)


def _with_hyphens(word: str, vocabulary: Vocabulary) -> str:
    form = vocabulary.hyphenated.get(word.replace("-", "").lower())
    if form is None or form.count("-") <= word.count("-"):
        return word
    letters = iter(word.replace("-", ""))
    return "".join(char if char == "-" else next(letters) for char in form)


def reopen_joints(lines: Iterable[str], width: int, vocabulary: Vocabulary) -> list[str]:
    """Lines with a hyphen put back where two lines were closed up between two known words.

    A line much longer than the width was two lines whose hyphen the extractor deleted. The
    word across the joint gets its hyphen back when the document has both of its parts as words
    and never the whole.
    """
    if not vocabulary.closed_up:
        return list(lines)
    return [
        _reopen_joint(line, width, vocabulary.words) if len(line) > _OVERLONG * width else line
        for line in lines
    ]


def _reopen_joint(line: str, width: int, words: Counter[str]) -> str:
    low, high = (round(share * width) for share in _JOINT)
    best: tuple[int, int] | None = None
    for match in _CLOSED.finditer(line, 0, min(len(line), high + _TAIL_CHARS)):
        word = match[0].lower()
        if "-" in word or words[word] > 1:
            continue
        for cut in range(_MIN_PART_CHARS, len(word) - _MIN_PART_CHARS + 1):
            strength = min(words[word[:cut]], words[word[cut:]])
            if low <= match.start() + cut <= high and strength > (best[0] if best else 1):
                best = strength, match.start() + cut
    return line if best is None else f"{line[: best[1]]}-{line[best[1] :]}"


def join_pieces(left: str, right: str, vocabulary: Vocabulary) -> str:
    """Two pieces of one running text put together, the word between them mended."""
    kept, between = _seam(left, right, vocabulary)
    return kept + between + right


def _seam(left: str, right: str, vocabulary: Vocabulary) -> tuple[str, str]:
    """What stays of the left piece, and what comes between it and the right one."""
    tail = left[-_TAIL_CHARS:]
    broken = _BROKEN.search(tail)
    following = right[0].isalnum()
    if broken and _is_suspended(broken, right, vocabulary):
        return left, " "
    if broken and following:
        joins = _joins(broken[1], broken[2], right, vocabulary)
        return left[: len(left) - len(broken[2])], "" if joins else _written(broken[2])
    if left.endswith(SOFT_HYPHEN):
        return left.rstrip(SOFT_HYPHEN), " "
    if following and _TIED.search(tail) and "://" not in tail.rsplit(" ", 1)[-1]:
        return left, ""
    return left, " "


def _is_suspended(broken: re.Match[str], right: str, vocabulary: Vocabulary) -> bool:
    """Whether the hyphen stands for a later word: "pre-" + "and post-flood", not "act-" + "or"."""
    following = _SUSPENDED.match(right)
    if following is None or broken[2][0] in vocabulary.breaking:
        return False
    return not vocabulary.words[broken[1].lower() + following[1]]


def _written(hyphen: str) -> str:
    return "-" if hyphen.startswith(SOFT_HYPHEN) else hyphen[0]


def _joins(first: str, hyphen: str, right: str, vocabulary: Vocabulary) -> bool:
    """Whether the two halves of a broken word are written without a hyphen."""
    whole_right = _WORD.match(right)
    written = first.translate(_TO_HYPHEN), whole_right[0] if whole_right else ""
    first, second = (half.translate(_TO_HYPHEN).lower() for half in written)
    joined = vocabulary.words[first + second]
    hyphenated = vocabulary.words[f"{first}-{second}"]
    if joined != hyphenated:
        return joined > hyphenated
    if hyphen[0] in vocabulary.breaking:
        return True
    return _joins_by_rule(*written, vocabulary)


def _joins_by_rule(first: str, second: str, vocabulary: Vocabulary) -> bool:
    """The same for two halves, as written, of a word seen nowhere else in the document."""
    if vocabulary.breaking - {SOFT_HYPHEN}:
        return False  # this document breaks words with another character
    known = vocabulary.words
    if first.isupper() and second.isupper() and len(first) > _MIN_PART_CHARS:
        return not known[first.lower()]  # a heading in capitals
    last_part, first_part = first.rsplit("-", 1)[-1], second.split("-", 1)[0]
    if not _PLAIN.fullmatch(last_part) or not first_part.islower():
        return False  # an acronym, a number, a name
    if len(last_part) == 1 or len(first_part) == 1:
        return False  # no word is broken after or before a single letter
    first, second = first.lower(), second.lower()
    if "-" in first or "-" in second:
        # "state-of-the-" + "art"; but "double-stran-" + "ded" when no such word stands alone
        return not (known[last_part.lower()] and known[first_part])
    if first in _ALWAYS_HYPHENATED:
        return False
    if first in _COMBINING:
        return not known[second]
    if second in _FINALS and len(first) >= _MIN_PART_CHARS and known[first]:
        return False
    # Two words that each stand alone elsewhere are a compound ("virus-" + "infected").
    long_enough = min(len(first), len(second)) > _MIN_PART_CHARS
    return not (long_enough and known[first] > 1 and known[second])
