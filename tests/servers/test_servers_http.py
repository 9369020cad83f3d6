"""The retriever over HTTP while engines come and go."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import SecretStr
from tests.servers.control import control

from askem.http.health import Probe
from askem.retrieval import Retriever
from askem.stores.servers import ServerStore
from askem.testing.contract import contract_corpus
from askem.testing.fakes import FakeEncoder
from askem.testing.inprocess import AppRunner
from askem_retriever.app import create_app
from askem_retriever.settings import RetrieverSettings
from askem_retriever.state import Components

pytestmark = pytest.mark.servers

KEY = "test-key-0123456789"
Q: dict[str, Any] = {"question": "transmission of infection", "top_k": 3}
LIMIT_S = 2.0


@pytest.fixture
def door(store: ServerStore, encoder: FakeEncoder) -> Iterator[AppRunner]:
    store.writer.replace(contract_corpus(encoder))
    components = Components(
        retriever=Retriever(
            encoder=encoder, sparse=store.sparse, dense=store.dense, reader=store.reader
        ),
        reader=store.reader,
        encoder_id=encoder.encoder_id,
        probes=[
            Probe("elasticsearch", store.schema.check_index),
            Probe("weaviate", store.schema.probe_collection),
        ],
    )
    settings = RetrieverSettings(api_key=SecretStr(KEY), workers=2)
    with AppRunner(create_app(settings, components), headers={"Api-Key": KEY}) as runner:
        yield runner


@pytest.fixture(params=["elasticsearch", "weaviate"])
def halted(request: pytest.FixtureRequest, door: AppRunner) -> Iterator[str]:
    assert door.request("GET", "/readyz").status_code == 200
    control("pause", request.param)
    yield request.param
    control("resume", request.param)


def timed(door: AppRunner, path: str, **body: Any) -> tuple[Any, float]:
    begun = time.monotonic()
    answer = door.request("POST", path, json={**Q, **body})
    return answer, time.monotonic() - begun


def test_a_halted_engine(door: AppRunner, halted: str) -> None:
    whole = {"elasticsearch": 200, "weaviate": 503}[halted]
    spent = {}
    for path, wanted in (("/hybrid", 503), ("/vector", whole), ("/search", 503)):
        answer, spent[path] = timed(door, path)
        assert (answer.status_code, path) == (wanted, path)
        if wanted == 503:
            assert answer.headers["Content-Type"] == "application/problem+json"
            assert int(answer.headers["Retry-After"]) >= 1
        else:
            assert len(answer.json()) == 3
    answer, spent["degraded"] = timed(door, "/hybrid", allow_degraded=True)
    assert (answer.status_code, answer.headers["Askem-Degraded"]) == (200, halted)
    assert len(answer.json()) == 3
    ready = door.request("GET", "/readyz")
    assert ready.status_code == 503
    assert [c["name"] for c in ready.json()["checks"] if not c["ok"]] == [halted]
    print(f"{halted} halted: " + ", ".join(f"{p} {s:.2f} s" for p, s in spent.items()))
    assert max(spent.values()) < LIMIT_S
    control("resume", halted)
    begun = time.monotonic()
    while door.request("POST", "/hybrid", json=Q).status_code != 200:
        assert time.monotonic() - begun < 10
        time.sleep(0.1)
    while door.request("GET", "/readyz").status_code != 200:
        assert time.monotonic() - begun < 10
        time.sleep(0.1)
    print(f"{halted} resumed: all is well {time.monotonic() - begun:.2f} s later")
