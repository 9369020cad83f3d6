"""The retriever as an app of its own, and as a service to be composed with others."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from fastapi import FastAPI
from pydantic import SecretStr

from askem.http.compose import Host, Service, build_alone
from askem.http.executor import BoundedExecutor
from askem.http.health import Probe
from askem.http.keywatch import KeyringWatch
from askem_retriever import examples
from askem_retriever.routes import router
from askem_retriever.settings import RetrieverSettings
from askem_retriever.state import NAME, Components, State

_log = logging.getLogger("askem.retriever")


def create_app(
    settings: RetrieverSettings,
    components: Components | None = None,
    keyring: KeyringWatch | None = None,
) -> FastAPI:
    """The retriever alone. `components`: given by tests; None: opened as configured. `keyring`:
    keys besides `settings.api_key`, or instead of it.

    Raises ConfigurationError for a key that cannot serve, and without any.
    """
    made = make_service(settings, components)
    return build_alone(made, settings, keyring=keyring, title="Askem retriever")


def service(host: Host) -> Service:
    """The entry point: settings from the environment, but for what the host decides."""
    key = SecretStr(host.api_key)
    return make_service(RetrieverSettings(data_dir=host.data_dir, api_key=key))


def make_service(settings: RetrieverSettings, components: Components | None = None) -> Service:
    """The retriever as one of several services. `components`: as in `create_app`."""

    @asynccontextmanager
    async def opened(app: FastAPI) -> AsyncIterator[Sequence[Probe]]:
        async with AsyncExitStack() as stack:
            ready = components or await _open(settings, stack)
            executor = BoundedExecutor(
                settings.workers, settings.queue, timeout_s=settings.request_timeout_s
            )
            stack.push_async_callback(asyncio.to_thread, executor.close)
            setattr(app.state, NAME, State(settings, ready, executor))
            _log.info("retriever ready, encoder %s", ready.encoder_id)
            yield ready.probes

    return Service(name=NAME, router=router, open=opened, examples=examples.ANSWERS)


async def _open(settings: RetrieverSettings, stack: AsyncExitStack) -> Components:
    # Adapters bring engines and models with them: not needed where components are given.
    from askem_retriever.wiring import open_components

    manager = open_components(settings)
    components = await asyncio.to_thread(manager.__enter__)
    stack.push_async_callback(asyncio.to_thread, manager.__exit__, None, None, None)
    return components
