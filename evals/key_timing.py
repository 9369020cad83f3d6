"""Does the time of a refusal tell anything about the key? Welch's t-test on the guard, in process.

Refusals of several kinds are timed in random order, so that drift meets all of them alike, and
each kind is compared with a well-formed key that nobody knows. |t| < 4.5 is the usual bound for
"no difference seen"; it decides the exit status.

The columns "calm" leave out the slowest 5 % of all calls, which something else interrupted. They
resolve some nanoseconds, and with that what the processor's caches make of a few keys sent again
and again: differences of about 10 ns, of either sign from run to run, are no news.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import random
import secrets
import string
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from starlette.types import Message, Receive, Scope, Send

from askem.http.keyformat import new_key
from askem.http.keyring import Keyring
from askem.http.keys import ApiKeyGuard
from askem.http.keywatch import KeyringWatch

BOUND = 4.5
BASELINE = "wrong"
KEPT = 0.95
Times = dict[str, NDArray[np.float64]]


async def _inside(scope: Scope, receive: Receive, send: Send) -> None:
    raise AssertionError("a key that should be refused was let in")


async def _receive() -> Message:
    raise AssertionError("the guard reads no body")


async def _send(message: Message) -> None:
    assert message.get("status", 401) == 401


def kinds(keyring: Keyring, rng: random.Random) -> dict[str, Callable[[], str]]:
    """Kind of refusal to a maker of keys; all of one length, none of them good."""
    live = [keyring.create("live", ("read",))[1] for _ in range(20)]
    revoked, expired = [], []
    for _ in range(20):
        record, key = keyring.create("revoked", ("read",))
        keyring.revoke(record.id)
        revoked.append(key)
        expired.append(keyring.create("expired", ("read",), expires_at=1)[1])
    printable = string.ascii_letters + string.digits

    def right_prefix() -> str:
        return rng.choice(live)[:40] + new_key()[1][40:]

    return {
        BASELINE: lambda: new_key()[1],
        "right prefix": right_prefix,
        "right length": lambda: "".join(rng.choices(printable, k=len(live[0]))),
        "revoked": lambda: rng.choice(revoked),
        "expired": lambda: rng.choice(expired),
    }


async def measure(guard: ApiKeyGuard, makers: dict[str, Callable[[], str]], calls: int) -> Times:
    """Nanoseconds of each of `calls` refusals a kind, in random order."""
    order = [kind for kind in makers for _ in range(calls)]
    random.Random(secrets.randbits(64)).shuffle(order)
    # All keys are made beforehand, in this order, each an object of its own: neither what was last
    # computed nor where a key lies in memory may differ among the kinds.
    tries = [(kind, makers[kind]().encode()) for kind in order]
    times: dict[str, list[int]] = {kind: [] for kind in makers}
    for kind, key in tries:
        headers = [(b"host", b"test"), (b"api-key", key)]
        scope: Scope = {"type": "http", "method": "POST", "path": "/hybrid", "headers": headers}
        scope["state"] = {"request_id": "5f0c8f2f5a3b4f0e9a4de8e6d6b6b7a1"}
        start = time.perf_counter_ns()
        await guard(scope, _receive, _send)
        # On a line of its own: looking the kind up must not count.
        elapsed = time.perf_counter_ns() - start
        times[kind].append(elapsed)
    return {kind: np.array(values, dtype=np.float64) for kind, values in times.items()}


def welch(times: Times) -> dict[str, float]:
    """Kind to Welch's t against the baseline."""
    others = [kind for kind in times if kind != BASELINE]
    return {
        kind: float(stats.ttest_ind(times[kind], times[BASELINE], equal_var=False).statistic)
        for kind in others
    }


def undisturbed(times: Times) -> Times:
    limit = np.quantile(np.concatenate(list(times.values())), KEPT)
    return {kind: values[values <= limit] for kind, values in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=20_000, help="refusals a kind, at most 100000")
    options = parser.parse_args()
    calls = min(max(options.calls, 100), 100_000)
    with tempfile.TemporaryDirectory() as folder:
        keyring = Keyring(Path(folder))
        makers = kinds(keyring, random.Random(secrets.randbits(64)))
        guard = ApiKeyGuard(
            _inside,
            keys=[secrets.token_urlsafe(32)],
            open_paths=[],
            keyring=KeyringWatch(keyring),
        )
        asyncio.run(measure(guard, makers, 500))
        gc.collect()
        gc.disable()
        times = asyncio.run(measure(guard, makers, calls))
    sys.exit(report(times, calls))


def report(times: Times, calls: int) -> bool:
    """Prints the table; True when a difference was seen."""
    calm = undisturbed(times)
    t_all, t_calm = welch(times), welch(calm)
    base = calm[BASELINE].mean()
    print(f"{calls} calls a kind; Welch's t against '{BASELINE}', bound {BOUND}")
    print(f"{'kind':<14}{'mean µs':>9}{'median µs':>11}{'t':>8}{'calm: ns':>11}{'t':>8}")
    for kind, values in times.items():
        whole = f"{values.mean() / 1e3:>9.2f}{np.median(values) / 1e3:>11.2f}"
        rest = f"{calm[kind].mean() - base:>+11.1f}{t_calm.get(kind, 0):>8.2f}"
        print(f"{kind:<14}{whole}{t_all.get(kind, 0):>8.2f}{rest}")
    worst = max(map(abs, t_all.values()))
    print(f"largest |t|: {worst:.2f}: {'no difference seen' if worst < BOUND else 'they differ'}")
    return worst >= BOUND


if __name__ == "__main__":
    main()
