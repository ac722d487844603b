"""The gate of every call: what may be called, how fast, how often, when to stop, and only once."""

from __future__ import annotations

import json
import re
import signal
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from types import FrameType
from typing import Literal

from probing.kinds import kind_of, reads
from probing.ledger import Ledger
from probing.samples import Arguments, Called, Log, Note, ProbeSettings, Purpose, Sample, Watch, call_key, unwatched
from protocols.errors import AtcError, ToolError, UnknownTool, docs_page
from protocols.jsontypes import Json, JsonObject
from protocols.origin import split_url
from protocols.protocol import HttpBinding, McpBinding, PythonBinding, ToolProtocol, spelled
from protocols.schema import resolve, types
from protocols.secrets import names_secrets
from protocols.toolbox import Tool, Toolbox

TOOL_LOSSES = 2
"""Calls of one tool in a row without an answer after which it is given up."""
HOST_LOSSES = 6
"""Calls of a host in a row without an answer after which it is given up."""
UNREACHED = 3
"""Vain attempts in a row to reach a host, some seconds apart, after which it is given up."""
DENIED = 3
"""Tools in a row that answer 401 or 403, or calls of the only one, after which a host that gave nothing is given up."""
GATEWAY = (502, 503, 504)
"""Statuses by which those before a service say that it is not there."""
MOST_WAITS, LONGEST_WAIT = 7, 120.0
"""Refusals in a row, and seconds that a host may ask to wait, after which it is given up until another day."""
MAX_BYTES = 8 * 1024 * 1024
"""Of one response, as JSON."""
Clock = tuple[Callable[[float], object], Callable[[], float]]
"""How to sleep, and what time it is."""
Stop = Callable[[Collection[str], str, Iterable[Sample]], None]
_SLOWER = 0.5
"""Seconds between two calls, at least, once a host asked to wait; fewer again by and by as it takes calls."""
_HTML = re.compile(
    r"[\ufeff\s]*+(?:<!--(?:(?!-->).)*+-->\s*+)*+<(!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
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
class Plan:
    """What may be called, in the toolbox's order; `total` bounds all calls together, `rate` those of a second."""

    tools: tuple[PlannedTool, ...]
    total: int
    rate: float | None

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


def plan(toolbox: Toolbox, settings: ProbeSettings, log: Log | None = None) -> Plan:
    """What `settings` let a probing of `toolbox` call, less what `log` has of it already. Calls nothing."""
    left = None if settings.budget is None else max(settings.budget - (log.sent if log else 0), 0)
    tools = []
    for protocol in (tool.protocol for tool in toolbox.values()):
        mine = max(settings.per_tool - (log.sent_to(protocol.name) if log else 0), 0)
        most = mine if left is None else min(mine, left)
        spent = "its calls are used up" if left else "the calls of this probing are used up"
        reason = why_not(protocol, settings) or ("" if most else spent)
        how, host = spelled(protocol.binding) or "no binding", host_of(protocol)
        tools.append(PlannedTool(name=protocol.name, reads=reads(protocol), how=how, host=host,
                                 at_most=0 if reason else most, why_not=reason))  # fmt: skip
    total = sum(tool.at_most for tool in tools)
    total = total if left is None else min(left, total)
    return Plan(tools=tuple(tools), total=total, rate=settings.requests_per_second)


def why_not(protocol: ToolProtocol, settings: ProbeSettings) -> str:
    """Why a tool may not be called at all; empty where it may."""
    if protocol.binding is None:
        return "it has no binding, so nobody knows how it is called"
    if settings.allows(protocol.name) or reads(protocol):
        return ""
    return f"it may change something ({kind_of(protocol)[1]}); --allow-writes lets it be called"


def host_of(protocol: ToolProtocol) -> str:
    """What is called: `api.example.org`, with the port where it is not the scheme's own; `MCP git`, `Python shop`."""
    match protocol.binding:
        case HttpBinding() as http:
            try:
                return split_url(http.url)[0].netloc
            except ValueError:
                return http.url
        case McpBinding() as mcp:
            return f"MCP {mcp.server}"
        case PythonBinding() as python:
            return f"Python {python.module}"
        case _:
            return ""


class NotCalled(AtcError):
    """A call that is not made; the message says why.

    `scope` says for how much that holds: for this call (`call`), for every call of the tool (`tool`), for all (`all`).
    """

    def __init__(self, why: str, *, scope: Literal["call", "tool", "all"]) -> None:
        super().__init__(why)
        self.scope = scope


class Host:
    """One host: when it may be called next, and calls in a row that it did not answer, put off or denied.

    `stop(tools, why, samples)` is called where tools are not to be called any more; `samples` say nothing of them.
    """

    def __init__(self, name: str, settings: ProbeSettings, clock: Clock, stop: Stop) -> None:
        self.name, self._stop = name, stop
        self.tools: dict[str, ToolProtocol] = {}
        self.answered: set[str] = set()
        self.broken: set[str] = set()
        """Calls whose connection broke once."""
        self._python, self._timeout = name.startswith("Python "), settings.timeout_seconds
        rate = None if self._python else settings.requests_per_second
        self._least = self._interval = 1 / rate if rate else 0.0
        self._sleep, self._now = clock
        self._next = self._now()
        self._lost: list[Sample] = []
        self._silent: dict[str, int] = {}
        self._denied: list[Sample] = []
        self._unreached = self._waits = 0

    def wait(self) -> None:
        """Wait for the next turn, and take it."""
        if (pause := self._next - self._now()) > 0:
            self._sleep(pause)
        self._next = max(self._now(), self._next) + self._interval

    def pause(self, seconds: float) -> None:
        """No turn before so many seconds are over."""
        self._next = max(self._next, self._now() + seconds)

    def unreached(self, error: ToolError) -> None:
        """The host cannot be reached."""
        self._unreached += 1
        self.pause(2.0 ** (self._unreached - 1))
        if self._unreached > UNREACHED:
            why = f"{error.body.partition(';')[0]}; when it is up again, the same command goes on"
            self._stop(self.tools, why, ())

    def put_off(self, error: ToolError) -> str:
        """The host asks to wait. Gives a sentence for the person where there is news."""
        self._waits += 1
        self._interval = max(2 * self._interval, _SLOWER)
        guess = min(2.0 ** (self._waits - 1), 30.0)
        asked = guess if error.retry_after is None else max(error.retry_after, 0.1 if self._waits == 1 else guess)
        if self._waits <= MOST_WAITS and asked <= LONGEST_WAIT:
            self.pause(asked)
            long = f"; waiting {asked:.0f} s" if asked >= 5 else ""
            return f"{self.name} asks for fewer calls (HTTP {error.status}){long}." if self._waits == 1 else ""
        how_long = f", for {error.retry_after:,.0f} s" if error.retry_after else ""
        why = f"it asks to wait (HTTP {error.status}{how_long}); the same command goes on later"
        self._stop(self.tools, why, ())
        return ""

    def answer(self, sample: Sample) -> None:
        """A call came back, or is lost."""
        self._unreached = 0
        silent = (sample.status is None and sample.answer is None) or sample.status in GATEWAY
        if sample.outcome == "unknown" and (sample.seconds >= self._timeout if self._python else silent):
            self._lose(sample)
            return
        self._lost.clear()
        self._silent.pop(sample.tool, None)
        self.answered |= {sample.tool} if sample.done else set()
        if sample.status in (401, 403) and sample.purpose not in (
            "link",
            "refuse",
        ):  # those may well be refused like this
            self._deny(sample)
        else:
            self._denied.clear()
        if sample.status == 429:  # a write, which is not sent again
            self.pause(_SLOWER)
        else:
            self._waits = 0
            self._interval = max(self._least, 0.98 * self._interval)

    def _lose(self, sample: Sample) -> None:
        self._lost.append(sample)
        mine = self._silent[sample.tool] = self._silent.get(sample.tool, 0) + 1
        why = f"calls in a row were not answered ({sample.error.rstrip('.')})"
        if mine >= TOOL_LOSSES:
            self._stop([sample.tool], f"{mine} {why}", ())
        if len(self._lost) >= HOST_LOSSES and not self._python:
            reading = [lost for lost in self._lost if reads(self.tools[lost.tool])]
            why = f"{len(self._lost)} {why}; when it is well again, the same command goes on"
            self._stop(self.tools, why, reading)

    def _deny(self, sample: Sample) -> None:
        """A service that lets nobody in is not asked on; one that wants a token as an argument is."""
        self._denied.append(sample)
        tools = {denied.tool for denied in self._denied}
        counted = {tool for tool in tools if not any(map(names_secrets, self.tools[tool].parameters))}
        enough = len(tools & self.answered) > 1 if self.answered else len(counted) >= min(DENIED, len(self.tools))
        if len(self._denied) < DENIED or not enough:
            return
        why = f"tools that answered before now answer HTTP {sample.status}; look at its credential"
        if not self.answered:
            why = (
                f"it lets nobody in (HTTP {sample.status}, {len(self._denied)} times in a row); configure a credential"
            )
            why += f" ({docs_page('reference/configuration#credentials')}), and the same command goes on"
        self._stop(self.tools, why, self._denied)


class Caller:
    """Makes the calls of one probing, one at a time; each is in the log before it is sent, and again when it came back.

    A call that the log has is answered from there. One that was sent before a kill and never answered is not sent
    again. What says nothing of the tool becomes no sample and may be made again: an answer that asks to wait (429) and
    a host that cannot be reached are waited for, a read whose connection broke is sent once more. All of it counts as
    calls, but for what never left this machine. To a tool that writes goes only what the `ledger` lets pass, after
    `prepare` has put the probing's mark into it. `stopped` says of tools why they are not called, or not any more.
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
        self.prepare: Callable[[str, Arguments], Arguments] = lambda _, arguments: arguments
        answered = {sample.tool for sample in log.samples if sample.done}
        hosts: dict[str, Host] = {}
        for name, tool in self._tools.items():
            if name not in self.stopped:
                place = host_of(tool.protocol)
                host = hosts.setdefault(place, Host(place, settings, (sleep, now), self._stop))
                host.tools[name] = tool.protocol
                host.answered |= {name} & answered
        self._hosts = {name: host for host in hosts.values() for name in host.tools}

    def call(
        self, tool: str, arguments: Arguments, *, purpose: Purpose, round_number: int = 0, again: bool = False
    ) -> Sample:
        """The answer of `tool`, by its own name, to `arguments`: from the log, else by calling it.

        `again` calls it although the log has an answer: a read after a write may answer otherwise.

        Raises:
            NotCalled: it is not made.
            UnknownTool: there is no such tool.
        """
        if tool not in self._tools:
            raise UnknownTool(tool, list(self._tools))
        arguments = self.prepare(tool, arguments)
        plain = {name: given.value for name, given in arguments.items()}
        sample = None if again else self._log.find(tool, plain)
        while sample is None:
            self._admit(tool, plain, purpose)
            self._hosts[tool].wait()
            sample = self._attempt(tool, arguments, plain, purpose, round_number)
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
            why = "it was called so when an earlier probing was cut off; nobody knows what came of that"
            raise NotCalled(f"{why}, so it is not called so again.", scope="call")
        if why := self.ledger.refuses(tool, plain):
            raise NotCalled(f"{why}.", scope="call")
        budget, adds = self._settings.budget, self.ledger.adds(tool)
        if budget is not None and self._log.sent >= budget:
            raise NotCalled(f"the budget of {budget:,} calls is spent.", scope="all")
        if budget is not None and not self.ledger.removes(tool):
            kept = (self.ledger.removable() + adds) * (1 if purpose == "effect" and not adds else _TO_TAKE_AWAY)
            if kept and budget - self._log.sent <= kept:
                raise NotCalled("the calls that are left are kept for taking away what was made.", scope="tool")
        if adds and self.ledger.made_by(tool) >= max(self._settings.per_tool // 2, 1):
            raise NotCalled("more of it would not be taken away again within its calls.", scope="tool")
        if self._log.sent_to(tool) >= self._settings.per_tool:
            raise NotCalled(f"its {self._settings.per_tool} calls are spent.", scope="tool")

    def _attempt(
        self, tool: str, arguments: Arguments, plain: JsonObject, purpose: Purpose, round_number: int
    ) -> Sample | None:
        """Send the call once. None where it came to nothing; then the tool or its host may be stopped."""
        number, host = self._log.next_number, self._hosts[tool]
        with finishing():
            self._log.intend(tool, plain, number=number)
            began = time.monotonic()
            response, error = self._sent(self._tools[tool], plain)
            seconds = round(time.monotonic() - began, 4)  # as the log keeps it
            fate = "answer" if error is None else self._fate(tool, plain, error, seconds, purpose)
            if fate == "answer":
                sample = Sample(
                    number=number, tool=tool, arguments=dict(arguments), purpose=purpose, round=round_number,
                    outcome="done" if error is None else error.outcome, status=error.status if error else None,
                    response=response, error=error.body if error else "", answer=error.answer if error else None,
                    seconds=seconds,
                )  # fmt: skip
                self._log.add(sample)
                self._watch(Called(sample))
            else:
                self._log.void(number, sent=fate in ("busy", "broken"))
        if error is None or fate == "answer":
            host.answer(sample)
            return self._log.find(tool, plain)  # the host may have been given up, and the sample with it
        if fate == "busy" and (said := host.put_off(error)):
            self._watch(Note(said))
        elif fate == "unreached":
            host.unreached(error)
        elif fate == "unsendable":
            self.stopped[tool] = error.body.rstrip(".")
        elif fate == "broken":
            host.pause(1.0)
        return None

    def _sent(self, tool: Tool, plain: JsonObject) -> tuple[Json, ToolError | None]:
        """What came back. A success that is no data counts as refused."""
        limit, name = self._settings.timeout_seconds, tool.protocol.name
        try:
            with time_limit(limit) if isinstance(tool.protocol.binding, PythonBinding) else nullcontext():
                response = tool.call(plain)
        except ToolError as error:
            return None, error
        except OutOfTime:
            return None, ToolError(None, f"{name} gave no result within {limit:g} s", outcome="unknown")
        except Exception as error:  # noqa: BLE001 - whatever one tool does, the others are probed
            return None, ToolError(None, f"{name}: {type(error).__name__}: {error}", outcome="unknown")
        if problem := unusable(tool.protocol, response):
            # Of a page its text tells what it wants; what is too deep or too large is not kept.
            text = response if isinstance(response, str) and len(response) < 65_536 else None
            outcome: Literal["refused", "unknown"] = "refused" if reads(tool.protocol) else "unknown"
            return None, ToolError(200, problem, outcome=outcome, answer=text)
        return response, None

    def _fate(self, tool: str, plain: JsonObject, error: ToolError, seconds: float, purpose: Purpose) -> str:
        """What becomes of a call that failed: a sample (`answer`), or nothing, and why."""
        protocol = self._tools[tool].protocol
        may_repeat = reads(protocol)
        if error.status == 429 or (error.status == 503 and error.retry_after is not None):
            return "busy" if may_repeat else "answer"
        if error.outcome == "not_run" and error.status is None:
            if isinstance(protocol.binding, HttpBinding) and error.curl is not None:
                return "unreached"
            return "answer" if error.body.startswith(f"{tool}:") else "unsendable"
        # One that took all of its time would take it again, and a wrong value may be what broke the connection.
        passing = error.status in GATEWAY or (error.status is None and error.curl is not None)
        again = may_repeat and purpose != "refuse" and seconds < 0.9 * self._settings.timeout_seconds
        key = call_key(tool, plain)
        if error.outcome == "unknown" and passing and again and key not in self._hosts[tool].broken:
            self._hosts[tool].broken.add(key)
            return "broken"
        return "answer"

    def _stop(self, tools: Collection[str], why: str, samples: Iterable[Sample]) -> None:
        """Call these tools no more; `samples` say nothing of them and are taken back."""
        host = self._hosts[next(iter(tools))]
        if tools is host.tools and any(tool not in self.stopped for tool in tools):
            self._watch(Note(f"{host.name} is not called any more: {why}."))
        for tool in tools:
            self.stopped.setdefault(tool, why)
        for sample in samples:
            self._log.void(sample.number)


def unusable(protocol: ToolProtocol, response: Json) -> str:
    """Why a response is not the data that the tool is there for; empty where it is."""
    if isinstance(response, str) and _HTML.match(response):
        schema = protocol.output_schema or {}
        told = f"{protocol.name} {protocol.title} {protocol.description} {spelled(protocol.binding)}".lower()
        gives_pages = "string" in types(resolve(schema, schema)) or "html" in told
        return "" if gives_pages else "an HTML page instead of data; does the tool need a credential?"
    if isinstance(protocol.binding, HttpBinding):
        return ""  # what came over HTTP was measured as it came
    size = len(json.dumps(response, default=str))
    return f"the response is too large to keep: {size:,} bytes as JSON" if size > MAX_BYTES else ""


class OutOfTime(BaseException):
    """The time is over. No `Exception`, so that the function that hangs does not catch it by chance."""


@contextmanager
def finishing() -> Iterator[None]:
    """Ctrl-C takes effect when the block is done; a second one does so at once. Signals reach the main thread alone."""
    if not _on_main_thread() or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
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


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """`OutOfTime` is raised in the block after so many seconds, and each second again until it is left."""
    if not _on_main_thread() or not hasattr(signal, "setitimer") or signal.getitimer(signal.ITIMER_REAL)[0]:
        yield
        return

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _on_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
