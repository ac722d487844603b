"""Files of a run as responses of the viewer. A service made them: no browser may run them."""

from __future__ import annotations

from starlette.responses import Response, StreamingResponse

from protocols.file_names import OCTETS, SHOWN_IMAGES, attachment, sniffed_type
from protocols.files import FileValue

_POLICY = "default-src 'none'; sandbox; frame-ancestors 'none'"
"""No script, no form and no origin of its own, whatever the browser takes the bytes for."""


def file_response(file: FileValue) -> Response:
    """Return a response with a file.

    A PNG, JPEG, GIF or WebP picture has its media type, if its first bytes say the same. Any other
    file, such as SVG or HTML, is bytes that a browser saves.

    Raises:
        FileMissing: the bytes are not stored any more.
    """
    beginning = file.content.read(0, 16)
    media = file.info.media_type
    is_shown = media in SHOWN_IMAGES and sniffed_type(beginning) == media
    headers = {
        "content-security-policy": _POLICY,
        "content-length": str(file.info.size),
        "content-disposition": "inline" if is_shown else attachment(file.info.name),
    }
    return StreamingResponse(
        file.pieces(), media_type=media if is_shown else OCTETS, headers=headers
    )
