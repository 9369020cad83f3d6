"""The YAML between two lines of dashes at the head of a page."""

from __future__ import annotations

import re

import yaml

_FRONT_MATTER = re.compile(r"---[ \t]*\n(?:(.*?)\n)??---[ \t]*(?:\n|\Z)", re.DOTALL)
_MAX_CHARS = 64 * 1024


def split_front_matter(text: str) -> tuple[dict[str, object], str]:
    """The fields of a page's front matter and the page without it.

    What stands between dashes but is no YAML mapping is a part of the page: nothing is lost.
    Values come as they are written, unconverted (`BaseLoader`).
    """
    match = _FRONT_MATTER.match(text)
    if match is None or match.end() > _MAX_CHARS:
        return {}, text
    try:
        fields = yaml.load(match[1] or "", Loader=yaml.BaseLoader)  # noqa: S506 - strings only
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}, text
    if not isinstance(fields, dict) and match[1]:
        return {}, text
    return {str(name): value for name, value in (fields or {}).items()}, text[match.end() :]


def title_of(fields: dict[str, object]) -> str:
    """The field `title` on one line; empty where there is none."""
    title = fields.get("title")
    return " ".join(title.split()) if isinstance(title, str) else ""
