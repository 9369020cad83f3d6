"""Examples of requests and answers in the OpenAPI document."""

from __future__ import annotations

from typing import Any

_QUESTION = "How many stages of infection does the SIDARTHE model have?"
_TEXT = "The SIDARTHE model has eight stages of infection."

REQUESTS: dict[str, Any] = {
    "With the defaults": {"question": _QUESTION},
    "Within a topic, from more passages": {
        "question": _QUESTION,
        "topic": "covid-19",
        "top_k": 8,
        "model_name": "extractive",
    },
}
_PASSAGE: dict[str, Any] = {
    "paper_id": "sidarthe-lombardy",
    "doc_type": "paragraph",
    "text": _TEXT,
    "cosmos_object_id": None,
    "article_terms": [],
    "paragraph_terms": ["SIDARTHE"],
    "passage_id": "sidarthe-lombardy#p0",
    "topics": ["covid-19"],
    "preprocessor_id": "papers-v1",
    "order": 0,
    "distance": 0.21,
    "score": 2.43,
}
_STEP: dict[str, Any] = {
    "number": 1,
    "query": _QUESTION,
    "asked_by": "question",
    "hits": 5,
    "new": 5,
    "ms": 6.2,
    "repeated": False,
    "note": None,
}
ANSWER: dict[str, Any] = {
    "answer": "The SIDARTHE model has eight stages of infection [1].",
    "used_docs": [_PASSAGE],
    "sentences": [
        {
            "text": _TEXT,
            "citations": [
                {
                    "passage_id": "sidarthe-lombardy#p0",
                    "quote": _TEXT,
                    "start": 0,
                    "end": len(_TEXT),
                }
            ],
            "verdict": "found in source",
            "missing": [],
        }
    ],
    "refused": False,
    "reason": None,
    "found_instead": [],
    "confidence": "high",
    "confidence_basis": "90% of such answers, picked from papers, had the right words where it "
    "was measured",
    "stopped": None,
    "dropped": 0,
    "repairs": [],
    "steps": [_STEP],
    "usage": {
        "model_calls": 1,
        "searches": 1,
        "input_tokens": None,
        "output_tokens": None,
        "cost": None,
    },
    "timings": {"search": 6.2, "model": 4.1, "check": 3.6, "total": 15.3},
    "model": "extractive",
}
EVENTS = (
    f'event: step\ndata: {{"number":1,"query":"{_QUESTION}","asked_by":"question"}}\n\n'
    f'event: token\ndata: {{"text":"{ANSWER["answer"]}"}}\n\n'
)
ANSWERS: dict[str, Any] = {"react": ANSWER}
"""Operation id to answer."""
