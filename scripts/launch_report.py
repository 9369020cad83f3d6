"""How the launch test reports: a line a check, and an exit status that says all."""

from __future__ import annotations

import time
from collections.abc import Callable


class Failed(Exception):
    """A check that did not hold: what came back, and where to look."""

    def __init__(self, came_back: str, look_at: str) -> None:
        super().__init__(f"{came_back}; look at {look_at}")


class Skipped(Exception):
    """A check that cannot be made here, and why."""


class Report:
    """Runs checks one after the other and prints a line for each."""

    def __init__(self) -> None:
        self.passed = self.failed = self.skipped = 0
        self._started = time.monotonic()

    def run(self, name: str, check: Callable[[], str | None]) -> bool:
        """Whether the check passed. It returns a remark, or raises Failed or Skipped."""
        try:
            remark = check()
        except Skipped as reason:
            self.skipped += 1
            self._say(f"SKIP {name}: {reason}")
        except Failed as failure:
            self.failed += 1
            self._say(f"FAIL {name}: {failure}")
        except Exception as error:  # noqa: BLE001 - a check that breaks is a check that failed
            self.failed += 1
            what = f"{type(error).__name__}: {error}".rstrip(": ")
            self._say(f"FAIL {name}: {what}; look at the service's log")
        else:
            self.passed += 1
            self._say(f"PASS {name}" + (f": {remark}" if remark else ""))
            return True
        return False

    def finish(self) -> int:
        """Prints the sum; the exit status."""
        took = time.monotonic() - self._started
        counts = f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"
        self._say(f"{'FAILED' if self.failed else 'ALL WELL'}: {counts}, {took:.1f} s")
        return 1 if self.failed else 0

    @staticmethod
    def _say(line: str) -> None:
        print(" ".join(line.split()), flush=True)
