"""What the launch test loads, and the two ways of loading and deleting it."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import httpx
from launch_report import Failed

PREPROCESSOR = {"paragraph": "paragraphs-v1", "figure": "figures-v1"}
JOB_TIMEOUT_S = 30.0
LAKE = (
    "Mats of cyanobacteria covered the shallow bays of the reservoir after the warm June. "
    "Dissolved oxygen near the bottom fell to a tenth of its value in spring, and perch left."
)
BRIDGE = (
    "Strain gauges on the suspension bridge recorded the gusts of the November storm. "
    "The hangers at mid-span carried a third more load than the design of 1931 had foreseen."
)
FIGURE = "Figure 1. Dissolved oxygen by depth in the reservoir, measured weekly from May to August."


@dataclass(frozen=True)
class Source:
    """A paper's text, or a figure's caption where there is an object id."""

    paper_id: str
    text: str
    object_id: str | None = None

    @property
    def doc_type(self) -> str:
        return "figure" if self.object_id else "paragraph"


@dataclass(frozen=True)
class Sample:
    """Two papers and a figure under a topic that nobody else has."""

    topic: str = field(default_factory=lambda: f"launch-test-{secrets.token_hex(4)}")

    @property
    def lake(self) -> str:
        return f"{self.topic}-lake"

    @property
    def bridge(self) -> str:
        return f"{self.topic}-bridge"

    @property
    def papers(self) -> list[Source]:
        return [Source(self.lake, LAKE), Source(self.bridge, BRIDGE)]

    @property
    def figures(self) -> list[Source]:
        return [Source(self.lake, FIGURE, "fig-1")]


class Loader(Protocol):
    """A way into the stores. Raises Failed."""

    def load(self, sources: list[Source], topic: str) -> None: ...

    def delete(self, paper_id: str) -> None: ...


class HttpLoader:
    """By the ingest service: `POST /papers`, then its job."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client

    def load(self, sources: list[Source], topic: str) -> None:
        for job_id in [self._post(source, topic) for source in sources]:
            self._await(job_id)

    def delete(self, paper_id: str) -> None:
        answer = self._client.delete(f"/papers/{paper_id}")
        # 404: it was never stored.
        if answer.status_code not in (200, 204, 404):
            raise Failed(
                f"DELETE /papers/{paper_id} gave {answer.status_code}", "the ingest service's log"
            )

    def _post(self, source: Source, topic: str) -> str:
        body = {
            "paper_id": source.paper_id,
            "text": source.text,
            "topics": [topic],
            "doc_type": source.doc_type,
            "preprocessor": PREPROCESSOR[source.doc_type],
        }
        if source.object_id:
            body["cosmos_object_id"] = source.object_id
        answer = self._client.post("/papers", json=body)
        if answer.status_code == 403:
            raise Failed("403: the key may not write", "its scopes: `askem keys list`")
        if answer.status_code != 202:
            raise Failed(
                f"POST /papers gave {answer.status_code}: {answer.text[:200]}",
                "the ingest service's log",
            )
        return str(answer.json()["id"])

    def _await(self, job_id: str) -> None:
        deadline = time.monotonic() + JOB_TIMEOUT_S
        while True:
            job = self._client.get(f"/jobs/{job_id}").raise_for_status().json()
            if job["state"] in ("done", "failed"):
                break
            if time.monotonic() > deadline:
                raise Failed(
                    f"job {job_id} is still {job['state']} after {JOB_TIMEOUT_S:g} s",
                    "the ingest service's log and its engines",
                )
            time.sleep(0.1)
        reasons = [r["reason"] for r in job.get("receipts", []) if r["status"] == "failed"]
        if job["state"] == "failed" or reasons:
            raise Failed(
                f"job {job_id} failed: {job.get('error') or '; '.join(map(str, reasons))}",
                "the ingest service's log",
            )


class CommandLoader:
    """By `askem ingest` in the server's own data folder."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir

    def load(self, sources: list[Source], topic: str) -> None:
        for doc_type in sorted({source.doc_type for source in sources}):
            with tempfile.TemporaryDirectory() as folder:
                for source in sources:
                    if source.doc_type == doc_type:
                        name = ".".join(filter(None, (source.paper_id, source.object_id, "txt")))
                        (Path(folder) / name).write_text(source.text, encoding="utf-8")
                options = ["--input-dir", folder, "--topic", topic, "--doc-type", doc_type]
                self._askem("ingest", *options, "--preprocessor", PREPROCESSOR[doc_type])

    def delete(self, paper_id: str) -> None:
        self._askem("delete", paper_id)

    def _askem(self, *arguments: str) -> None:
        askem = Path(sys.executable).with_name("askem")
        done = subprocess.run(  # noqa: S603 - our own command
            [str(askem), *arguments],
            env={**os.environ, "ASKEM_DATA_DIR": str(self._data_dir)},
            capture_output=True,
            text=True,
            check=False,
            timeout=JOB_TIMEOUT_S,
        )
        if done.returncode:
            said = (done.stderr or done.stdout).strip()[-300:]
            raise Failed(
                f"`askem {arguments[0]}` said: {said}", f"the data folder {self._data_dir}"
            )
