"""Tables out of result files, and what they have to say before they are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from askem.errors import AskemError
from askem.evaluation.compare import Difference, holm, paired
from askem.evaluation.config import Suite
from askem.evaluation.results import KEPT, Labels, Result

MAIN = "nDCG@10"
SIGNIFICANT = 0.05


class WorseDefault(AskemError):
    """A row of the table is better than the default by more than chance."""


@dataclass(frozen=True, slots=True)
class Row:
    """A configuration's line of the main table, and how it compares with the default."""

    result: Result
    is_default: bool
    difference: Difference | None
    p: float | None

    @property
    def main(self) -> float:
        return self.result.mean(MAIN)


def rows_of(suite: Suite, labels: Labels, results: Sequence[Result]) -> list[Row]:
    """A row a configuration, in the suite's order."""
    default = default_of(suite, results)
    others = [r for r in results if r is not default]
    found = zip(others, differences(default, others, labels), strict=True)
    compared = {r.config.name: pair for r, pair in found}
    rows = []
    for result in results:
        difference, p = compared.get(result.config.name, (None, None))
        rows.append(Row(result, result is default, difference, p))
    return rows


def table(
    suite: Suite, labels: Labels, results: Sequence[Result], further: Sequence[str] = ()
) -> str:
    """A suite's table in markdown, with the lines `further` at its end.

    Each row is compared with the default by question: bootstrap over clusters, randomisation
    test, Holm-corrected over the table."""
    default = default_of(suite, results)
    lines = [
        f"# {suite.title}",
        "",
        _what_on(labels, default),
        "",
        "| | " + " | ".join(KEPT) + f" | {MAIN} to the default | p | better / worse |",
        "|---" * (len(KEPT) + 4) + "|",
    ]
    for row in rows_of(suite, labels, results):
        values = " | ".join(figure(row.result.mean(name)) for name in KEPT)
        label = row.result.config.label
        lines.append(
            f"| {f'**{label}**' if row.is_default else label} | {values} | {_compared(row)} |"
        )
    lines += [*_by_kind(labels, results), *further]
    return "\n".join(lines) + "\n"


def differences(
    default: Result, others: Sequence[Result], labels: Labels
) -> list[tuple[Difference, float]]:
    """Each of `others` minus the default in the main measure, with its Holm-corrected p."""
    found = [
        paired(
            dict(zip(labels.ids, default.measures[MAIN], strict=True)),
            dict(zip(labels.ids, other.measures[MAIN], strict=True)),
            dict(zip(labels.ids, labels.clusters, strict=True)),
        )
        for other in others
    ]
    return list(zip(found, holm([difference.p for difference in found]), strict=True))


def check_default(suite: Suite, labels: Labels, results: Sequence[Result]) -> None:
    """Raises WorseDefault where a row that costs no more than the default is better than it."""
    default = default_of(suite, results)
    others = [r for r in results if r is not default and not r.config.option]
    for other, (difference, p) in zip(others, differences(default, others, labels), strict=True):
        if difference.low > 0 and p < SIGNIFICANT:
            raise WorseDefault(
                f"{suite.name}: {other.config.name} is better than the default by "
                f"{difference.mean:.4f} {MAIN} (p {p:.4f}): make it the default, or say that it "
                "costs more (`option: true`)"
            )


def _what_on(labels: Labels, default: Result) -> str:
    corpus = default.manifest["corpus"]
    return (
        f"{len(labels.ids)} questions, {corpus['papers']:,} papers, "
        f"{corpus['passages']:,} passages; encoder {default.manifest['encoder']}."
    )


def default_of(suite: Suite, results: Sequence[Result]) -> Result:
    """The row that all others are compared with."""
    return next(r for r in results if r.config.name == suite.default)


def _by_kind(labels: Labels, results: Sequence[Result]) -> list[str]:
    kinds = sorted(set(labels.kinds))
    if len(kinds) < 2:
        return []
    counts = [f"{kind} ({labels.kinds.count(kind)})" for kind in kinds]
    lines = ["", f"{MAIN} by kind of question:", "", "| | " + " | ".join(counts) + " |"]
    lines.append("|---" * (len(kinds) + 1) + "|")
    for result in results:
        means = [mean_of_kind(labels, result, kind) for kind in kinds]
        lines.append(f"| {result.config.label} | " + " | ".join(map(figure, means)) + " |")
    return lines


def mean_of_kind(labels: Labels, result: Result, kind: str) -> float:
    """The main measure over the questions of one kind."""
    values = [
        value for value, of in zip(result.measures[MAIN], labels.kinds, strict=True) if of == kind
    ]
    return sum(values) / len(values)


def figure(value: float | None) -> str:
    """Three places without the leading zero, as tables have it; "-" for none."""
    if value is None:
        return "-"
    return f"{value:.3f}".removeprefix("0") if value < 1 else f"{value:.3f}"


def _compared(row: Row) -> str:
    d = row.difference
    if d is None:
        return "- | - | -"
    return f"{d.mean:+.3f} [{d.low:+.3f}, {d.high:+.3f}] | {row.p:.4f} | {d.wins} / {d.losses}"
