"""The contract of stores, over the embedded one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from askem.stores.embedded import EmbeddedStore
from askem.testing.contract import StoreContract
from askem.testing.fakes import FakeEncoder


class TestEmbeddedStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path, encoder: FakeEncoder) -> Iterator[EmbeddedStore]:
        with EmbeddedStore.open(tmp_path, encoder) as opened:
            yield opened
