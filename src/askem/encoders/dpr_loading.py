"""Loading DPR's models with transformers: safetensors only, a pinned commit or a local folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

from askem.errors import ConfigurationError

Side = Literal["question", "passage"]


def libraries() -> tuple[Any, Any]:
    """torch and transformers. Raises ConfigurationError where they are not installed."""
    try:
        import torch
        import transformers
    except ImportError as error:
        raise ConfigurationError(
            f"ASKEM_ENCODER=dpr needs torch and transformers ({error}): "
            "pip install --require-hashes -r requirements-dpr.lock"
        ) from error
    return torch, transformers


def where_from(name: str, revision: str | None, side: Side) -> dict[str, Any]:
    """Arguments that say where to load from, checked. No code of a repository is ever run."""
    folder = Path(name)
    if folder.is_absolute():
        if not any(folder.glob("model*.safetensors")):
            raise ConfigurationError(
                f"{folder} holds no model.safetensors; weights in other formats (.bin, .h5) can "
                "run code when they are read and are not loaded: convert them to safetensors"
            )
        return {"name": name, "local_files_only": True}
    if revision is None or not re.fullmatch(r"[0-9a-f]{40}", revision):
        raise ConfigurationError(
            f"ASKEM_DPR_{side.upper()}_REVISION must be the full commit id (40 hex digits) of "
            f"{name} to load; or put the files into a folder and set ASKEM_ENCODER=dpr:/that/folder"
        )
    return {"name": name, "revision": revision}


def load_model(transformers: Any, where: dict[str, Any], side: Side) -> Any:
    kind = {"question": "DPRQuestionEncoder", "passage": "DPRContextEncoder"}[side]
    model, report = _pretrained(
        getattr(transformers, kind),
        where,
        use_safetensors=True,
        trust_remote_code=False,
        output_loading_info=True,
        dtype="float32",
    )
    # What the file lacks would be left random, and answers would look like answers.
    wrong = sorted(map(str, [*report["missing_keys"], *report.get("mismatched_keys", ())]))
    if wrong:
        raise ConfigurationError(
            f"{where['name']} does not hold a {kind}: {len(wrong)} weights are missing or of "
            f"another shape, {wrong[0]} among them"
        )
    return model.eval()


def load_tokenizer(transformers: Any, where: dict[str, Any], side: Side) -> Any:
    kind = {"question": "DPRQuestionEncoder", "passage": "DPRContextEncoder"}[side]
    loaded = _pretrained(
        getattr(transformers, f"{kind}TokenizerFast"), where, trust_remote_code=False
    )
    tokenizer = loaded.backend_tokenizer
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _pretrained(kind: Any, where: dict[str, Any], **options: Any) -> Any:
    given = dict(where)
    name = given.pop("name")
    try:
        return kind.from_pretrained(name, **given, **options)
    except Exception as error:  # OSError, and whatever parsers and clients raise
        if "revision" in given:
            raise ConfigurationError(
                f"cannot load {name} at {given['revision'][:12]}: the hub does not answer, or this "
                f"revision has no safetensors weights ({type(error).__name__}). Put the files of "
                "both models into question_encoder/ and ctx_encoder/ of a folder and set "
                "ASKEM_ENCODER=dpr:/that/folder"
            ) from error
        raise ConfigurationError(f"{name}: cannot be loaded ({error})") from error
