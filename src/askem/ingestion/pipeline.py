"""The way of a paper: text, passages, vectors, both stores, read back, `complete`.

Running again is always safe: what is complete is skipped, what was left half done is done again
under the same ids.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from askem.clock import utc_now
from askem.errors import SourcesRefused
from askem.ingestion.files import id_problem
from askem.ingestion.nottext import not_text
from askem.ingestion.pace import Pace
from askem.ingestion.receipts import Receipt, Status
from askem.models import Passage, SourceKey
from askem.ports import EncodedSource, Encoder, Ledger, LedgerEntry, PassageWriter
from askem.text.analysis import tokens
from askem.text.decoding import Decoded, decode
from askem.text.preprocessing import Preprocessor
from askem.text.sections import SectionPreprocessor
from askem.text.terms import term_counts

MAX_TERMS_PER_PASSAGE = 64
MAX_PASSAGE_CHARACTERS = 100_000
"""No paragraph of prose comes near; what does is a file that is not text, or not split."""


@dataclass(frozen=True, slots=True)
class SourceInput:
    """A source as it comes in; `problem` makes it fail with that reason."""

    key: SourceKey
    data: bytes
    topics: tuple[str, ...]
    name: str = ""
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A source that is to be stored."""

    source: SourceInput
    entry: LedgerEntry
    texts: list[str]
    anchors: list[str]
    """Names of sections, parallel to `texts`; empty for passages without."""
    repairs: dict[str, int]
    stored: bool
    """The same passages are stored under fewer topics: their vectors need not be made again."""


class IngestPipeline:
    """Not thread-safe; several may run at once, in any process, over the same stores."""

    def __init__(
        self,
        *,
        encoder: Encoder,
        writer: PassageWriter,
        ledger: Ledger,
        preprocessor: Preprocessor,
        pace: Pace | None = None,
    ) -> None:
        self._pace = pace or Pace()
        self._encoder = encoder
        self._writer = writer
        self._ledger = ledger
        self._preprocessor = preprocessor

    def ingest(self, sources: Iterable[SourceInput]) -> Iterator[Receipt]:
        """A receipt a source, in the order in which they are done with.

        One source's failure does not stop the others. Raises BackendUnavailable or
        ConfigurationError where no source could be stored.
        """
        batch: list[_Prepared] = []
        waiting = 0
        for source in sources:
            outcome = self._prepare(source)
            if isinstance(outcome, Receipt):
                yield outcome
                continue
            batch.append(outcome)
            waiting += len(outcome.texts)
            if waiting >= self._pace.passages:
                yield from self._store(batch)
                batch, waiting = [], 0
        if batch:
            yield from self._store(batch)

    def delete(self, paper_id: str) -> int:
        """Removes all sources of a paper from stores and ledger; returns how many there were."""
        with self._writer.exclusive():
            keys = [entry.key for entry in self._ledger.entries(paper_id)]
            # The ledger last: a crash in between leaves an entry to delete by.
            self._writer.delete(keys)
            self._ledger.forget(keys)
        return len(keys)

    def _prepare(self, source: SourceInput) -> _Prepared | Receipt:
        content_hash = hashlib.sha256(source.data).hexdigest()
        known = self._ledger.get(source.key)
        entry = self._wanted(source, content_hash, known)
        if source.problem is not None:
            if id_problem(source.key):
                # The ledger is of papers; this could not be one.
                return _receipt(source, "failed", reason=source.problem)
            return self._failed(source, entry, known, source.problem)
        if known is not None and _same(known, entry):
            if known.error is not None:
                # A newer version failed and was taken back.
                self._ledger.record([replace(known, error=None)])
            return _unchanged(source, known)
        decoded = decode(source.data)
        if problem := not_text(source.data, decoded):
            return self._failed(source, entry, known, problem, decoded)
        try:
            texts, anchors = self._passages(source.key, decoded.text)
        except Exception as error:  # noqa: BLE001 - a fault on one text is that file's alone
            return self._failed(source, entry, known, f"{type(error).__name__}: {error}", decoded)
        if not texts:
            return self._failed(source, entry, known, "no text left after preprocessing", decoded)
        if (longest := max(map(len, texts))) > MAX_PASSAGE_CHARACTERS:
            reason = f"a passage of {longest:,} characters; at most {MAX_PASSAGE_CHARACTERS:,}"
            return self._failed(source, entry, known, reason, decoded)
        entry, stored = replace(entry, passages=len(texts)), _same_passages(known, entry)
        return _Prepared(source, entry, texts, anchors, decoded.repairs, stored)

    def _passages(self, key: SourceKey, text: str) -> tuple[list[str], list[str]]:
        """Texts and names of passages. Raises ValueError where the preprocessor does not fit."""
        named = isinstance(self._preprocessor, SectionPreprocessor)
        if named != (key.doc_type == "section"):
            made = self._preprocessor.preprocessor_id
            raise ValueError(f"{made} does not make passages of type {key.doc_type}")
        if isinstance(self._preprocessor, SectionPreprocessor):
            sections = self._preprocessor.sections(text, key.paper_id.rpartition(".")[2])
            return [found.text for found in sections], [found.anchor for found in sections]
        texts = self._preprocessor(text)
        return texts, [""] * len(texts)

    def _wanted(
        self, source: SourceInput, content_hash: str, known: LedgerEntry | None
    ) -> LedgerEntry:
        """The entry as it will stand: topics add up over runs, so that loading a folder under a
        second topic does not take the first away."""
        return LedgerEntry(
            key=source.key,
            state="pending",
            content_hash=content_hash,
            preprocessor_id=self._preprocessor.preprocessor_id,
            encoder_id=self._encoder.encoder_id,
            topics=_added_topics(known, source.topics),
            passages=0,
            windows=0,
            updated_at=utc_now(),
        )

    def _failed(
        self,
        source: SourceInput,
        entry: LedgerEntry,
        known: LedgerEntry | None,
        reason: str,
        decoded: Decoded | None = None,
    ) -> Receipt:
        """Records the failure; a version stored earlier, even one whose successor was cut short,
        goes on being served under the entry it has."""
        if known is not None and known.state != "failed":
            self._ledger.record([replace(known, error=reason)])
        else:
            self._ledger.record([replace(entry, state="failed", error=reason)])
        repairs = decoded.repairs if decoded else {}
        return _receipt(source, "failed", reason=reason, repairs=repairs)

    def _store(self, batch: list[_Prepared]) -> Iterator[Receipt]:
        encoded = self._encode(batch)
        receipts: list[Receipt] = []
        with self._writer.exclusive():
            todo: list[tuple[_Prepared, EncodedSource, LedgerEntry | None]] = []
            for prepared, source in zip(batch, encoded, strict=True):
                # Another ingest may have stored the same file while this one encoded it.
                known = self._ledger.get(prepared.source.key)
                if known is not None and _same(known, prepared.entry):
                    receipts.append(_unchanged(prepared.source, known))
                else:
                    topics = _added_topics(known, prepared.entry.topics)
                    todo.append((*_with_topics(prepared, source, topics), known))
            receipts += self._commit(todo)
        yield from receipts

    def _commit(
        self, todo: list[tuple[_Prepared, EncodedSource, LedgerEntry | None]]
    ) -> list[Receipt]:
        """`todo`: each with what the ledger said of it until now."""
        entries = [
            replace(prepared.entry, windows=sum(map(len, source.vectors)))
            for prepared, source, _ in todo
        ]
        self._ledger.record(entries)
        refused: Mapping[SourceKey, str] = {}
        try:
            self._writer.replace([source for _, source, _ in todo])
        except SourcesRefused as error:
            refused = error.reasons
        counts = self._writer.counts([source.key for _, source, _ in todo])
        receipts, outcome = [], []
        for (prepared, source, known), entry, count in zip(todo, entries, counts, strict=True):
            wanted = len(source.passages)
            if source.key in refused:
                why = refused[source.key]
                failed = replace(entry, state="failed", passages=0, windows=0, error=why)
                outcome.append(failed)
                receipts.append(_receipt(prepared.source, "failed", reason=why))
                continue
            if count.sparse == count.dense == wanted:
                outcome.append(replace(entry, state="complete"))
                status, reason = _status(known, entry), None
            else:
                reason = (
                    f"{wanted} passages were written, but the sparse index holds {count.sparse} "
                    f"and the dense one {count.dense}; run `askem verify`"
                )
                outcome.append(replace(entry, error=reason))
                status = "failed"
            receipt = _receipt(
                prepared.source,
                status,
                reason=reason,
                repairs=prepared.repairs,
                passages=wanted,
                split_passages=sum(len(array) > 1 for array in source.vectors),
            )
            before = known.topics if known and status == "unchanged" else entry.topics
            added = tuple(topic for topic in entry.topics if topic not in before)
            receipts.append(replace(receipt, topics=entry.topics, topics_added=added))
        self._ledger.record(outcome)
        return receipts

    def _encode(self, batch: list[_Prepared]) -> list[EncodedSource]:
        encoded = []
        for prepared, vectors in zip(batch, self._vectors(batch), strict=True):
            entry = prepared.entry
            named = zip(prepared.texts, prepared.anchors, strict=True)
            passages = tuple(_passage(entry, i, *passage) for i, passage in enumerate(named))
            encoded.append(
                EncodedSource(
                    key=entry.key,
                    content_hash=entry.content_hash,
                    preprocessor_id=entry.preprocessor_id,
                    topics=entry.topics,
                    passages=passages,
                    tokens=tuple(tuple(tokens(text)) for text in prepared.texts),
                    vectors=tuple(vectors),
                )
            )
        return encoded

    def _vectors(self, batch: list[_Prepared]) -> list[list[NDArray[np.float32]]]:
        """A list a source: those that are stored, the others' made of all texts at once, so that
        every encoding thread stays busy."""
        kept = [self._stored_vectors(prepared) for prepared in batch]
        texts = [
            text
            for prepared, vectors in zip(batch, kept, strict=True)
            if vectors is None
            for text in prepared.texts
        ]
        made: Iterator[NDArray[np.float32]] = iter(())
        if texts:
            with self._pace.encoding(len(texts)):
                made = iter(self._encoder.encode_passages(texts))
        return [
            [next(made) for _ in prepared.texts] if vectors is None else vectors
            for prepared, vectors in zip(batch, kept, strict=True)
        ]

    def _stored_vectors(self, prepared: _Prepared) -> list[NDArray[np.float32]] | None:
        """None where they have to be made: of a new text, and where the store lost some."""
        if not prepared.stored:
            return None
        with self._writer.exclusive():
            # What was written since `prepared` was: the vectors must be of the same text.
            known = self._ledger.get(prepared.source.key)
            if not _same_passages(known, prepared.entry):
                return None
            vectors = self._writer.vectors(prepared.source.key)
        return vectors if vectors and len(vectors) == len(prepared.texts) else None


def _passage(entry: LedgerEntry, order: int, text: str, anchor: str) -> Passage:
    terms = tuple(term for term, _ in term_counts(text)[:MAX_TERMS_PER_PASSAGE])
    return Passage(
        passage_id=entry.key.passage_id(order, anchor),
        paper_id=entry.key.paper_id,
        doc_type=entry.key.doc_type,
        preprocessor_id=entry.preprocessor_id,
        order=order,
        text=text,
        topics=entry.topics,
        cosmos_object_id=entry.key.cosmos_object_id or None,
        paragraph_terms=terms,
    )


def _added_topics(known: LedgerEntry | None, topics: tuple[str, ...]) -> tuple[str, ...]:
    earlier = known.topics if known is not None and known.state != "failed" else ()
    return tuple(sorted({*earlier, *topics}))


def _with_topics(
    prepared: _Prepared, source: EncodedSource, topics: tuple[str, ...]
) -> tuple[_Prepared, EncodedSource]:
    if topics == source.topics:
        return prepared, source
    passages = tuple(replace(passage, topics=topics) for passage in source.passages)
    entry = replace(prepared.entry, topics=topics)
    return replace(prepared, entry=entry), replace(source, topics=topics, passages=passages)


def _same(known: LedgerEntry, wanted: LedgerEntry) -> bool:
    """Whether what is stored is what is wanted, so that nothing need be written."""
    return _same_passages(known, wanted) and set(wanted.topics) <= set(known.topics)


def _same_passages(known: LedgerEntry | None, wanted: LedgerEntry) -> bool:
    """Whether the same passages are stored, be it under other topics."""
    return (
        known is not None
        and known.state == "complete"
        and known.content_hash == wanted.content_hash
        and known.preprocessor_id == wanted.preprocessor_id
        and known.encoder_id == wanted.encoder_id
    )


def _status(known: LedgerEntry | None, stored: LedgerEntry) -> Status:
    """What storing `stored` was, where the ledger said `known` before."""
    if known is None or known.state != "complete":
        return "created"
    return "unchanged" if _same_passages(known, stored) else "replaced"


def _unchanged(source: SourceInput, known: LedgerEntry) -> Receipt:
    return replace(_receipt(source, "unchanged", passages=known.passages), topics=known.topics)


def _receipt(source: SourceInput, status: str, **more: object) -> Receipt:
    return Receipt(
        paper_id=source.key.paper_id,
        doc_type=source.key.doc_type,
        cosmos_object_id=source.key.cosmos_object_id or None,
        status=status,  # type: ignore[arg-type]
        source=source.name,
        topics=source.topics,
        **more,  # type: ignore[arg-type]
    )
