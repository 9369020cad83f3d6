"""The Tantivy index: which passages hold which terms. Derived from SQLite, rebuilt from it."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tantivy

from askem.errors import BackendUnavailable, CorruptStore
from askem.models import Filters

FOLDER = "sparse"
_WRITER_HEAP_BYTES = 64_000_000


@dataclass(frozen=True, slots=True)
class SparseDocument:
    """What the sparse index holds of a passage."""

    row_id: int
    tokens: Sequence[str]
    paper_id: str
    doc_type: str
    preprocessor_id: str
    topics: Sequence[str]
    terms: Sequence[str]


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("row_id", stored=False, indexed=True, fast=True)
    # Tokens come analysed, joined by spaces: one analyzer for both legs, and no query parser.
    builder.add_text_field("body", tokenizer_name="whitespace", index_option="freq")
    for name in ("paper_id", "doc_type", "preprocessor_id", "topic", "term"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    return builder.build()


@contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except ValueError as error:  # what tantivy raises for everything
        raise CorruptStore(
            f"the sparse index cannot be read ({error}): run `askem verify --repair`"
        ) from error


class SparseFiles:
    """One process's handle on the index folder. Searching is thread-safe; writing is done under
    the store's writer lock."""

    def __init__(self, data_dir: Path) -> None:
        self._folder = data_dir / FOLDER
        self._schema = _schema()

    def exists(self) -> bool:
        return self._folder.is_dir() and tantivy.Index.exists(str(self._folder))

    def create(self) -> None:
        """An empty index in the place of whatever is there."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir()
        tantivy.Index(self._schema, path=str(self._folder))

    def open(self) -> tantivy.Index:
        """Raises CorruptStore where the folder holds no readable index."""
        with _readable():
            index = tantivy.Index.open(str(self._folder))
            index.config_reader("manual")
            index.reload()
            return index

    def reload(self, index: tantivy.Index) -> None:
        """Lets an open index see the latest commit. Raises CorruptStore."""
        with _readable():
            index.reload()

    def apply(self, drop: Sequence[int], add: Iterable[SparseDocument]) -> None:
        """Drops rows, adds documents, and returns when both are durable. Safe to repeat.

        Raises CorruptStore, and BackendUnavailable where the index cannot be written (disk full).
        """
        index = self.open()
        try:
            writer = index.writer(_WRITER_HEAP_BYTES, num_threads=1)
            try:
                # What a killed process left: its files would be written again under their names,
                # and an existing file is an error.
                writer.garbage_collect_files()
                if drop:
                    # By query: deleting by term does nothing on integer fields.
                    writer.delete_documents_by_query(self.rows(drop))
                for document in add:
                    writer.add_document(self._document(document))
                writer.commit()
            finally:
                # Without the wait a short-lived writer never merges, and segments pile up. It
                # also lets go of the index's lock, which an error's traceback would keep.
                writer.wait_merging_threads()
        except ValueError as error:  # what tantivy raises for everything
            raise BackendUnavailable("sparse index", f"cannot be written ({error})") from error

    def rows(self, row_ids: Sequence[int]) -> tantivy.Query:
        return tantivy.Query.term_set_query(self._schema, "row_id", list(row_ids))

    def query(self, terms: Iterable[str], filters: Filters) -> tantivy.Query:
        """Any of the terms, scored; all of the filters, not scored."""
        must = tantivy.Occur.Must
        any_term = tantivy.Query.boolean_query(
            [(tantivy.Occur.Should, self._term("body", term, "freq")) for term in terms]
        )
        conditions = [tantivy.Query.const_score_query(q, 0.0) for q in self._filters(filters)]
        if not conditions:
            return any_term
        return tantivy.Query.boolean_query([(must, any_term), *((must, c) for c in conditions)])

    def _filters(self, filters: Filters) -> Iterable[tantivy.Query]:
        for name in ("topic", "doc_type", "preprocessor_id"):
            value = getattr(filters, name)
            if value is not None:
                yield self._term(name, value, "basic")
        if filters.paper_ids:
            yield tantivy.Query.term_set_query(self._schema, "paper_id", list(filters.paper_ids))
        if filters.paragraph_terms:
            yield tantivy.Query.term_set_query(self._schema, "term", list(filters.paragraph_terms))

    def _term(self, field: str, value: str, option: str) -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, field, value, index_option=option)

    def _document(self, document: SparseDocument) -> tantivy.Document:
        fields: dict[str, Any] = {
            "row_id": document.row_id,
            "body": " ".join(document.tokens),
            "paper_id": document.paper_id,
            "doc_type": document.doc_type,
            "preprocessor_id": document.preprocessor_id,
            "topic": list(document.topics),
            "term": list(document.terms),
        }
        # With the schema: guessing the type of row_id would stop the writer's thread.
        return tantivy.Document.from_dict(fields, self._schema)
