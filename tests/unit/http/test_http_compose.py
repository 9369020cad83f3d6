"""Several services behind one door."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from fastapi import APIRouter, FastAPI, Request, Response

from askem.errors import ConfigurationError
from askem.http.compose import Host, Service, build_app
from askem.http.health import Probe
from askem.testing.inprocess import AppRunner

KEY = "right-key-0123456789"


def make(name: str, events: list[str], *, fails: bool = False) -> Service:
    router = APIRouter()

    @router.post(f"/{name}", operation_id=name)
    async def answer(request: Request) -> Response:
        return Response(getattr(request.app.state, name))

    @router.get(f"/{name}/page", operation_id=f"{name}_page")
    async def page() -> Response:
        return Response("page")

    def works() -> str:
        if fails:
            raise RuntimeError("secret")
        return "fine"

    @asynccontextmanager
    async def opened(app: FastAPI) -> AsyncIterator[Sequence[Probe]]:
        events.append(f"open {name}")
        setattr(app.state, name, name)
        yield [Probe(name, works)]
        events.append(f"close {name}")

    return Service(
        name=name,
        router=router,
        open=opened,
        open_paths=frozenset({f"/{name}/page"}),
        body_limits={f"/{name}": 100_000} if name == "ingest" else {},
    )


def test_services_share_a_door_and_close_in_reverse() -> None:
    events: list[str] = []
    app = build_app([make("ask", events), make("ingest", events)], api_keys=[KEY])
    assert events == []
    with AppRunner(app) as door:
        key = {"Api-Key": KEY}
        assert door.request("POST", "/ask", headers=key).text == "ask"
        assert door.request("POST", "/ingest", headers=key).text == "ingest"
        assert door.request("POST", "/ask").status_code == 401
        assert door.request("GET", "/ask/page").text == "page"
        assert door.request("GET", "/unknown").status_code == 401
        big = b"x" * 80_000
        assert door.request("POST", "/ingest", headers=key, content=big).status_code == 200
        assert door.request("POST", "/ask", headers=key, content=big).status_code == 413
        checks = door.request("GET", "/readyz").json()["checks"]
        assert [check["name"] for check in checks] == ["ask", "ingest"]
        paths = door.request("GET", "/openapi.json").json()["paths"]
        assert {"/ask", "/ingest", "/healthz", "/readyz"} <= set(paths)
        assert paths["/ask"]["post"]["security"] == [{"ApiKey": []}]
        assert "security" not in paths["/ask/page"]["get"]
    assert events == ["open ask", "open ingest", "close ingest", "close ask"]


def test_one_service_that_is_not_ready_makes_the_door_not_ready() -> None:
    app = build_app([make("ask", []), make("ingest", [], fails=True)], api_keys=[KEY])
    with AppRunner(app) as door:
        response = door.request("GET", "/readyz")
    assert response.status_code == 503
    assert [check["ok"] for check in response.json()["checks"]] == [True, False]
    assert "secret" not in response.text


@pytest.mark.parametrize("keys", [[], [""], ["short"]])
def test_no_app_without_a_key(keys: list[str]) -> None:
    with pytest.raises(ConfigurationError):
        build_app([make("ask", [])], api_keys=keys)


def test_a_host_does_not_show_its_key() -> None:
    assert KEY not in repr(Host(data_dir=Path("data"), base_url="http://test", api_key=KEY))
