"""Makes the calls of a probing run, within its limits. Equal calls are made only once."""

from __future__ import annotations

import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType
from typing import Literal, TypeAlias

from probing.call_plan import host_label, why_not
from probing.host_budget import GATEWAY, HostBudget
from probing.ownership import CreatedRecords
from probing.samples import ArgumentValues, Log, ProbeSettings, Purpose, Sample, Watch
from probing.tool_roles import ToolRoles
from probing.write_rules import WriteRules
from protocols.effects import is_known_read
from protocols.errors import AtcError, ToolError
from protocols.protocol import HttpBinding, PythonBinding, ToolProtocol, format_binding
from protocols.schema import Json, JsonObject, resolve, types
from protocols.tool import Tool
from protocols.toolbox import Toolbox

_FAILED = re.compile(r"(?:[\w.]+ ){0,2}\w*(?:[Ee]rror|ERROR|Exception): .{1,400}")
"""A response that consists of an error message only: `Database error: no such table: notes`."""
_HTML = re.compile(
    r"[\ufeff\s]*+(?:<!--(?:(?!-->).)*+-->\s*+)*+<(!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
ApprovalCheck: TypeAlias = Callable[[Tool, JsonObject], bool]
"""A function that returns True if a call needs the approval of a person.

The arguments are keyed by their names in the tool's source, such as its OpenAPI document."""
_CALLS_PER_RECORD = 2
"""Calls reserved for each created record: one that reads it, and one that removes it."""


class NotCalled(AtcError):
    """Raised when a call is not allowed and therefore not made. The message has the reason.

    `scope` says what is not allowed: this `call`, any call of this `tool`, or `all` calls.
    """

    def __init__(self, why: str, *, scope: Literal["call", "tool", "all"]) -> None:
        super().__init__(why)
        self.scope = scope


def needs_no_approval(_tool: Tool, _arguments: JsonObject) -> bool:
    """Return False for every call. This is the default check: no call needs a person's approval."""
    return False


class Caller:
    """Makes the calls of one probing run, one at a time.

    - Each call is written to the log before it is sent, and its answer is written afterwards.
    - If the log contains the answer of an equal call, that answer is used. A call that was sent but
      never answered, because the process was killed, is not sent again.
    - Some outcomes show nothing about the tool: the service asks to wait (429), the host is
      unreachable, or a call that only reads is not answered. Such a call is not stored as a sample
      (a call with its answer) and may be repeated. It still counts against the limits, unless it
      never left this machine.
    - A tool that changes data gets only calls that the write rules allow, so that only records
      which this run created are affected. A call that needs the approval of a person
      (`needs_approval`) is not made.

    `stopped` maps the name of each tool that must not be called (any more) to the reason.
    """

    def __init__(
        self,
        toolbox: Toolbox,
        log: Log,
        settings: ProbeSettings,
        *,
        watch: Watch = lambda _: None,
        sleep: Callable[[float], object] = time.sleep,
        now: Callable[[], float] = time.monotonic,
        needs_approval: ApprovalCheck = needs_no_approval,
    ) -> None:
        self._log = log
        self._settings = settings
        self._watch = watch
        self._needs_approval = needs_approval
        self._tools = {tool.protocol.name: tool for tool in toolbox.values()}
        self.stopped = {
            name: reason
            for name, t in self._tools.items()
            if (reason := why_not(t.protocol, settings))
        }
        self.roles = ToolRoles({name: tool.protocol for name, tool in self._tools.items()})
        self.created = CreatedRecords(self.roles, log)
        self.rules = WriteRules(self.roles, self.created)
        hosts: dict[str, HostBudget] = {}
        for name, tool in self._tools.items():
            place = host_label(tool.protocol)
            host = hosts.setdefault(
                place, HostBudget(place, settings, self.stopped, sleep=sleep, now=now)
            )
            host.tools |= {} if name in self.stopped else {name: tool.protocol}
            host.answered |= {sample.tool for sample in log.samples_of(name) if sample.done}
        self._hosts = {name: host for host in hosts.values() for name in host.tools}

    def call(
        self, tool: str, arguments: ArgumentValues, *, purpose: Purpose, again: bool = False
    ) -> Sample:
        """Return one call with its answer, from the log or by calling the tool.

        Args:
            tool: the tool's name in its source, such as an OpenAPI document.
            arguments: the values, keyed by the argument names of that source.
            purpose: what the call is meant to find out.
            again: make the call even if the log contains its answer. The answer may be different
                after another call changed data.

        Raises:
            NotCalled: the call is not made.
        """
        plain = {name: given.value for name, given in arguments.items()}
        sample = None if again else self._log.find(tool, plain)
        while sample is None:
            self._admit(tool, plain, purpose)
            self._hosts[tool].wait()
            number = self._log.next_number
            new = Sample(number=number, tool=tool, arguments=dict(arguments), purpose=purpose)
            with delay_interrupt():
                self._log.intend(tool, plain, number=number)
                news = self._send(new, plain)
            if news:
                self._watch(news)
            sample = self._log.find(tool, plain)
            sample = sample if sample is not None and sample.number == number else None
        return sample

    def remaining_calls(self, tool: str) -> int:
        """Return how many calls of a tool may still be made."""
        if tool in self.stopped:
            return 0
        mine = self._settings.per_tool - self._log.count_sent_to(tool)
        budget = self._settings.budget
        return max(0, mine if budget is None else min(mine, budget - self._log.sent_count))

    def _admit(self, tool: str, plain: JsonObject, purpose: Purpose) -> None:
        """Check that a call may be made. `plain` has the arguments: their values, keyed by name.

        Raises:
            NotCalled: the call may not be made.
        """
        if reason := self.stopped.get(tool):
            raise NotCalled(f"{reason}.", scope="tool")
        if self._needs_approval(self._tools[tool], plain):
            why = "a person declined this call, or has not decided about it, so no option sends it"
            raise NotCalled(f"{why}; 'atc tools call' on a terminal asks again.", scope="call")
        if self._log.was_intended(tool, plain):
            raise NotCalled(
                "it was called so when an earlier probing was cut off; nobody knows what came of "
                "that, so it is not called so again.",
                scope="call",
            )
        if why := self.rules.refusal_reason(tool, plain):
            raise NotCalled(f"{why}.", scope="call")
        self._check_budget(tool, purpose)
        if self.roles.creates_records(tool):
            present = [record for record in self.created.present() if record.tool == tool]
            if len(present) >= max(self._settings.per_tool // 2, 1):
                raise NotCalled(
                    "more of it would not be taken away again within its calls.", scope="tool"
                )
        if self._log.count_sent_to(tool) >= self._settings.per_tool:
            raise NotCalled(f"its {self._settings.per_tool} calls are spent.", scope="tool")

    def _check_budget(self, tool: str, purpose: Purpose) -> None:
        """Check that the total budget allows a call and the later removal of all created records.

        Raises:
            NotCalled: the budget does not allow the call.
        """
        budget = self._settings.budget
        if budget is None:
            return
        left = budget - self._log.sent_count
        if left <= 0:
            raise NotCalled(f"the budget of {budget:,} calls is spent.", scope="all")
        if self.roles.kinds[tool] == "remove":
            return
        creates = self.roles.creates_records(tool)
        shows_record = purpose == "effect" and not creates
        reserved = self.created.count_removable() + creates
        reserved *= 1 if shows_record else _CALLS_PER_RECORD
        if reserved > 0 and left <= reserved:
            raise NotCalled(
                "the calls that are left are kept for taking away what was made.", scope="tool"
            )

    def _send(self, sample: Sample, plain: JsonObject) -> str:
        """Send a call once and log the result.

        `plain` has the values of the arguments, keyed by name. Return a message for the user, or ""
        if there is nothing to say.
        """
        tool = self._tools[sample.tool]
        host = self._hosts[sample.tool]
        response, error = self._call_tool(tool, plain)
        may_repeat = is_known_read(tool.protocol)
        if error is None:
            return self._record(replace(sample, response=response))
        asks_to_wait = error.status == 429 or (error.status == 503 and error.retry_after)
        if may_repeat and asks_to_wait:
            self._log.void(sample.number)
            return host.record_delay(error)
        from_tool = error.body.startswith(f"{sample.tool}:")
        if error.outcome == "not_run" and not from_tool:
            return self._record_not_sent(sample, error)
        is_lost = _is_lost(tool.protocol, error)
        if is_lost and may_repeat:
            self._log.void(sample.number)
            return host.record_loss(sample.tool, error)
        sample = replace(
            sample,
            outcome=error.outcome,
            status=error.status,
            error=error.body,
            answer=error.answer,
        )
        if is_lost:
            self._log.add(sample)
            self._watch(sample)
            return host.record_loss(sample.tool, error)
        return self._record(sample)

    def _record(self, sample: Sample) -> str:
        """Write a call that was answered, with its answer, to the log.

        Return a message for the user, or "" if there is nothing to say.
        """
        self._log.add(sample)
        self._watch(sample)
        message, discarded = self._hosts[sample.tool].record_answer(sample)
        for denied in discarded:
            self._log.void(denied.number)
        return message

    def _record_not_sent(self, sample: Sample, error: ToolError) -> str:
        """Record a call that was not sent: its host is unreachable or its credential is missing.

        Return a message for the user, or "" if there is nothing to say.
        """
        self._log.void(sample.number, sent=False)
        is_http = isinstance(self._tools[sample.tool].protocol.binding, HttpBinding)
        if is_http and error.curl is not None:
            return self._hosts[sample.tool].record_loss(sample.tool, error)
        self.stopped[sample.tool] = error.body.rstrip(".")
        return ""

    def _call_tool(self, tool: Tool, plain: JsonObject) -> tuple[Json, ToolError | None]:
        """Call a tool. Return (response, None) after a success and (None, error) after a failure.

        A successful response without usable data, such as an HTML page, counts as a failure.
        """
        try:
            response = tool.call(plain)
        except ToolError as error:
            return None, error
        except Exception as error:  # noqa: BLE001 - whatever one tool does, the others are probed
            return None, ToolError(
                None, f"{tool.protocol.name}: {type(error).__name__}: {error}", outcome="unknown"
            )
        if problem := unusable_reason(tool.protocol, response):
            # The text of a page says what is wrong. A text that is too large is not kept.
            text = response if isinstance(response, str) and len(response) < 65_536 else None
            outcome: Literal["refused", "unknown"] = (
                "refused" if is_known_read(tool.protocol) else "unknown"
            )
            return None, ToolError(200, problem, outcome=outcome, answer=text)
        return response, None


def _is_lost(protocol: ToolProtocol, error: ToolError) -> bool:
    """Return True if `error` means that the tool or service itself did not answer the call.

    An exception of a Python tool counts as its answer. A 502, 503 or 504 does not, because it comes
    from a gateway in front of the service.
    """
    silent = (
        error.status is None
        and error.answer is None
        and not isinstance(protocol.binding, PythonBinding)
    )
    return error.outcome == "unknown" and (silent or error.status in GATEWAY)


def unusable_reason(protocol: ToolProtocol, response: Json) -> str:
    """Return why a successful response contains no data of the tool, or "" if it contains data."""
    if isinstance(response, str) and _HTML.match(response):
        schema = protocol.output_schema or {}
        texts = (protocol.name, protocol.title, protocol.description)
        description = " ".join((*texts, format_binding(protocol.binding))).lower()
        if "string" in types(resolve(schema, schema)) or "html" in description:
            return ""
        return "an HTML page instead of data; does the tool need a credential?"
    return response if isinstance(response, str) and _FAILED.fullmatch(response) else ""


@contextmanager
def delay_interrupt() -> Iterator[None]:
    """Delay the effect of Ctrl-C to the end of the block. A second Ctrl-C takes effect at once.

    Outside the main thread this does nothing, because signals reach only the main thread.
    """
    elsewhere = threading.current_thread() is not threading.main_thread()
    if elsewhere or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    pressed: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        if pressed:
            raise KeyboardInterrupt
        pressed.append(number)

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if pressed:
            raise KeyboardInterrupt
