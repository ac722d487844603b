"""The one gate through which every call of a probing passes: what may be called, how fast, how often, and only once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Literal

from probing.events import Called, Note, Watch, unwatched
from probing.gate.answers import unusable
from probing.gate.hosts import GATEWAY, Host
from probing.gate.interrupt import OutOfTime, finishing, time_limit
from probing.gate.plan import host_of, reads, why_not
from probing.log import Log
from probing.made import Ledger
from probing.sample import Purpose, Sample, Value
from probing.settings import ProbeSettings
from protocols.errors import AtcError, ToolError, UnknownTool
from protocols.jsontypes import Json, JsonObject
from protocols.protocol import HttpBinding, PythonBinding
from protocols.toolbox import Tool, Toolbox

Scope = Literal["call", "tool", "all"]
_Fate = Literal["answer", "busy", "unreached", "broken", "unsendable"]
_AGAIN_SECONDS = 1.0
_TO_TAKE_AWAY = 2
"""Calls that are kept for each thing that was made: a read that shows it, and what takes it away."""


class NotCalled(AtcError):
    """A call that is not made; the message says why.

    `scope` says for how much that holds: for this call (`call`), for every call of the tool (`tool`), for all (`all`).
    """

    def __init__(self, why: str, *, scope: Scope) -> None:
        super().__init__(why)
        self.scope: Scope = scope


class Caller:
    """Makes the calls of one probing, one at a time; each is in the log before it is sent, and again when it came back.

    A call that the log has is answered from there. One that was sent before a kill and never answered is not sent
    again. What says nothing of the tool becomes no sample and may be made again: an answer that asks to wait (429) and
    a host that cannot be reached are waited for, a read whose connection broke is sent once more. All of it counts as
    calls, but for what never left this machine. To a tool that writes goes only what the `ledger` lets pass, after
    `prepare` has put the probing's mark into it.

    `stopped` says of tools, by their own names, why they are not called, or not any more. Safe for threads, which wait
    for each other.
    """

    def __init__(
        self,
        toolbox: Toolbox,
        log: Log,
        settings: ProbeSettings,
        *,
        watch: Watch = unwatched,
        sleep: Callable[[float], object] = time.sleep,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._log, self._settings, self._watch = log, settings, watch
        self._tools = {tool.protocol.name: tool for tool in toolbox.values()}
        self.stopped = {name: reason for name, t in self._tools.items() if (reason := why_not(t.protocol, settings))}
        self.ledger = Ledger({name: tool.protocol for name, tool in self._tools.items()}, log)
        self.prepare: Callable[[str, Mapping[str, Value]], Mapping[str, Value]] = lambda _, arguments: arguments
        self._lock = threading.RLock()
        answered = {sample.tool for sample in log.samples if sample.done}
        hosts: dict[str, Host] = {}
        for name, tool in self._tools.items():
            if name not in self.stopped:
                place = host_of(tool.protocol)
                host = hosts.get(place) or Host(place, settings, tool.protocol, sleep=sleep, now=now)
                hosts[place] = host
                host.add(tool.protocol, answered=name in answered)
        self._hosts = {name: hosts[host_of(t.protocol)] for name, t in self._tools.items() if name not in self.stopped}

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Value],
        *,
        purpose: Purpose,
        round: int = 0,  # noqa: A002 - the paper's word
        again: bool = False,
    ) -> Sample:
        """The answer of `tool`, by its own name, to `arguments`: from the log, else by calling it.

        `again` calls it although the log has an answer: a read after a write may answer otherwise.

        Raises:
            NotCalled: it is not made.
            UnknownTool: there is no such tool.
        """
        with self._lock:
            if tool not in self._tools:
                raise UnknownTool(tool, list(self._tools))
            arguments = self.prepare(tool, arguments)
            plain = {name: given.value for name, given in arguments.items()}
            sample = None if again else self._log.find(tool, plain)
            while sample is None:
                self._admit(tool, plain, purpose)
                self._hosts[tool].pace.wait()
                sample = self._attempt(tool, arguments, plain, purpose, round)
            return sample

    def left(self, tool: str) -> int:
        """How many calls of `tool` may still be made."""
        if tool in self.stopped:
            return 0
        mine = self._settings.per_tool - self._log.sent_to(tool)
        budget = self._settings.budget
        return max(0, mine if budget is None else min(mine, budget - self._log.sent))

    def _admit(self, tool: str, plain: JsonObject, purpose: Purpose) -> None:
        """Raises `NotCalled` where the call may not be made."""
        if reason := self.stopped.get(tool):
            raise NotCalled(f"{reason}.", scope="tool")
        if self._log.intended(tool, plain):
            raise NotCalled(
                "it was called so when an earlier probing was cut off; nobody knows what came of that, so it is not"
                " called so again.",
                scope="call",
            )
        if why := self.ledger.refuses(tool, plain):
            raise NotCalled(f"{why}.", scope="call")
        budget = self._settings.budget
        if budget is not None and self._log.sent >= budget:
            raise NotCalled(f"the budget of {budget:,} calls is spent.", scope="all")
        adds = self.ledger.adds(tool)
        if budget is not None and not self.ledger.removes(tool):
            kept = (self.ledger.removable() + adds) * (1 if purpose == "effect" and not adds else _TO_TAKE_AWAY)
            if kept and budget - self._log.sent <= kept:
                raise NotCalled("the calls that are left are kept for taking away what was made.", scope="tool")
        if adds and self.ledger.made_by(tool) >= max(self._settings.per_tool // 2, 1):
            raise NotCalled("more of it would not be taken away again within its calls.", scope="tool")
        if self._log.sent_to(tool) >= self._settings.per_tool:
            raise NotCalled(f"its {self._settings.per_tool} calls are spent.", scope="tool")

    def _attempt(
        self, tool: str, arguments: Mapping[str, Value], plain: JsonObject, purpose: Purpose, number_of_round: int
    ) -> Sample | None:
        """Send the call once. `None` where it came to nothing; then the tool or its host may be stopped."""
        number = self._log.next_number
        sample = None
        with finishing():
            self._log.intend(tool, plain, number=number)
            began = time.monotonic()
            response, error = self._sent(self._tools[tool], plain)
            seconds = round(time.monotonic() - began, 4)  # as the log keeps it
            fate = "answer" if error is None else self._fate(tool, plain, error, seconds, purpose)
            if fate == "answer":
                sample = Sample(
                    number=number,
                    tool=tool,
                    arguments=dict(arguments),
                    purpose=purpose,
                    round=number_of_round,
                    outcome="done" if error is None else error.outcome,
                    status=None if error is None else error.status,
                    response=response,
                    error="" if error is None else error.body,
                    answer=None if error is None else error.answer,
                    seconds=seconds,
                )
                self._log.add(sample)
                self._watch(Called(sample))
            else:
                self._log.void(number, sent=fate in ("busy", "broken"))
        host = self._hosts[tool]
        self._react(host, tool, fate, sample or error)
        return sample if sample is not None and number not in host.taken_back else None

    def _sent(self, tool: Tool, plain: JsonObject) -> tuple[Json, ToolError | None]:
        """What came back. A success that is no data counts as refused."""
        limit = self._settings.timeout_seconds
        try:
            if isinstance(tool.protocol.binding, PythonBinding):
                with time_limit(limit):
                    response = tool.call(plain)
            else:
                response = tool.call(plain)
        except ToolError as error:
            return None, error
        except OutOfTime:
            return None, ToolError(None, f"{tool.protocol.name} gave no result within {limit:g} s", outcome="unknown")
        except Exception as error:  # noqa: BLE001 - whatever one tool does, the others are probed
            return None, ToolError(None, f"{tool.protocol.name}: {type(error).__name__}: {error}", outcome="unknown")
        if problem := unusable(tool.protocol, response):
            # Of a page its text tells what it wants; what is too deep or too large is not kept.
            text = response if isinstance(response, str) and len(response) < 65_536 else None
            outcome: Literal["refused", "unknown"] = "refused" if reads(tool.protocol) else "unknown"
            return None, ToolError(200, problem, outcome=outcome, answer=text)
        return response, None

    def _fate(self, tool: str, plain: JsonObject, error: ToolError, seconds: float, purpose: Purpose) -> _Fate:
        """What becomes of a call that failed: a sample (`answer`), or nothing, and why."""
        protocol = self._tools[tool].protocol
        may_repeat = reads(protocol)
        if error.status == 429 or (error.status == 503 and error.retry_after is not None):
            return "busy" if may_repeat else "answer"
        if error.outcome == "not_run" and error.status is None:
            if isinstance(protocol.binding, HttpBinding) and error.curl is not None:
                return "unreached"
            return "answer" if error.body.startswith(f"{tool}:") else "unsendable"
        lost = error.outcome == "unknown" and not isinstance(protocol.binding, PythonBinding)
        # One that took all of its time would take it again, and a wrong value may be what broke the connection.
        if lost and may_repeat and purpose != "refuse" and seconds < 0.9 * self._settings.timeout_seconds:
            passing = error.status in GATEWAY or (error.status is None and error.curl is not None)
            return "broken" if passing and self._hosts[tool].first_break(tool, plain) else "answer"
        return "answer"

    def _react(self, host: Host, tool: str, fate: _Fate, came: Sample | ToolError | None) -> None:
        """Slow down, wait for the host, or give up the tool or the host, as the call's fate has it."""
        said = ""
        match came:
            case Sample():
                said = host.answered(came)
            case ToolError() if fate in ("busy", "unreached"):
                said = host.put_off(tool, came)
            case ToolError() if fate == "unsendable":
                self.stopped[tool] = came.body.rstrip(".")
            case _:
                host.pace.pause(_AGAIN_SECONDS)
        if said:
            self._watch(Note(said))
        self._give_up(host)

    def _give_up(self, host: Host) -> None:
        for tool, why in host.stopped_tools.items():
            self.stopped.setdefault(tool, why)
        if host.stopped and any(tool not in self.stopped for tool in host.tools):
            for tool in host.tools:
                self.stopped.setdefault(tool, host.stopped)
            for number in host.taken_back:
                self._log.void(number)
            self._watch(Note(f"{host.name} is not called any more: {host.stopped}."))


def send_again(toolbox: Toolbox, log: Log) -> int:
    """Let reads that were cut off by a kill, or never answered, be made again. Gives how many there are."""
    safe = {tool.protocol.name for tool in toolbox.values() if reads(tool.protocol)}
    cut_off = [intent["number"] for intent in log.intents.values() if intent["tool"] in safe]
    lost = [s.number for s in log.samples if s.tool in safe and s.outcome == "unknown" and s.status is None]
    for number in (*cut_off, *lost):
        log.void(number)
    return len(cut_off) + len(lost)
