"""Our own `/v1/embeddings`: in this process over fakes, and as `askem encode-serve`."""

from __future__ import annotations

import base64
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from askem.encoders import load_encoder, open_encoder
from askem.encoders.embeddings_client import Endpoint
from askem.encoders.remote import RemoteEncoder
from askem.errors import BackendUnavailable, ConfigurationError
from askem.http.keyfile import LocalKey
from askem.settings import CommonSettings
from askem.testing.fakes import FakeEncoder, Hook
from askem.testing.inprocess import AppRunner
from askem_retriever.embeddings import create_app
from askem_retriever.encode_cli import client_settings
from askem_retriever.settings import EncodeServerSettings
from askem_retriever.wiring import local_encoder

KEY = "test-key-0123456789"
BEARER = {"Authorization": f"Bearer {KEY}"}


class TwoSided(FakeEncoder):
    """Encodes passages as it would encode their text with a prefix."""

    def encode_passages(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        return super().encode_passages([f"passage {text}" for text in texts])


@contextmanager
def running(encoder: FakeEncoder, **settings: Any) -> Iterator[AppRunner]:
    @contextmanager
    def opened() -> Iterator[FakeEncoder]:
        yield encoder
        encoder.close()

    values = EncodeServerSettings(workers=2, **settings)
    with AppRunner(create_app(values, KEY, opened), headers=BEARER) as runner:
        yield runner


@pytest.fixture(scope="module")
def door() -> Iterator[AppRunner]:
    with running(FakeEncoder(16, window=8)) as runner:
        yield runner


@pytest.fixture(scope="module")
def two_sided() -> Iterator[AppRunner]:
    with running(TwoSided(16)) as runner:
        yield runner


def ask(door: AppRunner, **body: Any) -> Any:
    return door.request("POST", "/v1/embeddings", json={"model": "fake-16", **body})


def test_vectors_are_the_encoders(door: AppRunner) -> None:
    texts = ["The virus spreads.", "By air."]
    answer = ask(door, input=texts).json()
    wanted = FakeEncoder(16).encode_passages(texts)
    assert [item["index"] for item in answer["data"]] == [0, 1]
    for item, array in zip(answer["data"], wanted, strict=True):
        np.testing.assert_allclose(item["embedding"], array[0], atol=1e-7)
    assert answer["model"] == "fake-16"


def test_one_text_and_base64(door: AppRunner) -> None:
    (item,) = ask(door, input="By air.", encoding_format="base64").json()["data"]
    found = np.frombuffer(base64.b64decode(item["embedding"]), dtype="<f4")
    assert np.array_equal(found, FakeEncoder(16).encode_question("By air."))


def test_questions_and_passages_are_told_apart(two_sided: AppRunner) -> None:
    encoder = TwoSided(16)
    (query,) = ask(two_sided, input="By air.", input_type="query").json()["data"]
    (document,) = ask(two_sided, input="By air.", input_type="document").json()["data"]
    np.testing.assert_allclose(query["embedding"], encoder.encode_question("By air."), atol=1e-7)
    wanted = encoder.encode_passages(["By air."])[0][0]
    np.testing.assert_allclose(document["embedding"], wanted, atol=1e-7)


def test_where_it_matters_the_kind_must_be_said(door: AppRunner, two_sided: AppRunner) -> None:
    answer = ask(two_sided, input="By air.")
    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert error["field"] == "input_type"
    assert "ASKEM_EMBEDDINGS_INPUT_TYPE" in error["message"]
    for runner, required in ((door, False), (two_sided, True)):
        (model,) = runner.request("GET", "/v1/models").json()["data"]
        assert model["id"] == "fake-16"
        assert model["dimension"] == 16
        assert model["input_type_required"] is required


def test_a_passage_beyond_the_window_is_refused_not_cut(door: AppRunner) -> None:
    long = "virus air model infection stage " * 5
    answer = ask(door, input=["Short.", long])
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "input[1]"
    assert ask(door, input=long, input_type="query").status_code == 200


REFUSED = [
    ({"input": []}, 422, "input"),
    ({"input": ""}, 422, "input"),
    ({"input": ["x"] * 65}, 422, "input"),
    ({"input": ["x", 2, "y"]}, 422, "input[1]"),
    ({"input": ["x", "a\x00b"]}, 422, "input[1]"),
    ({"input": 5}, 422, "input"),
    ({"input": {"text": "x"}}, 422, "input"),
    ({"input": "x" * 100_001}, 422, "input"),
    ({"input": "a\x00b"}, 422, "input"),
    ({"input": "x", "input_type": "passage"}, 422, "input_type"),
    ({"input": "x", "encoding_format": "int8"}, 422, "encoding_format"),
    ({"input": "x", "dimensions": 8}, 422, "dimensions"),
    ({"input": "x", "more": 1}, 422, "more"),
    ({}, 422, "input"),
    ({"input": "x", "model": "other"}, 404, None),
    ({"input": ["x" * 90_000] * 30}, 413, None),
]


@pytest.mark.parametrize(("body", "status", "field"), REFUSED, ids=lambda value: str(value)[:40])
def test_what_does_not_fit_is_refused(
    door: AppRunner, body: dict[str, Any], status: int, field: str | None
) -> None:
    answer = ask(door, **body)
    assert answer.status_code == status
    if field:
        # Nothing of how the model is written, and nothing of the other form of `input`.
        assert [error["field"] for error in answer.json()["errors"]] == [field]


def test_what_clients_send_besides_is_taken(door: AppRunner) -> None:
    assert ask(door, input="x", dimensions=16, user="me").status_code == 200


def test_nothing_without_the_key(door: AppRunner) -> None:
    for path in ("/v1/embeddings", "/v1/models"):
        answer = door.request("GET", path, headers={"Authorization": "Bearer no"})
        assert answer.status_code == 401
    assert door.request("GET", "/readyz", headers={"Authorization": ""}).json()["ready"]


def test_it_is_not_ready_when_the_encoder_fails() -> None:
    broken: list[str] = []

    def hook(method: str) -> None:
        if broken and method == "encode_passages":
            raise BackendUnavailable("encoder", "secret place")

    watched: Hook = hook
    with running(FakeEncoder(16, hook=watched)) as runner:
        broken.append("now")
        answer = runner.request("GET", "/readyz")
        assert answer.status_code == 503
        failed = ask(runner, input="x")
        assert failed.status_code == 503
        assert "secret" not in answer.text + failed.text


def test_a_remote_encoder_is_not_served_on() -> None:
    with (
        pytest.raises(ConfigurationError, match="cannot be served on"),
        local_encoder(EncodeServerSettings(encoder="remote")),
    ):
        pass


# As a process


def pasted(lines: list[str]) -> dict[str, str]:
    """What a shell on this machine has set after these lines."""
    script = "\n".join([*lines, f"exec {shlex.quote(sys.executable)} -c '{_PRINT}'"])
    done = subprocess.run(
        ["/bin/sh", "-euc", script],
        env={"ASKEM_API_KEY": KEY},
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(json.loads(done.stdout))


_PRINT = "import json, os; print(json.dumps(dict(os.environ)))"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """`askem encode-serve` with the packaged model; what its greeting says."""
    folder = tmp_path_factory.mktemp("encode")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ASKEM_")}
    process = subprocess.Popen(
        [sys.executable, "-m", "askem.cli", "encode-serve", "--port", "0", "--quiet"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=folder,
        env={**environment, "ASKEM_API_KEY": KEY, "ASKEM_DATA_DIR": str(folder)},
    )
    assert process.stdout
    greeting = [process.stdout.readline().strip() for _ in range(9)]
    yield pasted(greeting[2:])
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 0
    process.stdout.close()


def test_a_client_set_as_printed_gets_the_models_own_vectors(
    server: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in server.items():
        if name.startswith("ASKEM_E"):
            monkeypatch.setenv(name, value)
    remote, local = open_encoder(CommonSettings()), load_encoder()
    texts = [f"The virus number {n} spreads by air." for n in range(70)]
    texts.append(" ".join(f"Sentence {n} says that group {n * 7} had cases." for n in range(40)))
    found, wanted = remote.encode_passages(texts), local.encode_passages(texts)
    for a, b in zip(found[:-1], wanted[:-1], strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)
    # Cut by an estimate that errs on the safe side: more windows, each within the model's.
    assert len(found[-1]) >= len(wanted[-1]) > 1
    question = "How does the virus spread?"
    np.testing.assert_allclose(
        remote.encode_question(question), local.encode_question(question), atol=1e-6
    )
    remote.close()
    local.close()


@pytest.mark.parametrize(
    ("host", "named"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("::1", "[::1]"),
        ("0.0.0.0", socket.gethostname()),  # noqa: S104 - not listened on
        ("::", socket.gethostname()),
    ],
)
def test_what_clients_set_names_where_to_connect_and_never_the_key(
    host: str, named: str, tmp_path: Path
) -> None:
    folder = tmp_path / "it's a folder"
    folder.mkdir()
    (folder / "api_key").write_text("the-key-of-the-file\n")
    key = LocalKey("the-key-of-the-file", folder / "api_key", created=False)
    lines = client_settings(FakeEncoder(16, window=40), host, 4505, key)
    assert "the-key-of-the-file" not in "".join(lines)
    values = pasted(lines)
    assert values["ASKEM_EMBEDDINGS_URL"] == f"http://{named}:4505/v1"
    assert values["ASKEM_EMBEDDINGS_WINDOW_TOKENS"] == "40"
    assert values["ASKEM_EMBEDDINGS_KEY"] == "the-key-of-the-file"


def test_a_wrong_key_or_model_says_what_to_do(server: dict[str, str]) -> None:
    for change, setting in (
        ({"key": "wrong-key-0123456789"}, "ASKEM_EMBEDDINGS_KEY"),
        ({"model": "another"}, "ASKEM_EMBEDDINGS_MODEL"),
    ):
        given = {
            "url": server["ASKEM_EMBEDDINGS_URL"],
            "model": server["ASKEM_EMBEDDINGS_MODEL"],
            "key": KEY,
        }
        with pytest.raises(ConfigurationError, match=setting):
            RemoteEncoder(Endpoint(**{**given, **change}), window_tokens=128)
