"""Numbers in one writing: "12", "twelve", "1,000", "1.50", "1.2 million", months by name."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal

_DIGITS = re.compile(
    r"(?P<value>\d{1,12}(?:[.\u00b7]\d{1,6})?)(?P<ordinal>st|nd|rd|th|s)?(?P<unit>[^\W\d_]{1,6}|%)?",
    re.ASCII,
)
_UNITS = frozenset(
    """g kg mg ug ng pg l ml ul dl m km cm mm nm um mol mmol umol nmol pmol kda da bp kb
    mb nt h hr hrs min s sec ms d wk y yr yrs c f k kpa pa hz khz mhz ghz w kw v mv a ma iu u cfu
    pfu rpm x fold am pm gy ev kev ha t mbar bar j kj cal kcal ppm ppb ct""".split()
)
_WORDS = {
    word: str(value)
    for value, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
        fifteen sixteen seventeen eighteen nineteen twenty""".split()
    )
} | {
    word: str(10 * value)
    for value, word in enumerate("thirty forty fifty sixty seventy eighty ninety".split(), 3)
}
MULTIPLIERS = {"hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9}
_MONTHS = (
    {
        name: f"month {value}"
        for value, name in enumerate(
            """January February March April May June July August September October November
        December""".split(),
            1,
        )
    }
    | {
        name: f"month {value}"
        for value, name in enumerate("Jan Feb Mar Apr - Jun Jul Aug Sep Oct Nov Dec".split(), 1)
        if name != "-"
    }
    | {"Sept": "month 9"}
)
_THOUSANDS = re.compile(r"(?<=\d)[,\u2009\u202f\u00a0](?=\d{3}(?!\d))")


def number_key(word: str) -> str | None:
    """One writing of a number: "12" of "12", "12.0", "012", "twelve", "12th", "12mg"; else None.

    "one" is none: it is a pronoun more often than a number.
    """
    match = _DIGITS.fullmatch(_THOUSANDS.sub("", word))
    if match:
        unit = (match["unit"] or "").lower().replace("\u03bc", "u").replace("\u00b5", "u")
        return normal(match["value"]) if not unit or unit in _UNITS or unit == "%" else None
    if word in _MONTHS:
        return _MONTHS[word]
    parts = word.lower().split("-")
    values = [_WORDS.get(part) for part in parts]
    if len(parts) == 2 and values[0] and values[1] and parts[0].endswith("ty"):
        return str(int(values[0]) + int(values[1]))
    return values[0] if len(parts) == 1 and word.lower() != "one" else None


def normal(digits: str) -> str:
    """Decimal digits without leading and trailing zeros that say nothing."""
    return f"{Decimal(digits.replace(chr(0xB7), '.')).normalize():f}"


def times(key: str, multiplier: str) -> str:
    """ "1.2", "million" -> "1200000"; a month stays one."""
    if key.startswith("month"):
        return key
    return f"{(Decimal(key) * MULTIPLIERS[multiplier]).normalize():f}"


def rounds_to(exact: str, rounded: str) -> bool:
    """Whether `exact` has more decimals and, without them, is `rounded` (76.3, 76). Keys both."""
    if "." not in exact or "month" in rounded:
        return False
    decimals = rounded.partition(".")[2]
    step = Decimal(1).scaleb(-len(decimals))
    return len(exact.partition(".")[2]) > len(decimals) and Decimal(exact).quantize(
        step, ROUND_HALF_UP
    ) == Decimal(rounded)
