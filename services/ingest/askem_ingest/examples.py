"""Examples of requests and answers in the OpenAPI document."""

from __future__ import annotations

from typing import Any

PAPER: dict[str, Any] = {
    "A paper": {
        "paper_id": "sidarthe-lombardy",
        "text": "The SIDARTHE model has eight stages of infection.\n\nLockdown measures …",
        "topics": ["covid-19"],
    },
    "A figure": {
        "paper_id": "sidarthe-lombardy",
        "doc_type": "figure",
        "cosmos_object_id": "b918210adf87dd6660f3ed0f",
        "text": "Figure 1: stages of the SIDARTHE model as a graph.",
        "topics": ["covid-19"],
    },
    "A page of a handbook": {
        "paper_id": "runbooks.settlement-stall",
        "doc_type": "section",
        "text": "# Runbook: settlement stall\n\n## Meaning\n\nA cycle was netted …",
        "topics": ["handbook"],
    },
}

_ID = "019ad6b1c0de5f0c8f2f5a3b4f0e9a4d"
_JOB: dict[str, Any] = {
    "id": _ID,
    "state": "queued",
    "doc_type": "paragraph",
    "preprocessor": "papers-v1",
    "topics": ["covid-19"],
    "progress": {"total": 2, "done": 0, "failed": 0},
    "created_at": "2026-01-31T12:00:00Z",
    "started_at": None,
    "finished_at": None,
    "error": None,
}
_DONE: dict[str, Any] = {
    **_JOB,
    "state": "done",
    "progress": {"total": 2, "done": 2, "failed": 1},
    "started_at": "2026-01-31T12:00:01Z",
    "finished_at": "2026-01-31T12:00:04Z",
}
_RECEIPT: dict[str, Any] = {
    "paper_id": "sidarthe-lombardy",
    "doc_type": "paragraph",
    "cosmos_object_id": None,
    "status": "created",
    "source": "sidarthe-lombardy.txt",
    "passages": 12,
    "split_passages": 0,
    "repairs": {},
    "topics": ["covid-19"],
    "topics_added": [],
    "reason": None,
}
_FAILED: dict[str, Any] = {
    **_RECEIPT,
    "paper_id": "empty",
    "status": "failed",
    "source": "empty.txt",
    "passages": 0,
    "reason": "no text left after preprocessing",
}

ANSWERS: dict[str, Any] = {
    "add_paper": {**_JOB, "progress": {"total": 1, "done": 0, "failed": 0}},
    "add_files": _JOB,
    "jobs": {"jobs": [_DONE], "next": None},
    "job": {**_DONE, "receipts": [_FAILED, _RECEIPT]},
    "delete_paper": {"paper_id": "sidarthe-lombardy", "sources": 2},
}
"""Operation id to answer."""
