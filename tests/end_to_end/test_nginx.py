"""deploy/nginx, really run: which path goes where, what it bounds, what it answers itself."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("door", ROOT / "scripts" / "door.py")
assert SPEC
assert SPEC.loader
door = importlib.util.module_from_spec(SPEC)
sys.modules["door"] = door
SPEC.loader.exec_module(door)

pytestmark = pytest.mark.skipif(
    shutil.which("nginx") is None and shutil.which("nginx", path="/usr/sbin") is None,
    reason="nginx is not installed",
)


class Echo(BaseHTTPRequestHandler):
    """Says which service it is and what has come."""

    protocol_version = "HTTP/1.1"
    name = ""

    def do_GET(self) -> None:
        size = len(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        seen = {
            "service": self.name,
            "path": self.path,
            "bytes": size,
            "id": self.headers.get("X-Request-Id"),
            "key": self.headers.get("Api-Key"),
        }
        content = json.dumps(seen).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_DELETE = do_PUT = do_GET  # noqa: N815 - the base class names them so

    def log_message(self, *_: object) -> None: ...


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    servers = {}
    for name in ("retriever", "ingest", "agent"):
        handler = type(name, (Echo,), {"name": name})
        servers[name] = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=servers[name].serve_forever, daemon=True).start()
    urls = {name: f"http://127.0.0.1:{server.server_port}" for name, server in servers.items()}
    # Not pytest's own folder, which nginx's workers may not enter.
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        with door.open_door(Path(folder), urls) as url:
            yield url
        log = (Path(folder) / "access.log").read_text()
    for server in servers.values():
        server.shutdown()
        server.server_close()
    assert "sesame" not in log
    assert all(json.loads(line)["request_id"] for line in log.splitlines())


@pytest.fixture
def client(base: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=base, headers={"Api-Key": "sesame"}, trust_env=False) as client:
        yield client


@pytest.mark.parametrize(
    ("method", "path", "service"),
    [
        ("POST", "/hybrid", "retriever"),
        ("POST", "/vector", "retriever"),
        ("GET", "/readyz", "retriever"),
        ("GET", "/papers?topic=a&limit=3", "retriever"),
        ("GET", "/papers/a", "retriever"),
        ("GET", "/passages/a%23p0", "retriever"),
        ("GET", "/papersnot", "retriever"),
        ("POST", "/papers", "ingest"),
        ("DELETE", "/papers/a", "ingest"),
        ("PUT", "/papers/a", "ingest"),
        ("POST", "/jobs", "ingest"),
        ("GET", "/jobs/1", "ingest"),
        ("POST", "/react", "agent"),
        ("POST", "/ask", "retriever"),
        ("GET", "/", "agent"),
    ],
)
def test_which_path_goes_where(client: httpx.Client, method: str, path: str, service: str) -> None:
    seen = client.request(method, path).json()
    assert (seen["service"], seen["path"], seen["key"]) == (service, path, "sesame")


def test_without_an_agent_its_paths_are_not_found() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        nobody = f"http://127.0.0.1:{door.free_port()}"
        upstreams = {"retriever": nobody, "ingest": nobody, "agent": ""}
        with door.open_door(Path(folder), upstreams) as url:
            for path in ("/", "/react"):
                answer = httpx.post(url + path, json={}, trust_env=False)
                assert answer.status_code == 404
                assert answer.headers["content-type"] == "application/problem+json"
                assert answer.json()["request_id"] == answer.headers["x-request-id"]
                assert answer.headers["server"] == "nginx"


class Events(BaseHTTPRequestHandler):
    """Sends one event and holds the next back until the first has been seen."""

    protocol_version = "HTTP/1.1"
    seen = threading.Event()
    was_in_time = False

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(b"event: step\ndata: {}\n\n")
        type(self).was_in_time = self.seen.wait(20)
        self.wfile.write(b"event: final\ndata: {}\n\n")
        self.close_connection = True

    def log_message(self, *_: object) -> None: ...


def test_events_pass_as_they_come() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Events)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    agent = f"http://127.0.0.1:{server.server_port}"
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        upstreams = {"retriever": agent, "ingest": agent, "agent": agent}
        with (
            door.open_door(Path(folder), upstreams) as url,
            httpx.Client(trust_env=False, timeout=30) as client,
            client.stream("POST", f"{url}/react", json={}) as answer,
        ):
            lines = answer.iter_lines()
            assert next(lines) == "event: step"
            Events.seen.set()
            assert "event: final" in list(lines)
    server.shutdown()
    server.server_close()
    assert Events.was_in_time


def test_a_sane_request_id_passes_another_is_replaced(client: httpx.Client) -> None:
    assert client.get("/a", headers={"X-Request-Id": "of-mine.1"}).json()["id"] == "of-mine.1"
    assert len(client.get("/a", headers={"X-Request-Id": 'x" y'}).json()["id"]) == 32
    assert len(client.get("/a").json()["id"]) == 32


def test_bodies_are_bounded_by_path(client: httpx.Client) -> None:
    assert client.post("/hybrid", content=b"x" * 80 * 1024).json()["bytes"] == 80 * 1024
    large = client.post("/hybrid", content=b"x" * (80 * 1024 + 1))
    assert large.status_code == 413
    assert large.json()["detail"] == "The body is larger than this path takes."
    assert client.post("/papers", content=b"x" * 12_000_000).json()["bytes"] == 12_000_000
    assert client.post("/jobs", content=b"x" * 100_000_000).json()["bytes"] == 100_000_000


def test_headers_are_bounded(client: httpx.Client) -> None:
    answer = client.get("/a", headers={"X-Long": "x" * 70_000})
    assert answer.status_code in (400, 431)
    assert "nginx/" not in answer.text


def test_a_service_that_is_away_is_a_problem() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        nobody = f"http://127.0.0.1:{door.free_port()}"
        upstreams = {"retriever": nobody, "ingest": nobody, "agent": ""}
        with door.open_door(Path(folder), upstreams) as url:
            answer = httpx.get(f"{url}/topics", trust_env=False)
    assert answer.status_code == 502
    assert answer.headers["retry-after"] == "5"
    assert answer.json()["detail"] == "The service behind this address does not answer."
