"""The circuit breaker, with a clock of its own."""

from __future__ import annotations

import pytest

from askem.breaker import Breaker, Outage, patiently
from askem.errors import BackendUnavailable


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Engine:
    """Answers, or is out as long as `down`; counts how often it was asked."""

    def __init__(self) -> None:
        self.down = False
        self.repeat = False
        self.asked = 0

    def __call__(self) -> str:
        self.asked += 1
        if self.down:
            raise Outage("engine", "no answer", repeat=self.repeat)
        return "answer"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def engine() -> Engine:
    return Engine()


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    return Breaker("engine", open_s=1.0, max_open_s=4.0, clock=clock)


def test_calls_pass_while_the_engine_answers(breaker: Breaker, engine: Engine) -> None:
    assert [breaker.call(engine) for _ in range(3)] == ["answer"] * 3


def test_nobody_waits_for_an_engine_that_is_out(
    breaker: Breaker, engine: Engine, clock: Clock
) -> None:
    engine.down = True
    for _ in range(5):
        with pytest.raises(BackendUnavailable) as raised:
            breaker.call(engine)
        assert (raised.value.backend, raised.value.retry_after_s) == ("engine", 1.0)
    assert engine.asked == 1
    clock.now += 0.9
    with pytest.raises(BackendUnavailable):
        breaker.call(engine)
    assert engine.asked == 1


def test_one_try_after_the_pause_closes_it(breaker: Breaker, engine: Engine, clock: Clock) -> None:
    engine.down = True
    with pytest.raises(Outage):
        breaker.call(engine)
    engine.down = False
    clock.now += 1.0
    assert breaker.call(engine) == "answer"
    assert not breaker.is_open


def test_pauses_grow_to_a_bound(breaker: Breaker, engine: Engine, clock: Clock) -> None:
    engine.down = True
    pauses = []
    for _ in range(5):
        with pytest.raises(Outage) as raised:
            breaker.call(engine)
        pauses.append(raised.value.retry_after_s)
        clock.now += pauses[-1]
    assert pauses == [1.0, 2.0, 4.0, 4.0, 4.0]


def test_only_one_caller_tries_at_a_time(breaker: Breaker, engine: Engine, clock: Clock) -> None:
    engine.down = True
    with pytest.raises(Outage):
        breaker.call(engine)
    clock.now += 1.0

    def trial() -> str:
        with pytest.raises(BackendUnavailable, match="not asked"):
            breaker.call(engine)
        return "tried"

    assert breaker.call(trial) == "tried"


def test_a_broken_connection_is_tried_again_once(breaker: Breaker, engine: Engine) -> None:
    engine.down = engine.repeat = True
    with pytest.raises(Outage):
        breaker.call(engine)
    assert engine.asked == 2


def test_an_error_that_is_an_answer_opens_nothing(breaker: Breaker, engine: Engine) -> None:
    def refuses() -> str:
        raise BackendUnavailable("engine", "refuses the key")

    for _ in range(3):
        with pytest.raises(BackendUnavailable, match="refuses"):
            breaker.call(refuses)
    assert breaker.call(engine) == "answer"


def test_who_can_wait_waits_through_an_outage(engine: Engine) -> None:
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        engine.down = len(pauses) < 3

    engine.down = True
    assert patiently(engine, sleep=sleep) == "answer"
    assert pauses == [0.5, 1.0, 2.0]


def test_nobody_waits_for_ever(engine: Engine) -> None:
    engine.down = True
    with pytest.raises(Outage):
        patiently(engine, sleep=lambda _: None)
    assert engine.asked == 9


def test_a_wrong_address_is_not_waited_for() -> None:
    pauses: list[float] = []

    def work() -> None:
        raise Outage("engine", "check its URL", lasting=True)

    with pytest.raises(Outage, match="check its URL"):
        patiently(work, sleep=pauses.append)
    assert pauses == []
