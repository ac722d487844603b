"""Inside the child: frames to and from the host, values as JSON, standard output. Standard library
alone.
"""

from __future__ import annotations

import codecs
import datetime
import decimal
import fractions
import io
import json
import os
import select
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

from sandbox.hints import RecentReplies

OUTPUT_FRAME_BYTES = 32768
GLANCES = 100
"""Polls for a reply before sleeping (0.1 ms in all). Waking up takes longer than a quick tool."""
CALL_BYTES = 1 << 20  # the host takes no larger frame
NAME_CHARACTERS = 100
MESSAGE_CHARACTERS = 4000
VALUE_CHARACTERS = 200_000
"""Longest JSON of a value. A longer value becomes the start of its `repr`."""

encode = json.JSONEncoder(
    check_circular=False, ensure_ascii=False, allow_nan=False, separators=(",", ":")
).encode
"""Compact JSON. Raises `TypeError`, `ValueError` or `RecursionError` for other values."""

_VIEWS: tuple[Any, ...] = (type({}.keys()), type({}.values()), type({}.items()))
_TEXTUAL = (
    datetime.date,
    datetime.time,
    datetime.timedelta,
    decimal.Decimal,
    fractions.Fraction,
    uuid.UUID,
)
_decode = json.JSONDecoder().decode  # made early, because a program may change `json`
_sleep = time.sleep  # the real one, taken before `pins` replaces it

Reply = dict[str, Any]


class Interrupted(BaseException):
    """The program used all its processor time. Programs should not catch this."""


def _exit() -> NoReturn:
    os._exit(0)


class Channel:
    """Frames to and from the host. Replies to calls that the program does not wait for come in
    order.

    Args:
        descriptor: is readable when there is something to read.
        read: reads from a socket or pipe.
        write: writes to a socket or pipe.
        gone: called when the host has closed its end; it must not return.
    """

    def __init__(
        self,
        descriptor: int,
        read: Callable[[int], bytes],
        write: Callable[[memoryview], int],
        *,
        gone: Callable[[], NoReturn] = _exit,
    ) -> None:
        self._recv = read
        self._write = write
        self._gone = gone
        self._read = b""
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)
        self._number = 0
        self.roots = RecentReplies()
        self._awaited: dict[int, Callable[[Reply], object]] = {}
        self._sending = False
        self._late = False
        self.output = io.TextIOWrapper(
            io.BufferedWriter(_Output(self), OUTPUT_FRAME_BYTES), encoding="utf-8", newline="\n"
        )
        self._flush = self.output.flush

    def call(self, alias: str, arguments: dict[str, Any], place: tuple[int, str]) -> Reply:
        """Make a call and return the host's reply.

        `place` is the line of the program and the saved tool that makes the call.
        """
        number = self._ask(alias, arguments, place)
        while (reply := self.receive())["id"] != number:
            self._awaited.pop(reply["id"])(reply)
        return reply

    def begin(
        self,
        alias: str,
        arguments: dict[str, Any],
        place: tuple[int, str],
        on_reply: Callable[[Reply], object],
    ) -> None:
        """Ask for a call without waiting. `wait` passes the reply to `on_reply`."""
        self._awaited[self._ask(alias, arguments, place, waits=False)] = on_reply

    def wait(self, seconds: float | None) -> None:
        """Deliver the replies that are there, or the first one that comes within `seconds` (None:
        no limit).

        If no reply is due, just let the time pass; without a limit this never returns, because
        nothing could wake the program.
        """
        while not self._awaited and (seconds is None or seconds > 0):
            _sleep(3600 if seconds is None else seconds)
            if seconds is not None:
                return
        while self._awaited and (b"\n" in self._read or self._readable(seconds)):
            reply = self.receive()
            self._awaited.pop(reply["id"])(reply)
            seconds = 0.0

    def receive(self) -> Reply:
        """Return the host's next frame."""
        parts = []
        while (end := self._read.find(b"\n")) < 0:
            parts.append(self._read)
            any(self._readable(0.0) for _ in range(GLANCES))
            self._read = self._recv(65536)
            if not self._read:
                self._gone()
        parts.append(self._read[:end])
        self._read = self._read[end + 1 :]
        data = b"".join(parts)
        frame: Reply = _decode(data.decode("ascii"))
        self.roots.keep(frame, len(data))
        return frame

    def finish(self, outcome: dict[str, Any]) -> None:
        """Send the rest of the output and the last frame."""
        with suppress(ValueError):  # the program may have closed its own standard output
            self._flush()
        self._send(encode(outcome).encode("utf-8"))

    def print(self, text: str) -> None:
        """Send a piece of standard output."""
        self._send(encode({"stdout": text}).encode("utf-8"))

    def interrupt(self, number: int, frame: object) -> None:  # noqa: ARG002 - a handler
        """Interrupt the program; while a frame is being sent, right after it."""
        if not self._sending:
            raise Interrupted
        self._late = True

    def _ask(
        self, alias: str, arguments: dict[str, Any], place: tuple[int, str], **more: bool | str
    ) -> int:
        self._flush()  # what was printed before a call that never returns is not lost
        line, within = place
        if within:
            more["within"] = within
        frame: dict[str, Any] = {
            "call": self._number,
            "tool": alias,
            "args": arguments,
            "line": line,
            **more,
        }
        try:
            data = encode(frame).encode("utf-8")
        except (TypeError, ValueError, RecursionError):
            frame["args"], frame["unsendable"] = split_arguments(arguments)
            data = encode(frame).encode("utf-8")
        if len(data) > CALL_BYTES:
            raise ValueError(
                f"{alias}() was given {len(data):,} bytes of arguments; "
                f"at most {CALL_BYTES:,} can be sent"
            )
        self._number += 1
        self._send(data)
        return self._number - 1

    def _readable(self, seconds: float | None) -> bool:
        return bool(self._poll.poll(None if seconds is None else max(seconds, 0) * 1000))

    def _send(self, data: bytes) -> None:
        view = memoryview(data + b"\n")
        self._sending = True
        try:
            while view:
                view = view[self._write(view) :]
        except OSError:
            self._gone()
        self._sending = False
        if self._late:
            self._late = False
            raise Interrupted


class _Output(io.RawIOBase):
    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        view = memoryview(data)
        for start in range(0, len(view), OUTPUT_FRAME_BYTES):
            text = self._decoder.decode(bytes(view[start : start + OUTPUT_FRAME_BYTES]))
            if text:
                self._channel.print(text)
        return len(view)


# ---- values


def to_plain_json(value: Any) -> Any:
    """Return a value as JSON: sets as sorted lists, dates and numbers as `str`, else its `repr`."""
    try:
        text = _plain_text(value)
        if len(text) <= VALUE_CHARACTERS:
            return _decode(
                text.encode("utf-8", "replace").decode("utf-8")
            )  # lone surrogates cannot be sent
    except (TypeError, ValueError, RecursionError):
        pass
    return safe_repr(value)


def safe_repr(value: Any) -> str:
    """Return a `repr` of limited length. This never raises, and the result can be sent."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - a program's own __repr__ may raise anything
        text = f"<{type(value).__name__}>"
    return escape_lone_surrogates(shorten(text, VALUE_CHARACTERS))


def escape_lone_surrogates(text: str) -> str:
    """Return a text with lone surrogates, which UTF-8 cannot encode, as escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def shorten(text: str, width: int) -> str:
    """Return a text of at most `width` characters, with an ellipsis if it was cut."""
    return text if len(text) <= width else text[: width - 1] + "…"


def last_word(
    kind: str,
    name: str,
    message: str,
    frames: list[list[Any]],
    call: int | None = None,
    hints: list[Any] | None = None,
) -> dict[str, Any]:
    """Return the frame that reports a failure, with texts of limited length.

    Each of `frames` has a line, a function, and possibly columns.
    """
    name = escape_lone_surrogates(shorten(name, NAME_CHARACTERS))
    message = escape_lone_surrogates(shorten(message, MESSAGE_CHARACTERS))
    frames = [
        [line, escape_lone_surrogates(shorten(function, NAME_CHARACTERS)), *more]
        for line, function, *more in frames
    ]
    told = {"kind": kind, "type": name, "message": message, "frames": frames, "call": call}
    return {"fail": {**told, "hints": hints} if hints else told}


def split_arguments(arguments: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the arguments that are JSON, and the `repr` of the others."""
    sendable_: dict[str, Any] = {}
    unsendable: dict[str, str] = {}
    for name, value in arguments.items():
        try:
            encode(value).encode("utf-8")
            sendable_[name] = value
        except (TypeError, ValueError, RecursionError):
            unsendable[name] = escape_lone_surrogates(shorten(repr(value), 200))
    return sendable_, unsendable


def keywords_only(
    alias: str, parameters: list[str], args: tuple[Any, ...], arguments: dict[str, Any]
) -> str:
    """Return the error message for positional arguments, with the call as it should be written."""
    free = [name for name in parameters if name not in arguments]
    given = [*zip(free, args, strict=False), *arguments.items()]
    written = ", ".join(f"{name}={shorten(repr(value), 40)}" for name, value in given)
    return f"{alias}() takes keyword arguments only: write {alias}({written})"


def _convert_value(value: Any) -> Any:
    if isinstance(value, set | frozenset):
        try:
            return sorted(value)
        except TypeError:
            return sorted(value, key=repr)
    if isinstance(value, _VIEWS):
        return list(value)
    return str(value) if isinstance(value, _TEXTUAL) else safe_repr(value)


_plain_text = json.JSONEncoder(default=_convert_value, ensure_ascii=False, allow_nan=False).encode
