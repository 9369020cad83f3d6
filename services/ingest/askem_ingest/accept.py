"""From a checked request to a job: ids, topics, the manifest, the queue. Blocks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar, get_args

from askem.http.fields import MAX_REPORTED, FieldErrors, parse_json
from askem.ingestion.files import id_problem
from askem.ingestion.pages import SUFFIX as PAGE_SUFFIX
from askem.ingestion.pages import page_key
from askem.models import DOC_TYPES, DocType, SourceKey
from askem.text.preprocessing import chosen_preprocessor
from askem_ingest.job_rows import Job
from askem_ingest.settings import IngestSettings
from askem_ingest.spool import Draft, Manifest, SpooledSource
from askem_ingest.state import State
from askem_ingest.upload import Upload, UploadedFile, shown
from askem_ingest.wire import MAX_TOPICS, PaperIn, PreprocessorName

_SUFFIX = ".txt"
_MAX_QUOTES, _MAX_OUTSIDE_STRINGS = 1000, 64 * 1024
"""A paper has some 70 quotation marks, and outside of them little but white space."""
_PREPROCESSORS: tuple[PreprocessorName, ...] = get_args(PreprocessorName)


def read_paper(body: bytes) -> PaperIn:
    """A JSON body of any size that the path allows. Raises FieldErrors.

    What is not text is bounded before it is parsed: a list of millions of empty lists takes twenty
    times its size in memory, and a list of millions of wrong items as many error messages.
    """
    plain = body.replace(rb"\\", b"").replace(rb"\"", b"")
    if (
        plain.count(b'"') > _MAX_QUOTES
        or sum(map(len, plain.split(b'"')[::2])) > _MAX_OUTSIDE_STRINGS
    ):
        raise FieldErrors([("body", "must be a JSON object with a paper's fields and no more")])
    return parse_json(PaperIn, body)


def accept_paper(state: State, paper: PaperIn, key: str | None) -> tuple[Job, bool]:
    """A job of one source. Raises InvalidInput, BackendUnavailable."""
    source = SourceKey(paper.paper_id, paper.doc_type, paper.cosmos_object_id or "")
    data = paper.text.encode()
    topics = _canonical(state.settings, paper.topics)
    name = ".".join(filter(None, (source.paper_id, source.cosmos_object_id)))
    draft = state.spool.draft()
    try:
        draft.begin()
        draft.write(data)
        spooled = SpooledSource(source, name, draft.end(), len(data))
        preprocessor = chosen_preprocessor(paper.doc_type, paper.preprocessor)
        return _accept(
            state, draft, Manifest(paper.doc_type, preprocessor, topics, (spooled,)), key
        )
    except BaseException:
        draft.discard()
        raise


def accept_upload(state: State, upload: Upload, draft: Draft, key: str | None) -> tuple[Job, bool]:
    """A job of all files. Raises FieldErrors, InvalidInput, BackendUnavailable; the draft is the
    caller's to discard then."""
    doc_type = _choice(upload, "doc_type", DOC_TYPES) or "paragraph"
    preprocessor = _choice(upload, "preprocessor", _PREPROCESSORS)
    given = upload.fields["topic"]
    if not given:
        raise FieldErrors([("topic", "required")])
    if len(given) > MAX_TOPICS:
        raise FieldErrors([("topic", f"at most {MAX_TOPICS}")])
    manifest = Manifest(
        doc_type,
        chosen_preprocessor(doc_type, preprocessor),
        _canonical(state.settings, given),
        _sources(upload.files, doc_type),
    )
    return _accept(state, draft, manifest, key)


def _accept(state: State, draft: Draft, manifest: Manifest, key: str | None) -> tuple[Job, bool]:
    draft.seal(manifest)
    job, replayed = state.jobs.accept(draft.job_id, manifest, key=key)
    if replayed:
        draft.discard()
    else:
        state.worker.wake()
    return job, replayed


def _canonical(settings: IngestSettings, topics: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({settings.canonical_topic(topic) for topic in topics}))


_Choice = TypeVar("_Choice", bound=str)


def _choice(upload: Upload, field: str, allowed: tuple[_Choice, ...]) -> _Choice | None:
    """The field's value; None where it was not sent, or sent empty. Raises FieldErrors."""
    given = [value for value in upload.fields[field] if value]
    if len(given) > 1:
        raise FieldErrors([(field, "given more than once")])
    for choice in allowed:
        if given == [choice]:
            return choice
    if given:
        raise FieldErrors([(field, f"must be one of {', '.join(allowed)}")])
    return None


def _sources(files: list[UploadedFile], doc_type: DocType) -> tuple[SpooledSource, ...]:
    """Raises FieldErrors, which names every file that cannot be a source."""
    if not files:
        raise FieldErrors([("files", "required")])
    names = {file.name for file in files}
    errors: list[tuple[str, str]] = []
    sources: dict[SourceKey, SpooledSource] = {}
    for number, file in enumerate(files):
        key, problem = _key(file.name, doc_type, names)
        if problem is None and key in sources:
            problem = f"the same document as {shown(sources[key].name)}"
            problem = "given twice" if sources[key].name == file.name else problem
        if problem is not None:
            errors.append((f"files[{number}]", f"{shown(file.name)}: {problem}"))
        sources[key] = SpooledSource(key, file.name, file.sha256, file.size)
    if errors:
        raise FieldErrors(errors[:MAX_REPORTED])
    return tuple(sources.values())


def _key(name: str, doc_type: DocType, names: set[str]) -> tuple[SourceKey, str | None]:
    """The source that a file's name stands for, and why it cannot be one. The name is taken as a
    whole: a part of a path is no part of an id, save for pages, whose path is their id."""
    if doc_type == "section":
        key = page_key(name)
        problem = None if name.endswith(PAGE_SUFFIX) else f"not a {PAGE_SUFFIX} file"
        return key, problem or _shown(id_problem(key))
    stem, object_id = name.removesuffix(_SUFFIX), ""
    parent = stem.rpartition(".")[0]
    if doc_type == "figure":
        stem, _, object_id = stem.rpartition(".")
    key = SourceKey(stem, doc_type, object_id)
    if not name.endswith(_SUFFIX):
        return key, "not a .txt file"
    if doc_type == "figure" and not stem:
        return key, "a figure is named <paper-id>.<object-id>.txt"
    if doc_type == "paragraph" and parent and parent + _SUFFIX in names:
        return key, f"a figure of {parent}{_SUFFIX} beside it; send it with doc_type=figure"
    return key, _shown(id_problem(key))


def _shown(problem: str | None) -> str | None:
    """Without the id that it repeats, which may be as long as headers may be."""
    if problem is None:
        return None
    kind = "paper id" if problem.startswith("paper") else "object id"
    return f"its {kind} must be {problem.rpartition(': ')[2]}"
