"""Changes that make a false sentence out of a true one, or another true one."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from askem.answering.lexemes import Lexeme, lexemes
from askem.text.sentences import sentence_spans

_REVERSED = dict(
    pair.split("/")
    for pair in """increased/decreased decreased/increased increase/decrease decrease/increase
    higher/lower lower/higher high/low low/high reduced/increased reduces/increases
    reduction/increase more/less less/more greater/smaller larger/smaller smaller/larger
    longer/shorter shorter/longer before/after after/before positive/negative negative/positive
    inhibit/activate inhibits/activates inhibited/activated inhibition/activation
    activation/inhibition activated/inhibited induced/suppressed improved/worsened early/late
    late/early rapid/slow strong/weak upregulated/downregulated downregulated/upregulated
    enhanced/reduced above/below below/above major/minor rise/fall promotes/prevents
    severe/mild presence/absence acute/chronic most/least upper/lower""".split()
)
_SYNONYMS = dict(
    pair.split("/")
    for pair in """showed/demonstrated shown/demonstrated show/demonstrate found/observed
    observed/seen used/employed using/employing however/nevertheless important/significant
    results/findings study/investigation suggest/indicate suggests/indicates method/approach
    performed/conducted main/principal obtained/acquired role/function disease/illness
    patients/individuals children/kids cause/trigger causes/triggers several/multiple
    including/comprising identified/detected associated/linked required/needed
    reported/described""".split()
)
_AUXILIARY = re.compile(r"\b(?:is|are|was|were|can|may|could|did|will|should|must|might)\b")
_CUE = re.compile(r"\b(?:not|no|never|without|neither|nor|none|cannot)\b", re.IGNORECASE)
_NOT = re.compile(r"\b(?:not|no)\s+(?!only|less|more)", re.IGNORECASE)
_COMMON = """time group level process system result area form case number method state line part
    model place effect change problem water house market school power order term table"""


@dataclass(frozen=True)
class Sample:
    key: str
    passage: str
    sentence: str
    sibling: str
    """Another passage of the same paper; empty where there is none."""
    other: str
    """A passage of another paper."""


Change = Callable[[random.Random, Sample, Sequence[str]], str | None]


def usable(sentence: str) -> bool:
    return 8 <= len(sentence.split()) <= 60 and sentence.endswith(".") and sentence[0].isupper()


def _number(rng: random.Random, sample: Sample, pool: Sequence[str], inside: bool) -> str | None:
    return _swap(rng, sample, pool, inside, lambda lexeme: lexeme.number)


def _name(rng: random.Random, sample: Sample, pool: Sequence[str], inside: bool) -> str | None:
    return _swap(rng, sample, pool, inside, lambda lexeme: lexeme.name)


def _swap(
    rng: random.Random,
    sample: Sample,
    pool: Sequence[str],
    inside: bool,
    key: Callable[[Lexeme], str | None],
) -> str | None:
    """A number or name put in the place of another: out of the same passage, or not in it."""
    own = [w for w in lexemes(sample.sentence) if key(w)]
    if not own:
        return None
    known = {key(w) for w in (own if inside else lexemes(sample.passage))}
    texts = [sample.passage] if inside else rng.sample(pool, 20)
    others = [w for text in texts for w in lexemes(text) if key(w) and key(w) not in known]
    if not others:
        return None
    target, new = rng.choice(own), rng.choice(others)
    return sample.sentence[: target.start] + new.word.strip() + sample.sentence[target.end :]


def _negation_added(rng: random.Random, sample: Sample, pool: Sequence[str]) -> str | None:
    match = _AUXILIARY.search(sample.sentence)
    if match is None or _CUE.search(sample.sentence):
        return None
    return sample.sentence[: match.end()] + " not" + sample.sentence[match.end() :]


def _negation_removed(rng: random.Random, sample: Sample, pool: Sequence[str]) -> str | None:
    without, number = _NOT.subn("", sample.sentence, count=1)
    return without[:1].upper() + without[1:] if number else None


def _replace_one(rng: random.Random, sentence: str, words: dict[str, str]) -> str | None:
    places = [m for m in re.finditer(r"\b[a-z]+\b", sentence) if m[0] in words]
    if not places:
        return None
    match = rng.choice(places)
    return sentence[: match.start()] + words[match[0]] + sentence[match.end() :]


def _reversed(rng: random.Random, sample: Sample, pool: Sequence[str]) -> str | None:
    return _replace_one(rng, sample.sentence, _REVERSED)


def _synonym(rng: random.Random, sample: Sample, pool: Sequence[str]) -> str | None:
    return _replace_one(rng, sample.sentence, _SYNONYMS)


def _word_swapped(rng: random.Random, sample: Sample, pool: Sequence[str]) -> str | None:
    places = list(re.finditer(r"(?<=\s)[a-z]{5,}(?=[\s,.])", sample.sentence))
    if not places:
        return None
    match = rng.choice(places)
    new = rng.choice(_COMMON.split())
    return sample.sentence[: match.start()] + new + sample.sentence[match.end() :]


def _sentence_of(rng: random.Random, text: str, passage: str) -> str | None:
    found = [text[a:b] for a, b in sentence_spans(text) if usable(text[a:b])]
    found = [sentence for sentence in found if sentence not in passage]
    return rng.choice(found) if found else None


def _light_edit(rng: random.Random, sample: Sample, pool: Sequence[str]) -> str | None:
    """Another opening, no brackets, other hyphens, percent signs and marks of thousands."""
    text = re.sub(r"\s*[\[(][^\[\]()]*[\])]", "", sample.sentence)
    text = re.sub(r"^(?:However|Moreover|Furthermore|Thus|Therefore|In addition), ", "", text)
    text = re.sub(r"(\d)\s?%", r"\1 percent", text).replace("\u2013", "-")
    text = re.sub(r"\b(\d{1,3}),(\d{3})\b", r"\1\2", text)
    text = re.sub(r"\b([A-Z]{2,})-(\d+)\b", r"\1\2", text).replace(" which ", " that ")
    return f"The authors report that {text[:1].lower() + text[1:]}" if len(text) > 20 else None


def _clause(rng: random.Random, sample: Sample, pool: Sequence[str]) -> str | None:
    parts = re.split(r"[,;] ", sample.sentence)
    longest = max(parts, key=len)
    return longest if len(parts) > 1 and len(longest.split()) >= 6 else None


CHANGES: dict[str, Change] = {
    "number from elsewhere": lambda r, s, p: _number(r, s, p, False),
    "number of the passage": lambda r, s, p: _number(r, s, p, True),
    "name from elsewhere": lambda r, s, p: _name(r, s, p, False),
    "name of the passage": lambda r, s, p: _name(r, s, p, True),
    "negation added": _negation_added,
    "negation removed": _negation_removed,
    "direction reversed": _reversed,
    "sentence of another paper": lambda r, s, p: _sentence_of(r, s.other, s.passage),
    "sentence of another passage": lambda r, s, p: _sentence_of(r, s.sibling, s.passage),
    "common word swapped": _word_swapped,
    "true: verbatim": lambda r, s, p: s.sentence,
    "true: light edit": _light_edit,
    "true: clause": _clause,
    "true: synonym": _synonym,
}
