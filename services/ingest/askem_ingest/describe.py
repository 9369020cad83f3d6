"""What the OpenAPI document says of requests that routes read by themselves."""

from __future__ import annotations

from typing import Any, get_args

from askem.http.body import body_schema
from askem.models import DOC_TYPES
from askem_ingest import examples
from askem_ingest.upload import MAX_FILES
from askem_ingest.wire import MAX_TOPICS, JobOut, PaperIn, PreprocessorName

KEY_HEADER = "Idempotency-Key"
REPLAYED_HEADER = "Idempotent-Replayed"
MAX_KEY = 255

_KEY: dict[str, Any] = {
    "name": KEY_HEADER,
    "in": "header",
    "required": False,
    "description": "The same key with the same content, within 24 hours, gives the same job.",
    "schema": {"type": "string", "minLength": 1, "maxLength": MAX_KEY, "pattern": "^[!-~]+$"},
}
_FORM: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["files", "topic"],
    "properties": {
        "files": {
            "type": "array",
            "minItems": 1,
            "maxItems": MAX_FILES,
            "description": "`<paper-id>.txt`, `<paper-id>.<object-id>.txt` for figures, or "
            "`<path>/<page>.md` for sections; at most 10 MiB a file, 100 MiB a request.",
            "items": {"type": "string", "format": "binary"},
        },
        "topic": {
            "type": "array",
            "minItems": 1,
            "maxItems": MAX_TOPICS,
            "items": {"type": "string"},
        },
        "doc_type": {"type": "string", "enum": list(DOC_TYPES), "default": "paragraph"},
        "preprocessor": {"type": "string", "enum": list(get_args(PreprocessorName))},
    },
}

PAPER_REQUEST = {**body_schema(PaperIn, examples.PAPER), "parameters": [_KEY]}
FILES_REQUEST: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": _FORM,
                "encoding": {"files": {"contentType": "text/plain"}},
            }
        },
    },
    "parameters": [_KEY],
}

_TEXT = {"schema": {"type": "string"}}
ACCEPTED: dict[int | str, dict[str, Any]] = {
    202: {
        "model": JobOut,
        "description": "The job is taken, and survives whatever happens to the service.",
        "headers": {
            "Location": {**_TEXT, "description": "Where the job can be looked up."},
            REPLAYED_HEADER: {**_TEXT, "description": "`true`: the job was there already."},
        },
    }
}
