"""The committed OpenAPI document is that of all services behind one door."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def document() -> Any:
    return json.loads(runpy.run_path(str(ROOT / "scripts" / "openapi.py"))["document"]())


def test_the_committed_document_is_current(document: Any) -> None:
    committed = json.loads((ROOT / "docs" / "openapi.json").read_text("utf-8"))
    assert committed == document, "make openapi"


def test_services_that_share_a_path_are_both_there(document: Any) -> None:
    methods = {path: set(operations) for path, operations in document["paths"].items()}
    assert methods["/papers"] == {"get", "post"}
    assert methods["/papers/{paper_id}"] == {"get", "delete"}
    assert methods["/jobs"] == {"get", "post"}
    assert {"/hybrid", "/jobs/{job_id}", "/readyz"} <= set(methods)


def test_every_operation_has_an_id_of_its_own_and_an_example(document: Any) -> None:
    operations = [o for path in document["paths"].values() for o in path.values()]
    assert len({operation["operationId"] for operation in operations}) == len(operations)
    for operation in operations:
        success = next(r for status, r in operation["responses"].items() if status[0] == "2")
        if operation["operationId"] != "readyz":
            assert "example" in success["content"]["application/json"], operation["operationId"]


def test_what_comes_before_any_route_can_come_of_all(document: Any) -> None:
    for path in document["paths"].values():
        for operation in path.values():
            assert {"400", "405", "431"} <= set(operation["responses"])


def test_uploads_are_described(document: Any) -> None:
    post = document["paths"]["/jobs"]["post"]
    form = post["requestBody"]["content"]["multipart/form-data"]["schema"]
    assert set(form["properties"]) == {"files", "topic", "doc_type", "preprocessor"}
    for path in ("/jobs", "/papers"):
        post = document["paths"][path]["post"]
        assert [parameter["name"] for parameter in post["parameters"]] == ["Idempotency-Key"]
        assert {"Location", "Idempotent-Replayed"} == set(post["responses"]["202"]["headers"])
        assert {"401", "408", "413", "415", "422", "503"} <= set(post["responses"])
