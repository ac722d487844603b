"""Handles the tool calls of one run on the host: validates, makes and records them."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, replace
from typing import Any

from protocols.errors import AtcError, Outcome, ToolError
from protocols.protocol import HttpBinding, McpBinding
from protocols.response import ToolResponse
from protocols.schema import Json, JsonObject
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.arguments import BadArguments, Contract, contract, shorten
from sandbox.base import Paused
from sandbox.call_failures import pause_run, unexpected_error
from sandbox.files import (
    ProgramFiles,
    accept_arguments,
    large_result,
    program_paths,
    program_value,
)
from sandbox.journal import Journal
from sandbox.limits import LONGEST_WAIT_SECONDS, Clock, Limits
from sandbox.lost_writes import CONFIRMED, PendingWrite, UnconfirmedWrite, WriteResult
from sandbox.page_series import ONLY_READS, PageSeries, SeriesOfRun
from sandbox.replies import CallReply, encode
from sandbox.trace import Frame, ToolCall
from sandbox.turns import Turns
from sandbox.wire import CallRequest, limit_exceeded, protocol_violation

UNKNOWN_OUTCOME = "UnknownOutcome"
"""Type of the failure that pauses a run because it is unknown whether a call changed data."""


@dataclass(eq=False, slots=True)
class OpenCall:
    """A tool call of the program that was accepted but has no outcome yet."""

    asked: ToolCall
    """The call without an outcome."""
    tool: Tool
    tool_contract: Contract
    sent: bool = False
    """True if the call was sent to the tool, or is about to be."""
    series: PageSeries | None = None
    """The pages to which its response belongs; None for a plain call."""
    wants_headers: bool = False


class RunOver(Exception):
    """Raised in a thread that makes a tool call if the run has ended meanwhile.

    The result of the call is then no longer needed.
    """


class Calls:
    """Makes and records all calls of one run.

    `made` is the list of calls for the trace, in the order in which the program made them. `begin`
    must be called in this order. `finish` may be called by several threads at the same time.
    """

    def __init__(self, tools: Toolbox, *, limits: Limits, journal: Journal, clock: Clock) -> None:
        self.made: list[ToolCall] = []
        self.tools = tools
        self._limits = limits
        self._journal = journal
        self._clock = clock
        self._lock = threading.Lock()
        self._settled = threading.Condition(self._lock)
        self._open: dict[int, OpenCall] = {}
        self._series = SeriesOfRun()
        self._closed = self._held_back = self._settling = False
        self._turns = Turns(tools)
        self.files = ProgramFiles(journal.files, limits)

    def begin(self, call: CallRequest) -> CallReply | OpenCall:
        """Accept a tool call of the program, and validate its arguments.

        Return the reply if the arguments are invalid, or if the journal has the result of an equal
        earlier call. Otherwise return an open call, which `finish` makes.

        Raises:
            RunEnded: the call ends the run: there is no such tool, or there are too many calls.
            AtcError: the host failed, for example because a replayed program makes another call
                than the recorded one.
            RunOver: the run has ended already.
        """
        tool = self._admit(call)
        terms = contract(tool.protocol)
        started = self._clock.elapsed()
        error = None
        series = None
        given: JsonObject = call.arguments
        query: JsonObject = {}
        if call.pages or call.after is not None:
            series, given, query = self._series.find(call, tool)
        try:
            if series is not None and tool.protocol.writes:
                raise BadArguments(ONLY_READS)  # noqa: TRY301 - the same as a wrong argument
            arguments = accept_arguments(terms, given, call, self.files)
        except BadArguments as problem:
            arguments = {**given, **call.unsendable}
            error = f"tool {call.tool!r}: {problem} (line {call.line})"
        asked = ToolCall(
            index=call.number,
            tool=call.tool,
            arguments=arguments,
            line=call.line,
            query=query,
            continues=call.after,
            within=call.within or None,
            started=started,
            error=error,
            outcome="not_run" if error else "unknown",
        )
        if error is not None:
            with self._lock:
                self._require_open()
                self.made.append(asked)
                self._journal.record(asked, complete=True)
            return CallReply(call.number, error=error)
        with self._lock:
            self._require_open()
            found = self._journal.find_answer(
                asked, writes=tool.protocol.writes, defaults=terms.defaults, repeats=tool.repeats
            )
            self.made.append(asked)
            opened = OpenCall(asked, tool, terms, series=series, wants_headers=call.headers)
            self._open[call.number] = opened
            self._turns.take(tool, call.number)
        if found is None:
            return opened
        self._record(found)
        if found.error is not None:
            return CallReply(found.index, error=found.error, status=found.status)
        tool.note_answer(found.arguments, found.result)
        value = program_value(tool, found)
        return self._reply(opened, found, value, encode(value))

    def finish(self, opened: OpenCall) -> CallReply:
        """Make an open call, record its outcome, and return the reply.

        Raises:
            RunEnded: the run pauses, because a person must decide about the call.
            AtcError: the host failed.
            RunOver: the run has ended already.
        """
        tool = opened.tool
        try:
            sent = self._deliver_call(opened)
            response = sent.response
            value = response.value if () in response.files else tool.unwrap(response.value)
            encoded = encode(value)
            if len(encoded) > self._limits.result_bytes and not response.files:
                value = large_result(tool.alias, encoded)
                encoded = encode(value)
                response = replace(response, value=value, files={(): value})
        except ToolError as error:
            return self._fail_call(opened, error)
        except UnconfirmedWrite as problem:
            return self._reply_unknown_outcome(opened, problem)
        except Paused as pause:
            self._fail_call(opened, pause, "not_run")
            raise pause_run(opened.asked, type(pause).__name__, str(pause)) from pause
        except (AtcError, RunOver):
            raise
        except Exception as error:  # noqa: BLE001 - what a tool gave is no JSON
            return self._fail_call(opened, unexpected_error(tool, error))
        no_response = sent.note == CONFIRMED
        is_value = not no_response and not response.files
        drift = opened.tool_contract.drift(response.value) if is_value else ()
        over = self.files.keep(response.files.values())
        made = self._outcome(
            opened,
            result=json.loads(encode(response.value)) if response.files else response.value,
            headers=response.headers,
            files=tuple(response.files),
            outcome="done",
            drift=drift,
            note=sent.note,
        )
        self._record(made)
        if over is not None:
            raise over
        return self._reply(opened, made, value, encoded)

    def stop_sending(self) -> None:
        """Send no more tool calls. Open calls that were not sent yet get the outcome `not_run`."""
        with self._lock:
            self._held_back = True
            for opened in [opened for opened in self._open.values() if not opened.sent]:
                self._store_outcome(
                    self._outcome(
                        opened, error="the run ended before it was sent", outcome="not_run"
                    )
                )

    def wait_for_open_calls(self) -> None:
        """Wait until all calls have an outcome, but not longer than the run may take."""
        with self._settled:
            self._settling = True
            while self._open and (remaining := self._clock.remaining()) > 0:
                self._settled.wait(min(remaining, LONGEST_WAIT_SECONDS))

    def close(self, why: str) -> None:
        """Record an outcome for all calls that have none yet, at the end of a run.

        `why` becomes their error.
        """
        with self._lock:
            self._closed = True
            for opened in list(self._open.values()):
                self._store_outcome(
                    self._outcome(
                        opened, error=why, outcome="unknown" if opened.sent else "not_run"
                    )
                )

    def _reply(self, opened: OpenCall, call: ToolCall, value: Json, encoded: str) -> CallReply:
        """Return the reply to a successful call, with what the program wants beside the value."""
        beside: dict[str, Json] = {}
        if call.files:
            beside["files"] = self.files.hand_out(value, program_paths(opened.tool, call))
        if opened.wants_headers:
            beside["headers"] = dict(call.headers)
        elif opened.series is not None:
            beside |= self._series.take(opened.series, call)._asdict()
        return CallReply(call.index, encoded, beside=beside)

    def _admit(self, call: CallRequest) -> Tool:
        if call.number != len(self.made):
            raise protocol_violation(
                f"numbered its call {call.number} where {len(self.made)} was due"
            )
        if call.tool not in self.tools:
            raise protocol_violation(f"asked for the undeclared tool {shorten(call.tool, 80)!r}")
        if call.number >= (most := self._limits.tool_calls):
            problem = f"the program made more than {most:,} calls"
            raise limit_exceeded("tool_calls", problem, frames=(Frame(line=call.line),))
        return self.tools[call.tool]

    def _deliver_call(self, opened: OpenCall) -> WriteResult:
        """Send a call that has no outcome yet to its tool, and return the response.

        If no earlier execution has sent the call, `Tool.admit` is asked first. It raises an
        exception if the call must not be sent. If the tool changes data and an earlier execution
        may have sent the call, first find out whether it took effect.
        """
        asked = opened.asked
        tool = opened.tool
        journal = self._journal
        arguments = tool.original_arguments(asked.arguments)
        earlier = journal.earlier_write(asked.index)
        if tool.admit is not None and earlier is None:
            tool.admit(arguments)
        if journal.write_recovery is None or not tool.protocol.writes:
            self._record_intent(opened, None)
            return WriteResult(self._make(opened, arguments))
        sending = PendingWrite(
            tool=tool,
            arguments=arguments,
            earlier=earlier,
            make=lambda: self._make(opened, arguments),
            intend=lambda baseline: self._record_intent(opened, baseline),
            results=lambda: [
                call.result for call in journal.completed_calls() if call.tool == asked.tool
            ],
        )
        return journal.write_recovery.send(sending)

    def _record_intent(self, opened: OpenCall, baseline: Json) -> None:
        asked = opened.asked if baseline is None else replace(opened.asked, baseline=baseline)
        self._prepare(asked, complete=False)
        with self._lock:
            self._require_open(asked.index)
            opened.asked = asked
            self._journal.record(asked, complete=False)
            opened.sent = True

    def _make(self, opened: OpenCall, arguments: dict[str, Json]) -> ToolResponse:
        tool = opened.tool
        self._turns.wait(tool, opened.asked.index)
        with self._lock:
            self._require_open(opened.asked.index)
        key = self._journal.key(opened.asked.index) if tool.protocol.writes else None
        try:
            if self._journal.confirm is not None:
                self._journal.confirm()
            response = tool.send(arguments, idempotency_key=key, query=opened.asked.query)
        except (ToolError, Paused, AtcError):
            raise
        except Exception as error:
            raise unexpected_error(tool, error) from error
        if response.files:
            return response
        if not isinstance(response.value, str) and not isinstance(
            tool.protocol.binding, (HttpBinding, McpBinding)
        ):
            # A function of this process may still change what it returned, so record a copy.
            return ToolResponse(json.loads(encode(response.value)))
        return response

    def _reply_unknown_outcome(self, opened: OpenCall, problem: UnconfirmedWrite) -> CallReply:
        """Return an error reply for a call that may or may not have changed data.

        Raises:
            RunEnded: the run pauses, because the settings do not allow skipping such a call.
        """
        reply = self._fail_call(opened, problem.error, "unknown")
        if (
            self._journal.write_recovery is not None
            and self._journal.write_recovery.on_unknown == "skip"
        ):
            return reply
        message = (
            f"{opened.asked.tool} may or may not have taken effect: its answer was lost"
            f" ({shorten(reply.error or '', 200)}), and {problem.why}. It is not sent any more."
        )
        # Calls that the program has begun beside this one do not depend on its result.
        raise pause_run(opened.asked, UNKNOWN_OUTCOME, message, makes_calls=True) from problem

    def _fail_call(
        self, opened: OpenCall, error: Exception, outcome: Outcome | None = None
    ) -> CallReply:
        status = getattr(error, "status", None)
        how = {name: getattr(error, name, None) for name in ("curl", "remedy")}
        message = getattr(error, "body", "") or str(error)
        outcome = outcome or getattr(error, "outcome", "refused")
        self._record(self._outcome(opened, error=message, status=status, outcome=outcome, **how))
        return CallReply(opened.asked.index, error=message, status=status)

    def _prepare(self, call: ToolCall, *, complete: bool) -> None:
        """Let the journal do slow work before a call, or its outcome, is recorded.

        The lock is not held meanwhile, so that the run can end on time.
        """
        with self._lock:
            self._require_open(call.index)
            execution = self._journal.execution
        if self._journal.prepare is not None:
            self._journal.prepare(execution, call, complete)

    def _record(self, call: ToolCall) -> None:
        self._prepare(call, complete=True)
        with self._lock:
            self._require_open(call.index)
            self._store_outcome(call)

    def _store_outcome(self, call: ToolCall) -> None:
        self._turns.end(self._open.pop(call.index).tool, call.index)
        self.made[call.index] = call
        if self._settling:
            self._settled.notify_all()
        self._journal.record_outcome(call)

    def _require_open(self, index: int | None = None) -> None:
        """Check that a call may still be made, or its outcome recorded.

        `index` is the index of a call that must have no outcome yet. If it is None, check that a
        new call may be made.

        Raises:
            RunOver: no new call may be made, or the call has an outcome already.
        """
        if self._closed or (self._held_back if index is None else index not in self._open):
            raise RunOver

    def _outcome(self, opened: OpenCall, **how: Any) -> ToolCall:
        # `dataclasses.replace` takes four times as long, and this runs for every call.
        asked = opened.asked
        seconds = self._clock.elapsed() - opened.asked.started
        return ToolCall(
            index=asked.index,
            tool=asked.tool,
            arguments=asked.arguments,
            line=asked.line,
            query=asked.query,
            continues=asked.continues,
            started=asked.started,
            seconds=seconds,
            baseline=asked.baseline,
            within=asked.within,
            **how,
        )
