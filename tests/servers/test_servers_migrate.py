"""A migration while a writer and readers work: no request fails, no paper is ever missing."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable

import pytest

from askem.models import Filters
from askem.ports import StoredCounts
from askem.stores.servers import ServerStore
from askem.stores.servers.migrate import migrate
from askem.testing.contract import (
    assert_same_neighbours,
    assert_same_screening,
    make_source,
    model_of,
)
from askem.testing.fakes import FakeEncoder
from askem.text.analysis import question_terms

pytestmark = pytest.mark.servers

PAPERS = [f"paper{n:03}" for n in range(120)]


def test_migration_under_load(
    store: ServerStore, open_store: Callable[..., ServerStore], encoder: FakeEncoder
) -> None:
    held = {p: make_source(p, ["infection model", f"stage of {p}"], encoder) for p in PAPERS}
    store.writer.replace(list(held.values()))
    reading, writing = open_store(encoder), open_store(encoder)
    stop, failures, asked = threading.Event(), [], Counter[str]()
    vector = encoder.encode_question("infection model")

    def read() -> None:
        while not stop.is_set():
            try:
                found = reading.sparse.screen(["infect"], 1000, Filters()).passage_ids
                lacking = {f"{p}#p0" for p in PAPERS} - set(found)
                near = reading.dense.search(vector, 200, Filters(), within=found).passage_ids
                lacking |= {f"{p}#p0" for p in PAPERS} - set(near)
                lacking |= set(found[:20]) - set(reading.reader.passages(found[:20]))
                if lacking:
                    failures.append(f"missing: {sorted(lacking)[:5]}")
                asked["reads"] += 1
            except Exception as error:  # noqa: BLE001 - whatever it is, it is the finding
                failures.append(repr(error))

    def write() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            paper = PAPERS[number % len(PAPERS)]
            held[paper] = make_source(paper, ["infection model", f"version {number}"], encoder)
            extra = make_source(f"new{number}", ["a transmission"], encoder)
            try:
                writing.writer.replace([held[paper], extra])
                held[extra.key.paper_id] = extra
                if number % 3 == 0:
                    writing.writer.delete([extra.key])
                    del held[extra.key.paper_id]
                asked["writes"] += 1
            except Exception as error:  # noqa: BLE001
                failures.append(repr(error))

    threads = [threading.Thread(target=work) for work in (read, read, write)]
    for thread in threads:
        thread.start()
    time.sleep(1)
    begun = time.monotonic()
    # Time for the writer to change what was copied already.
    done = migrate(store, drop_old=True, copied=lambda: time.sleep(1))
    spent = time.monotonic() - begun
    time.sleep(1)
    stop.set()
    for thread in threads:
        thread.join()
    print(f"migrated in {spent:.1f} s, {dict(asked)}, {done}")
    assert failures == []
    assert (done.old, done.new) == (1, 2)
    assert done.changed_meanwhile > 0
    assert asked["reads"] > 5
    assert asked["writes"] > 5
    assert [side.versions for side in store.schema.status()] == [(2,), (2,)]
    model, terms = model_of(held.values(), encoder), question_terms("infection stage version")
    screened = store.sparse.screen(terms, 1000, Filters())
    assert_same_screening(screened, model, terms, 1000, Filters(), 1e-9)
    found = store.dense.search(vector, 1000, Filters(), within=screened.passage_ids)
    assert_same_neighbours(found, model, vector, 1000, Filters(), screened.passage_ids, 2e-6)


def test_a_migration_that_was_cut_short_is_begun_anew(
    store: ServerStore, encoder: FakeEncoder
) -> None:
    source = make_source("a", ["infection model", "stages"], encoder)
    store.writer.replace([source])

    def cut() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        migrate(store, copied=cut)
    assert [side.current for side in store.schema.status()] == [1, 1]
    assert store.writer.counts([source.key]) == [StoredCounts(2, 2)]
    done = migrate(store)
    assert (done.old, done.new, done.passages, done.windows) == (1, 3, 2, 2)
    assert [side.versions for side in store.schema.status()] == [(1, 3), (1, 3)]
    assert store.schema.prune() == [1]
    assert [(side.current, side.versions) for side in store.schema.status()] == [(3, (3,))] * 2
    assert store.writer.counts([source.key]) == [StoredCounts(2, 2)]
    store.writer.replace([make_source("a", ["infection"], encoder)])
    assert store.writer.counts([source.key]) == [StoredCounts(1, 1)]
