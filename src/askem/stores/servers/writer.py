"""Writing passages to both engines, read back from both.

Everything has a deterministic id and the revision of its source. New passages are written over
old ones, then whatever the source has of another revision is deleted: running again heals any
crash. Between the two a reader may see passages of both versions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import elasticsearch as es
import numpy as np
from numpy.typing import NDArray

from askem.clock import utc_now
from askem.errors import SourcesRefused
from askem.models import SourceKey
from askem.ports import EncodedSource, StoredCounts
from askem.stores.servers.bulk import Action, Bulk
from askem.stores.servers.documents import documents, windows
from askem.stores.servers.elastic import Elastic, whole
from askem.stores.servers.lease import Lease
from askem.stores.servers.names import Names, revision_of, source_key, source_text
from askem.stores.servers.objects import Objects
from askem.stores.servers.schema import Schema

_PAGE = 10_000
_TERMS = 10_000


class ServerWriter:
    def __init__(
        self,
        elastic: Elastic,
        bulk: Bulk,
        objects: Objects,
        lease: Lease,
        schema: Schema,
        names: Names,
    ) -> None:
        self._elastic = elastic
        self._bulk = bulk
        self._objects = objects
        self._lease = lease
        self._schema = schema
        self._names = names
        self._prepared = False

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Holds the writer's lease; creates the schema where there is none.

        Raises BackendUnavailable, also for a key that may not write, and EncoderMismatch where the
        index is another encoder's.
        """
        if not self._prepared:
            # Not by writing to it: an index that makes itself guesses its types.
            self._schema.create_common()
        with self._lease.held():
            self._schema.ensure()
            if not self._prepared:
                self._objects.check_writable()
                self._prepared = True
            yield

    def replace(self, sources: Sequence[EncodedSource]) -> None:
        """Makes both engines hold exactly these passages of each source, searchable on return.

        Raises SourcesRefused when the others are stored, BackendUnavailable, EncoderMismatch.
        """
        latest = {source_text(source.key): source for source in sources}
        with self.exclusive():
            refused = self._write_texts(latest)
            self._lease.check()
            taken = {name: source for name, source in latest.items() if name not in refused}
            refused |= self._write_vectors(taken)
            for name in refused:
                latest.pop(name, None)
            revisions = [revision_of(s, self._schema.encoder_id) for s in latest.values()]
            self._lease.check()
            # What was refused has no revision to be kept: nothing is left of it.
            self._delete_stale([*latest, *refused], revisions)
        if refused:
            raise SourcesRefused({source_key(name): why for name, why in refused.items()})

    def delete(self, keys: Sequence[SourceKey]) -> None:
        with self.exclusive():
            self._delete_stale([source_text(key) for key in keys], [])

    def counts(self, keys: Sequence[SourceKey]) -> list[StoredCounts]:
        """Counted by both engines; a passage without all its windows does not count as dense."""
        names = [source_text(key) for key in keys]
        sparse = self._sparse_counts(names)
        dense = self._objects.counts(names)
        return [StoredCounts(sparse[name], dense.get(name, 0)) for name in names]

    def vectors(self, key: SourceKey) -> list[NDArray[np.float32]] | None:
        """From Weaviate, which brings them to length 1 once more."""
        return self._objects.vectors(source_text(key))

    def refresh(self) -> None:
        """Lets searches see what was written."""
        self._elastic.write(lambda client: client.indices.refresh(index=self._names.base))

    def _write_texts(self, sources: dict[str, EncodedSource]) -> dict[str, str]:
        """Reasons of the sources that were refused."""
        now, encoder_id = utc_now(), self._schema.encoder_id
        actions: list[Action] = []
        source_of: dict[str, str] = {}
        for name, source in sources.items():
            actions += documents(source, self._names.base, encoder_id, now)
            source_of |= {passage.passage_id: name for passage in source.passages}
        refused = self._bulk.attempt(actions)
        self.refresh()
        return {source_of[r.id]: f"Elasticsearch refused {r.id}: {r.reason}" for r in refused}

    def _write_vectors(self, sources: dict[str, EncodedSource]) -> dict[str, str]:
        objects = [
            window
            for source in sources.values()
            for window in windows(source, self._schema.encoder_id)
        ]
        refused = self._objects.write(objects)
        self._objects.settle([o for o in objects if o.properties["source"] not in refused])
        return {name: f"Weaviate refused it: {reason}" for name, reason in refused.items()}

    def _delete_stale(self, sources: Sequence[str], revisions: Sequence[str]) -> None:
        self._objects.delete_stale(sources, revisions)
        while stale := self._stale(sources, revisions):
            self._bulk.run([Action(self._names.base, key, alias=True) for key in stale])
            self.refresh()

    def _stale(self, sources: Sequence[str], revisions: Sequence[str]) -> list[str]:
        """Passage ids, at most 10,000."""
        query = {
            "bool": {
                "filter": [{"terms": {"source": list(sources)}}],
                "must_not": [{"terms": {"revision": list(revisions)}}],
            }
        }

        def work(client: es.Elasticsearch) -> list[str]:
            answer = client.search(
                index=self._names.base, query=query, size=_PAGE, source=False, sort=["_doc"]
            )
            return [hit["_id"] for hit in whole(answer.body)["hits"]["hits"]]

        return self._elastic.write(work)

    def _sparse_counts(self, sources: Sequence[str]) -> Counter[str]:
        found: Counter[str] = Counter()
        for start in range(0, len(sources), _TERMS):
            part = list(sources[start : start + _TERMS])

            def work(client: es.Elasticsearch, part: list[str] = part) -> Counter[str]:
                answer = client.search(
                    index=self._names.base,
                    query={"terms": {"source": part}},
                    size=0,
                    aggs={"sources": {"terms": {"field": "source", "size": len(part)}}},
                )
                buckets = whole(answer.body)["aggregations"]["sources"]["buckets"]
                return Counter({bucket["key"]: bucket["doc_count"] for bucket in buckets})

            found += self._elastic.write(work)
        return found
