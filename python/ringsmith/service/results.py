"""Answers with encrypted outputs: SEAL's files for the SEAL version that the client reads."""

import secrets
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from fastapi import Query
from fastapi.responses import FileResponse, Response, StreamingResponse

from ringsmith.errors import InteropError
from ringsmith.interop.seal_stream import NEWEST_MINOR
from ringsmith.interop.seal_write import CIPHERTEXT_START, ciphertext_start
from ringsmith.service.protocol import ProblemError

_CHUNK = 1 << 18
_WHOLE_BYTES = 1 << 20
"""Answers of at most this number of bytes are sent from memory."""

SealVersion = Annotated[
    str | None,
    Query(
        pattern=f"^4\\.[0-{NEWEST_MINOR}]$",
        description="The version of Microsoft SEAL that is to read the answer, such as `4.1`, "
        "which node-seal 7 has. SEAL 4.0 to 4.3 read files of their own version only. Without it "
        f"files name 4.{NEWEST_MINOR}. Where SEAL cannot hold the parameters, they are ours.",
    ),
]


def parsed(version: str) -> tuple[int, int]:
    """Returns a checked ``SealVersion`` as numbers."""
    major, _, minor = version.partition(".")
    return int(major), int(minor)


def no_seal_format(program: str) -> ProblemError:
    """Returns the answer where SEAL cannot hold a program's parameters."""
    return ProblemError(
        406,
        "no-seal-format",
        f"SEAL cannot hold the parameters of program {program!r:.80}: use ringsmith.remote, or "
        "leave out 'seal' and read the answer with ringsmith",
    )


@dataclass(frozen=True)
class _Rest:
    """The bytes of a file from ``first``."""

    path: Path
    first: int

    @property
    def size(self) -> int:
        return max(0, self.path.stat().st_size - self.first)


def _output(path: Path, program: str, seal: str | None) -> list[bytes | _Rest]:
    """An output's file for a SEAL version. Raises ProblemError if the file is not SEAL's."""
    if seal is None:
        return [_Rest(path, 0)]
    with path.open("rb") as file:
        start = file.read(CIPHERTEXT_START)
    try:
        return [ciphertext_start(start, parsed(seal)), _Rest(path, CIPHERTEXT_START)]
    except InteropError:
        raise no_seal_format(program) from None


def output_response(path: Path, program: str, seal: str | None) -> Response:
    """Returns one output.

    Raises ProblemError if a version is asked for and the file is not SEAL's.
    """
    media = "application/octet-stream"
    if seal is None:
        return FileResponse(path, media_type=media)
    return _response(_output(path, program, seal), media)


def results_response(
    job: bytes, outputs: Mapping[str, Path], program: str, seal: str | None
) -> Response:
    """Returns a job and its outputs as one form.

    Raises ProblemError as ``output_response``.
    """
    boundary = secrets.token_hex(16)
    begin = f"--{boundary}\r\nContent-Disposition: form-data; name="
    parts: list[bytes | _Rest] = [
        f'{begin}"job"\r\nContent-Type: application/json\r\n\r\n'.encode(),
        job,
    ]
    for name, path in outputs.items():
        quoted = name.replace("\\", "\\\\").replace('"', '\\"')
        head = f'\r\n{begin}"{quoted}"; filename="{quoted}"\r\n'
        parts += [f"{head}Content-Type: application/octet-stream\r\n\r\n".encode()]
        parts += _output(path, program, seal)
    parts.append(f"\r\n--{boundary}--\r\n".encode())
    return _response(parts, f"multipart/form-data; boundary={boundary}")


def _response(parts: list[bytes | _Rest], media: str) -> Response:
    """Returns parts one after the other, read when they are sent if they are long."""
    size = sum(len(part) if isinstance(part, bytes) else part.size for part in parts)
    headers = {"Content-Length": str(size)}
    if size <= _WHOLE_BYTES:
        whole = b"".join(
            part if isinstance(part, bytes) else part.path.read_bytes()[part.first :]
            for part in parts
        )
        return Response(whole, media_type=media, headers=headers)
    return StreamingResponse(_sent(parts), media_type=media, headers=headers)


async def _sent(parts: list[bytes | _Rest]) -> AsyncIterator[bytes]:
    held = bytearray()
    for part in parts:
        if isinstance(part, bytes):
            held += part
            continue
        with part.path.open("rb") as file:
            file.seek(part.first)
            while chunk := file.read(_CHUNK):
                held += chunk
                if len(held) >= _CHUNK:
                    yield bytes(held)
                    held.clear()
    yield bytes(held)
