"""The ingest as an app of its own, and as a service to be composed with others."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from fastapi import FastAPI
from pydantic import SecretStr

from askem.http.compose import Host, Service, build_alone
from askem.http.executor import BoundedExecutor
from askem.http.health import Probe
from askem.http.keywatch import KeyringWatch
from askem.http.slots import Slots
from askem.ingestion import IngestPipeline
from askem.ports import Encoder
from askem.text.preprocessing import get_preprocessor
from askem_ingest import examples
from askem_ingest.jobs import JobStore
from askem_ingest.routes import router
from askem_ingest.settings import IngestSettings
from askem_ingest.spool import Spool
from askem_ingest.state import NAME, Access, Components, State
from askem_ingest.upload import MAX_PAPER_BYTES, MAX_REQUEST_BYTES
from askem_ingest.worker import Worker

FOLDER = "jobs"
"""Within the data folder."""
_STOP_S = 9.0
_WORKERS, _QUEUE, _TIMEOUT_S = 8, 64, 30.0
_log = logging.getLogger("askem.ingest")


def create_app(
    settings: IngestSettings,
    components: Components | None = None,
    keyring: KeyringWatch | None = None,
) -> FastAPI:
    """The ingest alone. `components`: given by tests; None: opened as configured. `keyring`: keys
    besides `settings.api_key`, or instead of it.

    Raises ConfigurationError for a key that cannot serve, and without any.
    """
    made = make_service(settings, components)
    return build_alone(made, settings, keyring=keyring, title="Askem ingest")


def service(host: Host) -> Service:
    """The entry point: settings from the environment, but for what the host decides."""
    key = SecretStr(host.api_key)
    return make_service(IngestSettings(data_dir=host.data_dir, api_key=key))


def make_service(
    settings: IngestSettings, components: Components | None = None, spool: Spool | None = None
) -> Service:
    """The ingest as one of several services. `components`, `spool`: given by tests; None: opened
    as configured."""

    @asynccontextmanager
    async def opened(app: FastAPI) -> AsyncIterator[Sequence[Probe]]:
        async with AsyncExitStack() as stack:
            ready = components or await _open(settings, stack)
            state = await asyncio.to_thread(_start, settings, ready, spool)
            setattr(app.state, NAME, state)
            _log.info("ingest ready, encoder %s", ready.encoder.encoder_id)
            try:
                yield _probes(state)
            finally:
                if not await asyncio.to_thread(_stop, state):
                    # It ends with the process, and the job is taken up again at the next start.
                    # Until then it uses what would be closed here.
                    _log.error("the worker is still storing after %g s; it is left behind", _STOP_S)
                    stack.pop_all()

    return Service(
        name=NAME,
        router=router,
        open=opened,
        scope="write",
        streamed_bodies={"/papers": MAX_PAPER_BYTES, "/jobs": MAX_REQUEST_BYTES},
        examples=examples.ANSWERS,
    )


async def _open(settings: IngestSettings, stack: AsyncExitStack) -> Components:
    # Adapters bring engines and models with them: not needed where components are given.
    from askem_ingest.wiring import open_service

    manager = open_service(settings)
    components = await asyncio.to_thread(manager.__enter__)
    stack.push_async_callback(asyncio.to_thread, manager.__exit__, None, None, None)
    return components


def _start(settings: IngestSettings, components: Components, spool: Spool | None) -> State:
    spool = spool or Spool(settings.data_dir / FOLDER)
    jobs = JobStore(
        spool.root, max_jobs=settings.ingest_queue_jobs, max_bytes=settings.ingest_queue_bytes
    )

    def pipeline(access: Access, encoder: Encoder, preprocessor_id: str) -> IngestPipeline:
        return IngestPipeline(
            encoder=encoder,
            writer=access.writer,
            ledger=access.ledger,
            preprocessor=get_preprocessor(preprocessor_id),
        )

    worker = Worker(
        jobs=jobs,
        spool=spool,
        encoder=components.encoder,
        make_pipeline=partial(pipeline, components.ingesting),
        keep_s=settings.ingest_keep_days * 24 * 3600,
    )
    worker.start()
    return State(
        settings=settings,
        spool=spool,
        jobs=jobs,
        worker=worker,
        executor=BoundedExecutor(_WORKERS, _QUEUE, timeout_s=_TIMEOUT_S, name="ingest queue"),
        deleter=BoundedExecutor(1, _QUEUE, timeout_s=_TIMEOUT_S, name="store"),
        # Any preprocessor will do: none is used.
        delete=pipeline(components.deleting, components.encoder, "papers-v1").delete,
        uploads=Slots("uploads", settings.ingest_uploads),
    )


def _stop(state: State) -> bool:
    """Whether the worker has ended, and everything is closed."""
    state.executor.close()
    state.deleter.close()
    ended = state.worker.stop(_STOP_S)
    if ended:
        state.jobs.close()
    return ended


def _probes(state: State) -> list[Probe]:
    def queue() -> str:
        state.spool.probe()
        return f"{state.jobs.waiting()} jobs wait or run"

    return [Probe("ingest worker", state.worker.probe), Probe("ingest queue", queue)]
