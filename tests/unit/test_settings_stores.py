"""Which stores are used is what was configured, never what happens to be there."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from askem.settings import CommonSettings

ENGINES = {
    "WEAVIATE_URL": "http://weaviate:8080",
    "WEAVIATE_APIKEY": "w",
    "ELASTICSEARCH_URL": "http://elasticsearch:9200",
    "ELASTICSEARCH_APIKEY": "e",
}


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (*ENGINES, "WEAVIATE_GRPC_URL", "ASKEM_STORES", "ASKEM_INDEX"):
        monkeypatch.delenv(name, raising=False)


def test_engines_alone_do_not_choose_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENGINES.items():
        monkeypatch.setenv(name, value)
    assert CommonSettings().stores == "embedded"


def test_servers_take_their_engines_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**ENGINES, "ASKEM_STORES": "servers"}.items():
        monkeypatch.setenv(name, value)
    settings = CommonSettings()
    assert (settings.stores, settings.weaviate_url) == ("servers", "http://weaviate:8080")
    assert settings.elasticsearch_apikey is not None
    assert settings.elasticsearch_apikey.get_secret_value() == "e"
    assert "'e'" not in repr(settings)


@pytest.mark.parametrize("missing", ENGINES)
def test_what_is_missing_stops_the_start_with_its_name(
    monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    for name, value in {**ENGINES, "ASKEM_STORES": "servers"}.items():
        if name != missing:
            monkeypatch.setenv(name, value)
    with pytest.raises(ValidationError, match=f"servers needs {missing}"):
        CommonSettings()


@pytest.mark.parametrize(
    "index", ["Passages", "pass ages", "_passages", "passages-1", "a" * 41, "passages_v2"]
)
def test_an_index_is_named_as_both_engines_can(monkeypatch: pytest.MonkeyPatch, index: str) -> None:
    monkeypatch.setenv("ASKEM_INDEX", index)
    with pytest.raises(ValidationError):
        CommonSettings()
