"""Files in MCP: blocks of content that hold bytes, and files as arguments."""

from __future__ import annotations

from base64 import b64decode

from protocols.errors import ToolError
from protocols.file_names import clean_media_type, name_for, safe_name
from protocols.files import FileValue, file_of_bytes, files_in, replaced_at
from protocols.http.credentials import Mask
from protocols.http.file_bodies import with_base64
from protocols.http.received_files import masked_pieces
from protocols.response import to_json
from protocols.schema import Json, JsonObject


def file_of_block(described: JsonObject) -> FileValue | None:
    """Return the file that a block of content holds, or None if it holds no bytes.

    `described` is an image, audio or the resource within a block, whose bytes are base64.
    """
    encoded = described.get("data") or described.get("blob")
    if not isinstance(encoded, str):
        return None
    try:
        data = b64decode(encoded, validate=True)
    except ValueError:
        return None
    media = clean_media_type(str(described.get("mimeType", "")))
    if named := str(described.get("name") or ""):
        return file_of_bytes(data, safe_name(named), media)
    kind = str(described.get("type") or "file")
    name = name_for(url=str(described.get("uri") or ""), media_type=media, tool=kind)
    return file_of_bytes(data, name, media)


def masked_value(value: Json, mask: Mask) -> Json:
    """Return a result as JSON with secrets masked, also within the files in it.

    Raises:
        TypeError: the result is not JSON.
    """
    plain = mask.result(to_json(value))
    for path, file in files_in(value).items():
        data = b"".join(masked_pieces(file.pieces(), mask))
        plain = replaced_at(plain, path, file_of_bytes(data, file.info.name, file.info.media_type))
    return plain


def sendable_arguments(tool: str, arguments: JsonObject) -> dict[str, Json]:
    """Return the arguments of a call, in which each file is its base64 text.

    Raises:
        ToolError: a file is too large.
    """
    try:
        return {name: with_base64(value) for name, value in arguments.items()}
    except ValueError as error:
        raise ToolError(None, f"{tool}: {error}.", outcome="not_run") from None
