"""Names and identifiers in one writing: IL-6, IL6 and "IL 6" are one."""

from __future__ import annotations

import re
import unicodedata

# Papers write NF-κB, NF-kB and NF-kappaB: one letter stands for all three.
_GREEK = str.maketrans("αβγδκωλε", "abgdkwle")
_SPELT = re.compile("alpha|beta|gamma|delta|kappa|omega|lambda|epsilon")
_LETTERS = dict(zip(_SPELT.pattern.split("|"), "abgdkwle", strict=True))
_NOT_ALNUM = re.compile(r"[\W_\u0300-\u036f]+")
_IDENTIFIER = re.compile(r"(?=.*[^\W\d_])(?:.*\d.*|.*[^\W_][A-Z].*|[A-Z]{2,}.*)", re.DOTALL)


def name_key(text: str) -> str:
    """Letters and digits alone, lower case, without accents; Greek letters as Latin ones."""
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text).lower().translate(_GREEK)
    return _SPELT.sub(lambda m: _LETTERS[m[0]], _NOT_ALNUM.sub("", text.lower()))


def is_identifier(word: str) -> bool:
    """A digit among letters (p53, NW-4021) or a capital that is not the first letter (mRNA)."""
    return bool(_IDENTIFIER.fullmatch(word))


def is_capitalised(word: str) -> bool:
    return word[:1].isupper() and len(word) > 1


def same_root(one: str, other: str) -> bool:
    """ "italy", "italian"; "china", "chinese": equal but for the shorter one's last letter."""
    shorter, longer = sorted((one, other), key=len)
    return len(shorter) >= 4 and longer.startswith(shorter[:-1])
