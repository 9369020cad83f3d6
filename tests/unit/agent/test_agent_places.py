"""Places of runs are shared among keys."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from askem.errors import Overloaded
from askem_agent.places import OTHERS_S, Places


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def refused(places: Places, key: str) -> bool:
    try:
        with places.taken(key):
            return False
    except Overloaded:
        return True


def test_a_key_that_is_alone_may_have_all() -> None:
    places = Places("runs", 4, clock=Clock())
    with ExitStack() as stack:
        for _ in range(4):
            stack.enter_context(places.taken("a"))
        assert refused(places, "a")
    assert not refused(places, "a")


def test_no_key_has_more_than_half_beside_another() -> None:
    clock = Clock()
    places = Places("runs", 4, clock=clock)
    with ExitStack() as stack:
        first = [stack.enter_context(ExitStack()) for _ in range(4)]
        for place in first:
            place.enter_context(places.taken("a"))
        assert refused(places, "b")
        first[0].close()
        first[1].close()
        assert refused(places, "a")
        for _ in range(2):
            stack.enter_context(places.taken("b"))
        assert refused(places, "b")
    clock.now = OTHERS_S
    with ExitStack() as stack:
        for _ in range(4):
            stack.enter_context(places.taken("a"))


def test_a_single_place_is_anybodys() -> None:
    places = Places("runs", 1, clock=Clock())
    assert not refused(places, "a")
    assert not refused(places, "b")
    with places.taken("a"), pytest.raises(Overloaded), places.taken("b"):
        pass
