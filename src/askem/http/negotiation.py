"""Which form of an answer a caller wants: RFC 9110, 12.5.1."""

from __future__ import annotations

import re
from collections.abc import Iterable

_QUALITY = re.compile(r"0(\.[0-9]{0,3})?|1(\.0{0,3})?")


def prefers(accept: Iterable[str], media_type: str, default: str) -> bool:
    """Whether the caller names `media_type` itself and wants it no less than `default`.

    `accept`: the values of the Accept headers. A range such as `*/*` alone asks for the default,
    and so does whatever cannot be read.
    """
    qualities = dict(_range(part) for value in accept for part in value.split(","))
    wanted = qualities.get(media_type, 0.0)
    main = default.partition("/")[0]
    ranges = (default, f"{main}/*", "*/*")
    return wanted > 0 and wanted >= next((qualities[r] for r in ranges if r in qualities), 0.0)


def _range(text: str) -> tuple[str, float]:
    """A media range, lower case, and its quality, 0 to 1; an unreadable quality is 0."""
    name, *parameters = (part.strip().lower() for part in text.split(";"))
    for parameter in parameters:
        key, _, value = parameter.partition("=")
        if key == "q":
            return name, float(value) if _QUALITY.fullmatch(value) else 0.0
    return name, 1.0
