"""Settings, and how they become models and clients."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError

from askem.errors import ConfigurationError
from askem.http.compose import Host
from askem_agent.app import settings_in
from askem_agent.settings import AgentSettings
from askem_agent.state import Components
from askem_agent.wiring import model_configs, open_components

KEY = SecretStr("test-key-0123456789")
MODELS: Any = ({"name": "a", "protocol": "react", "input_price": 0.1}, {"name": "b"})


def opened(**settings: Any) -> Components:
    async def open_and_close() -> Components:
        async with open_components(AgentSettings(**{"api_key": KEY, **settings})) as components:
            return components

    return asyncio.run(open_and_close())


def test_endpoints_are_the_configured_ones() -> None:
    settings = AgentSettings(
        retriever_url="http://retriever:4502/",
        retriever_endpoints="http://other:1/hybrid, https://third/base/hybrid",
    )
    assert settings.endpoints == (
        "http://retriever:4502/hybrid",
        "http://other:1/hybrid",
        "https://third/base/hybrid",
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {"retriever_endpoints": "http://other:1/"},
        {"retriever_endpoints": "other/hybrid"},
        {"retriever_url": "ftp://x"},
        {"retriever_url": "http://user@x"},
        {"agent_max_model_calls": 0},
        {"unsupported": "keep"},
    ],
)
def test_wrong_settings_stop_the_start(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        AgentSettings(**wrong)


def test_the_extractive_model_needs_no_key() -> None:
    assert opened().agent.model_names == ("extractive",)


def test_models_are_opened_as_configured() -> None:
    found = opened(models=MODELS, openai_api_key=SecretStr("sk-x"), model="c")
    assert found.agent.model_names == ("a", "b", "c", "extractive")


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"model": "gpt"}, "OPENAI_API_KEY"),
        ({"models": MODELS}, "OPENAI_API_KEY"),
        ({"api_key": None}, "ASKEM_RETRIEVER_KEY"),
        ({"models": ({"name": "a", "protocol": "soap"},)}, "ASKEM_MODELS"),
        ({"models": ({"name": "a"}, {"name": "a"})}, "ASKEM_MODELS"),
        ({"models": ({"name": "extractive"},)}, "ASKEM_MODELS"),
    ],
)
def test_what_is_missing_stops_the_start_with_its_name(settings: Any, word: str) -> None:
    with pytest.raises(ConfigurationError, match=word):
        opened(**settings)


def test_prices_and_protocol_are_read() -> None:
    first, second = model_configs(AgentSettings(models=MODELS))
    assert (first.protocol, first.input_price) == ("react", 0.1)
    assert (second.protocol, second.input_price) == ("tools", None)


def test_behind_one_door_the_retriever_is_the_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Host(tmp_path, "http://127.0.0.1:4777", KEY.get_secret_value())
    assert settings_in(home).retriever_url == "http://127.0.0.1:4777"
    monkeypatch.setenv("ASKEM_RETRIEVER_URL", "http://retriever:4502")
    assert settings_in(home).retriever_url == "http://retriever:4502"


def test_a_key_that_cannot_be_sent_is_an_error_of_the_configuration() -> None:
    with pytest.raises(ConfigurationError, match=r"^OPENAI_API_KEY: .*printable") as caught:
        opened(models=MODELS, openai_api_key=SecretStr("sk na\u00efve"))
    assert "sk" not in str(caught.value).replace("askem", "")
