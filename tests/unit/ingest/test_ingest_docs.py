"""The reference names every field, setting and limit."""

from __future__ import annotations

from pathlib import Path

import pytest

from askem.http.metered import MIN_BYTES_PER_S
from askem.ingestion.files import MAX_FILE_BYTES
from askem.settings import CommonSettings
from askem_ingest import upload, wire
from askem_ingest.settings import IngestSettings
from askem_ingest.worker import MAX_ATTEMPTS

ROOT = Path(__file__).parents[3]
API = (ROOT / "docs" / "api.md").read_text("utf-8")
OPERATIONS = (ROOT / "docs" / "operations.md").read_text("utf-8")


@pytest.mark.parametrize(
    "model", [wire.PaperIn, wire.JobDetail, wire.JobsPage, wire.Progress, wire.ReceiptOut]
)
def test_every_field_is_in_the_reference(model: type[wire.BaseModel]) -> None:
    for name in model.model_fields:
        assert f"`{name}`" in API or f"{{{name}, " in API or f", {name}}}" in API, name


def test_every_setting_is_documented() -> None:
    example = (ROOT / ".env.example").read_text("utf-8")
    for name, field in IngestSettings.model_fields.items():
        if name not in CommonSettings.model_fields and name != "api_key":
            variable = f"ASKEM_{name}".upper()
            assert f"`{variable}`" in OPERATIONS
            assert (
                f"# {variable}={field.default:g}\n".replace("2.14748e+09", "2147483648") in example
            )


def test_limits_are_as_documented() -> None:
    assert f"1 to {upload.MAX_FILES} `files`" in API
    assert (MAX_FILE_BYTES, upload.MAX_REQUEST_BYTES) == (10 * 1024**2, 100 * 1024**2)
    assert "at most 10 MiB a file and 100 MiB a request" in API
    assert f"{MIN_BYTES_PER_S // 1024} KiB a second" in API
    assert f"1 to {wire.MAX_TOPICS} topics" in API
    assert f"{MAX_ATTEMPTS} times" in OPERATIONS
