"""Which classes DPR's two models are of, and the settings that name them."""

from __future__ import annotations

from typing import Any, Literal

from askem.encoders import pretrained

Side = Literal["question", "passage"]

_KINDS = {"question": "DPRQuestionEncoder", "passage": "DPRContextEncoder"}
_INSTEAD = (
    "put the files of both models into question_encoder/ and ctx_encoder/ of a folder and set "
    "ASKEM_ENCODER=dpr:/that/folder"
)


def libraries() -> tuple[Any, Any]:
    """torch and transformers. Raises ConfigurationError where they are not installed."""
    return pretrained.libraries("ASKEM_ENCODER=dpr")


def where_from(name: str, revision: str | None, side: Side) -> dict[str, Any]:
    """Arguments that say where to load from. Raises ConfigurationError."""
    setting = f"ASKEM_DPR_{side.upper()}_REVISION"
    return pretrained.where_from(name, revision, setting, _INSTEAD)


def load_model(transformers: Any, where: dict[str, Any], side: Side) -> Any:
    return pretrained.load_model(getattr(transformers, _KINDS[side]), where, _INSTEAD)


def load_tokenizer(transformers: Any, where: dict[str, Any], side: Side) -> Any:
    kind = getattr(transformers, f"{_KINDS[side]}TokenizerFast")
    return pretrained.load_tokenizer(kind, where, _INSTEAD)
