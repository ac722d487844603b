"""Receives and parses the messages of a child process. They are lines of JSON.

Each message may be an attack, so nothing in it is trusted.
"""

from __future__ import annotations

import json
import re
import select
import socket
from typing import Any, NamedTuple, Protocol

from protocols.files import FilePath
from protocols.schema import Json, loads
from sandbox.file_frames import FileRead, numbers_of_files, passed_files, read_request
from sandbox.frames import (
    FRAME_BYTES,
    LEVELS,
    LONGEST_KEY,
    LONGEST_PATH,
    MOST_HINTS,
    is_deeper_than,
)
from sandbox.trace import Failure, Frame, ValueHint

QUICK_POLLS = 100
"""Number of polls for a message before the thread sleeps.

Most programs send their next call in less time than it takes to wake up a thread."""
FRAME_COST = 128
"""Number of bytes that is added to the size of each frame, to limit the number of tiny frames."""
FRAMES_OF_TRACEBACK = 64
LONGEST_NAME = 200
LONGEST_REPR = 400
LONGEST_MESSAGE = 10_000
"""Maximum number of characters of a failure's message. Names and `repr`s of values are shorter."""
LARGEST_NUMBER = 10**7
"""Numbers of lines, columns and calls must be smaller than this."""


class RunEnded(Exception):
    """Raised to end the run with a failure.

    `makes_calls` is True if the calls that the program has begun, and does not wait for one after
    the other, are still made.
    """

    def __init__(self, failure: Failure, *, makes_calls: bool = False) -> None:
        super().__init__(failure)
        self.failure = failure
        self.makes_calls = makes_calls


class ChannelClosed(Exception):
    """Raised if the child closed its end of the channel without sending a last frame.

    The last frame of a run says how the program ended.
    """


def protocol_violation(problem: str) -> RunEnded:
    """Return the exception that ends a run because its child process sent an invalid message.

    Only a program that manipulates its channel can do that. `problem` completes the sentence "the
    program's process …".
    """
    return RunEnded(
        Failure(kind="policy", type="ProtocolViolation", message=f"the program's process {problem}")
    )


def limit_exceeded(name: str, message: str, *, frames: tuple[Frame, ...] = ()) -> RunEnded:
    """Return the exception that ends a run because it exceeded a limit.

    `name` is the name of the limit, such as `wall_seconds`.
    """
    return RunEnded(Failure(kind="limit", type=name, message=f"{name}: {message}", frames=frames))


class CallRequest(NamedTuple):
    """A message of the child: it asks the host to call a tool."""

    number: int
    tool: str
    arguments: dict[str, Json]
    unsendable: dict[str, str]
    """The `repr` of each argument whose value is not JSON, keyed by the argument's alias."""
    line: int
    waits: bool = True
    """True if the program waits for the reply. Otherwise it may make other calls meanwhile."""
    within: str = ""
    """The alias of the saved tool that makes the call; "" if the program itself makes it."""
    pages: bool = False
    """True if the program reads page by page, so that the reply must say if there are more."""
    after: int | None = None
    """The number of the call whose next page is wanted; it has the arguments. None otherwise."""
    headers: bool = False
    """True if the reply must have the headers of the response, too."""
    files: tuple[tuple[FilePath, int], ...] = ()
    """The paths in the arguments at which the program passes a file, each with its number."""


class Output(NamedTuple):
    """A message of the child: a part of the program's standard output."""

    text: str


class LookedValue(NamedTuple):
    """A message of the child: a value that the program passed to `look`."""

    value: Json


class PrintedObject(NamedTuple):
    """The object, other than a text, that the program claims to have printed, and nothing else.

    `size` is the number of characters of its text without blanks at both ends. The claim counts
    only if the output has this size.
    """

    value: Json
    size: int


class ProgramDone(NamedTuple):
    """A message of the child: the program ended without a failure.

    `value` is the value of its last expression, or None. `printed` is None if the program printed
    nothing, a text, or with more than one call of `print`.
    """

    value: Json
    printed: PrintedObject | None = None
    files: tuple[int, ...] = ()
    """The numbers of the files that the program printed or returned."""


Message = CallRequest | FileRead | Output | LookedValue | ProgramDone | Failure
"""A message of the child. A `Failure` may be false, because the child itself reports it."""


class Stream(Protocol):
    """The host's end of a channel, such as a connected socket."""

    def recv(self, size: int, /) -> bytes:
        """Wait for bytes and return at most `size` of them; b"" at the end of the stream."""

    def sendall(self, data: bytes, /) -> None:
        """Send all of `data` to the child."""

    def shutdown(self, how: int, /) -> None:
        """Make all blocking methods return at once, also in other threads."""


class Wire:
    """Receives the messages of one child process.

    All messages together may have at most `total_bytes`.
    """

    def __init__(self, channel: Stream, *, total_bytes: int) -> None:
        self._channel = channel
        self._poll: select.poll | None = None
        if isinstance(channel, socket.socket):
            self._poll = select.poll()
            self._poll.register(channel, select.POLLIN)
        self._left = total_bytes
        self._buffer = bytearray()
        self._searched = 0

    def next_message(self) -> Message:
        """Wait for the child's next message and return it.

        Raises:
            RunEnded: the message is not allowed, or too large.
            ChannelClosed: the child closed its end.
        """
        while (end := self._buffer.find(b"\n", self._searched)) < 0:
            self._searched = len(self._buffer)
            if self._searched > FRAME_BYTES:
                break
            self._receive()
        if max(end, self._searched) > FRAME_BYTES:
            raise protocol_violation(f"sent a frame of more than {FRAME_BYTES:,} bytes")
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        self._searched = 0
        self._charge(FRAME_COST)
        return parse_message(line)

    def _receive(self) -> None:
        if self._poll is not None:
            any(self._poll.poll(0) for _ in range(QUICK_POLLS))
        try:
            data = self._channel.recv(65536)
        except OSError as error:
            raise ChannelClosed from error
        if not data:
            raise ChannelClosed
        self._charge(len(data))
        self._buffer += data

    def _charge(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise protocol_violation("sent more than the host takes from one run")


def parse_message(line: bytes) -> Message:
    """Return the message in one frame, that is, in one line of JSON from the child.

    Raises:
        RunEnded: the frame is not allowed. Only a program that manipulates its channel sends one.
    """
    frame = _read_frame(line)
    keys = frozenset(frame)
    if _CALL <= keys <= _CALL_AT_MOST:
        return _parse_call(frame)
    if keys == {"stdout"} and type(frame["stdout"]) is str:
        return Output(frame["stdout"])
    if keys == {"look"}:
        return LookedValue(frame["look"])
    if keys == {"read"}:
        if (asked := read_request(frame["read"])) is not None:
            return asked
        raise protocol_violation("sent a read of the wrong shape")
    if {"done"} <= keys <= _DONE_AT_MOST:
        return _parse_done(frame)
    if keys == {"fail"} and type(frame["fail"]) is dict:
        return _parse_failure(frame["fail"])
    raise protocol_violation(f"sent an unknown frame ({', '.join(sorted(keys))[:60]!r})")


def _read_frame(line: bytes) -> dict[str, Any]:
    """Return the JSON object in a line.

    Raises:
        RunEnded: the line is not JSON, is nested too deeply, or is no object.
    """
    try:
        frame = loads(line.decode("utf-8"))
        # Only an escape can bring a lone surrogate through both decoders.
        if b"\\ud" in line or b"\\uD" in line:
            json.dumps(frame, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError):
        raise protocol_violation("sent a frame that is not JSON") from None
    if line.count(b"[") + line.count(b"{") > LEVELS and is_deeper_than(LEVELS, frame):
        raise protocol_violation(f"sent a frame nested more than {LEVELS} levels deep")
    if type(frame) is not dict:
        raise protocol_violation("sent a frame that is no object")
    return frame


_CALL = frozenset({"call", "tool", "args", "line"})
_CALL_AT_MOST = _CALL | {"unsendable", "waits", "within", "pages", "after", "headers", "files"}
_DONE_AT_MOST = frozenset({"done", "printed", "files"})


def _parse_call(frame: dict[str, Any]) -> CallRequest:
    number = frame["call"]
    tool = frame["tool"]
    arguments = frame["args"]
    line = frame["line"]
    unsendable = frame.get("unsendable", {})
    waits = frame.get("waits", True)
    within = frame.get("within", "")
    pages = frame.get("pages", False)
    headers = frame.get("headers", False)
    after = frame.get("after")
    # Exact types: `True` is no int.
    wanted = (int, str, dict, int, dict, bool, str, bool, bool)
    given = (number, tool, arguments, line, unsendable, waits, within, pages, headers)
    if (
        tuple(map(type, given)) != wanted
        or not _are_small_integers(number, line, 0 if after is None else after)
        or not all(type(text) is str for text in unsendable.values())
    ):
        raise protocol_violation("sent a call of the wrong shape")
    shown = {name: text[:LONGEST_REPR] for name, text in unsendable.items()}
    files = passed_files(frame.get("files", []))
    if files is None:
        raise protocol_violation("sent files of the wrong shape")
    beside = (pages, after, headers, files)
    return CallRequest(number, tool, arguments, shown, line, waits, within, *beside)


def _parse_done(frame: dict[str, Any]) -> ProgramDone:
    files = numbers_of_files(frame.get("files", []))
    if files is None:
        raise protocol_violation("sent files of the wrong shape")
    printed = _parse_printed(frame["printed"]) if "printed" in frame else None
    return ProgramDone(frame["done"], printed, files)


def _parse_printed(item: Json) -> PrintedObject:
    match item:
        case [value, size] if _are_small_integers(size) and type(value) is not str:
            return PrintedObject(value, size)
    raise protocol_violation("sent a printed object of the wrong shape")


def _parse_failure(fail: dict[str, Json]) -> Failure:
    match {"hints": [], **fail}:
        case {
            "kind": "syntax" | "exception" | "limit" as kind,
            "type": str(name),
            "message": str(message),
            "frames": list(frames),
            "call": int() | None as call,
            "hints": list(hints),
            **more,
        } if (
            not more
            and type(call) is not bool
            and len(frames) <= FRAMES_OF_TRACEBACK
            and len(hints) <= MOST_HINTS
        ):
            levels = tuple(map(_parse_frame, frames))
            found = tuple(map(_parse_hint, hints))
            what = _safe_name(name) or "Exception"
            text = message[:LONGEST_MESSAGE]
            return Failure(
                kind=kind, type=what, message=text, frames=levels, call=call, hints=found
            )
    raise protocol_violation("sent a failure of the wrong shape")


def _parse_frame(item: Json) -> Frame:
    match item:
        case [line, str(function)] if _are_small_integers(line):
            return Frame(line=line, function=_safe_name(function))
        case [line, str(function), column, last, end] if _are_small_integers(
            line, column, last, end
        ):
            return Frame(
                line=line,
                function=_safe_name(function),
                column=column,
                end_line=last,
                end_column=end,
            )
    raise protocol_violation("sent a failure of the wrong shape")


def _parse_hint(item: Json) -> ValueHint:
    match item:
        case [frame, line, column, last, end, call, list(path), int(mark)] if (
            _are_small_integers(frame, line, column, last, end, call)
            and type(mark) is int
            and 0 <= mark < 2**32
            and len(path) <= LONGEST_PATH
            and all(
                _are_small_integers(step) or (type(step) is str and len(step) <= LONGEST_KEY)
                for step in path
            )
        ):
            place = {"line": line, "column": column, "end_line": last, "end_column": end}
            return ValueHint(frame=frame, **place, call=call, path=tuple(path), mark=mark)
    raise protocol_violation("sent a failure of the wrong shape")


def _are_small_integers(*numbers: Json) -> bool:
    return all(type(number) is int and 0 <= number < LARGEST_NUMBER for number in numbers)


def _safe_name(text: str) -> str:
    """Return the name of a class or function, shortened, and with `_` for unusual characters.

    The name comes from the child process, so it may be any text.
    """
    return _NO_NAME.sub("_", text[:LONGEST_NAME])


_NO_NAME = re.compile(r"[^\w.<>…]")
