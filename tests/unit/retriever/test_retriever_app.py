"""Starting the app, its settings, and its committed documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError

from askem.errors import ConfigurationError
from askem.http import wire
from askem.http.client import AsyncAskemClient, NotFoundError, Rejected, Unauthorized
from askem.testing.inprocess import AppRunner
from askem_retriever.app import create_app
from askem_retriever.settings import RetrieverSettings

DOCS = Path(__file__).parents[3] / "docs"
KEY = "test-key-0123456789"


@pytest.mark.parametrize("key", [None, "", "short", "white space 0123456789"])
def test_no_start_without_a_usable_key(key: str | None) -> None:
    settings = RetrieverSettings(api_key=None if key is None else SecretStr(key))
    with pytest.raises(ConfigurationError, match="API key"):
        create_app(settings)


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASKEM_PORT", "4600")
    monkeypatch.setenv("ASKEM_RANKING", "rrf")
    monkeypatch.setenv("ASKEM_TOPIC_ALIASES", '{"Corona": "COVID-19"}')
    settings = RetrieverSettings()
    assert (settings.port, settings.ranking) == (4600, "rrf")
    assert settings.canonical_topic("CORONA") == "covid-19"
    assert settings.canonical_topic("Soil-Carbon") == "soil-carbon"


@pytest.mark.parametrize(
    "values",
    [
        {"port": 70_000},
        {"workers": 0},
        {"queue": -1},
        {"request_timeout_s": 0},
        {"ranking": "best"},
        {"max_distance": 3},
        {"nearest_top_k": 1_001},
        {"rerank_top_k": -1},
        {"rerank_budget_ms": 0},
        {"reranker_revision": "main"},
        {"topic_aliases": {"a": "b", "b": "c"}},
        {"topic_aliases": {"a": "not a topic"}},
    ],
    ids=str,
)
def test_settings_out_of_range_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        RetrieverSettings(**values)


def test_the_key_is_not_in_the_settings_text() -> None:
    assert KEY not in repr(RetrieverSettings(api_key=SecretStr(KEY)))


def test_the_document_is_served_without_a_key_and_its_examples_are_true(door: AppRunner) -> None:
    document = door.request("GET", "/openapi.json", headers={"Api-Key": "no"}).json()
    assert document == json.loads(json.dumps(door.app.openapi()))
    models = {
        "/vector": wire.VectorRequest,
        "/hybrid": wire.HybridRequest,
        "/search": wire.SearchRequest,
    }
    for path, model in models.items():
        examples = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]
        for example in examples["examples"].values():
            model.model_validate(example["value"])
            assert door.request("POST", path, json=example["value"]).status_code == 200
    example = document["paths"]["/search"]["post"]["responses"]["200"]["content"]
    wire.SearchResponse.model_validate(example["application/json"]["example"])


def test_every_field_is_in_the_reference() -> None:
    reference = (DOCS / "api.md").read_text("utf-8")
    for model in (wire.SearchRequest, wire.SearchHit, wire.SearchResponse, wire.PaperDetail):
        for name in model.model_fields:
            assert f"`{name}`" in reference, name


def test_the_client_understands_the_app(door: AppRunner) -> None:
    async def go() -> None:
        transport = door.client._transport
        async with AsyncAskemClient("http://test", KEY, transport=transport) as askem:
            question = "What is SIDARTHE model?"
            hits = await askem.hybrid(wire.HybridRequest(question=question, top_k=2))
            assert len(hits) == 2
            assert len(await askem.vector(wire.VectorRequest(question=question))) == 5
            found = await askem.search(wire.SearchRequest(question=question, ranking="rrf"))
            assert found.ranking == "rrf"
            assert len(await askem.topics()) == 3
            page = await askem.papers(topic="covid", limit=1)
            assert page.next is None
            assert len((await askem.paper(page.papers[0].paper_id)).passages) == 4
            passage = await askem.passage(hits[0].passage_id)
            assert passage.text == hits[0].text
            assert (await askem.ready()).ready
            with pytest.raises(NotFoundError):
                await askem.passage("nobody#p0")
            with pytest.raises(Rejected, match="limit"):
                await askem.papers(limit=0)
        async with AsyncAskemClient("http://test", KEY + "x", transport=transport) as askem:
            with pytest.raises(Unauthorized):
                await askem.topics()

    door.run(go())
