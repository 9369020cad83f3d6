"""The ingest over a real embedded store in a folder of its own, with a fake encoder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from askem.http.compose import build_app
from askem.stores.embedded import EmbeddedStore
from askem.testing.fakes import FakeEncoder, Hook
from askem.testing.inprocess import AppRunner
from askem.testing.waiting import until_async
from askem_ingest.app import FOLDER, make_service
from askem_ingest.settings import IngestSettings
from askem_ingest.spool import Spool
from askem_ingest.state import Access, Components

KEY = "test-key-0123456789"


@pytest.fixture(autouse=True, scope="session")
def _no_settings_from_outside() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("ASKEM_")]:
            patch.delenv(name)
        yield


@dataclass
class Door:
    """The app, and what lies behind it."""

    runner: AppRunner
    data_dir: Path
    store: EmbeddedStore
    """For looking: of its own, and of this thread."""

    @property
    def spool(self) -> Path:
        return self.data_dir / FOLDER

    def request(self, method: str, path: str, **arguments: Any) -> Any:
        return self.runner.request(method, path, **arguments)

    def job(self, answer: Any) -> Any:
        """The job of a 202, once it has ended."""
        assert answer.status_code == 202, answer.text

        async def job() -> Any:
            got = await self.runner.client.get(answer.headers["location"])
            assert got.status_code == 200, got.text
            return got.json() if got.json()["state"] in ("done", "failed") else None

        return self.runner.run(until_async(job))

    def folders(self) -> list[str]:
        """Folders of jobs and drafts that are on disk."""
        return [path.name for path in self.spool.iterdir() if path.is_dir()]

    def ids(self) -> list[str]:
        found = self.store.reader.papers(topic=None, after=None, limit=1000)
        return [paper.paper_id for paper in found]


OpenDoor = Callable[..., Door]


@pytest.fixture(scope="session")
def build_door() -> OpenDoor:
    """`build_door(stack, data_dir, hook=…, sync=…, **settings)`: opened until `stack` closes."""

    def build(
        stack: ExitStack,
        data_dir: Path,
        hook: Hook = lambda _: None,
        *,
        sync: Callable[[int], None] = os.fsync,
        **settings: object,
    ) -> Door:
        encoder = FakeEncoder(hook=hook)
        looking, first, second = (
            stack.enter_context(EmbeddedStore.open(data_dir, encoder)) for _ in range(3)
        )
        parts = Components(
            encoder, Access(first.writer, first.ledger), Access(second.writer, second.ledger)
        )
        values = IngestSettings(data_dir=data_dir, **settings)  # type: ignore[arg-type]
        service = make_service(values, parts, Spool(data_dir / FOLDER, sync=sync))
        app = build_app([service], api_keys=[KEY])
        runner = stack.enter_context(AppRunner(app, headers={"Api-Key": KEY}))
        return Door(runner, data_dir, looking)

    return build


@pytest.fixture
def open_door(tmp_path: Path, build_door: OpenDoor) -> Iterator[OpenDoor]:
    """As `build_door`, until the test ends and in a folder of its own."""
    with ExitStack() as stack:
        yield partial(build_door, stack, tmp_path / "data")


@pytest.fixture
def door(open_door: OpenDoor) -> Door:
    return open_door()
