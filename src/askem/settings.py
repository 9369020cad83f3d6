"""Settings that every service shares, read from the environment as `ASKEM_*` or from `.env`."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, SecretStr, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from askem.errors import InvalidInput
from askem.models import TOPIC_PATTERN


def cpu_count() -> int:
    """Cores this process may use, at least 1."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


CommitId = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
_ENGINES = ("weaviate_url", "weaviate_apikey", "elasticsearch_url", "elasticsearch_apikey")


class CommonSettings(BaseSettings):
    """Typed and bounded; a wrong value stops the start with its name."""

    model_config = SettingsConfigDict(
        env_prefix="ASKEM_",
        env_file=".env",
        frozen=True,
        extra="ignore",
        env_ignore_empty=True,
        populate_by_name=True,
    )

    data_dir: Path = Path("data")
    encoder: str = "minilm-int8"
    """`minilm-int8`, the path of a folder with a sentence encoder in ONNX, `dpr`, `dpr:` and a
    folder, or `remote`."""
    encoder_threads: Annotated[int, Field(ge=1, le=64)] = Field(default_factory=cpu_count)
    """How many texts are encoded at a time."""
    dpr_question_revision: CommitId | None = None
    """Which commit of DPR's question encoder to load from the hub; not needed for a folder."""
    dpr_passage_revision: CommitId | None = None
    embeddings_url: Annotated[str, Field(pattern=r"^https?://[^\s]+$")] | None = None
    """Of an OpenAI-style server, for the encoder `remote`; usually ends in /v1."""
    embeddings_model: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    embeddings_key: SecretStr | None = None
    embeddings_window_tokens: Annotated[int, Field(ge=32, le=1_000_000)] | None = None
    """The longest text that model takes, in its tokens."""
    embeddings_dimension: Annotated[int, Field(ge=1, le=16_384)] | None = None
    """None: the server is asked for it at the start."""
    embeddings_timeout_s: Annotated[float, Field(gt=0, le=600)] = 10.0
    embeddings_concurrency: Annotated[int, Field(ge=1, le=64)] = 4
    """Requests at a time."""
    embeddings_encoding: Literal["base64", "float"] = "base64"
    """How vectors are asked for; either is understood."""
    embeddings_input_type: bool = False
    """Send `input_type`, `query` or `document`, which Askem's own server understands."""
    weaviate_url: str | None = Field(default=None, validation_alias="WEAVIATE_URL")
    weaviate_grpc_url: str | None = Field(default=None, validation_alias="WEAVIATE_GRPC_URL")
    """Absent: the host of `weaviate_url`, port 50051."""
    weaviate_apikey: SecretStr | None = Field(default=None, validation_alias="WEAVIATE_APIKEY")
    elasticsearch_url: str | None = Field(default=None, validation_alias="ELASTICSEARCH_URL")
    elasticsearch_apikey: SecretStr | None = Field(
        default=None, validation_alias="ELASTICSEARCH_APIKEY"
    )
    index: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")] = "passages"
    """The corpus's name on the engines: a letter first, 40 characters at most, and not with a
    version's end, `_v2`."""
    engine_timeout_s: Annotated[float, Field(gt=0, le=60)] = 1.5
    """How long a search waits for an engine's answer, each time it asks."""
    api_key: SecretStr | None = None
    """Opens everything; other keys are in the keyring."""
    rate_per_minute: Annotated[int, Field(ge=0, le=10_000_000)] = 0
    """Most requests of one key in this process; 0: as many as come."""
    stores: Literal["embedded", "servers"] = "embedded"
    topic_aliases: dict[str, str] = Field(
        default_factory=lambda: {"covid": "covid-19", "xdd-covid-19": "covid-19"}
    )
    """Other name to canonical topic; the case of names does not matter."""

    @field_validator("stores")
    @classmethod
    def _complete(cls, stores: str, info: ValidationInfo) -> str:
        """Never a fallback: what is missing stops the start with its name."""
        missing = [name.upper() for name in _ENGINES if not info.data.get(name)]
        if stores == "servers" and missing:
            raise ValueError(f"servers needs {', '.join(missing)}")
        return stores

    @field_validator("index")
    @classmethod
    def _no_version(cls, index: str) -> str:
        if re.search(r"_v[0-9]+$", index):
            raise ValueError(
                f"{index!r} looks like a version of another index: names must not end in _v and a "
                "number"
            )
        return index

    @field_validator("data_dir")
    @classmethod
    def _home(cls, folder: Path) -> Path:
        # A shell expands ~, a .env file does not.
        return folder.expanduser()

    @field_validator("topic_aliases")
    @classmethod
    def _canonical(cls, aliases: dict[str, str]) -> dict[str, str]:
        lowered = {alias.lower(): topic.lower() for alias, topic in aliases.items()}
        for alias, topic in lowered.items():
            if topic in lowered:
                raise ValueError(f"{alias!r} leads to {topic!r}, which is itself an alias")
            if not re.fullmatch(TOPIC_PATTERN, topic):
                raise ValueError(f"{topic!r} cannot be a topic: it must match {TOPIC_PATTERN}")
        return lowered

    def canonical_topic(self, topic: str) -> str:
        """The topic that `topic` names: lower case, aliases resolved. Raises InvalidInput."""
        lowered = topic.lower()
        if not re.fullmatch(TOPIC_PATTERN, lowered):
            raise InvalidInput(
                "topic",
                f"{topic!r} cannot be a topic: 1 to 64 letters, digits, '.', '_' or '-', "
                "the first a letter or digit",
            )
        return self.topic_aliases.get(lowered, lowered)
