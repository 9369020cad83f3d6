"""The agent's settings, read from the environment as `ASKEM_*`."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr, field_validator

from askem.answering.refusal import Thresholds
from askem.settings import CommonSettings

EXTRACTIVE = "extractive"
"""The model that picks sentences of passages; always there."""
HYBRID = "/hybrid"
_THRESHOLDS = Thresholds()
_Url = Annotated[str, Field(pattern=r"^https?://[^\s/?#@,]+(?:/[^\s?#,]*)?$")]


class AgentSettings(CommonSettings):
    """The common settings and the agent's own."""

    host: str = "127.0.0.1"
    """Where `askem serve` listens, for `askem ask` to find it."""
    port: Annotated[int, Field(ge=0, le=65535)] = 4502
    retriever_url: _Url = "http://127.0.0.1:4502"
    """Where `/hybrid` is. Composed with the retriever: the process itself."""
    retriever_key: SecretStr | None = None
    """None: the service's own key."""
    retriever_endpoints: str = ""
    """Further endpoints that a request may name, commas between, each with `/hybrid`."""
    retriever_timeout_s: Annotated[float, Field(gt=0, le=600)] = 10.0

    model: Annotated[str, Field(min_length=1, max_length=200)] = EXTRACTIVE
    """Who answers requests that name no model."""
    models: tuple[dict[str, Any], ...] = ()
    """Models of the server at OPENAI_BASE_URL: a JSON list of objects with `name`, and where they
    are known `input_price` and `output_price` for a million tokens, `protocol` (`tools` or
    `react`), `max_output_tokens`, `length_field`, `temperature`."""
    openai_base_url: _Url = Field(
        default="https://api.openai.com/v1", validation_alias="OPENAI_BASE_URL"
    )
    openai_api_key: SecretStr | None = Field(default=None, validation_alias="OPENAI_API_KEY")
    """Any text for servers without keys."""
    model_idle_timeout_s: Annotated[float, Field(gt=0, le=600)] = 30.0
    """Longest wait for a model's next word."""

    agent_runs: Annotated[int, Field(ge=1, le=1000)] = 16
    """Questions answered at a time; above that, callers get 503."""
    agent_max_model_calls: Annotated[int, Field(ge=1, le=100)] = 8
    agent_max_searches: Annotated[int, Field(ge=1, le=100)] = 6
    """The first search, with the question itself, included."""
    agent_max_tokens: Annotated[int, Field(ge=1000, le=10_000_000)] = 100_000
    """Read and written, over all calls of a run."""
    agent_max_cost: Annotated[float, Field(gt=0, le=1_000_000)] = 0.25
    """Over all calls of a run, in the currency of the prices; without prices nothing is counted."""
    agent_max_seconds: Annotated[float, Field(gt=0, le=3600)] = 60.0
    """From question to answer."""

    refuse_score: Annotated[float, Field(ge=0, le=100)] = _THRESHOLDS.score
    """Least score of the best passage, under the ranking `proximity`."""
    refuse_distance: Annotated[float, Field(ge=0, le=2)] = _THRESHOLDS.distance
    """Largest distance of the nearest passage."""
    unsupported: Literal["drop", "mark"] = "drop"
    """What becomes of a sentence that its source does not have."""

    @field_validator("retriever_url")
    @classmethod
    def _bare(cls, url: str) -> str:
        return url.rstrip("/").removesuffix(HYBRID)

    @field_validator("retriever_endpoints")
    @classmethod
    def _whole(cls, text: str) -> str:
        for endpoint in _listed(text):
            if not re.fullmatch(r"https?://[^\s/?#@,]+(?:/[^\s?#,]*)?/hybrid", endpoint):
                raise ValueError(f"{endpoint} must be a whole address that ends in {HYBRID}")
        return text

    @property
    def endpoints(self) -> tuple[str, ...]:
        """All that may be searched, the default one first."""
        own = self.retriever_url + HYBRID
        return tuple(dict.fromkeys((own, *_listed(self.retriever_endpoints))))

    @property
    def thresholds(self) -> Thresholds:
        return Thresholds(score=self.refuse_score, distance=self.refuse_distance)


def _listed(text: str) -> list[str]:
    return [stripped for part in text.split(",") if (stripped := part.strip())]
