"""The `askem` command: what goes wrong is a line that says what to do, never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def askem(*arguments: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("ASKEM_")}
    return subprocess.run(
        [sys.executable, "-m", "askem", *arguments],
        env={**kept, "ASKEM_DATA_DIR": str(folder / "data"), **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "a.txt").write_text("The outbreak slowed after the second week.\n")
    return tmp_path


@pytest.mark.parametrize("command", ["papers", "verify"])
def test_commands_that_read_make_no_folder(command: str, tmp_path: Path) -> None:
    done = askem(command, folder=tmp_path)
    assert done.returncode == 1
    assert "nothing has been ingested" in done.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"ASKEM_TOPIC_ALIASES": "{bad"}, "topic_aliases"),
        ({"ASKEM_ENCODER_THREADS": "none"}, "ASKEM_ENCODER_THREADS"),
        ({"ASKEM_TOPIC_ALIASES": "[]"}, "askem: ASKEM_TOPIC_ALIASES: must be a JSON object"),
        ({"ASKEM_TOPIC_ALIASES": '{"a": 1}'}, "askem: ASKEM_TOPIC_ALIASES[a]: "),
        ({"ASKEM_STORES": "x"}, "askem: ASKEM_STORES: "),
        ({"ASKEM_ENCODER": "/no/such/folder"}, "ASKEM_ENCODER"),
    ],
)
def test_a_wrong_setting_is_named(papers: Path, environment: dict[str, str], said: str) -> None:
    done = askem("ingest", "--input-dir", "papers", "--topic", "t", folder=papers, **environment)
    assert done.returncode in {1, 2}
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["writer.lock", "opening.lock", "askem.sqlite3"])
def test_a_folder_in_the_place_of_a_file_is_one_line(papers: Path, name: str) -> None:
    (papers / "data" / name).mkdir(parents=True)
    done = askem("ingest", "--input-dir", "papers", "--topic", "t", folder=papers)
    assert done.returncode == 1
    assert done.stderr.startswith("askem: ")
    assert "Traceback" not in done.stderr


def test_a_home_in_the_settings_is_expanded(papers: Path) -> None:
    (papers / ".env").write_text("ASKEM_DATA_DIR=~/kept\n")
    kept = {k: v for k, v in os.environ.items() if not k.startswith("ASKEM_")}
    subprocess.run(
        [sys.executable, "-m", "askem", "ingest", "--input-dir", "papers", "--topic", "t"],
        env={**kept, "HOME": str(papers / "home")},
        cwd=papers,
        check=True,
        capture_output=True,
        timeout=60,
    )
    assert (papers / "home" / "kept" / "askem.sqlite3").is_file()


def test_what_failed_is_listed(papers: Path) -> None:
    (papers / "papers" / "b.txt").write_bytes(b"%PDF-1.7 binary")
    with (papers / "papers" / "c.txt").open("wb") as file:
        file.truncate(11_000_000)
    done = askem("ingest", "--input-dir", "papers", "--topic", "t", folder=papers)
    assert done.returncode == 1
    listed = askem("papers", folder=papers).stdout.splitlines()
    assert [line.split()[0] for line in listed] == ["complete", "failed", "failed"]
    assert "a PDF" in listed[1]
    assert "at most" in listed[2]


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"ASKEM_MODELS": '{"name": "x"}'}, "askem: ASKEM_MODELS: must be a JSON list"),
        ({"ASKEM_MODELS": '["x"]'}, "askem: ASKEM_MODELS[0]: must be a JSON object"),
        ({"OPENAI_BASE_URL": "x"}, "askem: OPENAI_BASE_URL: "),
    ],
)
def test_a_wrong_setting_of_the_agent_is_named(
    tmp_path: Path, environment: dict[str, str], said: str
) -> None:
    done = askem("ask", "Why?", folder=tmp_path, **environment)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
