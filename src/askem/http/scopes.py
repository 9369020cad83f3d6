"""What a key may do: `read`, `ask`, `write`; and how long, as a person writes it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Literal, get_args

from askem.errors import InvalidInput

KeyScope = Literal["read", "ask", "write"]
"""read: every GET, and the searches. ask: answers by the agent. write: changes of the corpus."""
SCOPES: tuple[KeyScope, ...] = get_args(KeyScope)
READ_METHODS = frozenset({"GET", "HEAD"})
"""They need `read`, whatever the service."""

MAX_LIFE_S = 36_500 * 86_400
_SECONDS = {"d": 86_400, "h": 3_600}


def parse_scopes(text: str) -> tuple[KeyScope, ...]:
    """`read,ask` as scopes, each once, in the order of SCOPES. Raises InvalidInput."""
    return known_scopes(part.strip() for part in text.split(","))


def known_scopes(names: Iterable[str]) -> tuple[KeyScope, ...]:
    """`names` as scopes, each once, in the order of SCOPES. Raises InvalidInput."""
    given = set(names)
    unknown = sorted(given.difference(SCOPES))
    if unknown or not given:
        named = f"{unknown[0]!r} is no scope; " if unknown else ""
        raise InvalidInput("scopes", f"{named}give one or more of {','.join(SCOPES)}")
    return tuple(scope for scope in SCOPES if scope in given)


def parse_expiry(text: str, now: float) -> int:
    """When a key ends, in Unix seconds: `90d` and `12h` from `now`, `2027-01-31` at that day's end.

    Days are UTC. The end is exclusive: at that second the key is no longer good. Raises
    InvalidInput for another form, a date that does not exist, the past, and more than 100 years.
    """
    end = _end(text, now)
    if end <= now:
        raise InvalidInput("expires", f"{text} is in the past")
    if end > now + MAX_LIFE_S:
        raise InvalidInput("expires", f"{text} is more than 100 years away; leave it out for never")
    return end


def _end(text: str, now: float) -> int:
    length = re.fullmatch(r"([0-9]{1,9})([dh])", text)
    if length:
        return int(now) + int(length[1]) * _SECONDS[length[2]]
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        raise InvalidInput("expires", "give a length such as 90d or 12h, or a date: 2027-01-31")
    try:
        day = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        raise InvalidInput("expires", f"there is no day {text}") from None
    return int(day.timestamp()) + _SECONDS["d"]
