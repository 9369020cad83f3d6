"""The retriever's settings, read from the environment as `ASKEM_*`."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from askem.models import TOPIC_PATTERN, Ranking


def _cpu_count() -> int:
    return os.cpu_count() or 1


class RetrieverSettings(BaseSettings):
    """Typed and bounded; a wrong value stops the start with its name."""

    model_config = SettingsConfigDict(env_prefix="ASKEM_", frozen=True, extra="ignore")

    data_dir: Path = Path("data")
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 4502
    """0: any free port."""
    api_key: SecretStr | None = None
    workers: Annotated[int, Field(ge=1, le=256)] = Field(default_factory=_cpu_count)
    """How many searches run at once."""
    queue: Annotated[int, Field(ge=0, le=10_000)] = 32
    """How many more may wait; above that, callers get 503."""
    request_timeout_s: Annotated[float, Field(gt=0, le=600)] = 30.0
    """Longest time from question to answer, waiting included."""
    ranking: Ranking = "proximity"
    """The ranking of requests that name none."""
    max_distance: Annotated[float, Field(ge=0, le=2)] | None = None
    """The cosine distance cut of requests that name none; None: no cut."""
    topic_aliases: dict[str, str] = Field(
        default_factory=lambda: {"covid": "covid-19", "xdd-covid-19": "covid-19"}
    )
    """Other name to canonical topic; the case of names does not matter."""
    encoder: str = "minilm-int8"
    stores: Literal["embedded"] = "embedded"

    @field_validator("topic_aliases")
    @classmethod
    def _canonical(cls, aliases: dict[str, str]) -> dict[str, str]:
        lowered = {alias.lower(): topic.lower() for alias, topic in aliases.items()}
        for alias, topic in lowered.items():
            if topic in lowered:
                raise ValueError(f"{alias!r} leads to {topic!r}, which is itself an alias")
            if not re.match(TOPIC_PATTERN, topic):
                raise ValueError(f"{topic!r} cannot be a topic: it must match {TOPIC_PATTERN}")
        return lowered

    def canonical_topic(self, topic: str) -> str:
        """The topic that `topic` names: lower case, aliases resolved."""
        lowered = topic.lower()
        return self.topic_aliases.get(lowered, lowered)
