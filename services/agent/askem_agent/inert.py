"""Text of models and strangers that no renderer acts on: neither as markdown nor as HTML.

What would open a tag, a link, an image or an address becomes a character that only looks like it,
since an escape is shown by every reader that does not know it.
"""

from __future__ import annotations

import re

# A tag, a comment and an autolink open at "<" before anything but white space; "<0.05" opens
# nothing where only the number follows.
_OPENING = re.compile(r"<(?![\s=]|[\d.,]+%?(?:[\s);,\]]|$)|$)")
# A link, an image, a definition or a wiki's link needs one of these beside its bracket.
_CLOSING = re.compile(r"\](?=[(\[:])")
_BRACKET = re.compile(r"\[(?=\[)|(?<=!)\[")
# Renderers make links of bare addresses too: of a scheme, of two slashes, of an address of mail,
# of "www.", and some of any name that ends as a host's may; names of files are left alone.
_COLON = re.compile(r":(?=//)|(?<=mailto):|(?<=xmpp):|(?<=tel):", re.IGNORECASE)
_SLASHES = re.compile(r"/(?=/[\w\[])|(?<=/)/(?=[\w\[])")
_AT = re.compile(r"(?<=[\w.+-])@(?=[\w-]+\.\w)")
_DOT = re.compile(
    r"(?<=www)\.(?=\w)|(?<=[\w-])\.(?="
    r"(?:com|net|org|edu|gov|info|biz|name|pro|web|xxx|aero|asia|coop|museum|shop|xn--[\w-]+"
    r"|(?!py|sh|md|rs|pl|cc|ps|so|go)[a-z]{2}|(?![a-z])[^\W\d_]{2,})(?![\w-]))",
    re.IGNORECASE,
)
_LOOKALIKES = (
    (_OPENING, "\u2039"),
    (_CLOSING, ")"),
    (_BRACKET, "("),
    (_COLON, "\u2236"),
    (_SLASHES, "\u2044"),
    (_AT, "\uff20"),
    (_DOT, "\u2024"),
)
_ADDRESS = re.compile(
    r"\b[A-Za-z][\w+.-]{1,20}:/{1,2}[^\s<>\"]+|(?<![\w:/])//[\w-]+\.[^\s<>\"]+"
    r"|\bwww\.[^\s<>\"]+|\b(?:mailto|xmpp|tel):\S+|[\w.+-]{1,64}@[\w-]+\.[\w.-]+",
    re.IGNORECASE,
)


def inert(text: str) -> str:
    """`text` with look-alikes for what renderers act on; everything else as it was."""
    for pattern, lookalike in _LOOKALIKES:
        text = pattern.sub(lookalike, text)
    return text


def addresses(text: str) -> list[str]:
    """URLs and addresses of mail in `text`, without the stops after them."""
    return [found.rstrip(".,;:!?)]}'\u201d") for found in _ADDRESS.findall(text)]
