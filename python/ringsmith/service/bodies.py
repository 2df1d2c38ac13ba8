"""Bodies of requests, read in chunks within limits: all memory in use is counted.

Inputs of a run are sent as ``multipart/form-data`` (RFC 7578) and written to files as they arrive.
"""

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field
from email.message import Message
from pathlib import Path
from typing import IO, Any

from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser
from starlette.requests import ClientDisconnect, Request

from ringsmith.service.protocol import ADDRESS_MEDIA, ProblemError

FIELDS = ("keys", "revision", "keep")
"""Parts of a run that are no inputs."""
FIELD_BYTES = 4096
"""Bytes of a field that is no input, or of an address of one, at most."""
PARTS = 256
"""Parts of a body, at most."""
BYTES_A_SECOND = 4096
"""Minimum rate of a body, so that a slow sender cannot keep a connection open."""
_HEADER_BYTES = 1024
_PART_OVERHEAD = 2048
"""Bytes of a part's boundary and headers, at most."""


async def chunks(request: Request, limit: int, idle_seconds: float) -> AsyncIterator[bytes]:
    """Yields the chunks of a body.

    Raises ProblemError if it has more than ``limit`` bytes, or falls ``idle_seconds`` behind
    ``BYTES_A_SECOND``.
    """
    declared = request.headers.get("content-length", "")
    if declared and (not declared.isdecimal() or int(declared) > limit):
        raise _too_large(declared, limit)
    stream, total = request.stream().__aiter__(), 0
    clock = asyncio.get_running_loop().time
    started = clock()
    while True:
        behind = clock() - started - total / BYTES_A_SECOND
        try:
            async with asyncio.timeout(min(idle_seconds, idle_seconds - behind)):
                chunk = await anext(stream)
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise ProblemError(
                408,
                "too-slow",
                f"after {total} bytes the body was {idle_seconds:g} seconds late: send it again, "
                f"on a line of more than {BYTES_A_SECOND} bytes a second",
                {"Connection": "close"},
            ) from None
        except ClientDisconnect:
            raise ProblemError(400, "cut-off", f"the body ended after {total} bytes") from None
        total += len(chunk)
        if total > limit:
            raise _too_large(f"more than {limit}", limit)
        yield chunk


def _too_large(size: str, limit: int) -> ProblemError:
    return ProblemError(
        413,
        "too-large",
        f"the body has {size:.40} bytes, and at most {limit} are taken here",
        {"Connection": "close"},
    )


@dataclass
class Part:
    """A part of a form: a short field, also an input's address, or a file that was written.

    Attributes:
        name: Its name.
        size: Its bytes.
        digest: SHA-256 in hexadecimal.
        text: Of a field: its bytes.
        path: Of a file: where it is.
    """

    name: str
    size: int = 0
    digest: str = ""
    text: bytearray = field(default_factory=bytearray)
    path: Path | None = None


class Form:
    """A form that is being read: files of known names and sizes, and short fields."""

    def __init__(self, boundary: bytes, folder: Path, files: Mapping[str, int]) -> None:
        """Begins.

        Args:
            boundary: From the content type.
            folder: Where files go, numbered; must exist.
            files: Names of the parts that are files, each with its most bytes.
        """
        self.parts: dict[str, Part] = {}
        self._folder, self._files = folder, files
        self._file: IO[bytes] | None = None
        self._hash = hashlib.sha256()
        self._name, self._value = bytearray(), bytearray()
        self._headers: dict[bytes, bytes] = {}
        self._part: Part | None = None
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin,
                "on_header_field": lambda data, i, j: self._header(self._name, data[i:j]),
                "on_header_value": lambda data, i, j: self._header(self._value, data[i:j]),
                "on_header_end": self._header_end,
                "on_headers_finished": self._open,
                "on_part_data": self._data,
                "on_part_end": self._end,
                "on_end": self._finish,
            },
        )
        self._ended = False

    def write(self, chunk: bytes) -> None:
        """Parses a chunk of the body. Raises ProblemError if the body is no such form."""
        try:
            self._parser.write(chunk)
        except MultipartParseError as error:
            raise _malformed(str(error)) from None

    def close(self) -> None:
        """Closes the file that is being written."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def check_complete(self) -> None:
        """Refuses a truncated form. Raises ProblemError if the form is truncated."""
        if not self._ended:
            raise _malformed("it ends before its last boundary")

    def _begin(self) -> None:
        if len(self.parts) >= PARTS:
            raise _malformed(f"it has more than {PARTS} parts")
        self._headers = {}
        self._part = None

    def _header(self, kept: bytearray, chunk: bytes) -> None:
        kept += chunk
        if len(kept) > _HEADER_BYTES:
            raise _malformed(f"a header of a part has more than {_HEADER_BYTES} bytes")

    def _header_end(self) -> None:
        self._headers[bytes(self._name).lower()] = bytes(self._value)
        self._name, self._value = bytearray(), bytearray()

    def _open(self) -> None:
        name = _parameter(self._headers.get(b"content-disposition", b""), "name")
        if not name:
            raise _malformed("a part has no name")
        if name not in self._files and name not in FIELDS:
            raise unknown_part(name, self._files)
        if name in self.parts:
            raise _malformed(f"two parts are named {name!r:.80}")
        self._part = self.parts[name] = Part(name)
        self._hash = hashlib.sha256()
        media = self._headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if name in self._files and media != ADDRESS_MEDIA.encode():
            self._part.path = self._folder / str([*self._files].index(name))
            self._file = self._part.path.open("wb")

    def _data(self, data: bytes, start: int, end: int) -> None:
        part = self._part
        assert part is not None, "the parser opened it"
        part.size += end - start
        limit = FIELD_BYTES if part.path is None else self._files[part.name]
        if part.size > limit:
            raise ProblemError(
                413,
                "too-large",
                f"part {part.name!r:.80} has more than {limit} bytes, the most that it may have",
                {"Connection": "close"},
            )
        chunk = data[start:end]
        self._hash.update(chunk)
        if self._file is None:
            part.text += chunk
        else:
            self._file.write(chunk)

    def _end(self) -> None:
        assert self._part is not None, "the parser opened it"
        self._part.digest = self._hash.hexdigest()
        self.close()

    def _finish(self) -> None:
        self._ended = True


async def read_form(
    request: Request, folder: Path, files: Mapping[str, int], idle_seconds: float
) -> dict[str, Part]:
    """Reads a form; see ``Form``.

    Returns the parts by name. Raises ProblemError if it is no form, too large, or does not arrive
    in time.
    """
    kind = request.headers.get("content-type", "").encode("latin-1", "replace")
    boundary = _parameter(kind, "boundary")
    if not kind.lower().startswith(b"multipart/form-data") or not boundary:
        raise ProblemError(
            415,
            "wrong-media",
            "a run is sent as multipart/form-data, with a part for each input and field",
        )
    if not re.fullmatch(r"[0-9A-Za-z'()+_,./:=? -]{1,70}", boundary):
        raise _malformed("its boundary is not valid by RFC 2046")
    limit = sum(files.values()) + PARTS * _PART_OVERHEAD + 16 * FIELD_BYTES
    form = Form(boundary.encode(), folder, files)
    try:
        async for chunk in chunks(request, limit, idle_seconds):
            form.write(chunk)
        form.check_complete()
    finally:
        form.close()
    return form.parts


def _parameter(header: bytes, name: str) -> str:
    """Returns a parameter of a header such as ``form-data; name="x"``; empty: it has none."""
    message = Message()
    message["content-type"] = header.decode("utf-8", "replace").replace("\r", "").replace("\n", "")
    value: Any = message.get_param(name)
    return value if isinstance(value, str) else ""


def unknown_part(name: str, inputs: Iterable[str]) -> ProblemError:
    """Returns the answer to a part that a program does not accept."""
    return ProblemError(
        422,
        "wrong-parts",
        f"a part {name!r:.80}, and the program takes the inputs {sorted(inputs)!s:.500} and the "
        f"fields {[*FIELDS]}",
        {"Connection": "close"},
    )


def _malformed(why: str) -> ProblemError:
    return ProblemError(
        400, "malformed", f"the form cannot be read: {why}", {"Connection": "close"}
    )
