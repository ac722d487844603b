"""The gate of every call: what may be called, how fast, how often, when to stop, and only once."""

from __future__ import annotations

import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import FrameType
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from probing.ownership import Ledger
from probing.samples import ArgumentValues, Log, ProbeSettings, Purpose, Sample, Watch
from protocols.documentation import docs_page
from protocols.effects import is_known_read, likely_action
from protocols.errors import AtcError, ToolError
from protocols.protocol import HttpBinding, PythonBinding, ToolProtocol, format_binding
from protocols.schema import Json, JsonObject, resolve, types
from protocols.secrets import may_name_secrets
from protocols.toolbox import Tool, Toolbox

TOOL_LOSSES = 2
HOST_LOSSES = 6
"""Calls in a row without an answer after which a tool, or its host, is given up."""
DENIED = 3
"""Tools in a row that answer 401 or 403, or calls of the only one, after which a host that gave nothing is given up."""
GATEWAY = (502, 503, 504)
"""Statuses by which those before a service say that it is not there."""
MOST_WAITS = 7
LONGEST_WAIT = 120.0
"""Refusals in a row, and seconds that a host may ask to wait, after which it is given up until another day."""
_SLOWER = 0.5
"""Seconds between two calls, at least, once a host asked to wait; fewer again by and by as it takes calls."""
_FAILED = re.compile(r"(?:[\w.]+ ){0,2}\w*(?:[Ee]rror|ERROR|Exception): .{1,400}")
"""What a text is that only says an error: `Database error: no such table: notes`."""
_HTML = re.compile(
    r"[\ufeff\s]*+(?:<!--(?:(?!-->).)*+-->\s*+)*+<(!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
ApprovalCheck: TypeAlias = Callable[[Tool, JsonObject], bool]
"""Says of a call, by original name, whether only a person may let it through."""
_TO_TAKE_AWAY = 2
"""Calls that are kept for each thing that was made: a read that shows it, and what takes it away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTool:
    """One tool in a plan. `at_most` calls are left to it; with 0, `why_not` says why."""

    name: str
    reads: bool
    how: str
    """`GET https://api.example.org/users/{id}`, `Python shop:find`, `MCP git:git_log`."""
    host: str
    at_most: int
    why_not: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbePlan:
    """What may be called, in the toolbox's order; `total` bounds all calls together."""

    tools: tuple[PlannedTool, ...]
    total: int

    @property
    def hosts(self) -> Mapping[str, int]:
        """The hosts that may be called → at most how many calls each gets."""
        found: dict[str, int] = {}
        for tool in self.tools:
            if tool.at_most:
                found[tool.host] = min(found.get(tool.host, 0) + tool.at_most, self.total)
        return found

    @property
    def writes(self) -> tuple[PlannedTool, ...]:
        """The tools that may be called and may change something."""
        return tuple(tool for tool in self.tools if tool.at_most and not tool.reads)


def plan_probing(toolbox: Toolbox, settings: ProbeSettings, log: Log | None = None) -> ProbePlan:
    """What `settings` let a probing of `toolbox` call, less what `log` has of it already. Calls nothing."""
    left = (
        None
        if settings.budget is None
        else max(settings.budget - (log.sent_count if log else 0), 0)
    )
    tools = []
    for protocol in (tool.protocol for tool in toolbox.values()):
        mine = max(settings.per_tool - (log.count_sent_to(protocol.name) if log else 0), 0)
        most = mine if left is None else min(mine, left)
        reason = why_not(protocol, settings) or ("" if most else "its calls are used up")
        how = format_binding(protocol.binding) or "no binding"
        host = host_label(protocol)
        tools.append(PlannedTool(name=protocol.name, reads=is_known_read(protocol), how=how, host=host,
                                 at_most=0 if reason else most, why_not=reason))  # fmt: skip
    total = sum(tool.at_most for tool in tools)
    return ProbePlan(tools=tuple(tools), total=total if left is None else min(left, total))


def why_not(protocol: ToolProtocol, settings: ProbeSettings) -> str:
    """Why a tool may not be called at all; empty where it may."""
    if protocol.binding is None:
        return "it has no binding, so nobody knows how it is called"
    if is_known_read(protocol):
        return ""
    if settings.allows(protocol.name):
        return (
            "it ends what others rest on, such as a session"
            if likely_action(protocol)[0] == "end"
            else ""
        )
    return (
        f"it may change something ({likely_action(protocol)[1]}); --allow-writes lets it be called"
    )


def host_label(protocol: ToolProtocol) -> str:
    """What is called: `api.example.org`, with its port; `MCP git`, `Python shop`."""
    binding = protocol.binding
    return (
        urlsplit(binding.url).netloc
        if isinstance(binding, HttpBinding)
        else format_binding(binding).partition(":")[0]
    )


class NotCalled(AtcError):
    """A call that is not made; the message says why.

    `scope` says for how much that holds: for this call (`call`), for every call of the tool (`tool`), for all (`all`).
    """

    def __init__(self, why: str, *, scope: Literal["call", "tool", "all"]) -> None:
        super().__init__(why)
        self.scope = scope


def needs_no_approval(_tool: Tool, _arguments: JsonObject) -> bool:
    """Say of a call that it waits for nobody's decision."""
    return False


class HostBudget:
    """One host: when it may be called next, and calls in a row that it did not answer, put off or denied.

    Tools that are not to be called any more are put into `stopped`, each with the reason.
    """

    def __init__(
        self, name: str, settings: ProbeSettings, stopped: dict[str, str], *,
        sleep: Callable[[float], object], now: Callable[[], float],
    ) -> None:  # fmt: skip
        self.name = name
        self._stopped = stopped
        self.tools: dict[str, ToolProtocol] = {}
        self.answered: set[str] = set()
        rate = None if name.startswith("Python ") else settings.requests_per_second
        self._least = self._interval = 1 / rate if rate else 0.0
        self._sleep = sleep
        self._now = now
        self._next = now()
        self._lost: list[str] = []
        self._denied: list[Sample] = []
        self._waits = 0

    def wait(self) -> None:
        """Wait for the next turn, and take it."""
        if (pause := self._next - self._now()) > 0:
            self._sleep(pause)
        self._next = max(self._now(), self._next) + self._interval

    def record_delay(self, error: ToolError) -> str:
        """The host asks to wait. Gives a sentence for the person where there is news."""
        self._waits += 1
        self._interval = max(2 * self._interval, _SLOWER)
        asked = max(error.retry_after or 0.0, min(2.0 ** (self._waits - 1), 30.0))
        if self._waits <= MOST_WAITS and asked <= LONGEST_WAIT:
            self._pause(asked)
            return (
                f"{self.name} asks for fewer calls (HTTP {error.status})."
                if self._waits == 1
                else ""
            )
        how_long = f", for {error.retry_after:,.0f} s" if error.retry_after else ""
        return self._stop(
            f"it asks to wait (HTTP {error.status}{how_long}); the same command goes on later"
        )

    def record_loss(self, tool: str, error: ToolError) -> str:
        """A call was not answered. Gives a sentence for the person where the host is given up."""
        self._lost.append(tool)
        self._pause(1.0)
        why = f"calls in a row were not answered ({error.body.rstrip('.')})"
        if (mine := self._lost.count(tool)) >= TOOL_LOSSES:
            self._stopped.setdefault(tool, f"{mine} {why}")
        enough = len(self._lost) >= HOST_LOSSES
        return (
            self._stop(f"{len(self._lost)} {why}; when it is well again, the same command goes on")
            if enough
            else ""
        )

    def record_answer(self, sample: Sample) -> tuple[str, list[Sample]]:
        """A call was answered. Where the host is given up: a sentence for the person, and what says nothing of tools.

        A service that lets nobody in is not asked on; one that wants a token as an argument is.
        """
        self._lost.clear()
        self.answered |= {sample.tool} if sample.done else set()
        if sample.status == 501:  # whatever it is asked
            self._stopped.setdefault(sample.tool, "it says that it is not implemented (HTTP 501)")
        if sample.status == 429:  # a write, which is not sent again
            self._pause(_SLOWER)
        else:
            self._waits = 0
            self._interval = max(self._least, 0.98 * self._interval)
        if sample.status not in (401, 403) or sample.purpose in (
            "link",
            "refuse",
        ):  # those may well be refused so
            self._denied.clear()
            return "", []
        self._denied.append(sample)
        tools = {denied.tool for denied in self._denied}
        strangers = {
            tool for tool in tools if not any(map(may_name_secrets, self.tools[tool].parameters))
        }
        enough = (
            len(tools & self.answered) > 1
            if self.answered
            else len(strangers) >= min(DENIED, len(self.tools))
        )
        if len(self._denied) < DENIED or not enough:
            return "", []
        before = (
            "tools that answered before are refused now" if self.answered else "it lets nobody in"
        )
        page = docs_page("reference/configuration#credentials")
        why = f"{before} (HTTP {sample.status}); configure its credential ({page}), and the same command goes on"
        return self._stop(why), self._denied

    def _pause(self, seconds: float) -> None:
        self._next = max(self._next, self._now() + seconds)

    def _stop(self, why: str) -> str:
        for tool in self.tools:
            self._stopped.setdefault(tool, why)
        return f"{self.name} is not called any more: {why}."


class Caller:
    """Makes the calls of one probing, one at a time; each is in the log before it is sent, and again when it came back.

    A call that the log has is answered from there. One that was sent before a kill and never answered is not sent
    again. What says nothing of the tool becomes no sample and may be made again: an answer that asks to wait (429), a
    host that cannot be reached, a read that is not answered. All of it counts as calls, but for what never left this
    machine. To a tool that writes goes only what the `ledger` lets pass, and a call that is `held` for a person is made
    to none. `stopped` says of tools why they are not called, or not any more.
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
        held: ApprovalCheck = needs_no_approval,
    ) -> None:
        self._log = log
        self._settings = settings
        self._watch = watch
        self._held = held
        self._tools = {tool.protocol.name: tool for tool in toolbox.values()}
        self.stopped = {
            name: reason
            for name, t in self._tools.items()
            if (reason := why_not(t.protocol, settings))
        }
        self.ledger = Ledger({name: tool.protocol for name, tool in self._tools.items()}, log)
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
        """The answer of `tool`, by its own name, to `arguments`: from the log, else by calling it.

        `again` calls it although the log has an answer: a read after a write may answer otherwise.

        Raises:
            NotCalled: it is not made.
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
        """How many calls of `tool` may still be made."""
        if tool in self.stopped:
            return 0
        mine = self._settings.per_tool - self._log.count_sent_to(tool)
        budget = self._settings.budget
        return max(0, mine if budget is None else min(mine, budget - self._log.sent_count))

    def _admit(self, tool: str, plain: JsonObject, purpose: Purpose) -> None:
        """Raises `NotCalled` where the call may not be made."""
        if reason := self.stopped.get(tool):
            raise NotCalled(f"{reason}.", scope="tool")
        if self._held(self._tools[tool], plain):
            why = "a person declined this call, or has not decided about it, so no option sends it"
            raise NotCalled(f"{why}; 'atc tools call' on a terminal asks again.", scope="call")
        if self._log.was_intended(tool, plain):
            why = "it was called so when an earlier probing was cut off; nobody knows what came of that"
            raise NotCalled(f"{why}, so it is not called so again.", scope="call")
        if why := self.ledger.refusal_reason(tool, plain):
            raise NotCalled(f"{why}.", scope="call")
        budget = self._settings.budget
        adds = self.ledger.creates_records(tool)
        if budget is not None and self._log.sent_count >= budget:
            raise NotCalled(f"the budget of {budget:,} calls is spent.", scope="all")
        if budget is not None and self.ledger.kinds[tool] != "remove":
            kept = (self.ledger.count_removable() + adds) * (
                1 if purpose == "effect" and not adds else _TO_TAKE_AWAY
            )
            if kept and budget - self._log.sent_count <= kept:
                raise NotCalled(
                    "the calls that are left are kept for taking away what was made.", scope="tool"
                )
        left = sum(one.is_present and one.tool == tool for one in self.ledger.created_records())
        if adds and left >= max(self._settings.per_tool // 2, 1):
            raise NotCalled(
                "more of it would not be taken away again within its calls.", scope="tool"
            )
        if self._log.count_sent_to(tool) >= self._settings.per_tool:
            raise NotCalled(f"its {self._settings.per_tool} calls are spent.", scope="tool")

    def _send(self, sample: Sample, plain: JsonObject) -> str:
        """Send a call once, and log what came of it. Gives a sentence for the person where there is news."""
        tool = self._tools[sample.tool]
        host = self._hosts[sample.tool]
        response, error = self._call_tool(tool, plain)
        repeats = is_known_read(tool.protocol)
        if (
            error is not None
            and repeats
            and (error.status == 429 or (error.status == 503 and error.retry_after))
        ):
            self._log.void(sample.number)
            return host.record_delay(error)
        if (
            error is not None
            and error.outcome == "not_run"
            and not error.body.startswith(f"{sample.tool}:")
        ):
            self._log.void(sample.number, sent=False)
            if isinstance(tool.protocol.binding, HttpBinding) and error.curl is not None:
                return host.record_loss(sample.tool, error)
            self.stopped[sample.tool] = error.body.rstrip(
                "."
            )  # it cannot be sent: a credential is missing
            return ""
        lost = error is not None and _is_lost(tool.protocol, error)
        if lost and repeats:
            self._log.void(sample.number)
        else:
            sample = replace(sample, response=response)
            if error is not None:
                said = error.body
                sample = replace(
                    sample,
                    outcome=error.outcome,
                    status=error.status,
                    error=said,
                    answer=error.answer,
                )
            self._log.add(sample)
            self._watch(sample)
        if error is not None and lost:
            return host.record_loss(sample.tool, error)
        news, nothing = host.record_answer(sample)
        for one in nothing:
            self._log.void(one.number)
        return news

    def _call_tool(self, tool: Tool, plain: JsonObject) -> tuple[Json, ToolError | None]:
        """What came back. A success that is no data counts as refused."""
        try:
            response = tool.call(plain)
        except ToolError as error:
            return None, error
        except Exception as error:  # noqa: BLE001 - whatever one tool does, the others are probed
            return None, ToolError(
                None, f"{tool.protocol.name}: {type(error).__name__}: {error}", outcome="unknown"
            )
        if problem := unusable_reason(tool.protocol, response):
            # Of a page its text tells what it wants; what is too deep or too large is not kept.
            text = response if isinstance(response, str) and len(response) < 65_536 else None
            outcome: Literal["refused", "unknown"] = (
                "refused" if is_known_read(tool.protocol) else "unknown"
            )
            return None, ToolError(200, problem, outcome=outcome, answer=text)
        return response, None


def _is_lost(protocol: ToolProtocol, error: ToolError) -> bool:
    """Whether nobody answered: not the tool (what Python raised is its answer), nor what stands before it."""
    silent = (
        error.status is None
        and error.answer is None
        and not isinstance(protocol.binding, PythonBinding)
    )
    return error.outcome == "unknown" and (silent or error.status in GATEWAY)


def unusable_reason(protocol: ToolProtocol, response: Json) -> str:
    """Why a response is not the data that the tool is there for; empty where it is."""
    if isinstance(response, str) and _HTML.match(response):
        schema = protocol.output_schema or {}
        told = f"{protocol.name} {protocol.title} {protocol.description} {format_binding(protocol.binding)}".lower()
        gives_pages = "string" in types(resolve(schema, schema)) or "html" in told
        return (
            "" if gives_pages else "an HTML page instead of data; does the tool need a credential?"
        )
    return response if isinstance(response, str) and _FAILED.fullmatch(response) else ""


@contextmanager
def delay_interrupt() -> Iterator[None]:
    """Ctrl-C takes effect when the block is done; a second one does so at once. Signals reach the main thread alone."""
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
