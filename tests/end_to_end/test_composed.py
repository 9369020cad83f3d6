"""Retriever and ingest behind one door, over one folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from askem.http.compose import build_app
from askem.http.keyring import Keyring
from askem.http.keywatch import KeyringWatch
from askem.http.scopes import SCOPES
from askem.retrieval.retriever import Retriever
from askem.stores.embedded import EmbeddedStore
from askem.testing.fakes import FakeEncoder
from askem.testing.inprocess import AppRunner
from askem.testing.waiting import until_async
from askem_ingest.app import make_service as ingest_service
from askem_ingest.settings import IngestSettings
from askem_ingest.state import Access
from askem_ingest.state import Components as IngestComponents
from askem_retriever.app import make_service as retriever_service
from askem_retriever.readiness import probes
from askem_retriever.settings import RetrieverSettings
from askem_retriever.state import Components as RetrieverComponents

KEY = "test-key-0123456789"
TEXT = "The SIDARTHE model has eight stages of infection."


@pytest.fixture
def keyring(tmp_path: Path) -> Keyring:
    return Keyring(tmp_path)


@pytest.fixture
def door(tmp_path: Path, keyring: Keyring) -> Iterator[AppRunner]:
    encoder = FakeEncoder()
    with ExitStack() as stack:
        reading, *writing = (
            stack.enter_context(EmbeddedStore.open(tmp_path, encoder)) for _ in range(3)
        )
        access = [Access(store.writer, store.ledger) for store in writing]
        retriever = Retriever(
            encoder=encoder, sparse=reading.sparse, dense=reading.dense, reader=reading.reader
        )
        services = [
            ingest_service(IngestSettings(data_dir=tmp_path), IngestComponents(encoder, *access)),
            retriever_service(
                RetrieverSettings(data_dir=tmp_path, workers=2),
                RetrieverComponents(
                    retriever, reading.reader, encoder.encoder_id, probes(encoder, reading.reader)
                ),
            ),
        ]
        app = build_app(services, api_keys=[KEY], keyring=KeyringWatch(keyring))
        yield stack.enter_context(AppRunner(app, headers={"Api-Key": KEY}))


async def ended(door: AppRunner, location: str) -> Any:
    async def job() -> Any:
        answer = await door.client.get(location)
        assert answer.status_code == 200, answer.text
        return answer.json() if answer.json()["state"] in ("done", "failed") else None

    return await until_async(job)


def found(door: AppRunner) -> list[str]:
    hits = door.request("POST", "/hybrid", json={"question": "SIDARTHE", "topic": "covid"}).json()
    return [hit["passage_id"] for hit in hits]


def test_what_is_taken_is_found_and_what_is_deleted_is_not(door: AppRunner) -> None:
    body = {"paper_id": "a", "text": TEXT, "topics": ["covid"]}
    assert found(door) == []
    taken = door.request("POST", "/papers", json=body)
    assert door.run(ended(door, taken.headers["location"]))["state"] == "done"
    assert found(door) == ["a#p0"]
    assert [p["paper_id"] for p in door.request("GET", "/papers").json()["papers"]] == ["a"]
    assert door.request("GET", "/papers/a").json()["paragraphs"] == 1
    assert door.request("DELETE", "/papers/a").json() == {"paper_id": "a", "sources": 1}
    assert found(door) == []
    assert door.request("GET", "/papers/a").status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("PUT", "/papers", "GET, POST"),
        ("DELETE", "/papers", "GET, POST"),
        ("POST", "/papers/a", "DELETE, GET"),
        ("PUT", "/jobs", "GET, POST"),
        ("POST", "/jobs/a", "GET"),
        ("GET", "/hybrid", "POST"),
        ("POST", "/healthz", "GET, HEAD"),
        ("DELETE", "/passages/a", "GET"),
    ],
)
def test_405_names_the_methods_of_both(door: AppRunner, method: str, path: str, allow: str) -> None:
    answer = door.request(method, path)
    assert (answer.status_code, answer.headers["allow"]) == (405, allow)
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("method", "path", "needed"),
    [
        ("POST", "/papers", "write"),
        ("POST", "/jobs", "write"),
        ("DELETE", "/papers/a", "write"),
        ("GET", "/papers", "read"),
        ("GET", "/papers/a", "read"),
        ("GET", "/jobs", "read"),
        ("GET", "/jobs/a", "read"),
        ("POST", "/hybrid", "read"),
    ],
)
def test_changes_need_the_scope_write(
    tmp_path: Path, keyring: Keyring, method: str, path: str, needed: str, request: Any
) -> None:
    keys = {scope: keyring.create(scope, (scope,))[1] for scope in SCOPES}
    door = request.getfixturevalue("door")
    for scope, key in keys.items():
        answer = door.request(method, path, headers={"Api-Key": key})
        assert (answer.status_code == 403) == (scope != needed)
    documented = door.request("GET", "/openapi.json").json()["paths"]
    if "/a" not in path:
        assert documented[path][method.lower()]["security"] == [{"ApiKey": [needed]}]


def test_each_is_ready(door: AppRunner) -> None:
    answer = door.request("GET", "/readyz")
    names = [check["name"] for check in answer.json()["checks"]]
    assert (answer.status_code, names) == (
        200,
        ["ingest worker", "ingest queue", "encoder", "store"],
    )


def test_searches_keep_their_small_bodies(door: AppRunner) -> None:
    large = {"question": "x" * 70_000}
    assert door.request("POST", "/hybrid", json=large).status_code == 413
    body = {"paper_id": "a", "text": "x " * 70_000, "topics": ["covid"]}
    assert door.request("POST", "/papers", json=body).status_code == 202
