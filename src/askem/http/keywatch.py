"""The keyring as a running server sees it: in memory, read again once a second."""

from __future__ import annotations

import hmac
import logging
import math
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from askem.errors import ConfigurationError
from askem.http.keyring import KeyRecord, Keyring, KeyringBusy

REREAD_S = 1.0
MAX_AGE_S = 4.0
"""How long what was read last may serve while a writer keeps the file from being read again."""
_log = logging.getLogger("askem.http")


@dataclass(frozen=True, slots=True)
class KnownKey:
    """What a guard needs of a key."""

    id: str | None
    """None: the one that stands for all that nobody knows."""
    digest: bytes
    scopes: tuple[str, ...]
    good_until: float
    """Unix seconds, exclusive; minus infinity: revoked."""


class KeyringWatch:
    """Matches keys against a keyring that other processes may change.

    A change holds from the next look-up that is at least REREAD_S after the last reading. The
    reading is done in place, without waiting for locks: a small file, a fraction of a millisecond.
    A keyring that cannot be read is an empty one until it can be again. For one thread.
    """

    def __init__(
        self,
        keyring: Keyring,
        *,
        now: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`now`: Unix seconds, against which keys expire. Raises ConfigurationError for a keyring
        that is there and cannot be read."""
        self._keyring = keyring
        self._now = now
        self._monotonic = monotonic
        self._records = keyring.records()
        self._keys = _keys(self._records)
        # Nobody has a key with this digest: an unknown id meets a comparison as a known one does.
        self._unknown = KnownKey(None, secrets.token_bytes(32), (), good_until=-math.inf)
        self._read_at = monotonic()
        self._next_read = self._read_at + REREAD_S
        self._failed = False
        if keyring.others_may():
            _log.warning("others may use the keyring: chmod 600 %s", keyring.path)

    def match(self, key_id: str, digest: bytes) -> tuple[KnownKey, bool]:
        """The key with this id, if `digest` (SHA-256 of the whole key) is its own, else the unknown
        one; and whether it is live. The same steps are taken in every case."""
        self._reread_if_due()
        claimed = self._keys.get(key_id, self._unknown)
        # No branch: what is a key of ours takes the same steps as what is not.
        key = (self._unknown, claimed)[hmac.compare_digest(digest, claimed.digest)]
        return key, self._now() < key.good_until

    def exists(self) -> bool:
        """Whether there is a keyring, be it without a live key."""
        return self._keyring.path.exists()

    def live_count(self) -> int:
        """Keys that are good now."""
        self._reread_if_due()
        return sum(record.state(self._now()) == "live" for record in self._records)

    def _reread_if_due(self) -> None:
        clock = self._monotonic()
        if clock < self._next_read:
            return
        try:
            records = self._keyring.records(wait_s=0)
        except KeyringBusy as error:
            # A writer at work: the next look-up tries again. What is too old no longer counts.
            if clock - self._read_at > MAX_AGE_S:
                self._fail(error)
            return
        except ConfigurationError as error:
            self._fail(error)
        else:
            if self._records and not records:
                _log.warning("the keyring is gone: its keys are refused")
            self._take(records)
            self._read_at = clock
            if self._failed:
                _log.warning("the keyring can be read again")
            self._failed = False
        self._next_read = clock + REREAD_S

    def _take(self, records: list[KeyRecord]) -> None:
        if records != self._records:
            self._records, self._keys = records, _keys(records)

    def _fail(self, error: ConfigurationError) -> None:
        self._take([])
        if not self._failed:
            _log.error("the keys of the keyring are refused until it can be read: %s", error)
        self._failed = True


def _keys(records: list[KeyRecord]) -> dict[str, KnownKey]:
    return {
        record.id: KnownKey(record.id, record.digest, record.scopes, _good_until(record))
        for record in records
    }


def _good_until(record: KeyRecord) -> float:
    if record.revoked_at is not None:
        return -math.inf
    return math.inf if record.expires_at is None else float(record.expires_at)
