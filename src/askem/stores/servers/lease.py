"""One writer at a time, across machines: a lease that Elasticsearch keeps.

The holder writes its turn again and again. Who waits watches the document: one that has not
changed for `ttl_s` of the waiter's own clock belongs to nobody who lives, and is taken over, if it
is still the same (optimistic concurrency). So clocks need not agree.

What it guarantees: two ingesters do not write at once as long as the holder is not stopped for
longer than `ttl_s` in mid-write. One that was finds its lease gone before its next request to an
engine, and fails; what it wrote is under the same ids as the successor's and is replaced with its
source's next ingest, or found by `askem verify`.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import elasticsearch as es

from askem.errors import BackendUnavailable
from askem.stores.servers.elastic import BACKEND, Elastic
from askem.stores.servers.names import Names

_ID = "writer"


class Lease:
    def __init__(self, elastic: Elastic, names: Names, *, ttl_s: float = 15.0) -> None:
        self._elastic = elastic
        self._index = names.lease
        self._ttl_s = ttl_s
        self._lock = threading.RLock()
        self._writing = threading.Lock()
        self._depth = 0
        self._owner = uuid.uuid4().hex
        self._at: dict[str, Any] = {}
        self._turn = 0
        self._good_until = 0.0
        self._done = threading.Event()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Waits for the lease and keeps it. Reentrant within a thread; other threads wait."""
        with self._lock:
            self._depth += 1
            try:
                if self._depth == 1:
                    self._take()
                yield
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self._give_back()

    def check(self) -> None:
        """Raises BackendUnavailable where the lease was lost, or could not be renewed in time."""
        if time.monotonic() > self._good_until:
            raise BackendUnavailable(BACKEND, "the writer's lease was lost: run again")

    def _take(self) -> None:
        seen, since = None, 0.0
        while True:
            held = self._elastic.write(self._look)
            if held is None:
                if self._write(op_type="create"):
                    break
            else:
                place = {"if_seq_no": held["_seq_no"], "if_primary_term": held["_primary_term"]}
                if place != seen:
                    seen, since = place, time.monotonic()
                free = not held["_source"]["owner"]
                if (free or time.monotonic() - since > self._ttl_s) and self._write(**place):
                    break
                if free:
                    continue
            time.sleep(0.1)
        self._done = threading.Event()
        threading.Thread(target=self._renew, args=(self._done,), daemon=True).start()

    def _look(self, client: es.Elasticsearch) -> Any:
        try:
            return client.get(index=self._index, id=_ID).body
        except es.NotFoundError:
            return None

    def _write(self, *, owner: str | None = None, **condition: Any) -> bool:
        """Whether the document is now ours; not when another was first."""
        self._turn += 1
        begun = time.monotonic()
        document = {"owner": self._owner if owner is None else owner, "turn": self._turn}

        def work(client: es.Elasticsearch) -> Any:
            try:
                return client.index(index=self._index, id=_ID, document=document, **condition).body
            except es.ConflictError:
                # Perhaps our own, sent twice after a connection broke.
                held = client.get(index=self._index, id=_ID).body
                return held if held["_source"] == document else None

        answer = self._elastic.once(work)
        if answer is None:
            return False
        self._at = {
            "if_seq_no": answer["_seq_no"],
            "if_primary_term": answer["_primary_term"],
        }
        # A little less than others wait.
        self._good_until = begun + self._ttl_s * 0.8
        return True

    def _renew(self, done: threading.Event) -> None:
        while not done.wait(self._ttl_s / 4):
            try:
                with self._writing:
                    if done.is_set():
                        return
                    if not self._write(**self._at):
                        self._good_until = 0.0
                        return
            except BackendUnavailable:
                # Tried again until `check` says that it is too late.
                continue

    def _give_back(self) -> None:
        self._done.set()
        try:
            with self._writing:
                if time.monotonic() < self._good_until:
                    self._write(owner="", **self._at)
        except BackendUnavailable:
            # It runs out by itself.
            return
        finally:
            self._good_until = 0.0
