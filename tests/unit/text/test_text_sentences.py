"""Sentence boundaries."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askem.text.sentences import ends_sentence, sentence_spans


@pytest.mark.parametrize(
    "text",
    [
        "Moss et al. [39] weighed them. | See Fig. 2 for the rest.",
        "Doses of approx. 1.5 \u00b5g/mL, e.g. for eels, hold vs. those of Dr. Fell. | Then rain.",
        "We thank J. C. Arnold. | He drew the maps.",
        "The streams (i) froze, (ii) thawed. | We left.",
        "1. Lay the cages. | 2. Open them.",
        "This held in winter [3, 4] . | Spring was different.",
        "It grew.[12] | It died.",
        "It grew.3,4 | It died.",
        "It grew.\u00b3\u2070 | It died.",
        'They called it "slow." | We agree.',
        "(No cage was lost.) | [All were found.]",
        "Was it cold? | 30 mussels died! | Yes...",
        "Alder was shed. | mRNA was not. | pH fell to 6.5. | p53 stayed.",
        "They were fed B. subtilis and E. coli.",
        "Patients had hepatitis B. | The virus was cleared.",
        "The U.S. Army agreed.",
        "Rates etc. were kept. | \u03b2-carotene rose.",
        "Results follow\n\nMussels grew",
    ],
)
def test_boundaries(text: str) -> None:
    if "|" in text:
        expected = text.split(" | ")
        text = " ".join(expected)
    else:
        expected = text.split("\n\n")
    assert [text[start:end] for start, end in sentence_spans(text)] == expected


@pytest.mark.parametrize("text", ["", "  \n ", "\f"])
def test_no_text_has_no_sentence(text: str) -> None:
    assert sentence_spans(text) == []


@pytest.mark.parametrize(
    ("text", "ended"),
    [
        ("It grew.", True),
        ("It grew [3, 4] .", True),
        ("It grew. [5] [6]", True),
        ("It grew.7,8", True),
        ('It "grew."', True),
        ("as follows:", True),
        ("It was 3.5", False),
        ("as seen in Fig. 2", False),
        ("the mean of the", False),
        ("by Moss et al.", True),
        ("", False),
    ],
)
def test_whether_a_text_may_be_complete(text: str, ended: bool) -> None:
    assert ends_sentence(text) is ended


@given(st.text(alphabet="aB1.!?'\"()[] \n\u00b2", max_size=80) | st.text(max_size=60))
def test_spans_cover_all_but_white_space_in_order(text: str) -> None:
    spans = sentence_spans(text)
    last = 0
    for start, end in spans:
        assert not text[last:start].strip()
        piece = text[start:end]
        assert piece
        assert piece == piece.strip()
        last = end
    assert not text[last:].strip()
