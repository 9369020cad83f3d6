"""Engines that stop, hang and come back: what a reader sees, and when. Times are printed."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from tests.servers.control import control

from askem.errors import BackendUnavailable
from askem.models import Filters
from askem.stores.servers import Endpoints, ServerStore
from askem.testing.contract import contract_corpus
from askem.testing.fakes import FakeEncoder

pytestmark = pytest.mark.servers

LIMIT_S = 2.0
RETURN_S = 10.0


@pytest.fixture(params=["elasticsearch", "weaviate"])
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    """One that is put right again whatever happens."""
    name: str = request.param
    yield name
    control("start", name)


@pytest.fixture
def filled(store: ServerStore, encoder: FakeEncoder) -> ServerStore:
    store.writer.replace(contract_corpus(encoder))
    return store


def asker(store: ServerStore, engine: str) -> Callable[[], list[str]]:
    vector = FakeEncoder().encode_question("infection model")
    if engine == "weaviate":
        return lambda: store.dense.search(vector, 3, Filters()).passage_ids
    return lambda: store.sparse.screen(["infect", "model"], 3, Filters()).passage_ids


def timed_refusal(ask: Callable[[], list[str]], engine: str) -> float:
    begun = time.monotonic()
    with pytest.raises(BackendUnavailable) as raised:
        ask()
    assert raised.value.backend == engine
    assert raised.value.retry_after_s > 0
    return time.monotonic() - begun


def time_to_answer(ask: Callable[[], list[str]], wanted: list[str]) -> float:
    begun = time.monotonic()
    while time.monotonic() - begun < 60:
        try:
            assert ask() == wanted
        except BackendUnavailable:
            time.sleep(0.1)
        else:
            return time.monotonic() - begun
    raise AssertionError("did not come back")


@pytest.mark.parametrize(
    ("take_away", "give_back"), [("stop", "start"), ("kill", "start"), ("pause", "resume")]
)
def test_an_engine_that_is_gone_is_named_in_time_and_is_back_soon(
    filled: ServerStore, engine: str, take_away: str, give_back: str
) -> None:
    ask = asker(filled, engine)
    wanted = ask()
    control(take_away, engine)
    first, *later = [timed_refusal(ask, engine) for _ in range(20)]
    assert max(first, *later) < LIMIT_S
    # The breaker is open: nobody waits any more.
    assert sorted(later)[len(later) // 2] < 0.05
    control(give_back, engine)
    back = time_to_answer(ask, wanted)
    print(
        f"{engine} {take_away}: first refusal {first:.2f} s, worst {max(later):.2f} s, "
        f"median {sorted(later)[len(later) // 2] * 1e3:.1f} ms; back {back:.2f} s after {give_back}"
    )
    assert back < RETURN_S


def test_passages_are_read_from_weaviate_while_elasticsearch_is_gone(
    filled: ServerStore, encoder: FakeEncoder
) -> None:
    written = {p.passage_id: p for source in contract_corpus(encoder) for p in source.passages}
    control("pause", "elasticsearch")
    try:
        begun = time.monotonic()
        assert filled.reader.passages([*written, "nowhere#p0"]) == written
        assert time.monotonic() - begun < LIMIT_S
    finally:
        control("resume", "elasticsearch")
    assert time_to_answer(lambda: list(filled.reader.passages(["sidarthe#p0"])), ["sidarthe#p0"])


def test_a_store_opens_while_nothing_answers(endpoints: Endpoints, encoder: FakeEncoder) -> None:
    nowhere = replace(
        endpoints,
        elasticsearch_url="http://127.0.0.1:9",
        weaviate_url="http://127.0.0.1:9",
        weaviate_grpc_url="http://127.0.0.1:9",
    )
    with ServerStore.open(nowhere, encoder) as store:
        for name in ("elasticsearch", "weaviate"):
            assert timed_refusal(asker(store, name), name) < LIMIT_S


@pytest.fixture
def resetting() -> Iterator[str]:
    """A server that takes connections and resets them."""
    listener = socket.create_server(("127.0.0.1", 0))

    def reset() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            connection.recv(1)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()

    thread = threading.Thread(target=reset, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()


def test_an_engine_that_resets_connections_is_named_in_time(
    endpoints: Endpoints, encoder: FakeEncoder, resetting: str
) -> None:
    broken = replace(
        endpoints,
        elasticsearch_url=resetting,
        weaviate_grpc_url=resetting,
        weaviate_url=resetting,
    )
    with ServerStore.open(broken, encoder) as store:
        for name in ("elasticsearch", "weaviate"):
            assert timed_refusal(asker(store, name), name) < LIMIT_S


def test_a_wrong_key_is_named(endpoints: Endpoints, encoder: FakeEncoder) -> None:
    wrong = replace(endpoints, elasticsearch_api_key="bm86bm8=", weaviate_api_key="no")
    with ServerStore.open(wrong, encoder) as store:
        for name in ("elasticsearch", "weaviate"):
            with pytest.raises(BackendUnavailable, match=f"{name.upper()}_APIKEY"):
                asker(store, name)()
