"""MCP results of a gateway: a reply as text, and the files of a run as blocks of content."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator

import mcp_types as types

from atc.serve.gateway import Gateway
from atc.serve.replies import RunReply
from atc.serve.requests import BadRequest
from protocols.file_names import SHOWN_IMAGES, sniffed_type
from protocols.files import FileInfo, FileMissing, FileValue
from protocols.schema import Json

_LARGEST_BLOCK = 1 * 2**20
"""Maximum size of a file that is sent within a result. A larger one is a link to a resource."""
_LARGEST_RESOURCE = 16 * 2**20
"""Maximum size of a file that is sent when a client reads its resource."""
_MOST_BLOCKS = 10


def make_result(reply: Json, *, failed: bool = False) -> types.CallToolResult:
    """Return an MCP result with a reply as text, which the client's model reads."""
    text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=failed)


def run_result(gateway: Gateway, reply: RunReply) -> types.CallToolResult:
    """Return the result for a reply about a run, with the files of its answer."""
    result = make_result(reply, failed=reply["status"] == "failed")
    result.content += list(file_blocks(gateway, reply))
    return result


def file_blocks(gateway: Gateway, reply: RunReply) -> Iterator[types.ContentBlock]:
    """Yield a block for each file in a reply: a picture, sound, a resource, or a link to one."""
    for described in reply.get("files", ())[:_MOST_BLOCKS]:
        info = FileInfo.read(described)
        if info is None:
            continue
        address = f"atc://runs/{reply['run']}/files/{info.sha256}"
        try:
            yield _block(gateway.open_file(reply["run"], info.sha256), address)
        except FileMissing:
            continue


def _block(file: FileValue, address: str) -> types.ContentBlock:
    info = file.info
    media = info.media_type
    if info.size > _LARGEST_BLOCK:
        return types.ResourceLink(name=info.name, uri=address, mime_type=media, size=info.size)
    data = file.whole()
    text = b64encode(data).decode()
    if media in SHOWN_IMAGES and sniffed_type(data) == media:
        return types.ImageContent(data=text, mime_type=media)
    if media.startswith("audio/"):
        return types.AudioContent(data=text, mime_type=media)
    return types.EmbeddedResource(
        resource=types.BlobResourceContents(uri=address, mime_type=media, blob=text)
    )


def file_resource(file: FileValue, address: str) -> types.BlobResourceContents:
    """Return the content of a resource that is a file.

    Raises:
        BadRequest: the file is too large.
    """
    if file.info.size > _LARGEST_RESOURCE:
        most = f"{_LARGEST_RESOURCE / 2**20:.0f} MB"
        raise BadRequest(f"the file is over {most}, the most that is sent: let a program read it.")
    blob = b64encode(file.whole()).decode()
    return types.BlobResourceContents(uri=address, mime_type=file.info.media_type, blob=blob)
