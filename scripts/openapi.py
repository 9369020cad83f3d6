"""Prints the OpenAPI document of all services behind one door: `make openapi`."""

from __future__ import annotations

import json
import sys

from askem.http.compose import build_app
from askem_agent.app import make_service as agent
from askem_agent.settings import AgentSettings
from askem_ingest.app import make_service as ingest
from askem_ingest.settings import IngestSettings
from askem_retriever.app import make_service as retriever
from askem_retriever.settings import RetrieverSettings


def document() -> str:
    """The document as it is committed; needs neither stores nor a model."""
    services = [agent(AgentSettings()), ingest(IngestSettings()), retriever(RetrieverSettings())]
    # The document does not depend on the key; a made-up one is enough.
    app = build_app(services, api_keys=["for-the-document-only"])
    return json.dumps(app.openapi(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(document())
