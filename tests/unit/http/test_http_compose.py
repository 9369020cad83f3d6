"""Several services behind one door."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from fastapi import APIRouter, FastAPI, Request, Response

from askem.errors import ConfigurationError, EncoderMismatch, SchemaUnfit
from askem.http.compose import Host, Service, build_app
from askem.http.health import Probe
from askem.http.keyring import Keyring
from askem.http.keywatch import KeyringWatch
from askem.http.scopes import SCOPES
from askem.testing.inprocess import AppRunner

KEY = "right-key-0123456789"


def make(
    name: str,
    events: list[str],
    *,
    fails: bool = False,
    error: Callable[[str], Exception] = RuntimeError,
) -> Service:
    router = APIRouter()

    @router.post(f"/{name}", operation_id=name)
    async def answer(request: Request) -> Response:
        return Response(getattr(request.app.state, name))

    @router.delete(f"/{name}/{{item}}", operation_id=f"{name}_delete")
    async def delete(item: str) -> Response:
        return Response(f"no more {item}")

    nested = APIRouter(prefix=f"/{name}")

    @nested.put("/nested/{item}", operation_id=f"{name}_nested")
    async def put(item: str) -> Response:
        return Response(item)

    router.include_router(nested)

    @router.get(f"/{name}/all", operation_id=f"{name}_all")
    async def everything() -> Response:
        return Response("all")

    @router.get(f"/{name}/page", operation_id=f"{name}_page")
    async def page() -> Response:
        return Response("page")

    def works() -> str:
        if fails:
            raise error("secret")
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
        scope="write" if name == "ingest" else "ask",
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
        assert paths["/ask"]["post"]["security"] == [{"ApiKey": ["ask"]}]
        assert "security" not in paths["/ask/page"]["get"]
    assert events == ["open ask", "open ingest", "close ingest", "close ask"]


def test_one_service_that_is_not_ready_makes_the_door_not_ready() -> None:
    app = build_app([make("ask", []), make("ingest", [], fails=True)], api_keys=[KEY])
    with AppRunner(app) as door:
        response = door.request("GET", "/readyz")
    assert response.status_code == 503
    assert [check["ok"] for check in response.json()["checks"]] == [True, False]
    assert "secret" not in response.text


def test_another_encoder_is_named_and_nothing_more() -> None:
    service = make("ask", [], fails=True, error=EncoderMismatch)
    with AppRunner(build_app([service], api_keys=[KEY])) as door:
        response = door.request("GET", "/readyz")
    assert response.json()["checks"][0]["detail"] == "the index was built with another encoder"
    assert "secret" not in response.text


@pytest.mark.parametrize("keys", [[], [""], ["short"]])
def test_no_app_without_a_key(keys: list[str]) -> None:
    with pytest.raises(ConfigurationError):
        build_app([make("ask", [])], api_keys=keys)


@pytest.mark.parametrize(
    ("method", "path", "needed"),
    [
        ("POST", "/ask", "ask"),
        ("POST", "/ingest", "write"),
        ("DELETE", "/ingest/paper-1", "write"),
        ("PUT", "/ask/nested/paper-1", "ask"),
        ("PUT", "/ingest/nested/paper-1", "write"),
        ("GET", "/ask/all", "read"),
        ("GET", "/ingest/all", "read"),
    ],
)
def test_a_key_opens_what_its_scopes_say(
    tmp_path: Path, method: str, path: str, needed: str
) -> None:
    keyring = Keyring(tmp_path)
    keys = {scope: keyring.create(scope, (scope,))[1] for scope in SCOPES}
    services = [make("ask", []), make("ingest", [])]
    app = build_app(services, api_keys=[KEY], keyring=KeyringWatch(keyring))
    with AppRunner(app) as door:
        assert door.request(method, path, headers={"Api-Key": KEY}).status_code == 200
        for scope, key in keys.items():
            response = door.request(method, path, headers={"Api-Key": key})
            if scope == needed:
                assert response.status_code == 200
                continue
            assert response.status_code == 403
            assert response.headers["content-type"] == "application/problem+json"
            assert response.json()["detail"] == f"The key lacks the scope '{needed}'."
        documented = door.request("GET", "/openapi.json").json()["paths"]
    operation = documented[path.replace("paper-1", "{item}")][method.lower()]
    assert operation["security"] == [{"ApiKey": [needed]}]
    example = operation["responses"]["403"]["content"]["application/problem+json"]["example"]
    assert example["detail"] == f"The key lacks the scope '{needed}'."


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/unknown", 404),
        ("POST", "/unknown", 404),
        ("PUT", "/ask", 405),
        ("GET", "/ask", 405),
        ("POST", "/ask/all", 405),
    ],
)
def test_any_live_key_is_told_what_is_not_there(
    tmp_path: Path, method: str, path: str, status: int
) -> None:
    keyring = Keyring(tmp_path)
    keys = [KEY, *(keyring.create(scope, (scope,))[1] for scope in SCOPES)]
    services = [make("ask", []), make("ingest", [])]
    app = build_app(services, api_keys=[KEY], keyring=KeyringWatch(keyring))
    with AppRunner(app) as door:
        for key in keys:
            response = door.request(method, path, headers={"Api-Key": key})
            assert response.status_code == status
        assert door.request(method, path, headers={"Api-Key": "another"}).status_code == 401


def test_a_keyring_alone_will_do_if_a_key_of_it_is_live(tmp_path: Path) -> None:
    keyring = Keyring(tmp_path)
    record, key = keyring.create("only", ("read",))
    app = build_app([make("ask", [])], api_keys=[], keyring=KeyringWatch(keyring))
    with AppRunner(app) as door:
        assert door.request("GET", "/ask/all", headers={"Api-Key": key}).text == "all"
    keyring.revoke(record.id)
    with pytest.raises(ConfigurationError, match="askem keys create"):
        build_app([make("ask", [])], api_keys=[], keyring=KeyringWatch(keyring))


def test_a_host_does_not_show_its_key() -> None:
    assert KEY not in repr(Host(data_dir=Path("data"), base_url="http://test", api_key=KEY))


def test_what_to_do_about_an_engines_index_is_said() -> None:
    def error(_: str) -> SchemaUnfit:
        return SchemaUnfit("elasticsearch", "its alias is missing: run `askem schema create`")

    service = make("ask", [], fails=True, error=error)
    with AppRunner(build_app([service], api_keys=[KEY])) as door:
        response = door.request("GET", "/readyz")
    assert response.status_code == 503
    assert response.json()["checks"][0]["detail"] == (
        "elasticsearch: its alias is missing: run `askem schema create`"
    )
