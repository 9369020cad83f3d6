"""Papers, passages and topics, read from SQLite."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache

from askem.models import CorpusSnapshot, PaperSummary, Passage, TopicCount
from askem.stores.embedded.access import Access
from askem.stores.embedded.schema import read_meta

_PASSAGE = (
    "SELECT passage_id, paper_id, doc_type, preprocessor_id, ord, text, cosmos_object_id, terms, "
    "(SELECT json_group_array(topic) FROM source_topics "
    " WHERE source_topics.source_id = passages.source_id) "
    "FROM passages JOIN sources USING (source_id) "
)


class EmbeddedReader:
    def __init__(self, access: Access) -> None:
        self._access = access
        self._digest_at = lru_cache(maxsize=2)(self._digest)

    def passages(self, passage_ids: Sequence[str]) -> dict[str, Passage]:
        rows = self._access.db.execute(
            _PASSAGE + "WHERE passage_id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(passage_ids)),),
        )
        return {row[0]: _passage(row) for row in rows}

    def paper(self, paper_id: str) -> PaperSummary | None:
        found = self._summaries("WHERE paper_id = ?", [paper_id])
        return found[0] if found else None

    def papers(self, *, topic: str | None, after: str | None, limit: int) -> list[PaperSummary]:
        conditions, values = ["paper_id > ?"], [after or ""]
        if topic is not None:
            conditions.append(
                "paper_id IN (SELECT paper_id FROM sources JOIN source_topics USING (source_id) "
                "WHERE topic = ?)"
            )
            values.append(topic)
        return self._summaries("WHERE " + " AND ".join(conditions), values, limit)

    def paper_passages(self, paper_id: str, *, limit: int, offset: int) -> list[Passage]:
        """Paragraphs in reading order, figures after them."""
        rows = self._access.db.execute(
            _PASSAGE + "WHERE paper_id = ? "
            "ORDER BY doc_type DESC, cosmos_object_id, ord LIMIT ? OFFSET ?",
            (paper_id, limit, offset),
        )
        return [_passage(row) for row in rows]

    def topics(self) -> list[TopicCount]:
        rows = self._access.db.execute(
            "SELECT topic, count(DISTINCT paper_id), count(row_id) FROM source_topics "
            "JOIN sources USING (source_id) LEFT JOIN passages USING (source_id) "
            "GROUP BY topic ORDER BY topic"
        )
        return [TopicCount(topic, papers, passages) for topic, papers, passages in rows]

    def snapshot(self) -> CorpusSnapshot:
        """What is held now. Raises CorruptStore where a file of the folder is lost or short: a
        process that has it open would not notice until the next write."""
        self._access.check_files()
        version = self._access.snapshot().version
        meta = read_meta(self._access.db)
        papers, digest = self._digest_at(version)
        return CorpusSnapshot(
            papers=papers,
            passages=int(meta["passages"]),
            digest=digest,
            encoder_id=meta.get("encoder_id", ""),
        )

    def _digest(self, version: int) -> tuple[int, str]:
        """Papers and a digest that depends on what is stored, not on the order it came in."""
        rows = self._access.db.execute(
            "SELECT paper_id, doc_type, cosmos_object_id, preprocessor_id, content_hash, "
            "(SELECT json_group_array(topic) FROM source_topics "
            " WHERE source_topics.source_id = sources.source_id) "
            "FROM sources ORDER BY paper_id, doc_type, cosmos_object_id"
        ).fetchall()
        described = [(*row[:-1], sorted(json.loads(row[-1]))) for row in rows]
        digest = hashlib.sha256(json.dumps(described).encode()).hexdigest()
        return len({row[0] for row in rows}), digest[:32]

    def _summaries(self, condition: str, values: list[str], limit: int = -1) -> list[PaperSummary]:
        rows = self._access.db.execute(
            "SELECT paper_id, (SELECT json_group_array(DISTINCT topic) FROM "
            " source_topics JOIN sources AS s USING (source_id) "
            " WHERE s.paper_id = sources.paper_id), "
            "count(row_id) FILTER (WHERE doc_type = 'paragraph'), "
            "count(row_id) FILTER (WHERE doc_type = 'figure'), "
            "count(row_id) FILTER (WHERE doc_type = 'section'), "
            "json_group_array(DISTINCT preprocessor_id), max(updated_at) "
            "FROM sources LEFT JOIN passages USING (source_id) "
            f"{condition} GROUP BY paper_id ORDER BY paper_id LIMIT ?",
            [*values, limit],
        )
        return [
            PaperSummary(
                paper_id=paper_id,
                topics=tuple(sorted(json.loads(topics))),
                paragraphs=paragraphs,
                figures=figures,
                sections=sections,
                preprocessor_ids=tuple(sorted(json.loads(preprocessors))),
                updated_at=updated_at,
            )
            for paper_id, topics, paragraphs, figures, sections, preprocessors, updated_at in rows
        ]


def _passage(row: tuple[str, str, str, str, int, str, str, str, str]) -> Passage:
    passage_id, paper_id, doc_type, preprocessor_id, order, text, object_id, terms, topics = row
    return Passage(
        passage_id=passage_id,
        paper_id=paper_id,
        doc_type=doc_type,  # type: ignore[arg-type]
        preprocessor_id=preprocessor_id,
        order=order,
        text=text,
        topics=tuple(sorted(json.loads(topics))),
        cosmos_object_id=object_id or None,
        paragraph_terms=tuple(json.loads(terms)),
    )
