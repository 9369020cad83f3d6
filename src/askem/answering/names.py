"""Names and identifiers in one writing: IL-6, IL6 and "IL 6" are one."""

from __future__ import annotations

import re
import unicodedata

_GREEK = {
    "\u03b1": "alpha", "\u03b2": "beta", "\u03b3": "gamma", "\u03b4": "delta", "\u03b5": "epsilon",
    "\u03b6": "zeta", "\u03b7": "eta", "\u03b8": "theta", "\u03ba": "kappa", "\u03bb": "lambda",
    "\u03c3": "sigma", "\u03c4": "tau", "\u03c6": "phi", "\u03c7": "chi", "\u03c8": "psi",
    "\u03c9": "omega",
}  # fmt: skip
_NOT_ALNUM = re.compile(r"[\W_]+")
_IDENTIFIER = re.compile(
    r"(?=.*[^\W\d_])(?:.*\d.*|.*[^\W_][A-Z].*|[A-Z]{2,}.*)", re.DOTALL
)


def name_key(text: str) -> str:
    """Letters and digits alone, lower case, without accents, Greek letters spelt out."""
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text)
        text = "".join(_GREEK.get(c, c) for c in text.lower() if not unicodedata.combining(c))
    return _NOT_ALNUM.sub("", text.lower())


def is_identifier(word: str) -> bool:
    """A digit among letters (p53, NW-4021) or a capital that is not the first letter (mRNA)."""
    return bool(_IDENTIFIER.fullmatch(word))


def is_capitalised(word: str) -> bool:
    return word[:1].isupper() and len(word) > 1


def same_root(one: str, other: str) -> bool:
    """ "italy", "italian"; "china", "chinese": equal but for the shorter one's last letter."""
    shorter, longer = sorted((one, other), key=len)
    return len(shorter) >= 4 and longer.startswith(shorter[:-1])
