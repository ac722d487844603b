"""Response bodies that become files: binary ones, those that a document declares, and large ones.

The bytes go to a file piece by piece, decompressed, with the credentials of requests masked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Self

from protocols.file_names import OCTETS, clean_media_type, is_binary_type, name_for
from protocols.file_schemas import is_file_response
from protocols.files import MAX_FILE_BYTES, FileTooLarge, FileValue, Spool
from protocols.http.credentials import MASK, Mask
from protocols.protocol import ToolProtocol
from protocols.response import Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReceiver:
    """Turns the bodies of one tool's responses into files."""

    tool: str
    is_declared: bool
    """True if the tool's document says that its response is a file."""
    mask: Mask
    most_bytes: int = MAX_FILE_BYTES

    @classmethod
    def of(cls, protocol: ToolProtocol, mask: Mask, *, most_bytes: int) -> Self:
        """Return the receiver for a tool."""
        declared = is_file_response(protocol.output_schema)
        return cls(tool=protocol.name, is_declared=declared, mask=mask, most_bytes=most_bytes)

    def wants(self, head: Answer) -> bool:
        """Return True if a response with this head becomes a file, whatever its size."""
        media = head.media_type
        return self.is_declared or (media != OCTETS and is_binary_type(media))

    def receive(self, head: Answer, beginning: bytes, pieces: Iterable[bytes]) -> Answer:
        """Return the response with its body as a file: `beginning`, followed by `pieces`."""
        spool = Spool(most_bytes=self.most_bytes)
        try:
            for piece in masked_pieces(chain([beginning], pieces), self.mask):
                spool.write(piece)
        except FileTooLarge as error:
            return Answer(status=head.status, trouble=str(error))
        return replace(head, spool=spool)

    def file_of(self, answer: Answer, url: str) -> FileValue | None:
        """Return the file that the body of a successful response is, or None if it is a value."""
        spool = answer.spool
        if spool is None or answer.status in (204, 205):
            return None
        media = clean_media_type(answer.headers.get("content-type", ""))
        disposition = answer.headers.get("content-disposition", "")
        name = name_for(disposition=disposition, url=url, media_type=media, tool=self.tool)
        return spool.finish(name, media)

    def binary_of(self, answer: Answer, url: str) -> FileValue | None:
        """Return a body that is not text as a file, or None if it is text, or said to be JSON."""
        if "json" in answer.media_type or _is_text(answer):
            return None
        return self.file_of(self.receive(answer, answer.body, ()), url)


def _is_text(answer: Answer) -> bool:
    try:
        return "\0" not in answer.text(errors="strict")
    except ValueError:
        return False


def masked_pieces(pieces: Iterable[bytes], mask: Mask) -> Iterator[bytes]:
    """Yield the bytes of a body with each secret of the requests masked, also between pieces."""
    secrets = mask.spelled_bytes
    if not secrets:
        yield from pieces
        return
    longest = max(map(len, secrets)) - 1
    held = b""
    for piece in pieces:
        held += piece
        for secret in secrets:
            held = held.replace(secret, MASK.encode())
        # A secret may begin in the last bytes and end in the next piece.
        ready = max(0, len(held) - longest)
        if ready:
            yield held[:ready]
            held = held[ready:]
    yield held
