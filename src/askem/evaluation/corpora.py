"""A suite's corpus as sources for the ingest pipeline."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from askem.errors import InvalidInput
from askem.evaluation.config import CorpusPart, RunConfig
from askem.ingestion.files import Listing, list_sources
from askem.ingestion.pages import list_pages
from askem.ingestion.pipeline import SourceInput
from askem.models import DocType, SourceKey
from askem.text.preprocessing import Preprocessor, chosen_preprocessor, get_preprocessor
from askem.text.sections import Section, SectionPreprocessor

BEIR_PREPROCESSOR = "paragraphs-v1"
NO_PATH = "markdown-v1-without-path"
"""Of this harness alone: nothing else stores passages under it."""


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
        preprocessor = chosen_preprocessor(part.doc_type, part.preprocessor)
        sources = tuple(_files(base / part.folder, part.doc_type))
    if part.doc_type == "paragraph" and config.preprocessor:
        preprocessor = config.preprocessor
    if part.doc_type == "section" and not config.heading_path:
        preprocessor = NO_PATH
    return Batch(preprocessor, sources)


def preprocessor_of(preprocessor_id: str) -> Preprocessor:
    """Askem's own, or the one of `heading_path: false`. Raises UnknownPreprocessor."""
    return WithoutPath() if preprocessor_id == NO_PATH else get_preprocessor(preprocessor_id)


class WithoutPath:
    """Sections as `markdown-v1` makes them, their heading paths left out."""

    preprocessor_id = NO_PATH

    def __call__(self, text: str) -> list[str]:
        return [section.text for section in self.sections(text, "")]

    def sections(self, text: str, fallback_title: str) -> list[Section]:
        made = get_preprocessor("markdown-v1")
        assert isinstance(made, SectionPreprocessor)  # noqa: S101 - for the type checker
        return [replace(s, text=_body(s.text)) for s in made.sections(text, fallback_title)]


def _body(text: str) -> str:
    path, _, body = text.partition("\n\n")
    # One break: before a blank line the encoder takes the first line for a path.
    return body.replace("\n\n", "\n", 1) or path


def _files(folder: Path, doc_type: DocType) -> Iterator[SourceInput]:
    for topic, listing in _listings(folder, doc_type):
        for source in listing.sources:
            if source.problem:
                raise InvalidInput(str(source.path), source.problem)
            yield SourceInput(source.key, source.path.read_bytes(), (topic,), str(source.path))


def _listings(folder: Path, doc_type: DocType) -> Iterator[tuple[str, Listing]]:
    """Topics and their files, as `make run` loads them."""
    if doc_type == "section":
        yield folder.name, list_pages(folder)
        return
    topics = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    if not topics:
        yield "evaluation", list_sources(folder, doc_type)
    for place in topics:
        yield place.name, list_sources(place, doc_type)


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
