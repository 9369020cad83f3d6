"""A suite's corpus as sources for the ingest pipeline."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from askem.errors import InvalidInput
from askem.evaluation.config import CorpusPart, RunConfig
from askem.ingestion.files import list_sources
from askem.ingestion.pipeline import SourceInput
from askem.models import DocType, SourceKey

USUAL: dict[DocType, str] = {"paragraph": "papers-v1", "figure": "figures-v1"}
BEIR_PREPROCESSOR = "paragraphs-v1"


@dataclass(frozen=True, slots=True)
class Batch:
    """Sources that one preprocessor makes passages of."""

    preprocessor_id: str
    sources: tuple[SourceInput, ...]


def read_corpus(parts: Iterable[CorpusPart], base: Path, config: RunConfig) -> list[Batch]:
    """Every file of the corpus, read. Raises InvalidInput for a folder or file that is unusable:
    an evaluation does not go on with part of its corpus."""
    return [_batch(part, base, config) for part in parts]


def fingerprint(batches: Iterable[Batch], *more: str) -> str:
    """Hex digest of all that decides what an index holds."""
    digest = hashlib.sha256("\0".join(more).encode())
    for batch in batches:
        for source in batch.sources:
            content = hashlib.sha256(source.data).hexdigest()
            digest.update(f"{source.key}{source.topics}{batch.preprocessor_id}{content}".encode())
    return digest.hexdigest()


def _batch(part: CorpusPart, base: Path, config: RunConfig) -> Batch:
    if part.beir is not None:
        preprocessor = part.preprocessor or BEIR_PREPROCESSOR
        sources = tuple(_beir(base / part.beir, with_title=config.title))
    else:
        assert part.folder is not None  # noqa: S101 - the model has checked it
        preprocessor = part.preprocessor or USUAL[part.doc_type]
        sources = tuple(_files(base / part.folder, part.doc_type))
    if part.doc_type == "paragraph" and config.preprocessor:
        preprocessor = config.preprocessor
    return Batch(preprocessor, sources)


def _files(folder: Path, doc_type: DocType) -> Iterator[SourceInput]:
    topics = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    for place in topics or [folder]:
        named = (place.name,) if topics else ("evaluation",)
        for source in list_sources(place, doc_type).sources:
            if source.problem:
                raise InvalidInput(str(source.path), source.problem)
            yield SourceInput(source.key, source.path.read_bytes(), named, str(source.path))


def _beir(folder: Path, *, with_title: bool) -> Iterator[SourceInput]:
    try:
        lines = (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InvalidInput(str(folder), f"corpus.jsonl cannot be read ({error})") from error
    for document in map(json.loads, lines):
        title = f"{document['title']}. " if with_title and document.get("title") else ""
        text = " ".join(f"{title}{document['text']}".split())
        key = SourceKey(str(document["_id"]), "paragraph")
        yield SourceInput(key, text.encode(), ("evaluation",), key.paper_id)
