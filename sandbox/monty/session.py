"""One run: the program goes on until it asks the host for something, and the host answers until it is over."""

from __future__ import annotations

import contextvars
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from protocols.jsontypes import Json
from sandbox import workers
from sandbox.calls import Calls, Closed
from sandbox.clock import Clock, running
from sandbox.contract import shorten
from sandbox.frames import RunEnded, limit_exceeded, violation, wall_exceeded
from sandbox.limits import Limits
from sandbox.monty import values
from sandbox.monty.adapt import Program
from sandbox.monty.answers import Answers
from sandbox.monty.machine import Machine
from sandbox.monty.verdict import Finished, Verdicts
from sandbox.trace import Failure, Frame, Pins

if TYPE_CHECKING:
    import pydantic_monty

    Suspended = pydantic_monty.FunctionSnapshot | pydantic_monty.NameLookupSnapshot | pydantic_monty.FutureSnapshot
    Snapshot = Suspended | pydantic_monty.MontyComplete

GRACE_SECONDS = 0.01
"""How long past the wall limit the interpreter has to stop by itself, so that its process can be kept."""

LOOK_SECONDS = 1.0
"""How long the caller's thread waits at most before it looks for Ctrl-C, which may come right before it waits."""


class Run:
    """What one run has said so far, and how it ended: the first end that anybody puts to it counts."""

    def __init__(
        self,
        session: pydantic_monty.MontySession,
        program: Program,
        tools: Mapping[str, tuple[str, ...]],
        calls: Calls,
        *,
        limits: Limits,
        pins: Pins,
        clock: Clock,
        kill: Callable[[], None],
    ) -> None:
        import pydantic_monty

        self.stdout: list[str] = []
        self.value: Json = None
        self._api = pydantic_monty
        self._session, self._program, self._limits = session, program, limits
        self._tools = tools
        self._clock, self._kill = clock, kill
        self._answers = Answers(tools, calls, Machine(pins, self._wait), most=limits.concurrent_calls)
        self._verdicts = Verdicts(program, calls, clock, limits)
        self._output_left = limits.output_bytes
        self._waiting: Suspended | None = None
        self._state = threading.Condition()
        self._left = True
        """No thread of ours but the caller's has anything to do with the session."""
        self._over = False
        self._how: BaseException | None = None
        self._line = 0
        """Where the program waits for the host, 0 while it computes."""
        self._spent = 0.0
        """Seconds that the interpreter has worked for it."""

    def hold(self) -> Failure | None:
        """Run the program. Gives how it failed, if it did.

        It begins on the caller's thread, which costs least; from where it first waits for something, a thread of its
        own goes on with it and the caller's watches the clock, so that no tool keeps it longer than the run may take.

        Raises:
            Lacking: monty lacks something, and no call was made.
            BaseException: what a tool or the journal raised that is no answer to a call.
        """
        self._talk(self._begin_here, leaves=False)
        if self._waiting is not None:
            self._hand_over()
        match self._how:
            case None | Finished():
                return None
            case RunEnded(failure=failure):
                return failure
            case how:
                raise how

    def end(self, how: BaseException | None, *, kill: bool = False) -> None:
        """Put an end to it; the first counts. `kill` where the interpreter goes on."""
        with self._state:
            if self._over:
                return
            self._over, self._how = True, how
            self._state.notify_all()
        if kill:
            self._kill()

    def _hand_over(self) -> None:
        context = contextvars.copy_context()
        context.run(running.set, self._clock)
        self._left = False
        workers.start(lambda: context.run(self._talk, self._go_on))
        try:
            self._await_end()
        except BaseException as error:  # Ctrl-C
            self.end(error)
            raise
        finally:
            self._hang_up()

    def _await_end(self) -> None:
        with self._state:
            while not self._over:
                left = self._clock.remaining() + (0.0 if self._line else GRACE_SECONDS)
                if left > 0:
                    self._state.wait(min(left, LOOK_SECONDS))
                    continue
                at = (Frame(line=self._line),) if self._line else ()
                self._over = True
                self._how = RunEnded(replace(wall_exceeded(self._clock).failure, frames=at))
                self._state.notify_all()

    def _hang_up(self) -> None:
        """Have no thread of ours use the session any more, but one that a tool keeps; it will not."""
        with self._state:
            if self._left or self._line:
                return
        self._kill()
        with self._state:
            self._state.wait_for(lambda: self._left, 1.0)

    def _talk(self, work: Callable[[], None], *, leaves: bool = True) -> None:
        """Do `work`, and take whatever it raises as an end."""
        try:
            work()
        except Closed:  # it was ended meanwhile
            pass
        except BaseException as end:  # noqa: BLE001 - `hold` raises what is not an end
            self.end(end)
        finally:
            if leaves:
                with self._state:
                    self._left = True
                    self._state.notify_all()

    def _begin_here(self) -> None:
        """Run the program as long as it waits for nothing that takes time."""
        printed = _printed_by(self)
        snapshot = self._step(lambda: self._session.feed_start(self._program.text, print_callback=printed))
        while not isinstance(snapshot, self._api.MontyComplete):
            if self._takes_time(snapshot):
                self._waiting, self._line = snapshot, self._program.line_at(snapshot.position.start) or 1
                return
            snapshot = self._answer(snapshot)
        self._complete(snapshot)

    def _go_on(self) -> None:
        """Run the rest of it."""
        assert self._waiting is not None, "it waits for something"
        snapshot: Snapshot = self._waiting
        while not isinstance(snapshot, self._api.MontyComplete):
            snapshot = self._answer(snapshot)
        self._complete(snapshot)

    def _complete(self, last: pydantic_monty.MontyComplete) -> None:
        self.value = values.plain(last.output)
        self.end(None)

    def _takes_time(self, snapshot: Suspended) -> bool:
        if not isinstance(snapshot, self._api.FunctionSnapshot):
            return isinstance(snapshot, self._api.FutureSnapshot)
        name = snapshot.function_name
        return name.endswith("sleep") if snapshot.is_os_function else name in self._tools

    def _step(self, go_on: Callable[[], Snapshot]) -> Snapshot:
        """Let the program go on until it asks again. Raises how it ended where it does not."""
        self._check()
        began = time.perf_counter()
        try:
            return go_on()
        except self._api.MontyError as error:
            if self._over:
                raise Closed from None
            raise self._verdicts.end(error, self._spent + time.perf_counter() - began) from error
        except Exception as error:
            if self._over:
                raise Closed from None
            raise violation(f"broke its protocol ({shorten(str(error), 200)})") from error
        finally:
            self._spent += time.perf_counter() - began

    def _check(self) -> None:
        with self._state:
            self._line = 0
            if self._over:
                raise Closed
        if self._clock.remaining() <= 0:
            raise wall_exceeded(self._clock)

    def _answer(self, snapshot: Suspended) -> Snapshot:
        with self._state:
            if self._over:
                raise Closed
            self._line = self._program.line_at(snapshot.position.start) or 1
        match snapshot:
            case self._api.NameLookupSnapshot():
                found = None if snapshot.object_id else self._answers.name(snapshot.variable_name, self._line)
                return self._step(snapshot.resume if found is None else lambda: snapshot.resume(value=found))
            case self._api.FutureSnapshot():
                results = self._answers.settle(snapshot.pending_call_ids)
                return self._step(lambda: snapshot.resume(results))
        given = self._answers.call(snapshot, self._line)
        return self._step(snapshot.resume_not_handled if given is None else lambda: snapshot.resume(given))

    def _wait(self, seconds: float) -> None:
        with self._state:
            self._state.wait_for(lambda: self._over, min(seconds, threading.TIMEOUT_MAX))
            if self._over:
                raise Closed

    def print(self, stream: str, text: str) -> None:
        """Take a piece of output; it comes on the thread that talks, while the program goes on."""
        if stream != "stdout" or self._over:
            return
        size = len(text.encode("utf-8", "replace"))
        if size > self._output_left:
            self.stdout.append(text.encode("utf-8", "replace")[: self._output_left].decode("utf-8", "ignore"))
            self._output_left = 0
            most = self._limits.output_bytes
            self.end(limit_exceeded("output_bytes", f"the program printed more than {most:,} bytes"), kill=True)
            return
        self._output_left -= size
        self.stdout.append(text)


def _printed_by(run: Run) -> Callable[[str, str], None]:
    """What takes the output. A snapshot keeps it, and Python's collector sees no cycle that goes through a snapshot."""
    reference = weakref.ref(run)

    def take(stream: str, text: str) -> None:
        alive = reference()
        if alive is not None:
            alive.print(stream, text)

    return take
