"""Line numbers of manuscripts and preprints, told by their counting."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


_NUMBERED = re.compile(r"\s*(\d{1,5})(?:\s+(?=\S)|\s*$)")
_MIN_RUN = 8  # lines that count on before they are taken for line numbers
_MAX_GAP = 3  # lines between two numbers: wrapped headings, empty lines
_STEPS = (1, 5, 10)


def strip_line_numbers(lines: Sequence[str]) -> list[str]:
    """The lines without numbers that count up by 1, 5 or 10 along the margin.

    A line that was only a number disappears. Fewer than eight in a row are left alone, since
    a list or a table column counts too.
    """
    numbered: dict[int, int] = {}
    for run in _runs(lines):
        numbered.update(run)
    return [
        line[numbered.get(index, 0) :]
        for index, line in enumerate(lines)
        if not (index in numbered and numbered[index] >= len(line.rstrip()))
    ]


def _runs(lines: Sequence[str]) -> list[dict[int, int]]:
    """Runs of counting lines, each as line index to the offset behind its number."""
    runs: list[dict[int, int]] = []
    run: dict[int, int] = {}
    last_index = last_number = step = 0
    for index, line in enumerate(lines):
        match = _NUMBERED.match(line)
        if match is None:
            continue
        number = int(match[1])
        gap = index - last_index
        if run and gap <= _MAX_GAP * max(step, 1) and _goes_on(number - last_number, step):
            step = number - last_number
            run[index] = match.end()
        elif run and gap <= _MAX_GAP and number != last_number:
            continue  # a line that happens to begin with a number
        else:
            runs.append(run)
            run, step = {index: match.end()}, 0
        last_index, last_number = index, number
    return [found for found in [*runs, run] if len(found) >= _MIN_RUN]


def _goes_on(difference: int, step: int) -> bool:
    return difference == step if step else difference in _STEPS
