"""Which form of an answer an Accept header asks for."""

from __future__ import annotations

import pytest

from askem.http.negotiation import prefers

THIS, JSON = "application/vnd.askem.search+json", "application/json"


@pytest.mark.parametrize(
    "accept",
    [
        [THIS],
        [THIS.upper()],
        [f"{THIS}, {JSON};q=0.5"],
        [f"{JSON};q=0.5, {THIS}"],
        [JSON, THIS],
        [f"{THIS};q=0.4, {JSON};q=0.300"],
        [f"{THIS} ; q=0.001"],
        [f"{THIS};charset=utf-8;Q=0.9,*/*;q=0.8"],
        [f"{THIS};q=0.2, {JSON};q=0.1, */*"],
        [f"{THIS};q=0.2, application/*;q=0.1, */*"],
        [f"text/html,,{THIS};q=1.0"],
    ],
)
def test_wanted(accept: list[str]) -> None:
    assert prefers(accept, THIS, JSON)


@pytest.mark.parametrize(
    "accept",
    [
        [],
        [""],
        ["*/*"],
        ["application/*"],
        [JSON],
        ["text/html"],
        [f"{THIS};q=0"],
        [f"{THIS};q=0.000, */*"],
        [f"{THIS};q=0.5, {JSON}"],
        [f"{THIS};q=0.5, {JSON};q=0.501"],
        [f"{THIS};q=0.5, application/*"],
        [f"{THIS};q=0.5", "*/*;q=0.6"],
        [f"{THIS}x"],
        ["application/vnd.askem.search"],
        [f"{THIS};q=2"],
        [f"{THIS};q=nan"],
        [f"{THIS};q="],
        [";;q=1,=,"],
    ],
)
def test_not_wanted(accept: list[str]) -> None:
    assert not prefers(accept, THIS, JSON)
