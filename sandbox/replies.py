"""Replies to the tool calls of a program, as the frames that its process gets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

from protocols.schema import Json

encode = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode
"""Return a value as compact JSON in ASCII.

Raises `TypeError`, `ValueError` or `RecursionError` if the value is not JSON."""


class CallReply(NamedTuple):
    """The reply that the program gets to a tool call: a value, or an error."""

    number: int
    encoded: str = "null"  # the value as JSON, in ASCII
    error: str | None = None
    status: int | None = None
    beside: Mapping[str, Json] = {}
    """Further keys of a reply with a value: `files`, `headers`, or `more` and `skip` of a page."""

    def line(self) -> bytes:
        """Return the reply as a frame, that is, as one line of JSON."""
        if self.error is None:
            more = f",{encode(dict(self.beside))[1:-1]}" if self.beside else ""
            return f'{{"id":{self.number},"value":{self.encoded}{more}}}\n'.encode("ascii")
        return (
            encode({"id": self.number, "error": self.error, "status": self.status}) + "\n"
        ).encode("ascii")
