"""Retriever and agent behind one door, over the examples, on a real socket."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from click.testing import CliRunner, Result
from pydantic import SecretStr

from askem.http.client import Rejected, Unauthorized
from askem.http.compose import build_app
from askem.http.keyring import Keyring
from askem.http.keywatch import KeyringWatch
from askem.http.scopes import SCOPES
from askem.http.server import configuration, listen
from askem.ingestion import IngestPipeline, Summary
from askem.ingestion.files import list_sources
from askem.ingestion.pipeline import SourceInput
from askem.retrieval import Retriever
from askem.stores.embedded import EmbeddedStore
from askem.testing.fakes import FakeEncoder
from askem.text.preprocessing import get_preprocessor
from askem_agent.app import make_service as agent_service
from askem_agent.cli import ask
from askem_agent.client import AgentClient
from askem_agent.settings import AgentSettings
from askem_agent.wire import ReactRequest, ReactResponse
from askem_retriever.app import make_service as retriever_service
from askem_retriever.readiness import probes
from askem_retriever.settings import RetrieverSettings
from askem_retriever.state import Components

ROOT = Path(__file__).parents[2]
KEY = "test-key-0123456789"
QUESTION = "Why was NW-4012 abandoned?"
ANSWER = "NW-4012 was abandoned after its particles were found to aggregate during thawing"


@pytest.fixture(scope="module")
def keys(folder: Path) -> dict[str, str]:
    """A key of each scope, made before the door opens."""
    keyring = Keyring(folder)
    return {scope: keyring.create(scope, (scope,))[1] for scope in SCOPES}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The examples' papers, stored."""
    folder = tmp_path_factory.mktemp("react")
    with EmbeddedStore.open(folder, FakeEncoder()) as store:
        pipeline = IngestPipeline(
            encoder=FakeEncoder(),
            writer=store.writer,
            ledger=store.ledger,
            preprocessor=get_preprocessor("papers-v1"),
        )
        for topic in sorted((ROOT / "examples" / "papers").iterdir()):
            sources = list_sources(topic, "paragraph").sources
            inputs = [SourceInput(s.key, s.path.read_bytes(), (topic.name,)) for s in sources]
            assert Summary.of(pipeline.ingest(inputs)).failed == 0
    return folder


@pytest.fixture(scope="module")
def url(folder: Path, keys: dict[str, str]) -> Iterator[str]:
    """Where the door is; it stops at the end."""
    encoder = FakeEncoder()
    with ExitStack() as stack:
        store = stack.enter_context(EmbeddedStore.open(folder, encoder))
        found = Retriever(
            encoder=encoder, sparse=store.sparse, dense=store.dense, reader=store.reader
        )
        listener = stack.enter_context(closing(listen("127.0.0.1", 0)))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        components = Components(
            found, store.reader, encoder.encoder_id, probes(encoder, store.reader)
        )
        services = [
            agent_service(
                AgentSettings(
                    data_dir=folder,
                    api_key=SecretStr(KEY),
                    retriever_url=url,
                    # The fake encoder's distances say little.
                    refuse_distance=2.0,
                )
            ),
            retriever_service(RetrieverSettings(data_dir=folder), components),
        ]
        keyring = KeyringWatch(Keyring(folder))
        app = build_app(services, api_keys=[KEY], keyring=keyring)
        server = uvicorn.Server(configuration(app))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        while not server.started:
            time.sleep(0.005)
        yield url
        server.should_exit = True
        thread.join()


def test_json_and_events_give_the_same_answer(url: str) -> None:
    request = ReactRequest(question=QUESTION)
    with AgentClient(url, KEY) as client:
        whole = client.react(request)
        events = list(client.events(request))
    final = events[-1].data
    assert isinstance(final, ReactResponse)
    assert final.answer == whole.answer
    assert final.used_docs == whole.used_docs
    assert whole.answer.startswith(f"{ANSWER} [1].")
    assert whole.used_docs[0].paper_id == "mrna-booster-interval"
    assert [event.name for event in events[:2]] == ["step", "observation"]


def test_what_is_cited_is_what_the_retriever_has(url: str) -> None:
    with AgentClient(url, KEY) as client:
        answer = client.react(ReactRequest(question="How many compartments does SIDARTHE have?"))
    texts = {doc.passage_id: doc.text for doc in answer.used_docs}
    assert answer.sentences
    for sentence in answer.sentences:
        for citation in sentence.citations:
            text = texts[citation.passage_id]
            assert text[citation.start : citation.end] == citation.quote


def test_the_key_needs_the_scope(url: str, keys: dict[str, str]) -> None:
    request = ReactRequest(question=QUESTION)
    with AgentClient(url, keys["ask"]) as client:
        assert not client.react(request).refused
    with AgentClient(url, keys["read"]) as client, pytest.raises(Rejected, match="403"):
        client.react(request)
    with AgentClient(url, "nobody-0123456789abc") as client, pytest.raises(Unauthorized):
        list(client.events(request))


def run(url: str, *arguments: str, key: str = KEY) -> Result:
    return CliRunner().invoke(ask, [*arguments, "--url", url, "--api-key", key])


def test_askem_ask_prints_the_answer_and_its_sources(url: str) -> None:
    result = run(url, QUESTION)
    assert result.exit_code == 0
    assert result.stdout.startswith(f"{ANSWER} [1].")
    assert "[1] mrna-booster-interval  mrna-booster-interval#p" in result.stdout
    assert "“NW-4012 was abandoned" in result.stdout
    assert f"Searching: {QUESTION}" in result.stderr


def test_askem_ask_prints_json(url: str) -> None:
    result = run(url, QUESTION, "--json", "--topic", "covid-19", "--model", "extractive")
    assert result.exit_code == 0
    answer: Any = json.loads(result.stdout)
    assert answer["answer"].startswith(ANSWER)
    assert result.stdout.isascii()


def test_askem_ask_says_that_it_was_refused(url: str) -> None:
    result = run(url, "Which quasar is the brightest?")
    assert result.exit_code == 3
    assert result.stdout.startswith("No answer")


@pytest.mark.parametrize(
    ("arguments", "key", "word"),
    [
        ((QUESTION, "--model", "nobody"), KEY, "model_name"),
        ((QUESTION, "--top-k", "0"), KEY, "top-k"),
        ((" ",), KEY, "question"),
        ((QUESTION,), "nobody-0123456789abc", "refuses the API key"),
    ],
)
def test_askem_ask_says_what_is_wrong(
    url: str, arguments: tuple[str, ...], key: str, word: str
) -> None:
    result = run(url, *arguments, key=key)
    assert result.exit_code == 1
    assert word in result.stderr


def test_nobody_there_is_said() -> None:
    result = run("http://127.0.0.1:9", QUESTION)
    assert result.exit_code == 1
    assert "is `askem serve` running there?" in result.stderr
