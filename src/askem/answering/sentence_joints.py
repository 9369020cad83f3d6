"""What a sentence needs from its neighbours: a list after what announces it, a word's meaning."""

from __future__ import annotations

import re

_ANNOUNCES = re.compile(
    r":\s*$|\b(?:the following|as follows|listed below|are below|include:)\b.{0,60}[:.]?\s*$"
    r"|\b(?:a number of|several|various|many|multiple|numerous|some|two|three|four|five|six|seven"
    r"|different|main|major|key|certain)(?: [\w-]+){0,2} (?:advantages|disadvantages|benefits"
    r"|limitations|reasons|factors|ways|types|kinds|forms|causes|steps|stages|phases|categories"
    r"|groups|classes|features|characteristics|properties|examples|roles|functions|mechanisms"
    r"|goals|aims|objectives|questions|challenges|problems|issues|methods|strategies|approaches"
    r"|criteria|components|elements|symptoms|signs|options|measures|purposes|drawbacks"
    r"|implications|lessons|hypotheses|explanations|possibilities)\b[^.,;:]{0,80}(?:[.:]\s*$|:\s)",
    re.IGNORECASE,
)
_FIRST_ITEM = re.compile(
    r"\s*(?:first(?:ly)?\b|one\b|\(?(?:1|i|a)[).]\s|\(?1\)|[\u2022\u2023\u25cf*\u2013-]\s|\(i\)"
    r"|to begin with\b|the first\b|step 1\b|for (?:example|instance)\b)",
    re.IGNORECASE,
)
_LATER_ITEM = re.compile(
    r"\s*(?:second(?:ly)?\b|third(?:ly)?\b|fourth(?:ly)?\b|fifth(?:ly)?\b|finally\b|last(?:ly)?\b"
    r"|next\b|then\b|another\b|also\b|in addition\b|additionally\b|moreover\b|furthermore\b"
    r"|the (?:second|third|fourth|fifth|last|other)\b|step \d\b"
    r"|\(?(?:[2-9]|1\d|ii|iii|iv|vi?|[b-h])[).]\s|[\u2022\u2023\u25cf*\u2013-]\s)",
    re.IGNORECASE,
)
_REFERS_BACK = re.compile(
    r"\s*(?:(?:however|moreover|furthermore|thus|therefore|hence|in addition|additionally|also)"
    r",?\s)?"
    r"(?:it|its|they|their|this|these|those|such|he|she|his|her|the (?:former|latter)|both|neither"
    r"|all of (?:them|these)|some of (?:them|these)|most of (?:them|these)|here)\b",
    re.IGNORECASE,
)


def announces(sentence: str) -> bool:
    """Whether a sentence only says that something follows ("There are three reasons:")."""
    return _ANNOUNCES.search(sentence) is not None


def begins_list(sentence: str) -> bool:
    return _FIRST_ITEM.match(sentence) is not None


def continues_list(sentence: str) -> bool:
    return _LATER_ITEM.match(sentence) is not None


def refers_back(sentence: str) -> bool:
    """Whether a sentence opens with a word whose meaning the sentence before it gives."""
    return _REFERS_BACK.match(sentence) is not None
