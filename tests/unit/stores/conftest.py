"""An embedded store in a temporary folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from askem.stores.embedded import EmbeddedStore
from askem.testing.fakes import FakeEncoder


@pytest.fixture
def encoder() -> FakeEncoder:
    return FakeEncoder(16, window=8)


@pytest.fixture
def store(tmp_path: Path, encoder: FakeEncoder) -> Iterator[EmbeddedStore]:
    with EmbeddedStore.open(tmp_path, encoder) as opened:
        yield opened
