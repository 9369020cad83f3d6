"""What use costs, and what can be configured."""

from __future__ import annotations

import pytest
from langchain_core.messages.ai import UsageMetadata
from pydantic import SecretStr, ValidationError

from askem_agent.models import ModelConfig, ModelConnection, cost

USAGE = UsageMetadata(input_tokens=2_000, output_tokens=500, total_tokens=2_500)


def test_cost_is_per_million_tokens() -> None:
    config = ModelConfig(name="m", input_price=0.15, output_price=0.6)

    assert cost(USAGE, config) == pytest.approx(0.0003 + 0.0003)


def test_a_free_model_costs_nothing() -> None:
    assert cost(USAGE, ModelConfig(name="m", input_price=0, output_price=0)) == 0


@pytest.mark.parametrize(
    "config",
    [
        ModelConfig(name="m"),
        ModelConfig(name="m", input_price=1),
        ModelConfig(name="m", output_price=1),
    ],
)
def test_without_a_price_cost_is_not_known(config: ModelConfig) -> None:
    assert cost(USAGE, config) is None


def test_without_usage_cost_is_not_known() -> None:
    assert cost(None, ModelConfig(name="m", input_price=1, output_price=1)) is None


@pytest.mark.parametrize(
    "fields",
    [{"input_price": -1}, {"input_price": float("nan")}, {"protocol": "json"}, {"prise": 1}],
)
def test_nonsense_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ModelConfig.model_validate({"name": "m", **fields})


@pytest.mark.parametrize("key", ["", "two words", "line\nbreak", "naïve"])
def test_what_cannot_be_a_key_is_refused_unshown(key: str) -> None:
    with pytest.raises(ValidationError, match="OPENAI_API_KEY") as caught:
        ModelConnection(base_url="http://localhost/v1", api_key=SecretStr(key))

    assert not key or key not in str(caught.value)


def test_the_key_is_not_shown() -> None:
    connection = ModelConnection(base_url="http://localhost/v1", api_key=SecretStr("sk-1"))

    assert "sk-1" not in repr(connection)
