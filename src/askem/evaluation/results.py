"""Result files: what tables are made of, and what a repeated run has to equal byte for byte.

A suite's folder holds `questions.json` (ids, kinds, clusters) and for each configuration
`<name>.json`: the configuration, what it ran on, and each measure's value for each question, in
the order of `questions.json`. No text of the corpus or the questions is in them.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from askem.errors import AskemError
from askem.evaluation.config import RunConfig, Suite
from askem.evaluation.indexing import Index
from askem.evaluation.running import Run
from askem.evaluation.sets import EvalSet

DIGITS = 4
KEPT = ("nDCG@10", "R@5", "R@100", "MRR@10", "success@1", "success@5")
PACKAGES = ("ir_measures", "numpy", "onnxruntime", "pystemmer", "tantivy", "tokenizers")
_QUESTIONS = "questions.json"


class StaleResult(AskemError):
    """A result file is missing, or is not of the configuration or questions that are named."""


@dataclass(frozen=True, slots=True)
class Labels:
    """A suite's answerable questions, in the order of all values."""

    ids: tuple[str, ...]
    kinds: tuple[str, ...]
    clusters: tuple[str, ...]
    digest: str
    """Of ids, labels and texts."""


@dataclass(frozen=True, slots=True)
class Result:
    """One configuration's values, parallel to the labels' questions."""

    config: RunConfig
    measures: Mapping[str, tuple[float, ...]]
    manifest: Mapping[str, Any]

    def mean(self, measure: str) -> float:
        values = self.measures[measure]
        return sum(values) / len(values)


def labels_of(labelled: EvalSet) -> Labels:
    answerable = labelled.answerable
    content = "\n".join(q.model_dump_json() for q in labelled.questions)
    return Labels(
        ids=tuple(q.id for q in answerable),
        kinds=tuple(q.kind for q in answerable),
        clusters=tuple(q.group for q in answerable),
        digest=hashlib.sha256(f"{labelled.unit}\n{content}".encode()).hexdigest()[:32],
    )


def manifest_of(index: Index, labels: Labels) -> dict[str, Any]:
    """What a run ran on: corpus, model, packages, and the last commit of the library."""
    snapshot = index.store.reader.snapshot()
    reranker = {"reranker": index.reranker.reranker_id} if index.reranker else {}
    return {
        **reranker,
        "corpus": {
            "papers": snapshot.papers,
            "passages": snapshot.passages,
            "digest": snapshot.digest,
            "index": index.fingerprint[:32],
        },
        "encoder": snapshot.encoder_id,
        "questions": labels.digest,
        "packages": {name: version(name) for name in PACKAGES},
        "python": ".".join(platform.python_version_tuple()[:2]),
        "commit": last_commit(),
    }


def write_labels(folder: Path, labels: Labels) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_file(folder / _QUESTIONS, asdict(labels))


def write_result(folder: Path, run: Run, manifest: Mapping[str, Any]) -> Path:
    path = folder / f"{run.config.name}.json"
    measures = {name: [round(v, DIGITS) for v in run.measures[name].values()] for name in KEPT}
    config = run.config.model_dump(mode="json")
    write_file(path, {"config": config, "manifest": manifest, "measures": measures})
    return path


def read_labels(folder: Path) -> Labels:
    """Raises StaleResult."""
    content = read_file(folder / _QUESTIONS)
    return Labels(
        tuple(content["ids"]),
        tuple(content["kinds"]),
        tuple(content["clusters"]),
        content["digest"],
    )


def read_result(folder: Path, config: RunConfig, labels: Labels) -> Result:
    """The values of `config`. Raises StaleResult where the file is of another configuration
    than its name and label say, or of other questions."""
    path = folder / f"{config.name}.json"
    content = read_file(path)
    # Not letter by letter: a field that came later has its default in older files.
    if not _same(content["config"], config):
        raise StaleResult(f"{path} was measured with another configuration: run `askem eval run`")
    if content["manifest"]["questions"] != labels.digest:
        raise StaleResult(f"{path} was measured on other questions: run `askem eval run`")
    measures = {name: tuple(values) for name, values in content["measures"].items()}
    wrong = [name for name, values in measures.items() if len(values) != len(labels.ids)]
    if wrong or set(measures) != set(KEPT):
        raise StaleResult(f"{path} does not hold a value for each question: run `askem eval run`")
    return Result(config, measures, content["manifest"])


def read_results(folder: Path, suite: Suite) -> tuple[Labels, list[Result]]:
    """All rows of a suite. Raises StaleResult, also where rows ran on different corpora though
    nothing in their configurations says so."""
    labels = read_labels(folder)
    results = [read_result(folder, config, labels) for config in _measured(folder, suite)]
    corpora: dict[tuple[Any, ...], str] = {}
    for result in results:
        config, manifest = result.config, result.manifest
        same = (config.preprocessor, config.title, config.heading_path)
        digest = manifest["corpus"]["digest"]
        if corpora.setdefault(same, digest) != digest:
            raise StaleResult(f"{config.name}: ran on another corpus than its neighbours")
    return labels, results


def _same(stored: Mapping[str, Any], config: RunConfig) -> bool:
    try:
        return RunConfig.model_validate(stored) == config
    except ValidationError:
        return False


def _measured(folder: Path, suite: Suite) -> list[RunConfig]:
    """All rows but those that need a reranker and were never run with one."""
    return [r for r in suite.runs if not r.rerank_top_k or (folder / f"{r.name}.json").exists()]


def write_file(path: Path, content: Mapping[str, Any]) -> None:
    text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False)
    # Arrays of numbers on one line: a file is read by people too.
    path.write_text(_compact(text) + "\n", encoding="utf-8")


def _compact(text: str) -> str:
    return re.sub(r"\[[^\[\]{}]*\]", lambda m: re.sub(r"\s*\n\s*", " ", m[0]), text)


def read_file(path: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise StaleResult(f"{path} is missing: run `askem eval run`") from None
    except (OSError, ValueError) as error:
        raise StaleResult(f"{path} cannot be read ({error}): run `askem eval run`") from error
    return content


def last_commit() -> str:
    """The last commit that touched the library; "+" after it where it was changed since.
    Empty outside a repository."""
    root = Path(__file__).resolve().parents[1]
    try:
        commit = _git(root, "log", "-1", "--format=%h", "--", ".")
        changed = _git(root, "status", "--porcelain", "--", ".")
    except (OSError, subprocess.CalledProcessError):
        return ""
    return f"{commit}+" if changed else commit


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    return done.stdout.strip()
