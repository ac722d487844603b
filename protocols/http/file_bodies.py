"""Request bodies that contain files. They are sent piece by piece and never held in memory."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from urllib3 import encode_multipart_formdata
from urllib3.fields import RequestField

from protocols.file_names import OCTETS
from protocols.file_schemas import is_file
from protocols.files import FileValue
from protocols.http.values import text_pairs
from protocols.protocol import HttpBinding, ToolProtocol
from protocols.schema import Json, JsonObject

MOST_IN_JSON = 32 * 2**20
"""Maximum size of a file that is sent as base64 within JSON, which is held in memory."""


class StreamedBody:
    """A body made of bytes and files. It can be sent several times, for example after a failure."""

    def __init__(self, parts: Iterable[bytes | FileValue]) -> None:
        self._parts = list(parts)

    def __len__(self) -> int:
        return sum(
            part.info.size if isinstance(part, FileValue) else len(part) for part in self._parts
        )

    def __iter__(self) -> Iterator[bytes]:
        for part in self._parts:
            if isinstance(part, FileValue):
                yield from part.pieces()
            else:
                yield part

    def with_digests(self) -> bytes:
        """Return the body with the SHA-256 of each file in the place of its bytes."""
        return b"".join(
            part.info.sha256.encode() if isinstance(part, FileValue) else part
            for part in self._parts
        )

    @property
    def text_for_messages(self) -> str:
        """The body as text for a message. A file is shown as `@` and its name, as curl does."""
        return "".join(
            f"@{part.info.name}" if isinstance(part, FileValue) else part.decode("utf-8", "replace")
            for part in self._parts
        )


def multipart_body(fields: JsonObject, media: Mapping[str, str]) -> tuple[Body, str]:
    """Return a multipart body with the values of fields, and its media type.

    `media` are the media types of the fields that are not plain text, keyed by name.
    """
    parts: list[tuple[RequestField, FileValue | None]] = []
    for name, value in fields.items():
        for item in value if isinstance(value, list | tuple) else (value,):
            if isinstance(item, FileValue):
                parts.append((_field(name, b"", item.info.media_type, item.info.name), item))
                continue
            kind = media.get(name)
            filename = name if kind == OCTETS else None
            pairs = text_pairs({name: item})
            parts += [(_field(name, text, kind, filename), None) for _, text in pairs]
    if not any(file for _, file in parts):
        return encode_multipart_formdata([part for part, _ in parts])
    return _streamed(parts)


def _field(name: str, data: Any, media: str | None, filename: str | None) -> RequestField:
    """Return one field of a multipart body, such as a file."""
    field = RequestField(name, data, filename=filename)
    field.make_multipart(content_type=media)
    return field


def _streamed(fields: Iterable[tuple[RequestField, FileValue | None]]) -> tuple[StreamedBody, str]:
    """Return a multipart body with files, and its media type.

    Each part is a pair of a field and its file. The file is None if the field is plain data.
    """
    boundary = secrets.token_hex(16)
    parts: list[bytes | FileValue] = []
    for field, file in fields:
        parts.append(f"--{boundary}\r\n{field.render_headers()}".encode())
        data = field.data if file is None else file
        parts += [data.encode() if isinstance(data, str) else data, b"\r\n"]
    parts.append(f"--{boundary}--\r\n".encode())
    return StreamedBody(parts), f"multipart/form-data; boundary={boundary}"


def media_of_parts(
    protocol: ToolProtocol,
    binding: HttpBinding,
    forms: Mapping[str, JsonObject],
    joins: Mapping[str, str],
) -> dict[str, str]:
    """Return the media types of the form fields that are not plain text, keyed by field name."""
    media: dict[str, str] = {}
    for name, schema in forms.items():
        if joins.get(name) == "{}":
            media[binding.wire_name(name)] = "application/json"
        elif is_file(schema, protocol.input_schema):
            media[binding.wire_name(name)] = OCTETS
    return media


def holds_file(value: Json) -> bool:
    """Return True if a value is a file or a list with one."""
    items = value if isinstance(value, list | tuple) else (value,)
    return any(isinstance(item, FileValue) for item in items)


def with_base64(value: Json) -> Json:
    """Return a value for JSON: each file in it is replaced by its base64 text.

    Raises:
        ValueError: a file is too large to be sent within JSON.
    """
    if isinstance(value, FileValue):
        if value.info.size > MOST_IN_JSON:
            most = f"{MOST_IN_JSON / 2**20:.0f} MB"
            raise ValueError(f"{value.info.name!r} is over {most}, the most that JSON may carry")
        return base64_text(value)
    if isinstance(value, dict):
        return {key: with_base64(item) for key, item in value.items()}
    if isinstance(value, list):
        return [with_base64(item) for item in value]
    return value


def base64_text(file: FileValue) -> str:
    """Return the bytes of a file as base64."""
    texts: list[str] = []
    held = b""
    for piece in file.pieces():
        held += piece
        ready = len(held) - len(held) % 3
        texts.append(base64.b64encode(held[:ready]).decode())
        held = held[ready:]
    return "".join([*texts, base64.b64encode(held).decode()])


Body = bytes | StreamedBody | None
"""The body of a request; None if it has none."""


def shown_body(body: Any) -> str:
    """Return a body as text for a message."""
    return (
        body.text_for_messages
        if isinstance(body, StreamedBody)
        else body.decode("utf-8", "replace")
    )
