"""Frames between the host and a program that runs on a thread of the same process: a channel without a socket.

The program's thread may be interrupted between any two of its instructions, ours included. So it takes part in nothing
that an interruption could leave half done: it waits in `SimpleQueue.get`, which is one instruction, and holds no
condition, event or future of the standard library, each of which is a lock taken in Python.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any

from sandbox.hints import Roots
from sandbox.zygote.values import sendable, shorten

FRAMES_AHEAD = 64
"""A program that sends faster than the host takes waits when so many frames lie ready."""

LONGEST_SLEEP_SECONDS = 1e9

Reply = dict[str, Any]

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


class Interrupted(SystemExit):
    """The run is over, and the program has to stop. Not for programs to catch.

    A `SystemExit`, so that an event loop lets it through at once and a thread that it ends says nothing.
    """


class Pipe:
    """The host's end is a `sandbox.frames.Stream`; the program's end takes frames and gives replies."""

    def __init__(self) -> None:
        self.stopped = False
        """Whether the program has to stop."""
        self.roots = Roots()
        self._closed = False
        self._timeout: float | None = None
        self._outgoing: SimpleQueue[bytes | None] = SimpleQueue()  # None: nothing more comes
        self._received = b""
        self._sent = b""
        self._room: SimpleQueue[None] = SimpleQueue()
        for _ in range(FRAMES_AHEAD):
            self._room.put(None)
        self._wake: SimpleQueue[None] = SimpleQueue()
        self._start: SimpleQueue[Reply | None] = SimpleQueue()
        self._awaited: dict[int, Callable[[Reply | None], None]] = {}
        self._number = 0
        self._numbering = threading.Lock()  # a plain lock in a plain `with` is not left taken

    # The host's end.

    def recv(self, size: int, /) -> bytes:
        """What the program sent; nothing once either end has hung up."""
        if not self._received and not self._closed:
            try:
                frame = self._outgoing.get(timeout=self._timeout)
            except Empty:
                raise TimeoutError from None
            self._closed = self._closed or frame is None
            self._received = frame or b""
            self._room.put(None)
        data, self._received = self._received[:size], self._received[size:]
        return data

    def sendall(self, data: bytes, /) -> None:
        """Hand over the start or a reply."""
        if self._closed:
            raise BrokenPipeError
        *frames, self._sent = (self._sent + data).split(b"\n")
        for line in frames:
            frame = json.loads(line)
            self.roots.keep(frame, len(line))
            take = self._awaited.pop(frame["id"], None) if "id" in frame else self._start.put
            if take is not None:
                take(frame)

    def settimeout(self, seconds: float | None, /) -> None:
        """How long `recv` waits."""
        self._timeout = seconds

    def shutdown(self, how: int = 2, /) -> None:  # noqa: ARG002 - the method of a socket
        """Hang up: `recv` returns at once, and the program's end takes nothing more."""
        self._closed = True
        self._outgoing.put(None)
        self._room.put(None)

    def stop(self) -> None:
        """Have the program stop where it waits for the host."""
        self.stopped = True
        self._start.put(None)
        self._room.put(None)
        self._wake.put(None)
        while self._awaited:
            _, take = self._awaited.popitem()
            take(None)

    # The program's end.

    def start(self) -> Reply:
        """The host's first frame."""
        return self._given(self._start.get())

    def call(self, alias: str, arguments: dict[str, Any], line: int) -> Reply:
        """The host's reply to a call."""
        replies: SimpleQueue[Reply | None] = SimpleQueue()
        self.begin(alias, arguments, line, replies.put, waits=True)
        return self._given(replies.get())

    def begin(
        self,
        alias: str,
        arguments: dict[str, Any],
        line: int,
        take: Callable[[Reply | None], None],
        *,
        waits: bool = False,
    ) -> None:
        """Ask for a call, whose reply `take` gets on another thread; None where the program has to stop."""
        frame: dict[str, Any] = {"call": 0, "tool": alias, "args": arguments, "line": line}
        if not waits:
            frame["waits"] = False
        try:
            _bytes(frame)
        except (TypeError, ValueError, RecursionError):
            frame["args"], frame["unsendable"] = _split(arguments)
        self._room.get()
        with self._numbering:
            frame["call"] = number = self._number
            self._number += 1
            self._awaited[number] = take
            self._outgoing.put(_bytes(frame))
        if self.stopped:
            raise Interrupted

    def send(self, frame: dict[str, Any]) -> None:
        """Send a frame that has no reply."""
        data = _bytes(frame)
        self._room.get()
        if self._closed:
            raise Interrupted
        self._outgoing.put(data)

    def hang_up(self) -> None:
        """Nothing more comes from the program."""
        self._outgoing.put(None)

    def sleep(self, seconds: float) -> None:
        """Wait, unless the program has to stop."""
        try:
            self._wake.get(timeout=min(seconds, LONGEST_SLEEP_SECONDS))
        except Empty:
            return
        self._wake.put(None)
        raise Interrupted

    def _given(self, reply: Reply | None) -> Reply:
        if reply is None:
            raise Interrupted
        return reply


def _bytes(frame: dict[str, Any]) -> bytes:
    return (_encode(frame) + "\n").encode("utf-8")


def _split(arguments: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The arguments that are JSON, and the `repr` of those that are not."""
    fit: dict[str, Any] = {}
    unsendable: dict[str, str] = {}
    for name, value in arguments.items():
        try:
            _encode(value).encode("utf-8")
            fit[name] = value
        except (TypeError, ValueError, RecursionError):
            unsendable[name] = sendable(shorten(repr(value), 200))
    return fit, unsendable
