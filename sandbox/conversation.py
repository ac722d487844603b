"""The talk of one run with its child, on a thread of its own, and the end that somebody else may put to it."""

from __future__ import annotations

import contextvars
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from protocols.jsontypes import Json
from sandbox import workers
from sandbox.calls import Calls, Closed, Open
from sandbox.cancel import cancellable
from sandbox.clock import LONGEST_WAIT_SECONDS, Clock, running
from sandbox.concurrent_calls import ConcurrentCalls, Replies
from sandbox.frames import (
    FRAME_BYTES,
    Call,
    ChannelClosed,
    Done,
    Failed,
    Output,
    RunEnded,
    Stream,
    Wire,
    limit_exceeded,
    violation,
    wall_exceeded,
)
from sandbox.limits import Limits
from sandbox.trace import Failure, FailureKind, Frame

LAST_WORD_SECONDS = 0.02
"""How long a program that ran into a limit has to say on which line it stood."""

SURE_TO_FIT = 32768
"""So many bytes can be sent without waiting for a child that may not read."""

End = Failure | ChannelClosed | None


class Conversation:
    """What one run has said so far, and how it ended: the first end that anybody puts to it counts."""

    def __init__(self, channel: Stream, source: str, calls: Calls, *, limits: Limits) -> None:
        self.stdout: list[str] = []
        self.value: Json = None
        self._channel, self._calls, self._limits = channel, calls, limits
        self._lines = source.count("\n") + 2  # an error may stand just past the end
        self._output_left = limits.output_bytes
        # Output costs up to six bytes of JSON for one; a call's arguments may take a whole frame, but not every time.
        self._wire = Wire(channel, total_bytes=6 * limits.output_bytes + 16 * FRAME_BYTES)
        self._replies = Replies(channel)
        self._concurrent = ConcurrentCalls(calls, self._replies, limits.concurrent_calls, self._end)
        self._state = threading.Lock()
        self._how: BaseException | None = None
        self._over = False
        self._ended = _Signal()
        self._left = _Signal()  # the thread that talks has nothing more to do with the channel
        self._in_tool = False
        self._last_frames: tuple[Frame, ...] = ()

    def hold(self, start: bytes, interrupt: Callable[[], None], clock: Clock) -> End:
        """Talk until somebody ends it: the child by its last word, a tool, a limit, the clock.

        Raises:
            BaseException: what a tool or the journal raised that is no answer to a call.
        """
        context = contextvars.copy_context()
        context.run(running.set, clock)
        self._concurrent.context = context.copy()
        try:
            if len(start) <= SURE_TO_FIT:  # the child begins while our thread still wakes up
                with suppress(ChannelClosed):  # the thread will notice
                    self._send(start)
                start = b""
            workers.start(lambda: context.run(self._talk, start))
            with cancellable(self._end):
                how = self._await_end(clock)
            if isinstance(how, RunEnded):
                return self._located(how, interrupt)
        except BaseException as error:  # Ctrl-C
            self._end(error)
            raise
        finally:
            self._hang_up()
        if how is None or isinstance(how, ChannelClosed):
            return how
        raise how

    def _await_end(self, clock: Clock) -> BaseException | None:
        while not self._ended.wait(min(max(clock.remaining(), 0.0), LONGEST_WAIT_SECONDS)):
            if clock.remaining() <= 0:
                self._end(wall_exceeded(clock))
        return self._how

    def _talk(self, start: bytes) -> None:
        """What the thread of its own does."""
        try:
            if start:
                self._send(start)
            while self._listen():
                pass
        except Closed:  # it was ended while a tool worked
            pass
        except BaseException as end:  # noqa: BLE001 - the caller's thread raises what is not an end
            self._end(end)
        finally:
            self._left.set()

    def _listen(self) -> bool:
        """Take one message. False when that was the last."""
        message = self._wire.next()
        if self._over:
            return self._hear_last(message)
        match message:
            case Call() as call:
                self._answer(call)
            case Output(text):
                self._print(text)
            case Done(value):
                self.value = value
                self._end(None)
                return False
            case Failed() as failed:
                raise _Told(self._failure(failed))
        return True

    def _answer(self, call: Call) -> None:
        # Whoever ends the run sets `_over` before looking at `_in_tool`; here it is the other way about.
        self._in_tool = True
        if self._over:
            raise Closed
        begun = self._calls.begin(call)
        if call.waits and isinstance(begun, Open):
            begun = self._calls.finish(begun)
        self._in_tool = False
        if self._over:
            raise Closed
        if isinstance(begun, Open):
            self._concurrent.start(begun)
        else:
            self._replies.put(begun)

    def _end(self, how: BaseException | None) -> None:
        with self._state:
            if self._over:
                return
            self._over, self._how = True, how
        if how is not None and not isinstance(how, _Told):
            self._calls.hold_back()
        self._ended.set()

    def _located(self, ended: RunEnded, interrupt: Callable[[], None]) -> Failure:
        """The failure, with the line where the program stands where that can be had in time."""
        if not ended.locate:
            return ended.failure
        abandoned = self._in_tool
        interrupt()
        if abandoned or self._left.is_set():
            with suppress(RunEnded, ChannelClosed, OSError):
                self._channel.settimeout(LAST_WORD_SECONDS)
                while self._hear_last(self._wire.next()):
                    pass
        else:
            self._left.wait(LAST_WORD_SECONDS)
        return replace(ended.failure, frames=self._last_frames or ended.failure.frames)

    def _hear_last(self, message: object) -> bool:
        """A message after the end: output still counts, and the last word tells where the program stood."""
        if isinstance(message, Output):
            with suppress(RunEnded):
                self._print(message.text)
            return True
        if isinstance(message, Failed):
            self._last_frames = self._frames(message)
        return False

    def _hang_up(self) -> None:
        """Have no thread of ours use the channel any more, but one that a tool keeps; it will not."""
        if not self._left.is_set():
            with suppress(OSError):
                self._channel.shutdown(socket.SHUT_RDWR)
            if not self._in_tool:
                self._left.wait(1.0)

    def _send(self, data: bytes) -> None:
        try:
            self._channel.sendall(data)
        except OSError as error:
            raise ChannelClosed from error

    def _print(self, text: str) -> None:
        size = len(text.encode("utf-8"))
        if size > self._output_left:
            self.stdout.append(text.encode("utf-8")[: self._output_left].decode("utf-8", "ignore"))
            self._output_left = 0
            raise limit_exceeded("output_bytes", f"the program printed more than {self._limits.output_bytes:,} bytes")
        self._output_left -= size
        self.stdout.append(text)

    def _failure(self, failed: Failed) -> Failure:
        frames = self._frames(failed)
        if failed.kind == "limit":
            if failed.type not in ("memory_bytes", "cpu_seconds"):
                raise violation("claims a limit that it cannot know")
            return replace(kernel_limit(failed.type, self._limits), frames=frames)
        made = self._calls.made
        known = failed.call is not None and 0 <= failed.call < len(made) and made[failed.call].error is not None
        kind: FailureKind = "syntax" if failed.kind == "syntax" else "exception"
        call = failed.call if known else None
        hints = tuple(hint for told, mark in failed.hints if (hint := self._calls.borne_out(told, mark)) is not None)
        hints = hints if frames == failed.frames else ()  # else their levels are counted otherwise
        return Failure(kind=kind, type=failed.type, message=failed.message, frames=frames, call=call, hints=hints)

    def _frames(self, failed: Failed) -> tuple[Frame, ...]:
        return tuple(frame for frame in failed.frames if frame.line <= self._lines)


class _Told(RunEnded):
    """The program's own failure, as its process told it. What it began goes on, as after its last line."""


class _Signal:
    """Set once, waited for by one thread: a lock, since an `Event` takes several times as long."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()
        self._is_set = False

    def set(self) -> None:
        self._is_set = True
        self._lock.release()

    def is_set(self) -> bool:
        return self._is_set

    def wait(self, seconds: float) -> bool:
        """Whether it was set in time."""
        if not self._is_set and self._lock.acquire(timeout=seconds):
            self._lock.release()
        return self._is_set


def kernel_limit(name: str, limits: Limits) -> Failure:
    """The failure of a program that ran into `memory_bytes` or `cpu_seconds`, which the kernel keeps."""
    if name == "memory_bytes":
        text = f"the program needed more than {limits.memory_bytes / 2**20:,.0f} MiB of memory"
    else:
        text = f"the program used more than {limits.cpu_seconds:g} s of processor time"
    return Failure(kind="limit", type=name, message=f"{name}: {text}")
