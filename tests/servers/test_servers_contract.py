"""The contract of stores, over real Elasticsearch and Weaviate."""

from __future__ import annotations

import pytest

from askem.testing.contract import StoreContract

pytestmark = pytest.mark.servers


class TestServerStore(StoreContract):
    # Weaviate normalises vectors again and answers in float32.
    distance_tolerance = 2e-6
