"""The retriever's settings, read from the environment as `ASKEM_*`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, SecretStr

from askem.models import Ranking
from askem.settings import CommonSettings, cpu_count


class RetrieverSettings(CommonSettings):
    """The common settings and the retriever's own."""

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 4502
    """0: any free port."""
    services: str = ""
    """Which of the installed services this process serves, commas between; empty: all."""
    api_key: SecretStr | None = None
    workers: Annotated[int, Field(ge=1, le=256)] = Field(default_factory=cpu_count)
    """How many searches run at once."""
    queue: Annotated[int, Field(ge=0, le=10_000)] = 32
    """How many more may wait; above that, callers get 503."""
    request_timeout_s: Annotated[float, Field(gt=0, le=600)] = 30.0
    """Longest time from question to answer, waiting included."""
    ranking: Ranking = "proximity"
    """The ranking of requests that name none."""
    max_distance: Annotated[float, Field(ge=0, le=2)] | None = None
    """The cosine distance cut of requests that name none; None: no cut."""
    repair: bool = True
    """Whether requests that do not say have their misspelt words repaired."""


class EncodeServerSettings(RetrieverSettings):
    """Of `askem encode-serve`: workers, queue, time-out and key are the retriever's."""

    encode_host: str = "127.0.0.1"
    encode_port: Annotated[int, Field(ge=0, le=65535)] = 4505
    """0: any free port."""
