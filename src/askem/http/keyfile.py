"""The key of a local installation: made once, kept in the data folder, readable by its owner."""

from __future__ import annotations

import logging
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from askem.errors import ConfigurationError
from askem.http.keyformat import PREFIX
from askem.http.keys import require_key
from askem.http.keywatch import KeyringWatch

FILE_NAME = "api_key"
_log = logging.getLogger("askem.http")


@dataclass(frozen=True, slots=True)
class LocalKey:
    """A key and where it came from."""

    value: str = field(repr=False)
    path: Path | None
    """None: it came from the environment, or is internal."""
    created: bool
    internal: bool = False
    """Made for this process alone, which calls itself with it: callers use the keyring's."""


def key_path(data_dir: Path) -> Path:
    return data_dir / FILE_NAME


def load_or_create_key(data_dir: Path, override: str | None = None) -> str:
    """The key in effect: `override` (ASKEM_API_KEY), else that of the file, made if missing.

    Raises ConfigurationError for a key that cannot serve or a file that cannot be used.
    """
    return local_key(data_dir, override).value


def local_key(
    data_dir: Path, override: str | None = None, keyring: KeyringWatch | None = None
) -> LocalKey:
    """As `load_or_create_key`, and where the key came from.

    With a `keyring` no file is made: its keys serve, and the key given here is an internal one.
    Raises ConfigurationError when none of them is live; a new key for everything, made just when
    the last one was revoked, is nothing that anybody asked for.
    """
    if override:
        return LocalKey(require_key(override), path=None, created=False)
    path = key_path(data_dir)
    if keyring and keyring.exists() and not path.exists():
        if not keyring.live_count():
            raise ConfigurationError(
                f"no key of the keyring in {data_dir} is live: make one with `askem keys create`, "
                "or set ASKEM_API_KEY"
            )
        return LocalKey(_new_value(), path=None, created=False, internal=True)
    try:
        created = not path.exists() and _create(path)
    except OSError as error:
        raise ConfigurationError(f"cannot create {path}: {error.strerror}") from None
    return LocalKey(read_key(path), path, created)


def read_key(path: Path) -> str:
    """The key in `path`. Warns of permissions wider than the owner's. Raises ConfigurationError."""
    try:
        mode = path.stat().st_mode
        value = path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"cannot read the API key from {path}: {error}") from None
    if mode & 0o077:
        _log.warning("%s can be read by other users: chmod 600 %s", path, path)
    try:
        return require_key(value)
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}; delete the file to have one made") from None


def _new_value() -> str:
    return PREFIX + secrets.token_urlsafe(32)


def _create(path: Path) -> bool:
    """False when another process was faster; its key is the one then."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{FILE_NAME}.{secrets.token_hex(8)}")
    # The draft is born with mode 0600; a link, unlike a rename, never overwrites.
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(_new_value() + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.link(draft, path)
    except FileExistsError:
        return False
    finally:
        draft.unlink()
    return True
