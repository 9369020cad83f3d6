"""Which version both engines are to be on."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from askem.errors import SchemaUnfit
from askem.stores.servers.sides import Side, agree, chosen


def elastic(current: int | None, held: Mapping[int, int]) -> Side:
    return Side("Elasticsearch", "passages", held, current, {})


def vectors(current: int | None, held: Mapping[int, int]) -> Side:
    return Side("Weaviate", "windows", held, current, {})


@pytest.mark.parametrize(
    ("first", "second", "version"),
    [
        (elastic(None, {}), vectors(None, {}), 1),
        (elastic(None, {1: 9, 2: 9}), vectors(2, {1: 9, 2: 9}), 2),
        (elastic(2, {2: 9}), vectors(None, {2: 9}), 2),
        (elastic(None, {1: 9, 2: 9}), vectors(None, {1: 9, 2: 9}), 2),
        # The empty one is newer, and nobody's.
        (elastic(None, {2: 9, 3: 0}), vectors(None, {2: 9, 3: 0}), 2),
        (elastic(None, {2: 0}), vectors(None, {}), 2),
        (elastic(4, {4: 9}), vectors(None, {}), 4),
    ],
)
def test_aliases_go_back_to_what_holds_data(first: Side, second: Side, version: int) -> None:
    assert chosen(first, second) == version


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (elastic(3, {2: 9, 3: 0}), vectors(2, {2: 9, 3: 0}), "different versions"),
        (elastic(None, {1: 9, 2: 0}), vectors(2, {1: 9, 2: 9}), "Elasticsearch holds nothing in v"),
        (elastic(2, {2: 9}), vectors(None, {1: 9, 2: 0}), "Weaviate holds nothing in version 2"),
        (elastic(None, {}), vectors(2, {2: 9}), "Restore Elasticsearch's snapshot"),
        # A migration that was cut short.
        (elastic(None, {1: 9, 2: 4}), vectors(None, {1: 9, 2: 4}), "less than an older one"),
    ],
)
def test_what_is_not_clear_is_refused_and_named(first: Side, second: Side, message: str) -> None:
    with pytest.raises(SchemaUnfit, match=message) as raised:
        chosen(first, second)
    assert str(first) in str(raised.value)
    assert str(second) in str(raised.value)


@pytest.mark.parametrize(("index", "collection"), [(None, 2), (2, None), (3, 2)])
def test_sides_that_differ_are_refused(index: int | None, collection: int | None) -> None:
    with pytest.raises(SchemaUnfit, match="askem schema create"):
        agree(index, collection)
