"""Numbers and names in one writing; weights."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askem.answering.lexemes import lexemes
from askem.answering.weights import idf_over


def numbers(text: str) -> list[str]:
    return [lexeme.number for lexeme in lexemes(text) if lexeme.number]


def names(text: str) -> list[str]:
    return [lexeme.name for lexeme in lexemes(text) if lexeme.name]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12 % 12% 12.0 012 twelve 12th", ["12"] * 6),
        ("1,000 1000 1\u202f000", ["1000"] * 3),
        ("1,2,3", ["1", "2", "3"]),
        ("5-7 5\u20137 5 to 7", ["5", "7"] * 3),
        ("2.5-fold, 2.5 fold", ["2.5", "2.5"]),
        ("10mg 10-mg 10 mg 37C", ["10", "10", "10", "37"]),
        ("twenty-five", ["25"]),
        ("1.2 million, two hundred", ["1200000", "200"]),
        ("on March 5, 2020; 2020-03-05", ["month 3", "5", "2020", "2020", "month 3", "5"]),
        ("It may. May it be? In May, yes.", ["month 5"]),
        ("one of them", []),
        ("IL-6 and p53, COVID-19", []),
    ],
)
def test_numbers(text, expected):
    assert numbers(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in IL-6 IL6", ["il6", "il6"]),
        ("NF-\u03baB NF-kB NF-kappaB", ["nfkb"] * 3),
        ("SARS-CoV-2, NW-4021 and 2019-nCoV", ["sarscov2", "nw4021", "2019ncov"]),
        ("IL-6-induced anti-TNF", ["il6", "tnf"]),
        ("Patients in Wuhan. Then Milan: Rome", ["wuhan", "milan"]),
        ("mRNA p53 H1N1", ["mrna", "p53", "h1n1"]),
        ("mid-2020 and 5-day", []),
    ],
)
def test_names(text, expected):
    assert names(text) == expected


@given(st.text(max_size=100))
def test_offsets_rise_and_stay_inside(text):
    last = 0
    for lexeme in lexemes(text):
        assert last <= lexeme.start < lexeme.end <= len(text)
        last = lexeme.end


def test_rare_words_weigh_more_and_every_word_something():
    weight = idf_over(["zinc fever", "zinc", "zinc cough"])
    assert weight("unseen") == weight("fever") > weight("zinc") > 0
    assert idf_over([])("any") > 0
