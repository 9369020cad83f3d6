"""DPR through transformers and torch, on tiny random checkpoints that are made here.

`make test-dpr` runs these; the last few need neither library and run by default.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from askem.encoders import open_encoder
from askem.encoders.dpr import PASSAGE_MODEL, QUESTION_MODEL, DprEncoder, DprSource
from askem.errors import ConfigurationError, EncoderMismatch
from askem.models import Question, Steering
from askem.settings import CommonSettings
from askem.stores.embedded import EmbeddedStore
from askem.testing.contract import make_source
from askem.text.decoding import decode

EXAMPLES = Path(__file__).parents[3] / "examples" / "papers" / "covid-19"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
SIDES = ("question_encoder", "ctx_encoder")
needs_torch = pytest.mark.dpr


def vocabulary() -> list[str]:
    """Special tokens, single characters, and the words of the example papers."""
    text = " ".join(decode(path.read_bytes()).text for path in sorted(EXAMPLES.glob("*.txt")))
    words = Counter(re.findall(r"[a-z]{2,}", text.lower()))
    letters = [chr(code) for code in range(33, 127) if not chr(code).isupper()]
    return [
        *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
        *letters,
        *(f"##{letter}" for letter in letters),
        *sorted(word for word, n in words.items() if n > 1),
    ]


def save_models(folder: Path, *, projection: int = 0, seed: int = 7, width: int = 24) -> Path:
    """Two tiny random models in the layout of the real ones."""
    import torch
    import transformers

    words = {word: number for number, word in enumerate(vocabulary())}
    for step, (name, kind) in enumerate(zip(SIDES, ("Question", "Context"), strict=True)):
        config = transformers.DPRConfig(
            vocab_size=len(words),
            hidden_size=width,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=64,
            initializer_range=0.4,
            projection_dim=projection,
        )
        torch.manual_seed(seed + step)
        model = getattr(transformers, f"DPR{kind}Encoder")(config)
        encoder = model.question_encoder if kind == "Question" else model.ctx_encoder
        norm = encoder.bert_model.encoder.layer[-1].output.LayerNorm
        torch.nn.init.normal_(norm.weight, std=1.0)
        torch.nn.init.normal_(norm.bias, std=0.3)
        if projection:
            torch.nn.init.normal_(encoder.encode_proj.weight, std=4.0)
        model.save_pretrained(folder / name)
        transformers.BertTokenizerFast(vocab=words).save_pretrained(folder / name)
    return folder


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_models(tmp_path_factory.mktemp("dpr"))


@pytest.fixture(scope="module")
def encoder(saved: Path) -> Iterator[DprEncoder]:
    loaded = DprEncoder(DprSource.folder(saved), threads=2)
    yield loaded
    loaded.close()


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    """A copy to be damaged."""
    return Path(shutil.copytree(saved, tmp_path / "dpr"))


def by_hand(folder: Path, side: str, texts: list[str]) -> np.ndarray:
    """Pooler outputs as transformers' own documentation gets them, one text at a time."""
    import torch
    import transformers

    kind = {"question_encoder": "Question", "ctx_encoder": "Context"}[side]
    model = getattr(transformers, f"DPR{kind}Encoder").from_pretrained(folder / side).eval()
    tokenizer = transformers.BertTokenizerFast.from_pretrained(folder / side)
    with torch.no_grad():
        outputs = [model(**tokenizer(text, return_tensors="pt")).pooler_output for text in texts]
    return torch.cat(outputs).double().numpy()


TEXTS = [
    "The virus spreads by air.",
    "Wastewater signals lead cases by days.",
    "Windows were opened in classrooms.",
    "A trial of an early protease inhibitor.",
    "Short.",
    "The number of cases in the city rose and the number of tests did not.",
]
QUESTION = "How does the virus spread in classrooms?"
STRANGE = {
    "nothing": "",
    "white space": " \n",
    "CJK": "病毒感染" * 50,
    "emoji": "\U0001f9a0" * 100,
    "NUL": "\x00",
    "no space": "a" * 999,
}
LONG = " ".join(f"Sentence {n} says that group {n * 7} had {n}.5 cases." for n in range(40))


@needs_torch
def test_cosines_are_dprs_dot_products_over_one_constant(encoder: DprEncoder, saved: Path) -> None:
    question = by_hand(saved, "question_encoder", [QUESTION])[0]
    products = by_hand(saved, "ctx_encoder", TEXTS) @ question
    cosines = np.vstack(encoder.encode_passages(TEXTS)) @ encoder.encode_question(QUESTION)
    ratios = cosines / products
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-3)
    assert np.argsort(-cosines).tolist() == np.argsort(-products).tolist()
    assert 0 < ratios[0] < 1 / np.linalg.norm(question)


@needs_torch
@pytest.mark.parametrize("projection", [0, 10])
def test_vectors_have_unit_length_and_one_dimension_more(tmp_path: Path, projection: int) -> None:
    own = DprEncoder(DprSource.folder(save_models(tmp_path, projection=projection)))
    question, passages = own.encode_question(QUESTION), np.vstack(own.encode_passages(TEXTS))
    own.close()
    assert own.dimension == (projection or 24) + 1
    assert question.shape == (own.dimension,)
    assert passages.shape == (len(TEXTS), own.dimension)
    assert question.dtype == passages.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(passages, axis=1), 1, atol=1e-6)
    assert np.linalg.norm(question) == pytest.approx(1, abs=1e-6)
    assert question[-1] == 0
    # What was left over to the bound: no passage reaches it, none is cut down to it.
    assert (passages[:, -1] > 0.05).all()


@needs_torch
def test_questions_and_passages_have_models_of_their_own(encoder: DprEncoder) -> None:
    question = encoder.encode_question(TEXTS[0])
    passage = encoder.encode_passages([TEXTS[0]])[0][0]
    assert not np.allclose(question[:-1], passage[:-1] / np.linalg.norm(passage[:-1]), atol=0.1)


@needs_torch
def test_a_text_has_one_vector_whatever_its_neighbours(encoder: DprEncoder) -> None:
    alone = [encoder.encode_passages([text])[0] for text in TEXTS]
    together = encoder.encode_passages([*TEXTS, LONG, *TEXTS])
    for one, first, second in zip(alone, together[:6], together[7:], strict=True):
        np.testing.assert_allclose(first, one, atol=2e-6)
        np.testing.assert_allclose(second, one, atol=2e-6)


@needs_torch
def test_long_texts_have_windows_and_nothing_is_cut(encoder: DprEncoder) -> None:
    windows = encoder._passage.windows(LONG)
    assert " ".join(windows).split() == LONG.split()
    tokenizer = encoder._passage._tokenizer
    assert max(len(tokenizer.encode(window).ids) for window in windows) <= 64
    (found,) = encoder.encode_passages([LONG])
    assert found.shape == (len(windows), 25)
    for window, vector in zip(windows, found, strict=True):
        np.testing.assert_allclose(encoder.encode_passages([window])[0][0], vector, atol=2e-6)


@needs_torch
def test_a_long_question_is_the_mean_of_its_windows(encoder: DprEncoder, saved: Path) -> None:
    question = LONG[:400]
    windows = encoder._question.windows(question)
    assert len(windows) > 1
    mean = by_hand(saved, "question_encoder", windows).mean(axis=0)
    wanted = np.append(mean / np.linalg.norm(mean), 0)
    np.testing.assert_allclose(encoder.encode_question(question), wanted, atol=1e-5)


@needs_torch
@pytest.mark.parametrize("text", STRANGE.values(), ids=STRANGE)
def test_any_text_has_vectors(encoder: DprEncoder, text: str) -> None:
    (found,) = encoder.encode_passages([text])
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
    assert np.isfinite(encoder.encode_question(text)).all()


@needs_torch
def test_many_threads_get_the_same_vectors(encoder: DprEncoder) -> None:
    questions = [f"{text} {n}" for n in range(6) for text in TEXTS]
    wanted = [encoder._encode_question(question) for question in questions]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(encoder.encode_question, questions))
    assert all(np.allclose(a, b, atol=1e-6) for a, b in zip(wanted, found, strict=True))


@needs_torch
def test_torch_runs_on_one_thread_a_worker(encoder: DprEncoder) -> None:
    import torch

    assert torch.get_num_threads() == 1


@needs_torch
def test_a_questions_vector_cannot_be_changed_by_who_asked(encoder: DprEncoder) -> None:
    with pytest.raises(ValueError, match="read-only"):
        encoder.encode_question(QUESTION)[0] = 1.0
    assert encoder.encode_passages([]) == []


# Its id


@needs_torch
def test_the_id_is_that_of_the_files_wherever_they_are(
    encoder: DprEncoder, folder: Path, tmp_path: Path
) -> None:
    again = DprEncoder(DprSource.folder(folder))
    other = DprEncoder(DprSource.folder(save_models(tmp_path / "other", seed=8)))
    assert again.encoder_id == encoder.encoder_id != other.encoder_id
    assert np.array_equal(again.encode_question(QUESTION), encoder.encode_question(QUESTION))
    again.close()
    other.close()


@needs_torch
def test_an_index_opens_with_its_own_encoder_only(encoder: DprEncoder, tmp_path: Path) -> None:
    with EmbeddedStore.open(tmp_path / "data", encoder) as store:
        store.writer.replace([make_source("a", ["The virus spreads by air."], encoder)])
    other = DprEncoder(DprSource.folder(save_models(tmp_path / "other", seed=8)))
    with pytest.raises(EncoderMismatch, match=r"dpr@\w+, configured is dpr@"):
        EmbeddedStore.open(tmp_path / "data", other)
    other.close()


# What cannot be loaded


def only_pickled_weights(folder: Path) -> None:
    import torch

    (folder / "ctx_encoder" / "model.safetensors").unlink()
    torch.save({}, folder / "ctx_encoder" / "pytorch_model.bin")


def swapped(folder: Path) -> None:
    (folder / "ctx_encoder").rename(folder / "kept")
    (folder / "question_encoder").rename(folder / "ctx_encoder")
    (folder / "kept").rename(folder / "question_encoder")


def without_a_layer(folder: Path) -> None:
    from safetensors.numpy import load_file, save_file

    path = folder / "ctx_encoder" / "model.safetensors"
    weights = {name: w for name, w in load_file(path).items() if "layer.1.output" not in name}
    save_file(weights, path, metadata={"format": "pt"})


def of_another_size(folder: Path) -> None:
    save_models(folder / "wide", width=32)
    shutil.rmtree(folder / "ctx_encoder")
    (folder / "wide" / "ctx_encoder").rename(folder / "ctx_encoder")


def other_config(folder: Path) -> None:
    path = folder / "ctx_encoder" / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"intermediate_size": 16}))


BROKEN: dict[str, tuple[Callable[[Path], Any], str]] = {
    "only pickled weights": (only_pickled_weights, r"ctx_encoder holds no model\.safetensors"),
    "the two swapped": (swapped, "does not hold a DPRQuestionEncoder: .* weights are missing"),
    "a layer missing": (without_a_layer, "does not hold a DPRContextEncoder: .* missing"),
    "of two sizes": (of_another_size, "24 dimensions, .* 32"),
    "another shape": (other_config, "ctx_encoder"),
    "weights garbage": (
        lambda f: (f / "ctx_encoder" / "model.safetensors").write_bytes(b"x" * 99),
        "ctx_encoder: cannot be loaded",
    ),
    "no config": (
        lambda f: (f / "ctx_encoder" / "config.json").unlink(),
        "ctx_encoder",
    ),
    "tokenizer garbage": (
        lambda f: (f / "question_encoder" / "tokenizer.json").write_text("{}"),
        "question_encoder: cannot be loaded",
    ),
}


@needs_torch
@pytest.mark.parametrize(("damage", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_folder_is_an_error_that_says_what_is_wrong(
    folder: Path, damage: Callable[[Path], Any], message: str
) -> None:
    damage(folder)
    with pytest.raises(ConfigurationError, match=message):
        DprEncoder(DprSource.folder(folder))


UNREACHABLE = f"""
from askem.encoders import open_encoder
from askem.errors import ConfigurationError
from askem.settings import CommonSettings
try:
    open_encoder(CommonSettings(
        encoder="dpr", dpr_question_revision="{COMMIT}", dpr_passage_revision="{COMMIT}"
    ))
except ConfigurationError as error:
    print(error)
"""


@needs_torch
@pytest.mark.parametrize("offline", ["0", "1"])
def test_without_the_hub_the_error_says_what_to_do(tmp_path: Path, offline: str) -> None:
    # The address is read when the hub's client is imported: a process of its own.
    nowhere = {
        "HF_ENDPOINT": "http://127.0.0.1:9",
        "HF_HOME": str(tmp_path),
        "HF_HUB_OFFLINE": offline,
        "NO_PROXY": "*",
    }
    done = subprocess.run(
        [sys.executable, "-c", UNREACHABLE],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env={**os.environ, **nowhere},
    )
    assert f"cannot load {QUESTION_MODEL} at 0123456789ab: the hub does not answer" in done.stdout
    assert "ASKEM_ENCODER=dpr:/that/folder" in done.stdout


# All the way


@needs_torch
def test_papers_are_ingested_and_found_by_the_dot_product(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from askem_ingest.cli import ingest
    from askem_retriever.settings import RetrieverSettings
    from askem_retriever.wiring import open_components

    monkeypatch.setenv("ASKEM_ENCODER", f"dpr:{saved}")
    monkeypatch.setenv("ASKEM_DATA_DIR", str(tmp_path))
    done = CliRunner().invoke(ingest, ["--input-dir", str(EXAMPLES), "--topic", "covid-19"])
    assert done.exit_code == 0, done.output
    with open_components(RetrieverSettings()) as parts:
        assert parts.encoder_id.startswith("dpr@")
        assert all(probe.run() for probe in parts.probes)
        hybrid = parts.retriever.hybrid(Question(QUESTION, top_k=5))
        assert len(hybrid.hits) == 5
        assert hybrid.screened
        nearest = parts.retriever.vector(Question(QUESTION, top_k=100)).hits
        assert len(nearest) > 10
        assert all(0 <= hit.distance <= 2 for hit in nearest)
        # A passage's score is that of its best window.
        own = open_encoder(RetrieverSettings())
        assert isinstance(own, DprEncoder)
        windows = [own._passage.windows(hit.passage.text) for hit in nearest]
        question = by_hand(saved, "question_encoder", [QUESTION])[0]
        products = [(by_hand(saved, "ctx_encoder", w) @ question).max() for w in windows[:12]]
        ratios = [(1 - hit.distance) / p for hit, p in zip(nearest, products, strict=False)]
        np.testing.assert_allclose(ratios, ratios[0], rtol=1e-3)
        assert products == sorted(products, reverse=True)
        steered = Question(QUESTION, top_k=5, steering=Steering(TEXTS[1], 1.0, TEXTS[2], 0.5))
        moved = parts.retriever.steered_vector(steered)
        parts_of_it = [own.encode_question(text) for text in (QUESTION, TEXTS[1], TEXTS[2])]
        middle = (parts_of_it[0] + parts_of_it[1]) / 2
        np.testing.assert_allclose(moved, middle + 0.25 * (middle - parts_of_it[2]), atol=1e-6)
        assert moved[-1] == 0
        assert parts.retriever.vector(steered).hits[0].distance != nearest[0].distance
        own.close()


# Without torch


@pytest.mark.parametrize("revision", [None, "main", "v1.0", COMMIT[:12], COMMIT.upper(), "../x"])
def test_a_hub_name_needs_a_full_commit_id(revision: str | None) -> None:
    source = DprSource(question_revision=COMMIT, passage_revision=revision)
    with pytest.raises(ConfigurationError, match="ASKEM_DPR_PASSAGE_REVISION") as caught:
        DprEncoder(source)
    assert PASSAGE_MODEL in str(caught.value)
    assert "dpr:/that/folder" in str(caught.value)


def test_the_spec_dpr_takes_its_revisions_from_the_settings() -> None:
    with pytest.raises(ConfigurationError, match="ASKEM_DPR_QUESTION_REVISION"):
        open_encoder(CommonSettings(encoder="dpr", dpr_passage_revision=COMMIT))


def test_a_folder_lacking_one_of_the_two_is_named(tmp_path: Path) -> None:
    (tmp_path / "question_encoder").mkdir()
    with pytest.raises(ConfigurationError, match="ctx_encoder is missing"):
        open_encoder(CommonSettings(encoder=f"dpr:{tmp_path}"))


def test_only_safetensors_are_read(tmp_path: Path) -> None:
    for name in SIDES:
        (tmp_path / name).mkdir()
        (tmp_path / name / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(ConfigurationError, match=r"question_encoder holds no model\.safetensors"):
        open_encoder(CommonSettings(encoder=f"dpr:{tmp_path}"))


def test_what_to_install_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SIDES:
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.safetensors").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ConfigurationError, match=r"pip install .* requirements-dpr\.lock"):
        open_encoder(CommonSettings(encoder=f"dpr:{tmp_path}"))
