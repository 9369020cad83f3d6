"""What the scripts share: reading BEIR folders, asking a server."""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from askem.http.client import AskemClient
from askem.http.keyfile import key_path, read_key

Answer = TypeVar("Answer")


def arguments(description: str | None) -> argparse.ArgumentParser:
    """A parser with the options of every script that asks a server."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--url", default="http://127.0.0.1:4502")
    parser.add_argument("--data-dir", type=Path, default=Path("data"), help="for its API key")
    return parser


def api_key(options: argparse.Namespace) -> str:
    return os.environ.get("ASKEM_API_KEY") or read_key(key_path(options.data_dir))


def client(options: argparse.Namespace) -> AskemClient:
    return AskemClient(options.url, api_key(options))


def read_queries(folder: Path) -> dict[str, dict[str, str]]:
    """Question id to its record. Ends the script with a message where the data is absent."""
    path = folder / "queries.jsonl"
    if not path.is_file():
        sys.exit(f"{path} is not there: give a BEIR folder (queries.jsonl, qrels.tsv)")
    with path.open(encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    return {str(record["_id"]): record for record in records}


def read_qrels(folder: Path) -> dict[str, dict[str, int]]:
    qrels: dict[str, dict[str, int]] = {}
    with (folder / "qrels.tsv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            qrels.setdefault(row["query-id"], {})[row["corpus-id"]] = int(row["score"])
    return qrels


def ask_all(
    questions: dict[str, str], ask: Callable[[str], Answer], workers: int = 2
) -> dict[str, Answer]:
    """The answers to all questions, a few at a time; any failure ends the script."""
    with ThreadPoolExecutor(workers) as pool:
        return dict(zip(questions, pool.map(ask, questions.values()), strict=True))
