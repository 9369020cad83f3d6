"""How the parts are asked whether they work."""

from __future__ import annotations

import pytest

from askem.errors import BackendUnavailable
from askem.testing.fakes import FakeEncoder
from askem_retriever.readiness import encoder_probe


class Elsewhere(FakeEncoder):
    """An encoder over HTTP, whose passages may wait for long."""

    def encode_passages(self, texts: object) -> list[object]:  # type: ignore[override]
        raise AssertionError("not asked")

    def ping(self) -> None:
        raise BackendUnavailable("encoder", "not asked: it did not answer in time")


def test_an_encoder_elsewhere_is_pinged() -> None:
    with pytest.raises(BackendUnavailable, match="not asked"):
        encoder_probe(Elsewhere()).run()


def test_one_of_this_machine_encodes() -> None:
    assert "dimensions" in encoder_probe(FakeEncoder()).run()
