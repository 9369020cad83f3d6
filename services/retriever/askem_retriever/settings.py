"""The retriever's settings, read from the environment as `ASKEM_*`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from askem.models import Ranking
from askem.settings import CommitId, CommonSettings, cpu_count


class RetrieverSettings(CommonSettings):
    """The common settings and the retriever's own."""

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 4502
    """0: any free port."""
    services: str = ""
    """Which of the installed services this process serves, commas between; empty: all."""
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
    nearest_top_k: Annotated[int, Field(ge=0, le=1_000)] = 0
    """How many of the nearest passages join the screened ones in requests that do not say."""
    reranker: str = ""
    """Folder of a cross-encoder, or its name on the model hub; empty: none."""
    reranker_revision: CommitId | None = None
    """Which commit of the hub's model; not needed for a folder."""
    rerank_top_k: Annotated[int, Field(ge=0, le=200)] = 20
    """How many of the best are reranked in requests that do not say, where there is a reranker."""
    rerank_budget_ms: Annotated[float, Field(gt=0, le=60_000)] = 500.0
    """After this long the rest keeps its place."""
    repair: bool = True
    """Whether requests that do not say have their misspelt words repaired."""


class EncodeServerSettings(RetrieverSettings):
    """Of `askem encode-serve`: workers, queue, time-out and key are the retriever's."""

    encode_host: str = "127.0.0.1"
    encode_port: Annotated[int, Field(ge=0, le=65535)] = 4505
    """0: any free port."""
