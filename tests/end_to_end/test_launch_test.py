"""scripts/launch_test.sh: well with a sound server, and naming what is wrong with others."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

ROOT = Path(__file__).resolve().parents[2]
LAUNCH = ROOT / "scripts" / "launch_test.sh"
CHECKS = ROOT / "scripts" / "launch_checks.py"
KEY = "right-key-0123456789"

pytestmark = pytest.mark.skipif(
    not (ROOT / ".venv" / "bin" / "askem").exists(), reason="needs the environment of `make run`"
)


def run(command: list[str], **settings: str) -> tuple[int, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ASKEM_")}
    done = subprocess.run(
        command, env=kept | settings, capture_output=True, text=True, timeout=100, check=False
    )
    assert "Traceback" not in done.stdout + done.stderr
    return done.returncode, done.stdout


def test_a_sound_server_passes(tmp_path: Path) -> None:
    status, output = run([str(LAUNCH), "--embedded", "--data-dir", str(tmp_path / "d"), "--new"])
    assert status == 0, output
    passed = re.findall(r"^PASS ([a-z ]+)", output, re.MULTILINE)
    assert {"ready", "wrong key", "malformed request", "ingest papers", "ingest figure"} <= {
        *passed
    }
    assert {"encoder", "vector", "hybrid", "filters", "steering", "delete"} <= {*passed}
    assert "FAIL" not in output
    # It leaves nothing behind.
    done = run([str(ROOT / ".venv/bin/askem"), "papers"], ASKEM_DATA_DIR=str(tmp_path / "d"))
    assert done == (0, "")


def test_a_server_that_does_not_start_is_shown_with_its_reason(tmp_path: Path) -> None:
    status, output = run([str(LAUNCH), "--embedded"], ASKEM_ENCODER=str(tmp_path / "no-model"))
    assert status == 1
    assert output.startswith("FAIL start: `askem serve` ended: ")
    assert "no-model" in output


def test_modes_are_told_apart() -> None:
    assert run([str(LAUNCH)])[0] == 2
    assert run([str(LAUNCH), "--url"]) == (1, "FAIL start: --url which?\n")


class Stub(BaseHTTPRequestHandler):
    """Answers by a table of path to (status, JSON); 401 without the key."""

    table: ClassVar[dict[str, tuple[int, Any]]] = {}

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        is_open = path in ("/healthz", "/readyz")
        allowed = is_open or self.headers.get("Api-Key") == KEY
        status, body = self.table.get(path, (404, {})) if allowed else (401, {})
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_GET  # noqa: N815 - the base class names them so

    def log_message(self, *_: object) -> None: ...


@contextmanager
def stub(**table: tuple[int, Any]) -> Iterator[str]:
    Stub.table = {f"/{path}": answer for path, answer in table.items()}
    server = ThreadingHTTPServer(("127.0.0.1", 0), Stub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def check(url: str, *options: str, key: str = KEY) -> tuple[int, list[str]]:
    command = [sys.executable, str(CHECKS), "--url", url, "--wait", "0.5", *options]
    status, output = run(command, ASKEM_API_KEY=key)
    return status, output.splitlines()


def line(lines: list[str], name: str) -> str:
    return next(text for text in lines if text.split(":")[0].endswith(f" {name}"))


def test_nobody_there() -> None:
    with stub() as url:
        pass
    status, lines = check(url)
    assert status == 1
    assert "nothing answers at" in line(lines, "answers")


def test_a_wrong_key_is_named() -> None:
    with stub(healthz=(200, {}), topics=(200, [])) as url:
        status, lines = check(url, key="wrong-key-0123456789")
    assert status == 1
    assert "a wrong key" in line(lines, "key")
    assert len(lines) == 3


def test_a_stopped_engine_is_named() -> None:
    checks = [
        {"name": "weaviate", "ok": True, "detail": "fine"},
        {"name": "elasticsearch", "ok": False, "detail": "cannot answer now"},
    ]
    ready = {"ready": False, "checks": checks}
    with stub(healthz=(200, {}), topics=(503, {}), readyz=(503, ready)) as url:
        status, lines = check(url)
    assert status == 1
    assert "elasticsearch (cannot answer now); look at whether Elasticsearch runs" in line(
        lines, "ready"
    )


def served(**more: tuple[int, Any]) -> dict[str, tuple[int, Any]]:
    ready = {"ready": True, "checks": []}
    papers = {"papers": [{"paper_id": "p", "paragraphs": 1, "figures": 0}], "next": None}
    text = "Perch left the shallow bays of the reservoir in June."
    table: dict[str, tuple[int, Any]] = {
        "healthz": (200, {}),
        "readyz": (200, ready),
        "topics": (200, [{"topic": "t", "papers": 1, "passages": 1}]),
        "papers": (200, papers),
        "papers/p": (200, {"passages": [{"paper_id": "p", "passage_id": "p#p0", "text": text}]}),
        "search": (200, {"snapshot": {"encoder_id": "e"}}),
        "vector": (200, [{"passage_id": "p#p0", "distance": 0.97}]),
    }
    return table | more


def test_an_empty_index_is_named() -> None:
    nothing = (200, {"papers": [], "next": None})
    with stub(**served(papers=nothing)) as url:
        status, lines = check(url)
        assert status == 1
        assert "the index is empty" in line(lines, "corpus")
        assert line(check(url, "--new")[1], "corpus") == "PASS corpus: empty, as a new one is"


def test_a_mismatched_encoder_is_named() -> None:
    with stub(**served()) as url:
        status, lines = check(url)
    assert status == 1
    assert "a mismatched encoder: the text of p#p0 is at distance 0.97" in line(lines, "encoder")


def test_without_an_ingest_it_says_what_is_left_out() -> None:
    near = (200, [{"passage_id": "p#p0", "distance": 0.01}])
    with stub(**served(vector=near)) as url:
        _, lines = check(url)
    assert line(lines, "ingest papers").startswith("SKIP ingest papers: no ingest service")
    assert line(lines, "encoder") == "PASS encoder: e"
    assert line(lines, "react endpoint") == "SKIP react endpoint: no agent answers at this address"
    assert line(lines, "delete").startswith("SKIP")


def test_an_agent_that_goes_where_a_caller_wants_is_named() -> None:
    near = (200, [{"passage_id": "p#p0", "distance": 0.01}])
    with stub(**served(vector=near, react=(200, {"answer": "anything"}))) as url:
        status, lines = check(url)
    assert status == 1
    assert line(lines, "react endpoint").startswith(
        "FAIL react endpoint: a foreign retriever_endpoint got 200"
    )
    refused = {"errors": [{"field": "retriever_endpoint", "message": "is none of them"}]}
    with stub(**served(vector=near, react=(422, refused))) as url:
        _, lines = check(url)
    assert line(lines, "react endpoint") == "PASS react endpoint"


SCRIPTS = str(ROOT / "scripts")


def agent_says(**answer: Any) -> str:
    """What the launch test's checks of an answer and of a refusal say of an agent's answer."""
    found = {"answer": "Perch left.", "refused": False, "reason": None, "model": "m"}
    found |= {"sentences": [], "used_docs": []} | answer
    code = (
        "import sys, json, argparse, httpx; sys.path.insert(0, sys.argv[1])\n"
        "from launch_react import AgentChecks; from launch_papers import Sample\n"
        "text = lambda _: httpx.Response(200, content=sys.argv[2])\n"
        "http = httpx.Client(transport=httpx.MockTransport(text), base_url='http://a')\n"
        "checks = AgentChecks(http, argparse.Namespace(react_timeout=5), Sample('t'))\n"
        "for check in (checks.answers, checks.refuses):\n"
        "    try: print(check())\n"
        "    except Exception as failure: print(type(failure).__name__, failure)\n"
    )
    status, output = run([sys.executable, "-c", code, SCRIPTS, json.dumps(found)])
    assert status == 0
    return output


CITED = {"sentences": [{"citations": [{"passage_id": "t-lake#p0"}]}]}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            CITED | {"used_docs": [{"passage_id": "t-lake#p0", "paper_id": "t-lake"}]},
            "m, 1 sentences, 1 passages cited",
        ),
        (CITED, "Failed /react cites ['t-lake#p0'], but its used_docs are []"),
        ({}, "Failed /react cites [], but its used_docs are []"),
        (
            {
                "sentences": [{"citations": [{"passage_id": "other#p0"}]}],
                "used_docs": [{"passage_id": "other#p0", "paper_id": "other"}],
            },
            "Failed /react cites ['other'], not t-lake",
        ),
        ({"refused": True}, "Failed /react refused what the test's papers answer"),
        ({}, "Failed /react answered what the test's papers say nothing of"),
        ({"refused": True, "reason": "not in the corpus"}, "not in the corpus"),
    ],
)
def test_answers_of_the_agent_are_looked_into(answer: dict[str, Any], said: str) -> None:
    assert said in agent_says(**answer)
