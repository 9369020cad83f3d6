"""Passages as data for a language model: delimited, numbered, without anything invisible."""

from __future__ import annotations

import re

from askem.answering.models import Source
from askem.text.decoding import clean
from askem_agent.notebook import Observation

# Our own delimiters, and those by which chat templates mark who is speaking: text that holds them
# must not end the block or open a turn. Their first character becomes one that only looks like it.
_DELIMITER = re.compile(
    r"<(?=\s*/?\s*(?:passages?|system|user|assistant|tool)\b|\|)", re.IGNORECASE
)
_TEMPLATE = re.compile(r"\[(?=/?(?:INST|SYS|TOOL_CALLS|AVAILABLE_TOOLS)\b)", re.IGNORECASE)
_LOOKS_LIKE_LESS_THAN, _LOOKS_LIKE_BRACKET = "\u2039", "\u2045"


def as_data(text: str) -> str:
    """`text` without zero-width, bidi and control characters, and without our delimiters."""
    bare = clean(text).text
    return _TEMPLATE.sub(_LOOKS_LIKE_BRACKET, _DELIMITER.sub(_LOOKS_LIKE_LESS_THAN, bare))


def observation_text(observation: Observation, *, repeated: bool = False) -> str:
    """What the tool returns to the model."""
    parts = ["You searched for this before; these are the same passages."] if repeated else []
    if not observation.numbers:
        return "\n".join([*parts, "No passage was found. Try other words, or answer."])
    for number, source in observation.numbered():
        if number in observation.new and not repeated:
            parts.append(_passage(number, source))
        else:
            parts.append(f"[{number}] was shown above.")
    if observation.omitted:
        parts.append(f"{observation.omitted} more passages were left out for their length.")
    return "\n".join(parts)


def _passage(number: int, source: Source) -> str:
    # Ids of a foreign retriever may hold anything.
    paper = re.sub(r"[^\w.#-]", "_", source.paper_id)[:128]
    return f'<passage number="{number}" paper="{paper}">\n{as_data(source.text)}\n</passage>'
