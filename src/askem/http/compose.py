"""One app out of services: the same key, limits, problems and health checks for all of them.

Knows no service by name: each is found by its entry point in the group `askem.services`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Scope

from askem import __version__
from askem.errors import AskemError, ConfigurationError
from askem.http import health, problems
from askem.http.health import HEALTHZ, READYZ, Probe, ReadinessBoard
from askem.http.keys import ApiKeyGuard, fingerprint
from askem.http.keywatch import KeyringWatch
from askem.http.limits import BodyLimit, RequestContext
from askem.http.openapi import ScopedRoutes, describe
from askem.http.rate import RateLimit
from askem.http.scopes import READ_METHODS, KeyScope
from askem.settings import CommonSettings

GROUP = "askem.services"
_OPENAPI = "/openapi.json"
_log = logging.getLogger("askem.http")


@dataclass(frozen=True, slots=True)
class Host:
    """The process that services are composed in; what each of them may need to know of it."""

    data_dir: Path
    base_url: str
    """Where the composed app answers, for services that call each other over HTTP."""
    api_key: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Service:
    """What a service adds to the app."""

    name: str
    router: APIRouter
    open: Callable[[FastAPI], AbstractAsyncContextManager[Sequence[Probe]]]
    """Opens the service's resources for the life of the app, leaves them in `app.state` under the
    service's name, and gives its probes."""
    open_paths: frozenset[str] = frozenset()
    """Exact paths that need no key."""
    scope: KeyScope = "read"
    """What a key must be good for to use the service's paths; for GET it is always `read`."""
    body_limits: Mapping[str, int] = field(default_factory=dict)
    """Largest body in bytes, for exact paths that take more or less than the usual 64 KiB."""
    streamed_bodies: Mapping[str, int] = field(default_factory=dict)
    """The same for exact paths whose routes read the body as it comes. Their time-out grows with
    what has come."""
    examples: Mapping[str, Any] = field(default_factory=dict)
    """Operation id to an example of its answer, for the OpenAPI document."""


ServiceFactory = Callable[[Host], Service]


def installed_services(host: Host, only: Sequence[str] = ()) -> list[Service]:
    """The services named in `only`, every installed one without it; by name.

    Raises ConfigurationError when there is none, and for a name that is not installed.
    """
    found = sorted(entry_points(group=GROUP), key=lambda entry: entry.name)
    if not found:
        raise ConfigurationError("no service is installed: pip install askem-retriever")
    if only:
        names = {entry.name for entry in found}
        if unknown := sorted(set(only) - names):
            raise ConfigurationError(
                f"not installed: {', '.join(unknown)}; services here: {', '.join(sorted(names))}"
            )
        found = [entry for entry in found if entry.name in only]
    factories: list[ServiceFactory] = [entry.load() for entry in found]
    return [factory(host) for factory in factories]


def build_alone(
    service: Service, settings: CommonSettings, *, keyring: KeyringWatch | None, title: str
) -> FastAPI:
    """An app of one service, with the key and the rate of its settings, and the keys of `keyring`.
    Raises as `build_app`."""
    keys = [settings.api_key.get_secret_value()] if settings.api_key else []
    return build_app(
        [service],
        api_keys=keys,
        keyring=keyring,
        rate_per_minute=settings.rate_per_minute,
        title=title,
    )


def build_app(
    services: Sequence[Service],
    *,
    api_keys: Iterable[str],
    keyring: KeyringWatch | None = None,
    rate_per_minute: int = 0,
    title: str = "Askem",
) -> FastAPI:
    """One app that answers for all `services`. `api_keys` have every scope, those of `keyring`
    their own. `rate_per_minute`: most requests of one key; 0: as many as come. Raises
    ConfigurationError for an unusable key, and without any.

    Resources open when the app starts, in the order of `services`, and close in reverse.
    """
    keys = list(api_keys)
    app = FastAPI(
        title=title,
        version=__version__,
        description="Questions to a scientific literature, answered with its passages.",
        lifespan=_lifespan(services),
        openapi_url=_OPENAPI,
        # Their pages would load scripts from a content delivery network.
        docs_url=None,
        redoc_url=None,
        # "/hybrid/" is unknown: a redirect would lose the key or the body with many clients.
        redirect_slashes=False,
    )
    app.include_router(health.router)
    for service in services:
        app.include_router(service.router)
    open_paths = {HEALTHZ, READYZ, _OPENAPI}.union(*(service.open_paths for service in services))
    limits = {path: size for service in services for path, size in service.body_limits.items()}
    streamed = {path: n for service in services for path, n in service.streamed_bodies.items()}
    examples = {name: value for service in services for name, value in service.examples.items()}
    problems.install(app)
    routes = [*health.router.routes, *(r for service in services for r in service.router.routes)]
    app.add_exception_handler(405, _method_not_allowed(routes))
    special = [(s.router.routes, s.scope) for s in services if s.scope != "read"]
    app.openapi = describe(app, open_paths, examples, special)  # type: ignore[method-assign]
    guard: dict[str, Any] = {
        "keys": keys,
        "open_paths": open_paths,
        "keyring": keyring,
        "scope_of": _scope_of([*special, (app.routes, "read")]),
    }
    # The last one added is the outermost.
    app.add_middleware(BodyLimit, exceptions=limits, streamed=streamed)
    if rate_per_minute:
        app.add_middleware(RateLimit, per_minute=rate_per_minute)
    app.add_middleware(ApiKeyGuard, **guard)
    app.add_middleware(RequestContext)
    # Middleware is built when the app starts; an unusable key must show before.
    ApiKeyGuard(app, **guard)
    _log.info("keys in use: %s", ", ".join(map(fingerprint, keys)) or "none but the keyring's")
    if keyring and keyring.live_count():
        _log.info("live keys in the keyring: %d", keyring.live_count())
    return app


def _method_not_allowed(
    routes: Sequence[BaseRoute],
) -> Callable[[Request, Exception], Awaitable[Response]]:
    """Names the methods of all services that share the path; Starlette knows the first's alone."""

    async def handler(request: Request, error: Exception) -> Response:
        methods = set((getattr(error, "headers", None) or {}).get("Allow", "").split(", ")) - {""}
        for route in routes:
            if isinstance(route, Route) and route.matches(request.scope)[0] is not Match.NONE:
                methods |= route.methods or set()
        headers = {"Allow": ", ".join(sorted(methods))}
        return problems.problem(request.scope, 405, headers=headers)

    return handler


def _scope_of(scoped: Sequence[ScopedRoutes]) -> Callable[[Scope], KeyScope | None]:
    """Which scope a request needs: asks the routes themselves, in order, so that no path reaches
    one without meeting its service's scope. None where none takes it: any live key is then told
    404, or 405 for another method."""
    routes = [(route, needed) for routes, needed in scoped for route in routes]

    def scope_of(scope: Scope) -> KeyScope | None:
        for route, needed in routes:
            if route.matches(scope)[0] is Match.FULL:
                return "read" if scope.get("method") in READ_METHODS else needed
        return None

    return scope_of


def _lifespan(
    services: Sequence[Service],
) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            probes: list[Probe] = []
            for service in services:
                try:
                    probes += await stack.enter_async_context(service.open(app))
                except AskemError as error:
                    # Servers turn what happens here into text; the message is for a person.
                    app.state.start_error = error
                    raise
            board = app.state.readiness = ReadinessBoard(probes)
            stack.push_async_callback(asyncio.to_thread, board.close)
            yield

    return lifespan
