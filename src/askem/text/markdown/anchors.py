"""Names for the sections of a page, made of their headings."""

from __future__ import annotations

import re
from collections.abc import Sequence

TOP = "top"
"""What stands before any heading."""
_BETWEEN = "--"
"""Between the headings of a path; within one, hyphens never follow each other."""
_MAX_CHARS = 80
"""With the longest document id and four bytes a letter, an id fits the 512 bytes that
Elasticsearch allows."""
# What paragraphs and figures of a document are called: `#p3`, `#fig-object.0`.
_TAKEN = re.compile(r"p\d+|fig-.*", re.DOTALL)


class Anchors:
    """The anchors of one page. A repeated path of headings gets `-2`, `-3` in their order."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def name(self, headings: Sequence[str]) -> str:
        """`recovery--steps` for the path Recovery, Steps under the page's title."""
        slugs = [slug(heading) or "section" for heading in headings] or [TOP]
        anchor = _BETWEEN.join(slugs)
        # The innermost heading says most.
        anchor = anchor[-_MAX_CHARS:].lstrip("-")
        if _TAKEN.fullmatch(anchor):
            anchor = f"section-{anchor}"
        number, wanted = 2, anchor
        while anchor in self._used:
            anchor, number = f"{wanted}-{number}", number + 1
        self._used.add(anchor)
        return anchor


def slug(heading: str) -> str:
    """Letters and digits of any script in lower case, hyphens between: `Platform errors` is
    `platform-errors`. Empty where a heading has none."""
    return "-".join(re.findall(r"[^\W_]+", heading.lower()))
