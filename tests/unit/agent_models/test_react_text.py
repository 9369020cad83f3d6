"""The text format alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askem_agent.models.react_text import Action, Final, final_so_far, read_step
from askem_agent.models.steps import NotAStep


@pytest.mark.parametrize(
    "text",
    [
        "Thought: why\nAction: search\nAction Input: what?",
        "thought: why\naction: search\naction input: what?",
        "**Thought:** why\n**Action:** search\n**Action Input:** what?",
        "Thought: why\n\nAction: `search`\n\nAction Input:\nwhat?\n",
        "```\nThought: why\nAction: search\nAction Input: what?\n```",
        "why\nAction: search\nAction Input: what?",
        "Thought: why\nAction: search[what?]",
        "Thought: why\nAction: search(what?)",
        "Thought: why\nAction: search\nAction Input: what?\nObservation: x\nFinal Answer: y",
        "Thought: why\nAction: search\nAction Input: what?\nFinal Answer: y",
        "Thought: why\nAction: search\nAction Input: what?\nThought: t\nAction: b\nAction Input: c",
        "Thought: why\nAction: search\nAction Input:\n```json\nwhat?\n```",
        "Thought: why\r\nAction: search\r\nAction Input: what?\r\n",
    ],
)
def test_variants_of_an_action(text: str) -> None:
    assert read_step(text) == Action("why", "search", "what?")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Thought: so\nFinal Answer: Yes [1].", "Yes [1]."),
        ("Final answer: Yes.", "Yes."),
        ("**Final Answer:** Yes.", "Yes."),
        ("FINAL_ANSWER:\nYes.\n\nAnd no.", "Yes.\n\nAnd no."),
        ("```\nFinal Answer: Yes.\n```", "Yes."),
        ("Final Answer:\n```\ncode\n```", "```\ncode\n```"),
        ("Final Answer: Yes.\nObservation: no\nFinal Answer: no", "Yes."),
        ("Final Answer: Yes.\nAction: inhibits growth.", "Yes.\nAction: inhibits growth."),
        ("Thought: The observation: it works\nFinal Answer: Yes.", "Yes."),
    ],
)
def test_variants_of_an_answer(text: str, answer: str) -> None:
    assert read_step(text) == Final(answer)


@pytest.mark.parametrize("text", ["", "Yes.", "Thought: only", "Observation: x\nFinal Answer: y"])
def test_what_is_no_step(text: str) -> None:
    with pytest.raises(NotAStep):
        read_step(text)


MARKERS = ["Thought: ", "Action: ", "Action Input: ", "Final Answer:", "Observation: "]
OTHERS = ["Obs", "O", " ", "it binds", "- ", "µ", ":", "observation", "**", "```", "\n"]
WORDS = st.sampled_from([*MARKERS, *OTHERS])


@given(st.lists(WORDS, max_size=14).map("".join))
def test_what_is_shown_early_begins_the_answer(text: str) -> None:
    shown = ""
    for end in range(len(text) + 1):
        now = final_so_far(text[:end])
        assert now.startswith(shown)
        shown = now
    try:
        step = read_step(text)
    except NotAStep:
        assert shown == ""
        return
    assert (step.text if isinstance(step, Final) else "").startswith(shown)
