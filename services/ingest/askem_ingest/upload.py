"""`multipart/form-data` as it comes: files to the disk, fields to memory, within limits."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.exceptions import HTTPException

from askem.http.fields import FieldErrors
from askem.ingestion.files import MAX_FILE_BYTES
from askem_ingest.spool import Draft

MAX_FILES = 200
MAX_FIELDS = 64
MAX_FIELD_BYTES = 1024
MAX_REQUEST_BYTES = 100 * 1024 * 1024
MAX_PAPER_BYTES = 3 * MAX_FILE_BYTES + 64 * 1024
"""Of a paper as JSON, where a letter of two bytes may be written as an escape of six."""
_MAX_HEADERS, _MAX_HEADER_BYTES = 8, 1024
_MAX_NAME = 150
_FILE_FIELDS = ("files", "file")
FIELDS = ("topic", "doc_type", "preprocessor")


class FilesTooLarge(Exception):
    """A file beyond its size, or too many of them; `errors` as those of FieldErrors."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.errors = [(field, message)]


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """A file of the upload, spooled under its number."""

    name: str
    sha256: str
    size: int


class Upload:
    """A request body that is fed in pieces. For one thread at a time; blocks.

    Raises FieldErrors, FilesTooLarge, BackendUnavailable, from every method.
    """

    def __init__(self, content_type: str, draft: Draft) -> None:
        """`content_type`: of the request. Raises HTTPException 415 for another one."""
        media_type, options = parse_options_header(content_type)
        if media_type != b"multipart/form-data":
            raise HTTPException(415, "Send the body as multipart/form-data.")
        boundary = options.get(b"boundary", b"")
        if not 1 <= len(boundary) <= 70:
            raise FieldErrors([("body", "the Content-Type has no boundary of 1 to 70 characters")])
        self.files: list[UploadedFile] = []
        self.fields: dict[str, list[str]] = {name: [] for name in FIELDS}
        self._draft = draft
        self._headers: dict[bytes, bytes] = {}
        self._header = (bytearray(), bytearray())
        self._value = bytearray()
        self._field: str | None = None
        self._name = ""
        self._ended = False
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin,
                "on_header_field": self._collector(0),
                "on_header_value": self._collector(1),
                "on_header_end": self._header_end,
                "on_headers_finished": self._headers_end,
                "on_part_data": self._data,
                "on_part_end": self._end,
                "on_end": self._all,
            },
            max_header_count=_MAX_HEADERS,
            max_header_size=_MAX_HEADER_BYTES,
        )

    def feed(self, data: bytes) -> None:
        # What follows the last boundary is nobody's.
        if not self._ended:
            try:
                self._parser.write(data)
            except FormParserError as error:
                raise FieldErrors(
                    [("body", f"is not valid multipart/form-data: {error}")]
                ) from None

    def close(self) -> None:
        """Raises where the body has ended too early."""
        if not self._ended:
            raise FieldErrors([("body", "ends before its last boundary")])

    def _collector(self, part: int) -> Callable[[bytes, int, int], None]:
        def collect(data: bytes, start: int, end: int) -> None:
            self._header[part].extend(data[start:end])

        return collect

    def _begin(self) -> None:
        self._headers.clear()

    def _header_end(self) -> None:
        name, value = self._header
        self._headers[bytes(name).lower()] = bytes(value)
        self._header = (bytearray(), bytearray())

    def _headers_end(self) -> None:
        disposition = self._headers.get(b"content-disposition", b"")
        kind, options = parse_options_header(disposition.decode("latin-1"))
        field = _text(options.get(b"name", b""))
        if kind != b"form-data" or not field:
            raise FieldErrors([("body", "a part has no Content-Disposition with a name")])
        if b"filename" in options:
            self._field = None
            self._begin_file(field, _text(options[b"filename"]))
        else:
            self._field = field
            self._begin_field(field)

    def _begin_file(self, field: str, name: str) -> None:
        self._name = name
        if field not in _FILE_FIELDS:
            raise FieldErrors([(field[:_MAX_NAME], "unknown field of a file; name it `files`")])
        if len(self.files) >= MAX_FILES:
            raise FilesTooLarge(self._place, f"{shown(name)}: at most {MAX_FILES} files a request")
        encoding = self._headers.get(b"content-transfer-encoding", b"binary").lower()
        if encoding not in (b"binary", b"8bit", b"7bit"):
            self._refuse("send it without a Content-Transfer-Encoding")
        self._draft.begin()

    def _begin_field(self, field: str) -> None:
        if field in _FILE_FIELDS:
            raise FieldErrors([(field, "a file needs a file name")])
        if field not in self.fields:
            raise FieldErrors([(field[:_MAX_NAME], "unknown field")])
        if sum(map(len, self.fields.values())) >= MAX_FIELDS:
            raise FieldErrors([(field, f"at most {MAX_FIELDS} fields a request")])
        self._value.clear()

    def _data(self, data: bytes, start: int, end: int) -> None:
        size = end - start
        if self._field is None:
            if self._draft.size + size > MAX_FILE_BYTES:
                message = f"{shown(self._name)}: a file may have {MAX_FILE_BYTES} bytes at most"
                raise FilesTooLarge(self._place, message)
            self._draft.write(data[start:end])
        else:
            if len(self._value) + size > MAX_FIELD_BYTES:
                raise FieldErrors([(self._field, f"must have at most {MAX_FIELD_BYTES} bytes")])
            self._value.extend(data[start:end])

    def _end(self) -> None:
        if self._field is None:
            size = self._draft.size
            self.files.append(UploadedFile(self._name, self._draft.end(), size))
        else:
            self.fields[self._field].append(_text(bytes(self._value)))

    def _all(self) -> None:
        self._ended = True

    @property
    def _place(self) -> str:
        return f"files[{len(self.files)}]"

    def _refuse(self, message: str) -> NoReturn:
        raise FieldErrors([(self._place, f"{shown(self._name)}: {message}")])


def shown(name: str) -> str:
    """A file's name for messages: printable, of bounded length, in quotes."""
    cut = name if len(name) <= _MAX_NAME else name[:_MAX_NAME] + "…"
    return repr(re.sub(r"[\ud800-\udfff]", "\ufffd", cut))


def _text(value: bytes) -> str:
    """Bytes that are not UTF-8 are spelled out: they fit no rule for names, and can be shown."""
    return value.decode("utf-8", "backslashreplace")
