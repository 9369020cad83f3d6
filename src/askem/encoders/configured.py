"""From settings to an encoder. Adapters that need further packages are imported when chosen."""

from __future__ import annotations

from pathlib import Path

from askem.encoders.catalogue import load_encoder
from askem.errors import ConfigurationError
from askem.ports import Encoder, LocalEncoder
from askem.settings import CommonSettings

REMOTE = "remote"


def open_encoder(settings: CommonSettings, *, threads: int = 1) -> Encoder:
    """The encoder that `settings.encoder` names; `threads` texts are encoded at a time.

    Raises ConfigurationError, and BackendUnavailable where a remote encoder has to be asked for
    its dimension and does not answer.
    """
    if settings.encoder == REMOTE:
        return _remote(settings)
    return open_local_encoder(settings, threads=threads)


def open_local_encoder(settings: CommonSettings, *, threads: int = 1) -> LocalEncoder:
    """As `open_encoder`, of settings whose encoder is any but `remote`. Raises
    ConfigurationError."""
    spec = settings.encoder
    if spec == "dpr" or spec.startswith("dpr:"):
        return _dpr(settings, spec.removeprefix("dpr").removeprefix(":"), threads)
    return load_encoder(spec, threads=threads)


def _dpr(settings: CommonSettings, folder: str, threads: int) -> LocalEncoder:
    from askem.encoders.dpr import DprEncoder, DprSource

    if folder:
        return DprEncoder(DprSource.folder(Path(folder).expanduser()), threads=threads)
    source = DprSource(
        question_revision=settings.dpr_question_revision,
        passage_revision=settings.dpr_passage_revision,
    )
    return DprEncoder(source, threads=threads)


def _remote(settings: CommonSettings) -> Encoder:
    try:
        from askem.encoders.embeddings_client import Endpoint
        from askem.encoders.remote import RemoteEncoder
    except ImportError as error:
        raise ConfigurationError(
            f"ASKEM_ENCODER=remote needs the openai package ({error}): pip install 'askem[remote]'"
        ) from error
    url, model = settings.embeddings_url, settings.embeddings_model
    window = settings.embeddings_window_tokens
    if url is None or model is None or window is None:
        raise ConfigurationError(
            "ASKEM_ENCODER=remote needs ASKEM_EMBEDDINGS_URL, ASKEM_EMBEDDINGS_MODEL and "
            "ASKEM_EMBEDDINGS_WINDOW_TOKENS, the longest text that model takes"
        )
    key = settings.embeddings_key
    endpoint = Endpoint(
        url=url,
        model=model,
        key=key.get_secret_value() if key else "",
        timeout_s=settings.embeddings_timeout_s,
        encoding=settings.embeddings_encoding,
        input_type=settings.embeddings_input_type,
    )
    return RemoteEncoder(
        endpoint,
        window_tokens=window,
        dimension=settings.embeddings_dimension,
        concurrency=settings.embeddings_concurrency,
    )
