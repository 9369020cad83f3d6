"""Prints the retriever's OpenAPI document: `python -m askem_retriever.openapi`."""

from __future__ import annotations

import json
import sys

from pydantic import SecretStr

from askem_retriever.app import create_app
from askem_retriever.settings import RetrieverSettings


def document() -> str:
    """The document as it is committed; needs neither stores nor a model."""
    # The document does not depend on the key; a made-up one is enough.
    settings = RetrieverSettings(api_key=SecretStr("for-the-document-only"))
    app = create_app(settings)
    return json.dumps(app.openapi(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(document())
