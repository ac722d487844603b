"""The rate at which one host is called, and the decision when to stop calling it."""

from __future__ import annotations

from collections.abc import Callable

from probing.samples import ProbeSettings, Sample
from protocols.documentation import docs_page
from protocols.errors import ToolError
from protocols.pace import Pace
from protocols.protocol import ToolProtocol
from protocols.secrets import may_name_secrets

TOOL_LOSSES = 2
"""Number of consecutive unanswered calls after which a tool is not called any more."""
HOST_LOSSES = 6
"""Number of consecutive unanswered calls after which a host is not called any more."""
DENIED = 3
"""Number of consecutive 401 or 403 answers after which a host may be given up.

If no tool of the host answered successfully before, the denials must come from at least this number
of different tools, or from all tools of a host that has fewer."""
GATEWAY = (502, 503, 504)
"""HTTP statuses with which a gateway reports that the service behind it does not answer."""
MOST_WAITS = 7
"""Number of consecutive answers that ask to wait after which a host is given up for this run."""
LONGEST_WAIT = 120.0
"""Longest wait in seconds. A host that asks for a longer wait is given up for this run."""
_AFTER_A_WRITE = 0.5
"""Pause in seconds after a write that was answered with 429, which is not sent again."""


class HostBudget:
    """Limits the rate of calls to one host, and decides when to stop calling it.

    It counts three kinds of consecutive calls: those without an answer, those that were denied, and
    those after which the service asked to wait. A tool that must not be called any more is added to
    `stopped`, which maps names of tools to reasons.
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
        self._pace = Pace(rate, sleep=sleep, now=now)
        self._lost: list[str] = []
        self._denied: list[Sample] = []
        self._waits = 0

    def wait(self) -> None:
        """Wait until the next call may be sent, and set the earliest time for the one after it."""
        self._pace.wait()

    def record_delay(self, error: ToolError) -> str:
        """Make fewer calls per second after an answer that asks to wait (HTTP 429 or 503).

        Return a message for the user, or "" if there is nothing to say.
        """
        self._waits += 1
        self._pace.slow_down()
        asked = max(error.retry_after or 0.0, min(2.0 ** (self._waits - 1), 30.0))
        if self._waits <= MOST_WAITS and asked <= LONGEST_WAIT:
            self._pace.pause(asked)
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
        """Count an unanswered call.

        Return a message for the user if the host is not called any more, else "".
        """
        self._lost.append(tool)
        self._pace.pause(1.0)
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
        """Count an answered call, and stop calling the host if it denies access (401 or 403).

        The host is still called if its tools take credentials as arguments. Return two values: a
        message for the user if the host is not called any more (else ""), and the denied samples
        that the log must discard, because they show nothing about their tools.
        """
        self._lost.clear()
        self.answered |= {sample.tool} if sample.done else set()
        if sample.status == 501:  # not implemented, whatever the arguments
            self._stopped.setdefault(sample.tool, "it says that it is not implemented (HTTP 501)")
        if sample.status == 429:  # a write is not sent again
            self._pace.pause(_AFTER_A_WRITE)
        else:
            self._waits = 0
            self._pace.speed_up()
        if sample.status not in (401, 403) or sample.purpose in (
            "link",
            "refuse",
        ):  # such calls may be denied
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
        why = (
            f"{before} (HTTP {sample.status}); configure its credential ({page}), "
            "and the same command goes on"
        )
        return self._stop(why), self._denied

    def _stop(self, why: str) -> str:
        for tool in self.tools:
            self._stopped.setdefault(tool, why)
        return f"{self.name} is not called any more: {why}."
