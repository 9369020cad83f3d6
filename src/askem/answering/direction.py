"""Words that say which way something goes, and their opposites."""

from __future__ import annotations

from functools import cache

from askem.answering.lexemes import Lexeme
from askem.text.analysis import tokens

_PAIRS = """
increase increased increases increasing rise rises rose risen rising high higher highest elevated
  elevation grow growth greater greatest enhance enhanced gain upregulated upregulation upregulate
  raise raised more surge | decrease decreased decreases decreasing fall falls fell fallen falling
  low lower lowest lowered reduce reduced reduction reductions decline declined drop dropped
  diminish diminished fewer less loss downregulated downregulation downregulate lose
upper | lower
positive positively | negative negatively
activate activated activates activation activating stimulate stimulated induce induced induces |
  inhibit inhibited inhibits inhibition inhibiting suppress suppressed block blocked
improve improved improvement | worsen worsened deteriorate deteriorated deterioration impaired
better best | worse worst
promote promoted promotes facilitate facilitated | prevent prevented prevents hinder hindered
early earlier earliest | late later latest
before prior | after following
above over | below under
long longer longest | short shorter shortest
large larger largest big bigger | small smaller smallest
strong stronger strongly | weak weaker weakly
fast faster rapid rapidly quickly accelerate accelerated | slow slower slowly slowed
benefit beneficial | harm harmful detrimental
resistant resistance | susceptible susceptibility sensitive sensitivity
acute | chronic
agonist | antagonist
include included inclusion | exclude excluded exclusion
present presence | absent absence
superior | inferior
most majority | least minority
maximum maximal | minimum minimal
mild milder | severe severer
common frequent frequently often | rare rarely uncommon infrequent seldom
young younger | old older elderly
first | last
up upward | down downward
male males men boys | female females women girls
thick thicker | thin thinner
simple easy | complex difficult
safe safer | dangerous unsafe
always | never
all | none
open opened | closed
internal | external
proximal | distal
gain | loss
survive survived survival | die died death
success successful succeed succeeded | failure failed
approve approved approves approval accept accepted accepts acceptance |
  reject rejected rejects rejection refuse refused refuses refusal abandon abandoned withdrawn
continue continued continues continuation |
  stop stopped stops abandon abandoned discontinue discontinued halted terminated
start started starts begin began begins beginning onset | end ended ends stop stopped
freeze freezing froze frozen | thaw thawing thawed melt melted melting
stable stability stabilised stabilized | unstable instability aggregate aggregated aggregation
allow allowed allows permit permitted | forbid forbidden prohibit prohibited
enable enabled | disable disabled
alive live living | dead
healthy | sick ill
hot hotter warm warmer | cold colder cool cooler
cheap cheaper | expensive
support supports supported | refute refutes contradict contradicts
expand expanded expansion | shrink shrank contraction
"""


@cache
def _sides() -> dict[str, tuple[tuple[int, int], ...]]:
    """Stem of a word to the (pair, side) it stands on."""
    sides: dict[str, tuple[tuple[int, int], ...]] = {}
    for number, pair in enumerate(_PAIRS.replace("\n  ", " ").strip().split("\n")):
        for side, words in enumerate(pair.split("|")):
            for word in words.split():
                place = (number, side)
                stem = _stem(word)
                if place not in sides.get(stem, ()):
                    sides[stem] = (*sides.get(stem, ()), place)
    return sides


def _stem(word: str) -> str:
    """Stop words too say a direction ("more", "above")."""
    return "".join(tokens(word)) or word.lower()


def direction_stem(lexeme: Lexeme) -> str:
    return lexeme.terms[0] if lexeme.terms else lexeme.word.lower()


def sides_of(lexeme: Lexeme) -> tuple[tuple[int, int], ...]:
    """(pair, side 0 or 1) of a word; empty for most words."""
    return _sides().get(direction_stem(lexeme), ())
