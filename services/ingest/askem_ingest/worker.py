"""The thread that carries out jobs, one after the other, in the order in which they were taken.

Over one data folder one worker works at a time, whichever process it is in: jobs in parallel could
store a paper's older version last. The lock is the operating system's, so that it is free again
the moment its process dies, and a worker that waits takes over.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from askem.errors import AskemError, BackendUnavailable
from askem.ingestion import IngestPipeline
from askem.ingestion.pipeline import SourceInput
from askem.models import SourceKey, Vector
from askem.ports import Encoder
from askem_ingest.job_rows import Job
from askem_ingest.jobs import JobStore
from askem_ingest.spool import Manifest, Spool

LOCK_FILE = "worker.lock"
MAX_ATTEMPTS = 20
"""So often a job may be begun without coming further before it is given up: it may be what kills
the process each time."""
_SLICE_PASSAGES, _SLICE_CHARACTERS = 128, 32 * 1024
"""Encoded between two looks at whether to stop: a second's work, or a single passage."""
_HOUSEKEEPING_S = 3600.0
_log = logging.getLogger("askem.ingest")

MakePipeline = Callable[[Encoder, str], IngestPipeline]
"""A pipeline of this encoder and the preprocessor of this id."""


class Stopped(Exception):
    """The worker was asked to stop in the middle of a job."""


class StoppableEncoder:
    """An encoder that raises Stopped soon after `stop` is set, however much there is to encode."""

    def __init__(self, encoder: Encoder, stop: threading.Event) -> None:
        self._encoder = encoder
        self._stop = stop
        self.encoder_id = encoder.encoder_id
        self.dimension = encoder.dimension

    def encode_question(self, text: str) -> Vector:
        return self._encoder.encode_question(text)

    def encode_passages(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        vectors: list[NDArray[np.float32]] = []
        for part in slices(texts):
            if self._stop.is_set():
                raise Stopped
            vectors += self._encoder.encode_passages(part)
        return vectors

    def close(self) -> None:
        """Leaves the encoder open: it belongs to whoever made it."""


def slices(texts: Sequence[str]) -> Iterator[list[str]]:
    """`texts` in order, cut so that none takes long to encode; a text stays whole."""
    part: list[str] = []
    size = 0
    for text in texts:
        if part and (len(part) == _SLICE_PASSAGES or size + len(text) > _SLICE_CHARACTERS):
            yield part
            part, size = [], 0
        part.append(text)
        size += len(text)
    if part:
        yield part


class Worker:
    """Begins at `start`, ends at `stop`; what is unfinished then is taken up by the next one."""

    def __init__(
        self,
        *,
        jobs: JobStore,
        spool: Spool,
        encoder: Encoder,
        make_pipeline: MakePipeline,
        keep_s: float,
        poll_s: float = 0.5,
        pause_s: tuple[float, float] = (1.0, 30.0),
    ) -> None:
        """`keep_s`: how long finished jobs are kept. `poll_s`: how often to look for jobs taken by
        other processes. `pause_s`: how long to wait after a failure, at first and at most."""
        self._jobs, self._spool = jobs, spool
        self._stop, self._wake = threading.Event(), threading.Event()
        self._encoder = StoppableEncoder(encoder, self._stop)
        self._make_pipeline = make_pipeline
        self._keep_s, self._poll_s, self._pause_s = keep_s, poll_s, pause_s
        self._thread = threading.Thread(target=self._run, name="askem-ingest", daemon=True)
        self._active = False
        self._begun: str | None = None
        self._trouble: str | None = None
        self._cleaned_at: float | None = None

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        """There is a new job."""
        self._wake.set()

    def stop(self, timeout_s: float) -> bool:
        """Ends after what is being stored, without what is being encoded. Blocks; False when that
        took too long: nothing that the thread uses may be closed then."""
        self._stop.set()
        self._wake.set()
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def probe(self) -> str:
        """A remark for readiness checks. Raises where the worker has ended.

        Jobs that wait, for an engine or an encoder, make nothing unready: papers are taken in all
        the same, and searches in the same process have checks of their own.
        """
        if not self._thread.is_alive():
            raise RuntimeError("the worker has ended")
        if self._trouble is not None:
            return "jobs wait: they cannot be stored now; the service's log says why"
        return "working" if self._active else "another process works"

    def _run(self) -> None:
        lock = FileLock(self._spool.root / LOCK_FILE)
        while not self._stop.is_set():
            try:
                with lock.acquire(timeout=0):
                    self._active = True
                    self._work()
            except Timeout:
                self._stop.wait(self._poll_s)
            except Exception:  # noqa: BLE001 - logged
                # The thread must outlive whatever it meets: nobody would start it again.
                _log.exception("the worker failed; it begins again")
                self._trouble = "it failed"
                self._stop.wait(self._pause_s[0])
            finally:
                self._active = False

    def _work(self) -> None:
        pause_s, longest_s = self._pause_s
        while not self._stop.is_set():
            self._wake.clear()
            try:
                self._clean()
                job = self._jobs.claim(begun=self._begun)
                if job is None:
                    self._trouble = None
                    self._wake.wait(self._poll_s)
                    continue
                self._begun = job.id
                self._carry_out(job)
            except BackendUnavailable as error:
                _log.warning("jobs wait: %s", error)
                self._trouble = str(error)
                self._stop.wait(pause_s)
                pause_s = min(pause_s * 2, longest_s)
            else:
                self._trouble, pause_s = None, self._pause_s[0]

    def _carry_out(self, job: Job) -> None:
        """Raises BackendUnavailable, the job back in the queue."""
        _log.info("job %s begins, %d of %d sources done", job.id, job.done, job.sources)
        error = None
        try:
            if job.attempts > MAX_ATTEMPTS:
                error = f"the service ended {MAX_ATTEMPTS} times while it was at this job"
            else:
                error = self._ingest(job)
        except (Stopped, BackendUnavailable) as reason:
            self._jobs.release(job.id)
            if isinstance(reason, BackendUnavailable):
                raise
            return
        except AskemError as reason:
            _log.error("job %s failed", job.id, exc_info=reason)
            error = "the index cannot take it as it is; the service's log says why"
        except Exception:  # noqa: BLE001 - logged, and the job says so
            _log.exception("job %s failed", job.id)
            error = "a fault of the service; its log says more"
        self._jobs.finish(job.id, error)
        self._spool.remove(job.id)
        _log.info("job %s %s", job.id, "failed" if error else "done")

    def _ingest(self, job: Job) -> str | None:
        """Why it cannot be done; None once it is. Raises what the pipeline raises, and Stopped."""
        try:
            manifest = self._spool.manifest(job.id)
        except (FileNotFoundError, ValueError) as reason:
            _log.error("job %s: its files are gone or damaged", job.id, exc_info=reason)
            return "the job's files are gone or damaged; send them again"
        except OSError as reason:
            raise BackendUnavailable("ingest queue", f"cannot be read ({reason})") from reason
        numbers = {source.key: number for number, source in enumerate(manifest.sources)}
        pipeline = self._make_pipeline(self._encoder, manifest.preprocessor)
        done = self._jobs.sources_done(job.id)
        for receipt in pipeline.ingest(self._inputs(job.id, manifest, done)):
            key = SourceKey(receipt.paper_id, receipt.doc_type, receipt.cosmos_object_id or "")
            self._jobs.add_receipt(job.id, numbers[key], receipt)
        return None

    def _inputs(self, job_id: str, manifest: Manifest, done: set[int]) -> Iterator[SourceInput]:
        for number, source in enumerate(manifest.sources):
            if number in done:
                continue
            # Not between receipts: those of a batch that is stored have to be written.
            if self._stop.is_set():
                raise Stopped
            more: dict[str, Any] = {"data": b""}
            try:
                more["data"] = self._spool.read(job_id, number)
            except OSError as error:
                more["problem"] = f"cannot be read ({error.strerror})"
            yield SourceInput(source.key, topics=manifest.topics, name=source.name, **more)

    def _clean(self) -> None:
        now = time.monotonic()
        if self._cleaned_at is None or now - self._cleaned_at > _HOUSEKEEPING_S:
            live, finished = self._jobs.purge(self._keep_s)
            self._spool.sweep(live, finished)
            self._cleaned_at = now
