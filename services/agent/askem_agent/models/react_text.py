"""The text format of ReAct (Yao et al. 2023): Thought, Action, Action Input, Final Answer. Pure.

Variants are taken in: markdown around the words, other case, code fences, `Action: tool[input]`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from askem_agent.models.steps import NotAStep

_MARKER = re.compile(
    r"^[ \t>*_#-]*(?P<word>final[ _]?answer|action[ _]?input|action|observation|thought)"
    r"[ \t]*[*_]*[ \t]*:[ \t]*[*_]*",
    re.IGNORECASE | re.MULTILINE,
)
_FENCE = re.compile(r"^[ \t]*```.*$", re.MULTILINE)
_BRACKETS = re.compile(r"(?P<name>[\w-]+)\s*[\[(](?P<given>.*)[\])]", re.DOTALL)
_OBSERVATION = "observation:"


@dataclass(frozen=True, slots=True)
class Action:
    """A tool the model wants to use, as it wrote it: nothing is checked."""

    thought: str
    name: str
    given: str


@dataclass(frozen=True, slots=True)
class Final:
    text: str


def read_step(text: str) -> Action | Final:
    """The first step in `text`. What follows an "Observation:" is the model's invention and is
    not read. Raises NotAStep."""
    parts = _parts(text)
    for position, (word, content) in enumerate(parts):
        if word == "finalanswer":
            return _final(content)
        if word == "action":
            thought = " ".join(said for _, said in parts[:position] if said)
            following = parts[position + 1] if position + 1 < len(parts) else ("", "")
            return _action(thought, content, following)
    if _cut_at_observation(text) != text:
        raise NotAStep("there is no Action before your 'Observation:', and only tools observe")
    raise NotAStep("there is neither an 'Action:' nor a 'Final Answer:'")


def final_so_far(text: str) -> str:
    """How the final answer surely begins, for a `text` that may go on; empty before there is one.

    Grows with `text`, and is a beginning of what `read_step` gives in the end.
    """
    parts = _parts(text)
    words = [word for word, _ in parts]
    if "finalanswer" not in words or "action" in words[: words.index("finalanswer")]:
        return ""
    content = parts[words.index("finalanswer")][1]
    head, _, line = content.rpartition("\n")
    # A last line that may yet become a fence or an invented observation is kept back.
    bare = line.strip(" \t>*_#-").lower()
    unsure = (
        not bare or bare.startswith("`") or _OBSERVATION.startswith(re.sub(r"[ \t*_]", "", bare))
    )
    return (head if unsure else content).rstrip()


def _parts(text: str) -> list[tuple[str, str]]:
    """(word, what follows it) in order, up to an observation; a final answer is the last of them.
    What stands before the first word comes first, under no word."""
    own = _cut_at_observation(text)
    markers = list(_MARKER.finditer(own))
    parts = [("", own[: markers[0].start()] if markers else own)]
    ends = [*(marker.start() for marker in markers[1:]), len(own)]
    for marker, end in zip(markers, ends, strict=False):
        word = re.sub(r"[ _]", "", marker["word"]).lower()
        if word == "finalanswer":
            parts.append((word, own[marker.end() :].lstrip()))
            break
        parts.append((word, own[marker.end() : end]))
    return [(word, said if word == "finalanswer" else _bare(said)) for word, said in parts]


def _cut_at_observation(text: str) -> str:
    for marker in _MARKER.finditer(text):
        if marker["word"].lower() == "observation":
            return text[: marker.start()]
    return text


def _bare(text: str) -> str:
    return _FENCE.sub("", text).strip()


def _final(content: str) -> Final:
    text = content.rstrip()
    fences = len(_FENCE.findall(text))
    if fences % 2 and text.endswith("```"):
        # The end of a fence around the whole step.
        text = text[:-3].rstrip()
    if not text:
        raise NotAStep("the 'Final Answer:' is empty")
    return Final(text)


def _action(thought: str, content: str, following: tuple[str, str]) -> Action:
    word, given = following
    if word == "actioninput":
        name = content.strip("`'\"*[]() \t")
        return Action(thought, name, given)
    brackets = _BRACKETS.fullmatch(content)
    if brackets is None:
        raise NotAStep("there is no 'Action Input:' after the 'Action:'")
    return Action(thought, brackets["name"], brackets["given"].strip())
