"""What commands that call a server share: its address, the key, and what to do when it fails."""

from __future__ import annotations

from pathlib import Path

from askem.errors import ConfigurationError
from askem.http.exchange import Busy, ClientError, Unauthorized, Unavailable
from askem.http.fields import FieldErrors
from askem.http.keyfile import key_path, read_key
from askem.http.keyformat import looks_mistyped


def base_url(host: str, port: int) -> str:
    """Where a server that listens on `host` can be called from the same machine."""
    # Nobody can call "any address"; the same machine can call itself.
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - not bound here
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def key_for(given: str | None, data_dir: Path) -> str:
    """The key that was `given`, else that of the folder's file. Raises ConfigurationError."""
    key = given or read_key(key_path(data_dir))
    if looks_mistyped(key):
        raise ConfigurationError("the API key is mistyped: its checksum does not fit")
    return key


def what_to_do(error: Exception, url: str) -> str:
    """An error of a call, or of what stood before it, in words for the person at the terminal."""
    match error:
        case Unauthorized():
            return f"{url} refuses the API key: give the right one with --api-key or ASKEM_API_KEY"
        case Busy():
            return f"{url} cannot answer now ({error}): try again later, or see {url}/readyz"
        case Unavailable():
            return f"{url} does not answer ({error}): is `askem serve` running there?"
        case ClientError():
            return f"{url}: {error}"
        case FieldErrors():
            return "; ".join(
                f"{field.replace('_', '-')}: {message}" for field, message in error.errors
            )
    return f"{error} (or give it with --api-key or ASKEM_API_KEY)"
