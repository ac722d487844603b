"""What goes back to a program for a call: a value, an error, or a preview of what is too large."""

from __future__ import annotations

from typing import NamedTuple

from protocols.jsontypes import Json
from protocols.schema import shape
from sandbox.quickjson import encoder

PREVIEW_CHARACTERS = 2000


class Reply(NamedTuple):
    """What the program gets for a call: a value, or what went wrong."""

    number: int
    value: Json = None
    encoded: str = "null"
    """`value` as JSON, in ASCII."""
    error: str | None = None
    status: int | None = None

    def line(self) -> bytes:
        """The reply as a frame."""
        if self.error is None:
            return f'{{"id":{self.number},"value":{self.encoded}}}\n'.encode("ascii")
        return (encode({"id": self.number, "error": self.error, "status": self.status}) + "\n").encode("ascii")


def preview(value: Json, encoded: str) -> dict[str, Json]:
    """What a program gets instead of a result that is too large.

    `_truncated` is True, `_bytes` the size as JSON, `_shape` a sketch of the structure, `_preview` the first 2,000
    characters of the JSON text. It is one object whatever the result was, so that a program that expects the real
    thing fails at once on a missing key instead of computing with a part.
    """
    return {
        "_truncated": True,
        "_bytes": len(encoded),
        "_shape": shape(value),
        "_preview": encoded[:PREVIEW_CHARACTERS],
    }


def encode(value: Json) -> str:
    """JSON in ASCII. Raises `TypeError` or `ValueError` where the value is not JSON."""
    return _encode(value)


_encode = encoder(ascii_only=True)
