"""`askem serve` as a process of its own, found through entry points, and `askem search` at it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from askem.http.client import AskemClient
from askem.http.wire import HybridRequest, SearchRequest
from askem_retriever import cli, explain_cli

SERVE = "from askem_retriever.cli import serve; serve()"
SERVICE = """
from askem.models import Passage
from askem.retrieval.retriever import Retriever
from askem.testing.fakes import FakeEncoder, FakeStore
from askem_retriever.app import make_service
from askem_retriever.readiness import probes
from askem_retriever.settings import RetrieverSettings
from askem_retriever.state import Components

def service(host):
    encoder = FakeEncoder()
    text = "The SIDARTHE model has eight stages of infection."
    store = FakeStore([Passage("a#p0", "a", "paragraph", "v1", 0, text, ("covid-19",))], encoder)
    retriever = Retriever(encoder=encoder, sparse=store, dense=store, reader=store)
    components = Components(retriever, store, encoder.encoder_id, probes(encoder, store))
    return make_service(RetrieverSettings(data_dir=host.data_dir), components)
"""


@dataclass
class Running:
    process: subprocess.Popen[str]
    url: str
    greeting: list[str]
    data_dir: Path


def start(folder: Path, *options: str, service: str = SERVICE) -> subprocess.Popen[str]:
    """`askem serve` with one fake service installed beside it."""
    (folder / "fake_service.py").write_text(service)
    # The name of the real one, which it hides: one distribution of a name is looked at.
    info = folder / "askem_retriever-0.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: askem-retriever\nVersion: 0\n")
    (info / "entry_points.txt").write_text("[askem.services]\nretriever = fake_service:service\n")
    # Hides the other services: this test is about one.
    for name in ("ingest", "agent"):
        other = folder / f"askem_{name}-0.dist-info"
        other.mkdir(exist_ok=True)
        metadata = f"Metadata-Version: 2.1\nName: askem-{name}\nVersion: 0\n"
        (other / "METADATA").write_text(metadata)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ASKEM_")}
    environment["PYTHONPATH"] = os.pathsep.join([str(folder), *sys.path])
    return subprocess.Popen(
        [sys.executable, "-c", SERVE, "--data-dir", str(folder / "data"), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def greeting_of(process: subprocess.Popen[str], lines: int) -> list[str]:
    assert process.stdout
    return [process.stdout.readline().rstrip("\n") for _ in range(lines)]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("serve")
    process = start(folder, "--port", "0")
    greeting = greeting_of(process, 5)
    yield Running(process, greeting[0].split()[3], greeting, folder / "data")
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    process.communicate(timeout=15)


def test_the_greeting_of_a_first_start_shows_the_new_key(running: Running) -> None:
    key = (running.data_dir / "api_key").read_text().strip()
    first, where, shown, _, curl = running.greeting
    assert first.startswith(f"Askem answers at {running.url}")
    assert where == f"API key: {running.data_dir / 'api_key'}"
    assert shown.strip() == key
    assert f"{running.url}/hybrid" in curl
    assert "What is SIDARTHE model?" in curl


def test_the_client_at_a_real_server(running: Running) -> None:
    key = (running.data_dir / "api_key").read_text().strip()
    with AskemClient(running.url, key) as askem:
        assert askem.ready().ready
        assert [hit.passage_id for hit in askem.hybrid(HybridRequest(question="SIDARTHE"))] == [
            "a#p0"
        ]
        assert askem.search(SearchRequest(question="SIDARTHE")).snapshot.papers == 1
        assert askem.passage("a#p0").paper_id == "a"


def search(*arguments: str) -> tuple[int, str]:
    result = CliRunner(env={"ASKEM_API_KEY": None}).invoke(cli.search, list(arguments))
    return result.exit_code, result.output


def test_search_prints_hits(running: Running) -> None:
    at = ("--url", running.url, "--data-dir", str(running.data_dir))
    code, output = search("What is SIDARTHE model of unicorns?", *at)
    assert code == 0
    assert output.startswith("1. a  a#p0  score ")
    assert "distance " in output
    assert "eight stages" in output
    assert "Not in the corpus: unicorn" in output
    code, output = search("What is the SIDRATHE model?", *at)
    assert "Not in the corpus: SIDRATHE; read as SIDARTHE\n" in output
    code, output = search("SIDARTHE", "--json", *at)
    assert json.loads(output)["hits"][0]["passage_id"] == "a#p0"
    assert search("SIDARTHE", "--topic", "volcano", *at) == (0, "Nothing found.\n")


def test_search_says_what_to_do(running: Running, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        nobody = f"http://127.0.0.1:{free.getsockname()[1]}"
    at = ("--url", running.url)
    key = ("--api-key", "wrong-key-0123456789")
    cases = [
        ((*at, *key), "refuses the API key"),
        ((*at, "--data-dir", str(tmp_path)), "--api-key or ASKEM_API_KEY"),
        (("--url", nobody, *key), "is `askem serve` running there?"),
        ((*at, *key, "--top-k", "1000"), "top-k: must be less than or equal to 100"),
        ((*at, *key, "--topic", "a b"), "topic: "),
    ]
    for options, message in cases:
        code, output = search("q", *options)
        assert code == 1
        assert message in output
        assert "Traceback" not in output


def test_a_port_in_use_is_an_error_that_says_what_to_do(running: Running, tmp_path: Path) -> None:
    process = start(tmp_path, "--port", running.url.rsplit(":", 1)[1])
    _, errors = process.communicate(timeout=15)
    assert process.returncode == 1
    assert "choose another with --port" in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    ("number", "options"), [(signal.SIGINT, []), (signal.SIGTERM, ["--show-key"])]
)
def test_a_signal_stops_it_clean(
    tmp_path: Path, number: signal.Signals, options: list[str]
) -> None:
    (tmp_path / "data").mkdir()
    key = "askem_a-key-of-long-ago"
    (tmp_path / "data" / "api_key").write_text(key)
    (tmp_path / "data" / "api_key").chmod(0o600)
    process = start(tmp_path, "--port", "0", *options)
    # All of it: what a pipe's reader has buffered is not given again by `communicate`.
    greeting = greeting_of(process, 5 if options else 2)
    process.send_signal(number)
    output, errors = process.communicate(timeout=15)
    assert process.returncode == 0
    assert output.endswith("Stopped.\n")
    # An old key is shown on a terminal or on demand only.
    assert (key in "\n".join(greeting) + output) == bool(options)
    assert key not in errors


def test_what_cannot_open_does_not_serve(tmp_path: Path) -> None:
    broken = """
from contextlib import asynccontextmanager
from fastapi import APIRouter
from askem.errors import ConfigurationError
from askem.http.compose import Service

def service(host):
    @asynccontextmanager
    async def opened(app):
        raise ConfigurationError("the model file is missing: run `make models`")
        yield
    return Service(name="broken", router=APIRouter(), open=opened)
"""
    process = start(tmp_path, "--port", "0", service=broken)
    output, errors = process.communicate(timeout=15)
    assert process.returncode == 1
    assert errors.endswith("\nError: the model file is missing: run `make models`\n")
    assert "Traceback" not in errors
    assert output == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--services", "retriever,agent"], "not installed: agent; services here: retriever"),
        (["--services", "nobody"], "not installed: nobody; services here: "),
    ],
)
def test_a_service_that_is_not_installed_is_named(
    tmp_path: Path, options: list[str], message: str
) -> None:
    process = start(tmp_path, "--port", "0", *options)
    _, errors = process.communicate(timeout=15)
    assert process.returncode == 1
    assert message in errors
    assert "Traceback" not in errors


def test_services_can_be_chosen(tmp_path: Path) -> None:
    entries = tmp_path / "askem_other-0.dist-info"
    entries.mkdir()
    (entries / "METADATA").write_text("Metadata-Version: 2.1\nName: askem-other\nVersion: 0\n")
    (entries / "entry_points.txt").write_text("[askem.services]\nother = no_such_module:service\n")
    process = start(tmp_path, "--port", "0", "--services", " retriever ,")
    assert greeting_of(process, 1)[0].startswith("Askem answers at ")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=15)
    assert process.returncode == 0


def test_explain_says_what_joined_without_being_screened(running: Running) -> None:
    def told(*more: str) -> str:
        where = ("--url", running.url, "--data-dir", str(running.data_dir))
        runner = CliRunner(env={"ASKEM_API_KEY": None})
        done = runner.invoke(explain_cli.explain, ["volcano", "a#p0", *where, *more])
        assert done.exit_code == 0, done.output
        return done.output

    assert "\nnot screened: the last passage that was has BM25 nothing\n" in told()
    widened = told("--nearest-top-k", "5")
    assert "joined as one of the nearest; not screened" in widened
    assert "rank 1: bm25 0, " in widened
