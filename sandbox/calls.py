"""The host's side of one run's tool calls: check, ask the journal, call, validate, record."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, replace
from typing import Any

from protocols.errors import AtcError, Outcome, ToolError
from protocols.idempotency import idempotency_key
from protocols.jsontypes import Json
from protocols.protocol import HttpBinding, McpBinding
from protocols.toolbox import Tool, Toolbox
from sandbox import hints
from sandbox.clock import LONGEST_WAIT_SECONDS, Clock
from sandbox.contract import BadArguments, Contract, contract, shorten
from sandbox.effects import Sending, Sent, StillUnknown
from sandbox.errors import Paused
from sandbox.frames import Call, RunEnded, limit_exceeded, violation
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.replies import Reply, encode, preview
from sandbox.trace import Failure, Frame, Hint, ToolCall

UNKNOWN_OUTCOME = "UnknownOutcome"
"""Type of the failure that pauses a run at a write of which nobody knows whether it took effect."""


@dataclass(eq=False, slots=True)
class Open:
    """A call that was admitted and has no outcome yet."""

    asked: ToolCall
    tool: Tool
    terms: Contract
    sent: bool = False


class Closed(Exception):
    """The run is over: whatever a call brings now, nobody wants it."""


class Calls:
    """All calls of one run, in order of issue. `made` is what the trace holds of them.

    `begin` is called in that order; `finish` may be called from several threads at once.
    """

    def __init__(self, tools: Toolbox, *, limits: Limits, journal: Journal, clock: Clock) -> None:
        self.made: list[ToolCall] = []
        self._tools, self._limits, self._journal, self._clock = tools, limits, journal, clock
        self._lock = threading.Lock()
        self._settled = threading.Condition(self._lock)
        self._known: dict[str, tuple[Tool, Contract, bool]] = {}
        self._open: dict[int, Open] = {}
        self._closed = self._held_back = self._settling = False

    def answer(self, call: Call) -> Reply:
        """`begin` and `finish` in one."""
        begun = self.begin(call)
        return begun if isinstance(begun, Reply) else self.finish(begun)

    def begin(self, call: Call) -> Reply | Open:
        """Admit a call: the reply where it needs none to be made (refused, or answered by the journal).

        Raises:
            RunEnded: the run ends here: no such tool, or too many calls.
            AtcError: our side failed, as a replay that left its recording.
            Closed: the run is over.
        """
        tool, terms, writes = self._admit(call)
        started = self._clock.elapsed()
        line, within = self._journal.origin(call.line)
        try:
            arguments = _accept(terms, call)
        except BadArguments as problem:
            message = f"tool {call.tool!r}: {problem} (line {line})"
            given = {**call.arguments, **call.unsendable}
            asked = ToolCall(
                index=call.number, tool=call.tool, arguments=given, line=line, started=started,
                error=message, outcome="not_run", within=within,
            )  # fmt: skip
            with self._lock:
                self._check()
                self.made.append(asked)
                self._journal.refused(asked)
            return Reply(call.number, error=message)
        asked = ToolCall(
            index=call.number, tool=call.tool, arguments=arguments, line=line, started=started, outcome="unknown",
            within=within,
        )  # fmt: skip
        with self._lock:
            self._check()
            found = self._journal.before(asked, writes=writes, defaults=terms.defaults)
            self.made.append(asked)
            self._open[call.number] = opened = Open(asked, tool, terms)
        if found is None:
            return opened
        self._record(found)
        if found.error is not None:
            return Reply(found.index, error=found.error, status=found.status)
        value = tool.unwrap(found.result)
        return self._reply(found.index, value, encode(value))

    def finish(self, opened: Open) -> Reply:
        """Make an admitted call and record how it came out.

        Raises:
            RunEnded: a person must decide.
            AtcError, Closed: as for `begin`.
        """
        asked, tool = opened.asked, opened.tool
        try:
            sent = self._deliver(opened)
            value = tool.unwrap(sent.response)
            encoded = encode(value)
        except ToolError as error:
            said = error.body or str(error)
            return self._failed(opened, said, status=error.status, outcome=error.outcome, curl=error.curl)
        except StillUnknown as problem:
            return self._doubtful(opened, problem)
        except Paused as pause:
            self._failed(opened, str(pause), outcome="not_run")
            failure = Failure(kind="paused", type="Paused", message=str(pause), call=asked.index)
            raise RunEnded(failure, locate=True) from pause
        except (AtcError, Closed):
            raise
        except Exception as error:  # noqa: BLE001 - what a tool gave is no JSON
            outcome: Outcome = "unknown" if tool.protocol.writes else "refused"
            return self._failed(opened, f"{type(error).__name__}: {error}", outcome=outcome)
        drift = opened.terms.drift(sent.response)
        self._record(self._ended(asked, result=sent.response, drift=drift, note=sent.note))
        return self._reply(asked.index, value, encoded)

    def hold_back(self) -> None:
        """Send nothing more: somebody ended the run. Calls that still wait for their turn are not made."""
        with self._lock:
            self._held_back = True
            for opened in [opened for opened in self._open.values() if not opened.sent]:
                self._close_one(opened, "the run ended before it was sent", "not_run")

    def borne_out(self, hint: Hint, mark: int) -> Hint | None:
        """A program's hint with its path in the full response; None unless our record has the marked value there."""
        if hint.call >= len(self.made) or self.made[hint.call].outcome != "done":
            return None
        made = self.made[hint.call]
        value = self._tools[made.tool].unwrap(made.result)
        path = hint.path if value is made.result else (self._tools[made.tool].wrapper or "", *hint.path)
        for step in hint.path:
            if isinstance(value, dict) and step in value:
                value = value[str(step)]
            elif isinstance(value, list) and isinstance(step, int) and step < len(value):
                value = value[step]
            else:
                return None
        return replace(hint, path=path) if hints.mark(value) == mark else None

    def settle(self) -> None:
        """Wait for the calls that are under way, as long as the run may take."""
        with self._settled:
            self._settling = True
            while self._open and (remaining := self._clock.remaining()) > 0:
                self._settled.wait(min(remaining, LONGEST_WAIT_SECONDS))

    def close(self, why: str) -> None:
        """End it: calls without an outcome get none any more."""
        with self._lock:
            self._closed = True
            for opened in list(self._open.values()):
                self._close_one(opened, why, "unknown" if opened.sent else "not_run")

    def _admit(self, call: Call) -> tuple[Tool, Contract, bool]:
        """The tool, its contract, and whether it writes."""
        if call.number != len(self.made):
            raise violation(f"numbered its call {call.number} where {len(self.made)} was due")
        known = self._known.get(call.tool)
        if known is None and call.tool not in self._tools:
            raise violation(f"asked for the undeclared tool {shorten(call.tool, 80)!r}")
        most = self._limits.tool_calls
        if call.number >= most:
            at = (Frame(line=call.line),)
            raise limit_exceeded("tool_calls", f"the program made more than {most:,} calls", frames=at)
        if known is None:
            tool = self._tools[call.tool]
            known = self._known[call.tool] = (tool, contract(tool.protocol), tool.protocol.writes)
        return known

    def _deliver(self, opened: Open) -> Sent:
        """Send the call, where the tool's gate lets it through and a write was not done before."""
        asked, tool, journal = opened.asked, opened.tool, self._journal
        arguments = tool.original(asked.arguments)
        earlier = journal.earlier(asked.index)
        if tool.admit is not None and earlier is None:
            tool.admit(arguments)
        if journal.effects is None or not tool.protocol.writes:
            self._intend(opened, None)
            return Sent(self._make(opened, arguments))
        sending = Sending(
            tool=tool,
            arguments=arguments,
            earlier=earlier,
            make=lambda: self._make(opened, arguments),
            intend=lambda baseline: self._intend(opened, baseline),
            results=lambda: [call.result for call in journal.completed() if call.tool == asked.tool],
        )
        return journal.effects.send(sending)

    def _intend(self, opened: Open, baseline: Json) -> None:
        asked = opened.asked if baseline is None else replace(opened.asked, baseline=baseline)
        self._prepare(asked, complete=False)
        with self._lock:
            self._check(asked.index)
            opened.asked = asked
            self._journal.intend(asked)
            opened.sent = True

    def _make(self, opened: Open, arguments: dict[str, Json]) -> Json:
        """The full response."""
        tool = opened.tool
        with self._lock:
            self._check(opened.asked.index)
        token = idempotency_key.set(self._journal.key(opened.asked.index)) if tool.protocol.writes else None
        try:
            response = tool.call(arguments)
        except (ToolError, Paused, AtcError):
            raise
        except Exception as error:
            outcome: Outcome = "unknown" if tool.protocol.writes else "refused"
            raise ToolError(None, f"{type(error).__name__}: {error}", outcome=outcome) from error
        finally:
            if token is not None:
                idempotency_key.reset(token)
        if not isinstance(response, str) and not isinstance(tool.protocol.binding, (HttpBinding, McpBinding)):
            # What a function of this process returned may still change; the record must not.
            response = json.loads(encode(response))
        return response

    def _doubtful(self, opened: Open, problem: StillUnknown) -> Reply:
        """A write that may or may not have taken effect: the run pauses, unless it was told to go on.

        Raises:
            RunEnded: the run pauses.
        """
        asked, error = opened.asked, problem.error
        said = error.body or str(error)
        reply = self._failed(opened, said, status=error.status, outcome="unknown", curl=error.curl)
        if self._journal.effects is not None and self._journal.effects.on_unknown == "skip":
            return reply
        message = (
            f"{asked.tool} may or may not have taken effect: its answer was lost ({shorten(said, 200)}), and"
            f" {problem.why}. It is not sent any more."
        )
        failure = Failure(kind="paused", type=UNKNOWN_OUTCOME, message=message, call=asked.index)
        raise RunEnded(failure, locate=True) from problem

    def _reply(self, number: int, value: Json, encoded: str) -> Reply:
        if len(encoded) > self._limits.result_bytes:
            value = preview(value, encoded)
            encoded = encode(value)
        return Reply(number, value, encoded)

    def _failed(
        self, opened: Open, said: str, *, outcome: Outcome, status: int | None = None, curl: str | None = None
    ) -> Reply:
        asked = opened.asked
        self._record(self._ended(asked, error=said, status=status, outcome=outcome, curl=curl))
        return Reply(asked.index, error=said, status=status)

    def _prepare(self, call: ToolCall, *, complete: bool) -> None:
        """What takes long about recording a call. Nothing is locked meanwhile, so that the run can end on time."""
        if (prepare := self._journal.prepare) is None:
            return
        with self._lock:
            self._check(call.index)
            execution = self._journal.execution
        prepare(execution, call, complete)

    def _record(self, call: ToolCall) -> None:
        self._prepare(call, complete=True)
        with self._lock:
            self._check(call.index)
            del self._open[call.index]
            self.made[call.index] = call
            if self._settling:
                self._settled.notify_all()
            self._journal.after(call)

    def _close_one(self, opened: Open, why: str, outcome: Outcome) -> None:
        asked = opened.asked
        call = self._ended(asked, error=why, outcome=outcome)
        del self._open[asked.index]
        self.made[asked.index] = call
        self._journal.after(call)

    def _check(self, index: int | None = None) -> None:
        """Raise `Closed` when the run is over for a new call, or for this one, which then has its outcome."""
        if self._closed or (self._held_back if index is None else index not in self._open):
            raise Closed

    def _ended(self, asked: ToolCall, **how: Any) -> ToolCall:
        # `dataclasses.replace` takes four times as long, and this is done for every call.
        seconds = self._clock.elapsed() - asked.started
        return ToolCall(
            index=asked.index, tool=asked.tool, arguments=asked.arguments, line=asked.line, started=asked.started,
            seconds=seconds, baseline=asked.baseline, within=asked.within, **how,
        )  # fmt: skip


def _accept(terms: Contract, call: Call) -> dict[str, Json]:
    for alias, text in call.unsendable.items():
        raise BadArguments(terms.not_json(alias, text))
    return terms.accept(call.arguments)
