"""How a run ended, by what the interpreter raised: a limit of ours, the program's own failure, or what monty lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sandbox.calls import Calls
from sandbox.clock import Clock
from sandbox.contract import shorten
from sandbox.conversation import kernel_limit
from sandbox.frames import RunEnded, limit_exceeded, wall_exceeded
from sandbox.limits import Limits
from sandbox.monty import subset
from sandbox.monty.adapt import TOOL_ERROR, Program
from sandbox.monty.values import sendable
from sandbox.trace import Failure, Frame

if TYPE_CHECKING:
    import pydantic_monty  # an extra: imported at run time only where a program runs

NAME_CHARACTERS, MESSAGE_CHARACTERS = 100, 4000

OUTER_FRAMES, INNER_FRAMES = 10, 30
"""Of a long traceback, so many levels of either end are told."""

SUSPENSIONS = 100_000
"""How often one program may ask the host for anything, a name that it has not or the time included."""

_TIME_IS_UP = ("feed time limit exceeded", "turn time limit exceeded")


class Finished(Exception):
    """The program ended itself, as `exit()` does."""


class Lacking(Exception):
    """Before its first call the program needed `what`, on `line`, or failed in a way that Python may not."""

    def __init__(self, what: str, line: int, failure: Failure | None = None) -> None:
        super().__init__(what, line)
        self.what, self.line = what, line
        self.failure = failure
        """What the program is told where monty is all there is; None where that is the lack itself."""


class Verdicts:
    """Judges the errors of one run."""

    def __init__(self, program: Program, calls: Calls, clock: Clock, limits: Limits) -> None:
        self._program, self._calls, self._clock, self._limits = program, calls, clock, limits

    def end(self, error: pydantic_monty.MontyError, spent: float) -> Exception:
        """How the run ended, when the interpreter had worked `spent` seconds for it."""
        import pydantic_monty

        if isinstance(error, pydantic_monty.MontyCrashedError):
            return self._crash(error, spent)
        if isinstance(error, pydantic_monty.MontySyntaxError):
            text = sendable(shorten(error.display("msg"), MESSAGE_CHARACTERS))
            frames = self._frames(error.traceback())[-1:] or (Frame(line=1),)
            return RunEnded(Failure(kind="syntax", type="SyntaxError", message=text, frames=frames))
        inner = error.exception()
        frames = self._frames(error.traceback()) if isinstance(error, pydantic_monty.MontyRuntimeError) else ()
        return self._limit(inner, spent, frames) or self._exception(inner, frames)

    def _crash(self, error: pydantic_monty.MontyCrashedError, spent: float) -> RunEnded:
        if error.timed_out or spent >= self._allowance():
            return self._time_is_up(spent)
        message = "the program crashed the interpreter, or had more to send at once than the host takes"
        return RunEnded(Failure(kind="exception", type="Crash", message=message))

    def _limit(self, error: BaseException, spent: float, frames: tuple[Frame, ...]) -> RunEnded | None:
        text = str(error)
        if isinstance(error, MemoryError):
            failure = kernel_limit("memory_bytes", self._limits)
            return RunEnded(Failure(kind="limit", type=failure.type, message=failure.message, frames=frames))
        if isinstance(error, TimeoutError) and text.startswith(_TIME_IS_UP) and spent >= 0.9 * self._allowance():
            return self._time_is_up(spent)
        if isinstance(error, RuntimeError) and text == f"suspension limit {SUSPENSIONS} exceeded":
            return limit_exceeded("tool_calls", f"the program asked the host more than {SUSPENSIONS:,} times")
        return None

    def _allowance(self) -> float:
        return min(self._limits.cpu_seconds, self._limits.wall_seconds)

    def _time_is_up(self, spent: float) -> RunEnded:
        if spent < 0.9 * self._limits.cpu_seconds or self._clock.remaining() <= 0:
            return wall_exceeded(self._clock)
        return RunEnded(kernel_limit("cpu_seconds", self._limits))

    def _exception(self, error: BaseException, frames: tuple[Frame, ...]) -> Exception:
        type_, text = type(error).__name__, str(error)
        line = frames[-1].line if frames else 0
        if isinstance(error, SystemExit) and text in ("", "0", "None"):
            return Finished()
        if (what := subset.missing(type_, text)) is not None:
            if not self._calls.made:
                return Lacking(what, line)
            return RunEnded(lack(what, line, frames))
        call = None
        if type_ == TOOL_ERROR.rpartition(".")[2]:
            type_, call = "ToolError", self._call(text)
        name, message = shorten(type_, NAME_CHARACTERS), sendable(shorten(text, MESSAGE_CHARACTERS))
        failure = Failure(kind="exception", type=name, message=message, frames=frames, call=call)
        if type_ in subset.DOUBTFUL and not self._calls.made:
            return Lacking(f"what a {type_} is about: {message}", line, failure)
        return RunEnded(failure)

    def _call(self, text: str) -> int | None:
        """The latest call that failed with that text."""
        for call in reversed(self._calls.made):
            if call.error is not None and text == (
                call.error if call.status is None else f"HTTP {call.status}: {call.error}"
            ):
                return call.index
        return None

    def _frames(self, traceback: list[pydantic_monty.Frame]) -> tuple[Frame, ...]:
        """Line and function of each of the program's own levels, outermost first."""
        found = [
            Frame(line=line, function=sendable(shorten(frame.function_name or "<module>", NAME_CHARACTERS)))
            for frame in traceback
            if frame.filename.startswith("<python-input") and (line := self._program.line(frame.line))
        ]
        if len(found) > OUTER_FRAMES + INNER_FRAMES:
            found[OUTER_FRAMES:-INNER_FRAMES] = []
        return tuple(found)


def lack(what: str, line: int, frames: tuple[Frame, ...] = ()) -> Failure:
    """The failure of a program that needs what monty has not."""
    at = frames or ((Frame(line=line),) if line else ())
    return Failure(kind="policy", type="Unsupported", message=subset.message(what, line), frames=at)
