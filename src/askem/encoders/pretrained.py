"""Loading models with transformers: safetensors only, a pinned commit or a local folder. No code
of a repository is ever run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from askem.errors import ConfigurationError


def libraries(setting: str) -> tuple[Any, Any]:
    """torch and transformers. Raises ConfigurationError where they are not installed; `setting`
    is what needs them."""
    try:
        import torch
        import transformers
    except ImportError as error:
        raise ConfigurationError(
            f"{setting} needs torch and transformers ({error}): "
            "pip install --require-hashes -r requirements-dpr.lock"
        ) from error
    return torch, transformers


def where_from(name: str, revision: str | None, setting: str, instead: str) -> dict[str, Any]:
    """Arguments that say where to load from, checked; an absolute path is a folder.

    `setting` holds the revision, `instead` says how a folder is named in place of the hub. Raises
    ConfigurationError.
    """
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
            f"{setting} must be the full commit id (40 hex digits) of {name} to load; or {instead}"
        )
    return {"name": name, "revision": revision}


def load_model(kind: Any, where: dict[str, Any], instead: str) -> Any:
    """A model of class `kind` in evaluation mode, every weight of it from the file. Raises
    ConfigurationError."""
    model, report = pretrained(
        kind,
        where,
        instead,
        use_safetensors=True,
        output_loading_info=True,
        dtype="float32",
    )
    # What the file lacks would be left random, and answers would look like answers.
    wrong = sorted(map(str, [*report["missing_keys"], *report.get("mismatched_keys", ())]))
    if wrong:
        raise ConfigurationError(
            f"{where['name']} does not hold a {type(model).__name__}: {len(wrong)} weights are "
            f"missing or of another shape, {wrong[0]} among them"
        )
    return model.eval()


def load_tokenizer(kind: Any, where: dict[str, Any], instead: str) -> Any:
    """A tokenizer of the package tokenizers. Raises ConfigurationError."""
    tokenizer = pretrained(kind, where, instead).backend_tokenizer
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def pretrained(kind: Any, where: dict[str, Any], instead: str, **options: Any) -> Any:
    """`kind.from_pretrained`. Raises ConfigurationError."""
    given = dict(where)
    name = given.pop("name")
    try:
        return kind.from_pretrained(name, **given, trust_remote_code=False, **options)
    except Exception as error:  # OSError, and whatever parsers and clients raise
        if "revision" in given:
            raise ConfigurationError(
                f"cannot load {name} at {given['revision'][:12]}: the hub does not answer, or this "
                f"revision has no safetensors weights ({type(error).__name__}); {instead}"
            ) from error
        raise ConfigurationError(f"{name}: cannot be loaded ({error})") from error
