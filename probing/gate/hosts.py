"""One host under probing: how fast it is asked, and when to stop asking it, or one of its tools."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from probing.gate.answers import is_login_page
from probing.gate.pace import Pace
from probing.gate.plan import reads
from probing.sample import Sample
from probing.settings import ProbeSettings
from protocols.errors import ToolError
from protocols.jsontypes import Json
from protocols.protocol import PythonBinding, ToolProtocol
from protocols.secrecy import names_secrets

TOOL_LOSSES = 2
"""Calls of one tool in a row without an answer after which it is given up; one more where it answered before."""
HOST_LOSSES = 6
"""Calls of a host in a row without an answer, of three tools at least, after which it is given up."""
UNREACHED = 3
"""Vain attempts in a row to reach a host, some seconds apart, after which it is given up."""
DENIED = 3
"""Tools in a row that answer 401 or 403, or calls of the only one, after which a host that gave nothing is given up."""
GATEWAY = (502, 503, 504)
"""Statuses by which those before a service say that it is not there."""


class Host:
    """The pace and the record of one host: calls in a row without an answer, and calls in a row that were denied.

    `stopped` says why the host is not called any more, `stopped_tools` the same of single tools. `taken_back` are the
    numbers of the samples by which a host was stopped that say nothing of its tools.
    """

    def __init__(
        self,
        name: str,
        settings: ProbeSettings,
        protocol: ToolProtocol,
        *,
        sleep: Callable[[float], object],
        now: Callable[[], float],
    ) -> None:
        self.name = name
        self.tools: dict[str, ToolProtocol] = {}
        self.stopped = ""
        self.stopped_tools: dict[str, str] = {}
        self.taken_back: list[int] = []
        self._python = isinstance(protocol.binding, PythonBinding)
        self.pace = Pace(None if self._python else settings.requests_per_second, sleep=sleep, now=now)
        self._timeout = settings.timeout_seconds
        self._answered: set[str] = set()
        self._lost: list[Sample] = []
        self._silent: dict[str, int] = {}
        self._denied: list[Sample] = []
        self._broken: set[str] = set()
        self._tried: set[str] = set()
        self._unreached = 0
        self._waited_for: set[str] = set()

    def add(self, protocol: ToolProtocol, *, answered: bool) -> None:
        """A tool of this host; `answered`: it gave a response before."""
        self.tools[protocol.name] = protocol
        if answered:
            self._answered.add(protocol.name)

    def first_break(self, tool: str, plain: Mapping[str, Json]) -> bool:
        """Whether this call breaks off for the first time."""
        key = f"{tool} {json.dumps(plain, sort_keys=True, default=str)}"
        first = key not in self._broken
        self._broken.add(key)
        return first

    def put_off(self, tool: str, error: ToolError) -> str:
        """The host cannot be reached, or asks to wait. Gives a sentence for the person where there is news."""
        if error.status is None:
            self._unreached += 1
            if self._unreached > UNREACHED:
                self.stopped = f"{error.body.partition(';')[0]}; when it is up again, the same command goes on"
            else:
                self.pace.pause(2.0 ** (self._unreached - 1))
            return ""
        first = not self.pace.waiting
        pause = self.pace.put_off(error.retry_after)
        if pause is None:
            asked = f", for {error.retry_after:,.0f} s" if error.retry_after else ""
            why = f"it asks to wait (HTTP {error.status}{asked}); the same command goes on later"
            self.stopped_tools[tool] = why
            if self._waited_for - {tool}:  # another tool had the same: it is not a limit of one of them
                self.stopped = why
            self._waited_for.add(tool)
            return ""
        long = f"; waiting {pause:.0f} s" if pause >= 5 else ""
        return f"{self.name} asks for fewer calls (HTTP {error.status}){long}." if first else ""

    def answered(self, sample: Sample) -> str:
        """A call came back, or is lost. Gives a sentence for the person where there is news."""
        self._tried.add(sample.tool)
        self._unreached = 0
        silent = (sample.status is None and sample.answer is None) or sample.status in GATEWAY
        if sample.outcome == "unknown" and not self._python and silent:
            self._lose(sample)
            return ""
        if self._python and sample.outcome == "unknown" and sample.seconds >= self._timeout:
            self._lose(sample)
            return ""
        self._lost.clear()
        self._silent.pop(sample.tool, None)
        if sample.done:
            self._answered.add(sample.tool)
        # What was sent to be refused may well be refused like this.
        if _denied(sample) and sample.purpose not in ("link", "refuse"):
            self._deny(sample)
        else:
            self._denied.clear()
        if sample.status == 429:  # a write, which is not sent again
            self.pace.put_off(None)
            return ""
        self._waited_for.clear()
        slower = self.pace.taken()
        return f"{self.name} is asked once in {self.pace.interval:.1f} s from now on." if slower else ""

    def _lose(self, sample: Sample) -> None:
        self._lost.append(sample)
        mine = self._silent[sample.tool] = self._silent.get(sample.tool, 0) + 1
        why = f"calls in a row were not answered ({sample.error.rstrip('.')})"
        if mine >= TOOL_LOSSES + (sample.tool in self._answered):
            self.stopped_tools[sample.tool] = f"{mine} {why}"
        if len(self._lost) >= HOST_LOSSES and not self._python:
            self.stopped = f"{len(self._lost)} {why}; when it is well again, the same command goes on"
            self.taken_back = [lost.number for lost in self._lost if reads(self.tools[lost.tool])]

    def _deny(self, sample: Sample) -> None:
        """A service that lets nobody in is not asked on; one that wants a token as an argument is."""
        self._denied.append(sample)
        tools = {denied.tool for denied in self._denied}
        if self._answered:
            turned = tools & self._answered
            if len(self._denied) > DENIED and len(turned) > 1:
                self.stopped = f"tools that answered before now answer {_what(sample)}; look at its credential"
                self.taken_back = [denied.number for denied in self._denied]
            return
        plain = {tool for tool in tools if not any(map(names_secrets, self.tools[tool].parameters))}
        everything = self._tried >= self.tools.keys()
        counted = tools if everything else plain
        if len(self._denied) >= DENIED and len(counted) >= min(DENIED, len(self.tools)):
            self.stopped = (
                f"it lets nobody in ({_what(sample)}, {len(self._denied)} times in a row); put a credential for it into"
                " your settings (docs/probing.md says how), and the same command goes on"
            )
            self.taken_back = [denied.number for denied in self._denied]


def _denied(sample: Sample) -> bool:
    return sample.status in (401, 403) or (not sample.done and is_login_page(sample.answer or ""))


def _what(sample: Sample) -> str:
    return f"HTTP {sample.status}" if sample.status in (401, 403) else "a page to log in"
