"""Whose time a `/hybrid` on the engines is: theirs with their clients, the encoder's, ours.

In one process and one thread, with the index that the settings name (ASKEM_STORES=servers): wall
time, and the thread's processor time, which does not count what other processes take.
"""

from __future__ import annotations

import argparse
import functools
import json
import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import elastic_transport

from askem.encoders import load_encoder
from askem.models import Question
from askem.retrieval.retriever import Retriever
from askem.settings import CommonSettings
from askem.stores.servers import ServerStore


class Stopwatch:
    """Adds up what calls took: wall time in ms by name, and the calling thread's processor time."""

    def __init__(self) -> None:
        self.wall: dict[str, float] = defaultdict(float)
        self.processor = 0.0

    def around(self, work: Callable[..., Any], name: str, *, here: bool) -> Callable[..., Any]:
        """`work`, measured. `here`: it runs in the thread that asks the question."""

        @functools.wraps(work)
        def measured(*arguments: Any, **options: Any) -> Any:
            start, used = time.perf_counter(), time.thread_time()
            try:
                return work(*arguments, **options)
            finally:
                self.wall[name] += (time.perf_counter() - start) * 1e3
                self.processor += (time.thread_time() - used) * 1e3 if here else 0.0

        return measured


WARM_UP = 20
ELASTIC, WEAVIATE, ENCODER = "Elasticsearch and its client", "Weaviate and its client", "encoder"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder with queries.jsonl")
    parser.add_argument("--questions", type=int, default=300)
    options = parser.parse_args()
    lines = (options.data / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in lines][: options.questions + WARM_UP]
    watch = Stopwatch()
    transport = elastic_transport.Transport
    request = watch.around(transport.perform_request, ELASTIC, here=True)
    transport.perform_request = request  # type: ignore[method-assign]
    encoder = load_encoder()
    encode = watch.around(encoder.encode_question, ENCODER, here=True)
    encoder.encode_question = encode  # type: ignore[method-assign]
    rows: dict[str, list[float]] = defaultdict(list)
    with ServerStore.configured(CommonSettings(), encoder, timeout_s=30.0) as store:
        for name in ("_near", "_fetch"):
            work = watch.around(getattr(store.dense, name), WEAVIATE, here=False)
            setattr(store.dense, name, work)
        retriever = Retriever(
            encoder=encoder, sparse=store.sparse, dense=store.dense, reader=store.reader
        )
        for number, text in enumerate(texts):
            watch.wall.clear()
            watch.processor = 0.0
            start, used = time.perf_counter(), time.thread_time()
            retriever.hybrid(Question(text=text))
            whole = (time.perf_counter() - start) * 1e3
            processor = (time.thread_time() - used) * 1e3 - watch.processor
            if number < WARM_UP:
                continue
            for name in (ELASTIC, WEAVIATE, ENCODER):
                rows[name].append(watch.wall[name])
            rows["ours"].append(whole - sum(watch.wall.values()))
            rows["ours, processor time"].append(processor)
            rows["all"].append(whole)
    for name, times in rows.items():
        p50, p99 = statistics.median(times), statistics.quantiles(times, n=100)[98]
        print(f"{name}: p50 {p50:.2f} ms, p99 {p99:.2f} ms")


if __name__ == "__main__":
    main()
