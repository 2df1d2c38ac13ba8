"""Forms of RFC 7578, written and read in memory."""

import secrets
from collections.abc import Mapping
from email.message import Message

from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser

from ringsmith.remote.connection import ServiceError
from ringsmith.service.protocol import ADDRESS_MEDIA


def write_form(
    parts: Mapping[str, bytes],
    files: Mapping[str, bytes],
    addresses: Mapping[str, bytes] | None = None,
) -> tuple[bytes, str]:
    """Returns a body of fields, files and addresses by name, and its content type."""
    boundary = secrets.token_hex(16)
    chunks: list[bytes] = []
    for named, media in (
        (parts, ""),
        (files, "application/octet-stream"),
        (addresses or {}, ADDRESS_MEDIA),
    ):
        for name, data in named.items():
            quoted = name.replace("\\", "\\\\").replace('"', '\\"')
            more = f'; filename="{quoted}"' if named is files else ""
            kind = f"Content-Type: {media}\r\n" if media else ""
            head = (
                f'--{boundary}\r\nContent-Disposition: form-data; name="{quoted}"{more}\r\n{kind}'
            )
            chunks += [head.encode(), b"\r\n", data, b"\r\n"]
    chunks.append(f"--{boundary}--\r\n".encode())
    return b"".join(chunks), f"multipart/form-data; boundary={boundary}"


def read_form(content_type: str, body: bytes) -> dict[str, bytes]:
    """Returns the parts of a body by name.

    Raises:
        ServiceError: If it is no form.
    """
    message = Message()
    message["content-type"] = content_type
    boundary = message.get_param("boundary")
    if message.get_content_type() != "multipart/form-data" or not isinstance(boundary, str):
        raise ServiceError(
            f"an answer of type {content_type!r:.80} where a form belongs", 0, "form"
        )
    found: dict[str, bytes] = {}
    header, value, name = bytearray(), bytearray(), ""
    spans: list[tuple[int, int]] = []

    def begin() -> None:
        nonlocal name
        name = ""
        spans.clear()

    def header_end() -> None:
        nonlocal name
        if bytes(header).lower() == b"content-disposition":
            disposition = Message()
            disposition["content-type"] = value.decode("utf-8", "replace")
            given = disposition.get_param("name")
            name = given if isinstance(given, str) else ""
        header.clear()
        value.clear()

    def header_chunk(kept: bytearray, chunk: bytes) -> None:
        kept += chunk

    def end() -> None:
        found[name] = b"".join(body[first:last] for first, last in spans)

    parser = MultipartParser(
        boundary,
        {
            "on_part_begin": begin,
            "on_header_field": lambda data, i, j: header_chunk(header, data[i:j]),
            "on_header_value": lambda data, i, j: header_chunk(value, data[i:j]),
            "on_header_end": header_end,
            "on_part_data": lambda _, i, j: spans.append((i, j)),
            "on_part_end": end,
        },
    )
    try:
        parser.write(body)
        parser.finalize()
    except MultipartParseError as error:
        raise ServiceError(f"an answer that is no form: {error}", 0, "form") from None
    return found
