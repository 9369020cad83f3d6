"""What a question asks for, and whether a sentence has something of that kind. Rules on words."""

from __future__ import annotations

import re
from typing import Literal

from askem.text.analysis import question_terms

Kind = Literal[
    "quantity", "value", "time", "person", "place", "cause", "procedure", "definition", "other"
]

MAX_DEFINED_TERMS = 3
"""Content words of a question that can still ask what one thing is."""

_I = re.IGNORECASE
_QUANTITY = re.compile(
    r"\b(?:how (?:many|much|long|often|large|old|big|high|far|fast|frequently|common|likely|soon)"
    r"|(?:what|which)(?: \w+){0,4} (?:percentages?|percent|proportion|number|fraction|rates?|share"
    r"|prevalence|incidence|ratio|probability|dose|dosage|duration|length|size|amount|cost"
    r"|temperature|range|odds|concentration|age|period|frequency|estimate|estimated))\b",
    _I,
)
_VALUE = re.compile(
    r"\b(?:what|which)(?: \w+){0,4} (?:parameter|coefficient|threshold|limit|value|index|exponent"
    r"|constant|timeout|interval|deadline)\b",
    _I,
)
_TIME = re.compile(r"\b(?:when|(?:what|which) (?:year|month|date|day|time|decade|century))\b", _I)
_PERSON = re.compile(r"\b(?:who|whom|whose)\b", _I)
_WHO_AGENCY = re.compile(r"\bWHO\b")
_PLACE = re.compile(
    r"\b(?:where|(?:what|which) (?:countr(?:y|ies)|city|cities|region|province|place|location))\b",
    _I,
)
_CAUSE = re.compile(r"\b(?:why|what (?:is|are|was|were) the (?:cause|reason)s?|what causes)\b", _I)
_PROCEDURE = re.compile(
    r"^\W*how (?:do|does|can|could|should|shall|must|to|would|is|are)\b"
    r"|\bwhat (?:do|must|should|can|shall) \w+ do\b"
    r"|\bwhat (?:is|must be|should be|has to be) done\b"
    r"|\bwhat (?:has|have|needs?) to (?:happen|be done)\b|\bin (?:which|what) order\b"
    r"|\bwhat (?:now|next)\b|\b(?:steps|procedure)\b|\b(?:i|we) do (?:when|if|about)\b",
    _I,
)
_DEFINITION = re.compile(
    r"^\W*(?:what (?:is|are|was|were)|define|what does .{1,60}\b(?:mean|stand for))\b", _I
)

_CLAUSES = re.compile(
    r"[,;]?\s+and\s+(?=(?:(?:after|by|in|for|within|at|to|from)\s+)?"
    r"(?:what|who|whom|whose|which|when|where|why|how)\b)",
    _I,
)

_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
_SAID = re.compile(
    r"(?:^|[|:=]|\b(?:is|was|were|are|be|of|at|to|than|by|equals|reached|until))\s*"
    r"(?:about|around|approximately|only|at (?:most|least)|[~<>\u2264\u2265])?\s*\d"
)
"""A number given as the value of what stands before it."""
_UNIT = re.compile(r"\s?(?:-\s?\d[\d.,]*\s?|to \d[\d.,]*\s?)?(?:%|[^\W\d_]{1,})")
_NUMBER_WORD = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty"
    r"|hundreds?|thousands?|millions?|billions?|half|third|quarter|dozens?|once|twice|double)\b",
    _I,
)
_DATE = re.compile(
    r"\b(?:1[5-9]|20)\d\d\b|\b(?:January|February|March|April|June|July|August|September|October"
    r"|November|December|May(?= \d))\b|\b\d{1,2}:\d\d\b"
)
_PERIOD = re.compile(
    r"\b(?:days?|weeks?|months?|years?|decades?|centur(?:y|ies)|winter|spring|summer|autumn"
    r"|season|hours?|after|before|during)\b",
    _I,
)
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][\w'-]+")
_TWO_NAMES = re.compile(r"\b[A-Z][\w.'-]{0,40}\s(?:(?:de|van|von|of|der)\s)?[A-Z][\w'-]+")
_IN_PLACE = re.compile(r"\b(?:in|at|from|near|of|to|across|throughout)\s(?:the\s)?[A-Z][a-z]+")
_CAUSAL = re.compile(
    r"\b(?:because|due to|owing to|since|caused? by|causes?|leads? to|led to|results? (?:in|from)"
    r"|resulted (?:in|from)|thus|therefore|as a (?:result|consequence)|so that|in order to"
    r"|attributed|attributable|reasons?|explain(?:s|ed)?|responsible for|hence|thereby|to avoid)\b",
    _I,
)
_COPULA = re.compile(
    r"\s(?:is|are|was|were|refers? to|stands? for|means?|denotes?|(?:is|are) defined as"
    r"|comprises?|consists? of),?\s",
    _I,
)
_OTHER_WORDS = 1
"""Content words beside the thing asked for that the subject of its definition may have."""
_ACRONYM = re.compile(r"\b(?=\w*[A-Z]\w*[A-Z0-9])[A-Za-z0-9-]{2,12}\b")


def clauses_of(question: str) -> list[str]:
    """The questions in one: "Who decides, and when is it done?" has two."""
    return [clause for clause in _CLAUSES.split(question) if question_terms(clause)]


def kind_of(question: str) -> Kind:
    """What a question asks for, by its words; `other` where they do not tell."""
    if _QUANTITY.search(question):
        return "quantity"
    if _VALUE.search(question):
        return "value"
    if _PROCEDURE.search(question):
        return "procedure"
    if _TIME.search(question):
        return "time"
    if _PERSON.search(_WHO_AGENCY.sub("", question)):
        return "person"
    if _PLACE.search(question):
        return "place"
    if _CAUSE.search(question):
        return "cause"
    if _DEFINITION.match(question) and len(question_terms(question)) <= MAX_DEFINED_TERMS:
        return "definition"
    return "other"


def fit(kind: Kind, question: str, sentence: str) -> float:
    """How well a sentence has what a question of this kind asks for, 0..1."""
    match kind:
        case "quantity":
            return _quantity(question, sentence)
        case "value":
            return float(bool(_SAID.search(sentence)))
        case "time":
            return 1.0 if _DATE.search(sentence) else 0.4 * bool(_PERIOD.search(sentence))
        case "person":
            return 1.0 if _TWO_NAMES.search(sentence) else 0.6 * bool(_NAME.search(sentence))
        case "place":
            return float(bool(_IN_PLACE.search(sentence)))
        case "cause":
            return float(bool(_CAUSAL.search(sentence)))
        case "definition":
            return _definition(question, sentence)
        case _:
            return 0.0


def _quantity(question: str, sentence: str) -> float:
    """1 for a number with its unit, .8 for a number alone, .5 for a number word; the question's
    own numbers do not count."""
    asked = set(_NUMBER.findall(question))
    best = 0.5 * bool(_NUMBER_WORD.search(sentence))
    for number in _NUMBER.finditer(sentence):
        if number[0] not in asked:
            if _UNIT.match(sentence, number.end()):
                return 1.0
            best = 0.8
    return best


def _definition(question: str, sentence: str) -> float:
    """1 where the thing asked for stands before "is", "refers to" and the like at the head of the
    sentence, or is an acronym that the sentence spells out; .4 for such a verb elsewhere."""
    if any(_spells_out(acronym, sentence) for acronym in _ACRONYM.findall(question)):
        return 1.0
    asked = set(question_terms(question))
    copula = _COPULA.search(sentence)
    if copula is None:
        return 0.0
    subject = set(question_terms(sentence[: copula.start()]))
    if asked <= subject and len(subject) <= len(asked) + _OTHER_WORDS:
        return 1.0
    return 0.4


def _spells_out(acronym: str, sentence: str) -> bool:
    """Whether an acronym stands in brackets behind words of its initials, or before them."""
    name = re.escape(acronym)
    initial = re.escape(acronym[0])
    behind = rf"\b{initial}[\w-]{{1,40}}(?:\s[\w-]{{1,40}}){{0,7}}\s\({name}[);,]"
    ahead = rf"\b{name}\s\({initial}[\w-]{{1,40}}\s[^)]{{4,80}}\)"
    return re.search(f"{behind}|{ahead}", sentence, _I) is not None
