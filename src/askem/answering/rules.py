"""Where a sentence says another thing than the passage near it: one function for each rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from askem.answering.compared import Compared, Finding, opposite_in
from askem.answering.direction import direction_stem, sides_of
from askem.answering.indexed import Indexed
from askem.answering.lexemes import Lexeme
from askem.answering.negation import scopes
from askem.answering.numbers import rounds_to
from askem.answering.sentence_items import Found, Sentence, neighbours
from askem.answering.windows import coverage_of
from askem.answering.wording import denials, stitched, unsaid

NEAR = 0.70
"""Coverage from which the window is taken to speak of the same; the finer rules need it."""
ENOUGH = 0.45
"""Least coverage, anywhere in it, with which a passage can be said to carry a sentence."""
_REACH = 8
"""Words to either side within which a number or name must keep its neighbours."""


def findings(compared: Compared) -> list[Finding]:
    """What differs, gravest rules first."""
    if coverage_of(compared.found) < ENOUGH:
        return [_absent(compared, "most", wrong=True), *_numbers(compared, near=False)]
    if _nearness(compared) < NEAR:
        return [*_numbers(compared, near=False), _absent(compared, "part", wrong=False)]
    return [
        *_numbers(compared, near=True),
        *_negation(compared),
        *_direction(compared),
        *_names(compared),
        *(_other_row(compared) if compared.window.row else _moved(compared)),
        *stitched(compared),
        *denials(compared),
        *unsaid(compared),
    ]


def _nearness(compared: Compared) -> float:
    """Coverage of the window, 0..1, but for numbers and antonyms: their own rules miss them."""
    others = compared.other_words()
    counted = [
        f
        for f in compared.found
        if compared.window.has(f) or not (f.item.lexeme.number or opposite_in(f, others))
    ]
    mass = sum(f.item.weight for f in counted) or 1.0
    return sum(f.item.weight for f in counted if compared.window.has(f)) / mass


def _absent(compared: Compared, share: str, *, wrong: bool) -> Finding:
    absent = [f for f in compared.found if f.item.weight > 0 and not compared.window.has(f)]
    heaviest = sorted(absent, key=lambda f: -f.item.weight)[:4]
    shown = ", ".join(f'"{f.item.lexeme.word}"' for f in heaviest)
    return Finding("coverage", wrong, f"{share} of it is not in the passage: {shown}")


def _numbers(compared: Compared, near: bool) -> Iterator[Finding]:
    for f in compared.found:
        if not f.item.lexeme.number or not f.item.weight:
            continue
        shown = _number_shown(compared.sentence, f)
        if not f.places and (exact := _rounded(compared.passage, f.item.lexeme.number)):
            yield Finding("number", False, f"the passage says {exact}, the sentence {shown}")
        elif not f.places:
            yield Finding("number", True, f"{shown} is not in the passage")
        elif near and not compared.window.has(f):
            words = f"{shown} is in the passage, but not beside the rest of the sentence"
            yield Finding("number", False, words)


def _rounded(passage: Indexed, key: str) -> str | None:
    """The passage's number of which `key` is a rounding."""
    for lexeme in passage.lexemes:
        if lexeme.number and rounds_to(lexeme.number, key):
            return passage.text[lexeme.start : lexeme.end]
    return None


def _number_shown(sentence: Sentence, found: Found) -> str:
    lexeme = found.item.lexeme
    after = sentence.text[lexeme.end : lexeme.end + 2]
    percent = " %" if after.strip().startswith("%") else ""
    return sentence.text[lexeme.start : lexeme.end].strip() + percent


def _names(compared: Compared) -> Iterator[Finding]:
    for f in compared.found:
        if f.item.lexeme.name and f.item.weight and not compared.window.has(f):
            where = "not beside the rest of the sentence" if f.places else "not in the passage"
            yield Finding("name", False, f'the name "{f.item.lexeme.word}" is {where}')


def _moved(compared: Compared) -> Iterator[Finding]:
    window = compared.window
    # What stands only in the path of headings or the head of a table is near nothing.
    placed = [f for f in compared.found if window.holds(f) or not window.has(f)]
    for f in placed:
        lexeme = f.item.lexeme
        named = lexeme.number or lexeme.name
        if not (named and f.item.weight and window.has(f)):
            continue
        around = neighbours(placed, f.item.place)
        if len(around) > 1 and 2 * _company(around, f.places) < len(around):
            words = f'"{lexeme.word}" stands beside other words in the passage'
            yield Finding("moved", False, words)


def _other_row(compared: Compared) -> Iterator[Finding]:
    """Words that only other rows have: what a row says is not said of them."""
    rows = [compared.passage.sentences[at][2:] for at in compared.passage.rows]
    for f in compared.found:
        elsewhere = f.item.weight and f.places and not compared.window.has(f)
        if elsewhere and all(any(a <= p < b for a, b in rows) for p in f.places):
            words = f'"{f.item.lexeme.word}" stands in another row'
            yield Finding("moved", False, words)


def _company(around: list[Found], places: tuple[int, ...] | list[int]) -> int:
    """Most of the neighbours that are within reach of one of the places."""
    return max((sum(n.near(p, _REACH) for n in around) for p in places), default=0)


def _negation(compared: Compared) -> Iterator[Finding]:
    sentence, passage, window = compared.sentence, compared.passage, compared.window
    own = scopes(sentence.text, sentence.lexemes, 0, len(sentence.lexemes))
    theirs = scopes(passage.text, passage.lexemes, window.first, window.after)
    negated_here = {place for scope in own for place in scope.places}
    negated_there = {place for scope in theirs for place in scope.places}
    by_place = {f.item.place: compared.inside(f) for f in compared.found}
    others = compared.other_words()
    turned = {f.item.place for f in compared.found if not f.places and opposite_in(f, others)}
    for scope in own:
        if turned.intersection(scope.places):
            continue  # "not effective" beside "ineffective"
        there = [p for place in scope.places for p in by_place.get(place, ())]
        if there and not negated_there.intersection(there):
            word = sentence.lexemes[scope.places[0]].word
            yield Finding("negation", not scope.weak, f'the passage does not negate "{word}"')
    for scope in theirs:
        # What is negated first must be spoken of: "not in the United States" is no "not States".
        here = [place for place, there in by_place.items() if set(there) & set(scope.places[:1])]
        plain = [place for place in here if set(by_place[place]) <= negated_there]
        if plain and not negated_here.intersection(here):
            word = sentence.lexemes[plain[0]].word
            words = f'the passage negates "{word}", the sentence does not'
            yield Finding("negation", not scope.weak, words)
    yield from _antonyms(compared, negated_here, negated_there)


def _antonyms(compared: Compared, here: set[int], there: set[int]) -> Iterator[Finding]:
    others = compared.other_words()
    for f in compared.found:
        other = None if compared.window.has(f) else opposite_in(f, others)
        # "not effective" is "ineffective".
        if other and (f.item.place in here) == (others[other] in there):
            word = f.item.lexeme.word
            yield Finding("negation", True, f'the passage says "{other}", the sentence "{word}"')


def _direction(compared: Compared) -> Iterator[Finding]:
    """The first word whose place in the window is taken by one of the other direction."""
    for place, lexeme in enumerate(compared.sentence.lexemes):
        around = neighbours(compared.found, place) if sides_of(lexeme) else []
        for pair, side in sides_of(lexeme):
            same = _company(around, _saying(compared, lexeme, pair, side))
            reverse = _saying(compared, lexeme, pair, 1 - side)
            company = _company(around, reverse)
            if company > max(same, len(around) / 2):
                other = next(p for p in reverse if _company(around, [p]) == company)
                word = compared.passage.lexemes[other].word
                words = f'the passage says "{word}", the sentence "{lexeme.word}"'
                yield Finding("direction", True, words)
                return


def _saying(compared: Compared, lexeme: Lexeme, pair: int, side: int) -> list[int]:
    """Places in the window of words that may stand for one of the sentence: of one direction,
    and not there for another word of the sentence."""
    words = compared.passage.lexemes
    window = range(compared.window.first, compared.window.after)
    others = Counter(direction_stem(w) for w in compared.sentence.lexemes if w is not lexeme)
    found = [p for p in window if (pair, side) in sides_of(words[p])]
    there = Counter(direction_stem(words[p]) for p in found)
    return [p for p in found if there[s := direction_stem(words[p])] > others[s]]
