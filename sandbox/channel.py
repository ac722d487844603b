"""The program's end of the channel to the host: it sends calls and output, and receives replies.

It is used in the process of a program, and by the thread that runs a program in the monty backend.
This module imports only the standard library.
"""

from __future__ import annotations

import codecs
import io
import json
import os
import select
import time
from binascii import a2b_base64
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NoReturn

from sandbox.frames import FRAME_BYTES, encode, split_arguments, to_plain_json

OUTPUT_FRAME_BYTES = 32768
QUICK_POLLS = 100
"""Number of polls for a reply before the process sleeps (0.1 ms altogether).

A quick tool answers in less time than it takes to wake up a process."""
KEPT_REPLY_BYTES = 2 << 20
"""Maximum size, as JSON, of the latest replies that are kept to explain failures."""

_decode = json.JSONDecoder().decode  # made early, because a program may change `json`
_sleep = time.sleep  # the real one, taken before `pins` replaces it

Reply = dict[str, Any]


class Interrupted(BaseException):
    """Raised in a program that used all its processor time.

    It is a `BaseException`, because programs should not catch it.
    """


def _exit() -> NoReturn:
    os._exit(0)


class RecentReplies:
    """The latest replies to tool calls that a program received.

    Their values help to explain a failure of the program.
    """

    def __init__(self) -> None:
        self._frames: deque[tuple[int, dict[str, Any]]] = deque()
        self._room = KEPT_REPLY_BYTES

    def keep(self, frame: dict[str, Any], size: int) -> None:
        """Store a reply of `size` bytes. Drop the oldest replies if all together are too large."""
        self._frames.append((size, frame))
        self._room -= size
        while self._room < 0:
            self._room += self._frames.popleft()[0]

    def newest_first(self) -> Iterator[tuple[int, Any]]:
        """Yield (number of the call, value) for each stored reply that has a value."""
        return (
            (frame["id"], frame["value"])
            for _, frame in reversed(tuple(self._frames))
            if "value" in frame
        )


class Channel:
    """Sends frames (lines of JSON) to the host and receives its frames.

    The host replies to calls in the order in which they were made.

    Args:
        descriptor: the file descriptor that is readable when a frame has arrived.
        read: reads at most a number of bytes from a socket or pipe.
        write: writes to a socket or pipe, and returns the number of bytes written.
        gone: called when the host has closed its end. It must not return.
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
        self.replies = RecentReplies()
        self._awaited: dict[int, Callable[[Reply], object]] = {}
        self._sending = False
        self._late = False
        self.output = io.TextIOWrapper(
            io.BufferedWriter(_Output(self), OUTPUT_FRAME_BYTES), encoding="utf-8", newline="\n"
        )
        self._flush = self.output.flush
        self._printed: list[Any] | None = None
        self._handed_over: dict[int, None] = {}
        self.take_files: Callable[[Any], tuple[Any, list[Any]]] = _take_none
        """Takes the files out of arguments; returns the rest, and the files' paths and numbers."""

    def call(
        self, alias: str, arguments: dict[str, Any], site: tuple[int, str], **more: bool | int
    ) -> Reply:
        """Make a tool call, wait for the host's reply, and return the reply.

        Args:
            alias: the name of the tool in the program.
            arguments: the arguments of the call.
            site: the line of the program, and the name of the saved tool that makes the call ("" if
                the program itself makes it).
            more: what else the frame says: `headers`, `pages` or `after`, see `sandbox.host`.
        """
        number = self._ask(alias, arguments, site, **more)
        while (reply := self.receive())["id"] != number:
            self._awaited.pop(reply["id"])(reply)
        return reply

    def iter_pages(
        self, alias: str, arguments: dict[str, Any], find_site: Callable[[], tuple[int, str]]
    ) -> Iterator[Reply]:
        """Yield the replies with the pages of a list, and of a call that failed the reply, too.

        Each page is asked for when it is needed. `find_site` returns the `site` of `call`.
        """
        more: dict[str, bool | int] = {"pages": True}
        while more:
            reply = self.call(alias, arguments, find_site(), **more)
            if not reply.get("skip"):
                yield reply
            more = {"after": reply["id"]} if reply.get("more") else {}
            arguments = {}

    def begin(
        self,
        alias: str,
        arguments: dict[str, Any],
        site: tuple[int, str],
        on_reply: Callable[[Reply], object],
    ) -> None:
        """Send a tool call without waiting for its reply.

        `wait` later calls `on_reply` with the reply. The other arguments are those of `call`.
        """
        self._awaited[self._ask(alias, arguments, site, waits=False)] = on_reply

    @property
    def has_open_calls(self) -> bool:
        """True if a call that was begun with `begin` has no reply yet."""
        return bool(self._awaited)

    def wait(self, seconds: float | None) -> None:
        """Pass the next reply to the function `on_reply` that was given with its call.

        If it has not arrived, wait up to `seconds` (None: without limit). Only one reply is passed,
        so that the program does the same no matter how many have arrived. If no call is open, only
        wait. Without a limit this then never returns, because nothing can wake the program.
        """
        while not self._awaited and (seconds is None or seconds > 0):
            _sleep(3600 if seconds is None else seconds)
            if seconds is not None:
                return
        if self._awaited and (b"\n" in self._read or self._readable(seconds)):
            reply = self.receive()
            self._awaited.pop(reply["id"])(reply)

    def receive(self) -> Reply:
        """Wait for the host's next frame and return it."""
        parts = []
        while (end := self._read.find(b"\n")) < 0:
            parts.append(self._read)
            any(self._readable(0.0) for _ in range(QUICK_POLLS))
            self._read = self._recv(65536)
            if not self._read:
                self._gone()
        parts.append(self._read[:end])
        self._read = self._read[end + 1 :]
        data = b"".join(parts)
        frame: Reply = _decode(data.decode("ascii"))
        if "file" not in frame:
            self.replies.keep(frame, len(data))
        return frame

    def read_file(self, number: int, start: int, size: int) -> bytes:
        """Return up to `size` bytes of a file from the position `start`; b"" after the end.

        Raises:
            OSError: the host does not have the bytes any more.
        """
        self._send(encode({"read": [number, start, size]}).encode("utf-8"))
        while "file" not in (reply := self.receive()):
            self._awaited.pop(reply["id"])(reply)
        if "error" in reply:
            raise OSError(reply["error"])
        return a2b_base64(reply["data"])

    def note_file(self, number: int) -> None:
        """Remember that the program has handed a file over, by printing or returning it."""
        self._handed_over[number] = None

    def finish(self, outcome: dict[str, Any]) -> None:
        """Send the output that is left, and then `outcome`, which says how the program ended.

        This is the last frame of a run. It has the object that was passed to `note_print`, if the
        program succeeded and the frame does not become too large.
        """
        with suppress(ValueError):  # the program may have closed its own standard output
            self._flush()
        if "done" in outcome and self._handed_over:
            outcome = {**outcome, "files": list(self._handed_over)}
        data = encode(outcome).encode("utf-8")
        if "done" in outcome and self._printed is not None:
            more = encode({**outcome, "printed": self._printed}).encode("utf-8")
            data = more if len(more) <= FRAME_BYTES else data
        self._send(data)

    def print(self, text: str) -> None:
        """Send a part of the program's standard output."""
        self._send(encode({"stdout": text}).encode("utf-8"))

    def note_print(self, value: Any, text: str) -> None:
        """Remember the object of the first `print`, which has printed `text` for it.

        The object is kept as it is now, because the program may change it. The host ignores it if
        the program prints anything else. A text is not kept.
        """
        size = len(text.strip())
        if not size or self._printed is not None or isinstance(value, str):
            return
        with suppress(Exception):  # a program's own class may raise anything
            plain = to_plain_json(value, most=FRAME_BYTES)
            if not isinstance(plain, str):
                self._printed = [plain, size]

    def look(self, value: Any) -> None:
        """Send a value that the writer of the program wants to see. It is no part of the output."""
        self._flush()
        self._send(encode({"look": to_plain_json(value)}).encode("utf-8"))

    def interrupt(self, number: int, frame: object) -> None:  # noqa: ARG002 - a handler
        """Raise `Interrupted` in the program. This is a signal handler.

        If a frame is being sent, the exception is raised when the frame is complete.
        """
        if not self._sending:
            raise Interrupted
        self._late = True

    def _ask(
        self, alias: str, arguments: dict[str, Any], site: tuple[int, str], **more: bool | int | str
    ) -> int:
        self._flush()  # what was printed before a call that never returns is not lost
        line, within = site
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
            data = self._encode_unusual(frame).encode("utf-8")
        if len(data) > FRAME_BYTES:
            raise ValueError(
                f"{alias}() was given {len(data):,} bytes of arguments; "
                f"at most {FRAME_BYTES:,} can be sent"
            )
        self._number += 1
        self._send(data)
        return self._number - 1

    def _encode_unusual(self, frame: dict[str, Any]) -> str:
        """Return the frame of a call that has arguments which are files, or no JSON."""
        rest, files = self.take_files(frame["args"])
        if files:
            frame = {**frame, "args": rest, "files": files}
        with suppress(TypeError, ValueError, RecursionError):
            text = encode(frame)
            text.encode("utf-8")
            return text
        frame["args"], frame["unsendable"] = split_arguments(rest)
        frame.pop("files", None)
        return encode(frame)

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


def _take_none(arguments: Any) -> tuple[Any, list[Any]]:
    return arguments, []


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
