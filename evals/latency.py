"""Latency of a server at many passages.

`build SOURCE TARGET` copies a data folder's passages under changed paper ids until there are
enough, vectors included, so that nothing is encoded again. With `servers` for TARGET they go to the
engines of the settings. `measure` asks a running server that
serves TARGET, each question once, from one connection or several.
"""

from __future__ import annotations

import argparse
import random
import string
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from pathlib import Path

import httpx
import numpy as np
from common import api_key, arguments, read_queries

from askem.encoders import load_encoder
from askem.models import SourceKey
from askem.ports import EncodedSource, Encoder
from askem.settings import CommonSettings
from askem.stores.embedded import EmbeddedStore
from askem.stores.servers import ServerStore
from askem.text.analysis import tokens

BATCH_SOURCES = 64


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    if sys.argv[1:2] == ["build"]:
        parser.add_argument("command")
        parser.add_argument("source", type=Path)
        parser.add_argument("target", type=Path)
        parser.add_argument("--passages", type=int, default=100_000)
        build(parser.parse_args())
    elif sys.argv[1:2] == ["measure"]:
        measured = arguments(__doc__)
        measured.add_argument("command")
        measured.add_argument("data", type=Path, help="folder with queries.jsonl")
        measured.add_argument("--connections", type=int, default=1)
        measured.add_argument("--questions", type=int, default=500)
        measured.add_argument("--nearest-top-k", type=int, help="asked of /hybrid")
        measure(measured.parse_args())
    else:
        sys.exit("usage: latency.py build SOURCE TARGET | latency.py measure DATA")


def build(options: argparse.Namespace) -> None:
    encoder = load_encoder()
    with (
        EmbeddedStore.open(options.source, encoder) as source,
        _target(options.target, encoder) as target,
    ):
        originals = list(_sources(source))
        copies = _copies(originals, options.passages)
        started, stored = time.monotonic(), 0
        while batch := list(islice(copies, BATCH_SOURCES)):
            target.writer.replace(batch)
            stored += sum(len(item.passages) for item in batch)
            print(f"\r{stored} passages, {time.monotonic() - started:.0f} s", end="", flush=True)
    print()


def _target(target: Path, encoder: Encoder) -> EmbeddedStore | ServerStore:
    if str(target) == "servers":
        return ServerStore.configured(CommonSettings(), encoder, timeout_s=30.0)
    return EmbeddedStore.open(target, encoder)


def _sources(store: EmbeddedStore) -> Iterator[EncodedSource]:
    db, snapshot = store.access.db, store.access.snapshot()
    vectors = store.access.vectors(snapshot.generation, snapshot.slots)
    for entry in store.ledger.entries():
        passages = store.reader.paper_passages(entry.key.paper_id, limit=100_000, offset=0)
        own = tuple(p for p in passages if p.doc_type == entry.key.doc_type)
        places = [
            db.execute(
                "SELECT first_slot, windows FROM passages WHERE passage_id = ?", (p.passage_id,)
            ).fetchone()
            for p in own
        ]
        yield EncodedSource(
            key=entry.key,
            content_hash=entry.content_hash,
            preprocessor_id=entry.preprocessor_id,
            topics=entry.topics,
            passages=own,
            tokens=tuple(tuple(tokens(p.text)) for p in own),
            vectors=tuple(np.array(vectors[slot : slot + n]) for slot, n in places),
        )


def _copies(originals: list[EncodedSource], wanted: int) -> Iterator[EncodedSource]:
    made, turn = 0, 0
    while True:
        for item in originals:
            if made >= wanted:
                return
            key = SourceKey(f"{item.key.paper_id}-{turn}", item.key.doc_type)
            passages = tuple(
                replace(p, paper_id=key.paper_id, passage_id=key.passage_id(p.order))
                for p in item.passages
            )
            made += len(passages)
            yield replace(item, key=key, passages=passages)
        turn += 1


def measure(options: argparse.Namespace) -> None:
    questions = [q["text"] for q in islice(read_queries(options.data).values(), options.questions)]
    key = api_key(options)
    for path, fresh in (("/hybrid", True), ("/hybrid", False), ("/vector", False)):
        # A vector is cached by the question's text: one more word makes it new.
        asked = [f"{q} {_word()}" if fresh else q for q in questions]
        if not fresh:
            _times(options, key, path, asked)
        times, inside = _times(options, key, path, asked)
        label = "question never seen" if fresh else "vector cached"
        overhead = {name: np.median(values) for name, values in inside.items()}
        stages = ", ".join(f"{name} {value:.2f}" for name, value in overhead.items())
        print(
            f"{path} ({label}): p50 {np.median(times):.2f} ms, p99 {np.quantile(times, 0.99):.2f} "
            f"ms, {len(times) / sum(times) * 1e3 * options.connections:.0f}/s; "
            f"server's medians: {stages}"
        )


def _word() -> str:
    return "".join(random.choices(string.ascii_lowercase, k=4))


def _times(
    options: argparse.Namespace, key: str, path: str, questions: list[str]
) -> tuple[list[float], dict[str, list[float]]]:
    inside: dict[str, list[float]] = {}
    widened = path == "/hybrid" and options.nearest_top_k is not None
    more = {"nearest_top_k": options.nearest_top_k} if widened else {}

    def run(part: list[str]) -> list[float]:
        spent = []
        with httpx.Client(base_url=options.url, headers={"Api-Key": key}, timeout=30) as http:
            for question in part:
                started = time.perf_counter()
                answer = http.post(path, json={"question": question, **more})
                spent.append((time.perf_counter() - started) * 1e3)
                answer.raise_for_status()
                for stage in answer.headers["Server-Timing"].split(","):
                    name, _, duration = stage.strip().partition(";dur=")
                    inside.setdefault(name, []).append(float(duration))
        return spent

    parts = [questions[i :: options.connections] for i in range(options.connections)]
    with ThreadPoolExecutor(options.connections) as pool:
        return [t for spent in pool.map(run, parts) for t in spent], inside


if __name__ == "__main__":
    main()
