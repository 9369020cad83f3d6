"""The agent as an app of its own, and as a service to be composed with others."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

from fastapi import FastAPI
from pydantic import SecretStr

from askem.http.compose import Host, Service, build_alone
from askem.http.health import Probe
from askem.http.keywatch import KeyringWatch
from askem_agent import examples
from askem_agent.places import Places
from askem_agent.routes import router
from askem_agent.settings import AgentSettings
from askem_agent.state import NAME, Components, State

_log = logging.getLogger("askem.agent")


def create_app(
    settings: AgentSettings,
    components: Components | None = None,
    keyring: KeyringWatch | None = None,
) -> FastAPI:
    """The agent alone. `components`: given by tests; None: opened as configured. `keyring`: keys
    besides `settings.api_key`, or instead of it.

    Raises ConfigurationError for a key that cannot serve, and without any.
    """
    made = make_service(settings, components)
    return build_alone(made, settings, keyring=keyring, title="Askem agent")


def service(host: Host) -> Service:
    """The entry point: settings from the environment, but for what the host decides. Where no
    retriever is configured, it is expected behind the same door."""
    return make_service(settings_in(host))


def settings_in(host: Host) -> AgentSettings:
    """The settings of an agent composed in `host`."""
    settings = AgentSettings(data_dir=host.data_dir, api_key=SecretStr(host.api_key))
    if "retriever_url" in settings.model_fields_set:
        return settings
    return settings.model_copy(update={"retriever_url": host.base_url})


def make_service(settings: AgentSettings, components: Components | None = None) -> Service:
    """The agent as one of several services. `components`: as in `create_app`."""

    @asynccontextmanager
    async def opened(app: FastAPI) -> AsyncIterator[Sequence[Probe]]:
        async with AsyncExitStack() as stack:
            ready = components or await _open(settings, stack)
            runs = Places("questions", settings.agent_runs)
            setattr(app.state, NAME, State(settings, ready.agent, runs))
            _log.info("agent ready, model %s", settings.model)
            yield ready.probes

    return Service(name=NAME, router=router, open=opened, scope="ask", examples=examples.ANSWERS)


async def _open(settings: AgentSettings, stack: AsyncExitStack) -> Components:
    # Brings LangChain with it, a second of work: not needed where components are given.
    open_components = await asyncio.to_thread(_wiring)
    return await stack.enter_async_context(open_components(settings))


def _wiring() -> Callable[[AgentSettings], AbstractAsyncContextManager[Components]]:
    from askem_agent.wiring import open_components

    return open_components
