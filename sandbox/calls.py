"""The host's side of one run's tool calls: check, ask the journal, call, validate, record."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from protocols.errors import AtcError, Outcome, ToolError
from protocols.jsontypes import Json
from protocols.protocol import HttpBinding, McpBinding
from protocols.schema import shape
from protocols.toolbox import Tool, Toolbox
from sandbox.clock import LONGEST_WAIT_SECONDS, Clock, running
from sandbox.contract import BadArguments, Contract, contract, shorten
from sandbox.errors import Paused
from sandbox.frames import Call, RunEnded, limit_exceeded, violation, wall_exceeded
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.trace import Failure, Frame, ToolCall

PREVIEW_CHARACTERS = 2000


class Calls:
    """All calls of one run, in order of issue. `made` is what the trace holds of them."""

    def __init__(self, tools: Toolbox, *, limits: Limits, journal: Journal, clock: Clock) -> None:
        self.made: list[ToolCall] = []
        self._tools, self._limits, self._journal, self._clock = tools, limits, journal, clock
        self._worker = Worker(clock)

    def answer(self, call: Call) -> bytes:
        """Make the call that the child asks for (or not, when its arguments are wrong) and give the reply's line.

        Raises:
            RunEnded: the run ends here: no such tool, too many calls, out of time, or a person must decide.
            AtcError: our side failed, as a replay that left its recording.
        """
        tool = self._admit(call)
        terms = contract(tool.protocol)
        writes = tool.protocol.writes
        asked = ToolCall(
            index=call.number, tool=call.tool, arguments=call.arguments, line=call.line, started=self._clock.elapsed()
        )
        try:
            asked = replace(asked, arguments=_accept(terms, call))
        except BadArguments as problem:
            message = f"tool {call.tool!r}: {problem} (line {call.line})"
            given = {**call.arguments, **call.unsendable}
            self.made.append(replace(asked, arguments=given, error=message, outcome="not_run"))
            return _refusal(call.number, None, message)
        found = self._journal.before(asked, writes=writes, defaults=terms.defaults)
        if found is not None:
            encoded = encode(tool.unwrap(found.result))
        else:
            try:
                found, encoded = self._make(tool, terms, asked)
            except RunEnded:
                self._journal.after(self.made[-1], writes=writes, defaults=terms.defaults)
                raise
        self.made.append(found)
        self._journal.after(found, writes=writes, defaults=terms.defaults)
        if found.error is not None:
            return _refusal(call.number, found.status, found.error)
        if len(encoded) > self._limits.result_bytes:
            encoded = encode(preview(tool.unwrap(found.result), encoded))
        return f'{{"id":{call.number},"value":{encoded}}}\n'.encode("ascii")

    def close(self) -> None:
        """Let the thread that made the calls end."""
        self._worker.close()

    def _admit(self, call: Call) -> Tool:
        if call.number != len(self.made):
            raise violation(f"numbered its call {call.number} where {len(self.made)} was due")
        if call.tool not in self._tools:
            raise violation(f"asked for the undeclared tool {shorten(call.tool, 80)!r}")
        most = self._limits.tool_calls
        if call.number >= most:
            at = (Frame(line=call.line),)
            raise limit_exceeded("tool_calls", f"the program made more than {most:,} calls", frames=at)
        return self._tools[call.tool]

    def _make(self, tool: Tool, terms: Contract, asked: ToolCall) -> tuple[ToolCall, str]:
        """The call as it came out, and its result as JSON for the program."""
        try:
            response = self._worker.call(tool.call, tool.original(asked.arguments))
            if not isinstance(tool.protocol.binding, HttpBinding | McpBinding):
                # What a function of this process returned may still change; the record must not.
                response = json.loads(encode(response))
            encoded = encode(tool.unwrap(response))
        except ToolError as error:
            said = error.body or str(error)
            ended = replace(asked, error=said, status=error.status, outcome=error.outcome, curl=error.curl)
            return self._timed(ended), ""
        except Paused as pause:
            self.made.append(self._timed(replace(asked, error=str(pause), outcome="not_run")))
            failure = Failure(kind="paused", type="Paused", message=str(pause), call=asked.index)
            raise RunEnded(failure, locate=True) from pause
        except RunEnded:
            late = f"no answer within the run's {self._limits.wall_seconds:g} s"
            self.made.append(self._timed(replace(asked, error=late, outcome="unknown")))
            raise
        except AtcError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a tool's own code raises is the tool's failure
            text = f"{type(error).__name__}: {error}"
            effect: Outcome = "unknown" if tool.protocol.writes else "refused"
            return self._timed(replace(asked, error=text, outcome=effect)), ""
        return self._timed(replace(asked, result=response, drift=terms.drift(response))), encoded

    def _timed(self, call: ToolCall) -> ToolCall:
        return replace(call, seconds=self._clock.elapsed() - call.started)


class Worker:
    """A thread that makes one call at a time, so that a run can leave a call that does not return in time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._work: queue.SimpleQueue[tuple[Callable[[Any], Json], Any] | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[tuple[Json, BaseException | None]] = queue.SimpleQueue()
        self._started = False

    def call(self, function: Callable[[Any], Json], argument: Any) -> Json:
        """`function(argument)`, or what it raises.

        Raises:
            RunEnded: the wall clock ran out first; the call goes on, and nobody hears of its end.
        """
        if not self._started:
            threading.Thread(target=self._serve, name="tool-calls", daemon=True).start()
            self._started = True
        self._work.put((function, argument))
        while True:
            try:
                # The clock may be stopped meanwhile, so look again before giving up.
                result, error = self._results.get(timeout=min(max(self._clock.remaining(), 0.01), LONGEST_WAIT_SECONDS))
            except queue.Empty:
                if self._clock.remaining() <= 0:
                    raise wall_exceeded(self._clock) from None
                continue
            if error is not None:
                raise error
            return result

    def close(self) -> None:
        """End the thread once its present call is over."""
        if self._started:
            self._work.put(None)

    def _serve(self) -> None:
        running.set(self._clock)
        while (work := self._work.get()) is not None:
            function, argument = work
            try:
                outcome: tuple[Json, BaseException | None] = function(argument), None
            except BaseException as error:  # noqa: BLE001 - raised again on the run's own thread
                outcome = None, error
            self._results.put(outcome)
            del work, argument, outcome


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
    return json.dumps(value, separators=(",", ":"))


def _accept(terms: Contract, call: Call) -> dict[str, Json]:
    for alias, text in call.unsendable.items():
        raise BadArguments(terms.not_json(alias, text))
    return terms.accept(call.arguments)


def _refusal(number: int, status: int | None, body: str) -> bytes:
    return (encode({"id": number, "error": body, "status": status}) + "\n").encode("ascii")
