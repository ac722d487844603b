"""The backend without a boundary: a program runs inside this process, for development only, on any platform.

The policy reviews the source. What passes is compiled by CPython as it stands, not rewritten to RestrictedPython's
guards: with them 28 to 33 of 44 ordinary programs ran, and they hold nothing that happens in C. A backend that cannot
be a boundary had better run a program exactly as the others do than look like one.

Kept: what the host keeps (tools, arguments, journal, calls, output, the size of results, wall time), and the program's
own clock, `random`, `uuid`, `secrets`, standard output and view of each module.

Not kept: memory and processor time; the hash seed, hence the order of sets of strings; the time zone, where a program
asks for the local time of a moment other than now. A thread cannot be killed: a program that ignores its end is left
behind, without tools and output; and one long call in C (`sum(range(10**12))`) holds up the whole process.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType
from typing import Self

from protocols.toolbox import Toolbox
from sandbox.errors import SandboxUnavailable
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.policy import review
from sandbox.policy.policed import LAYER, refused
from sandbox.rpc import serve
from sandbox.trace import Trace

__all__ = ["TrustedSandbox", "unavailable"]

WARNING = (
    "the trusted sandbox is no boundary: programs run inside this process; "
    "use the zygote, docker or monty sandbox for programs that you did not write"
)
LEFT = "a program ignored the end of its run and still runs inside this process; restart it to be rid of the program"


def _say(text: str) -> None:
    print(f"warning: {text}", file=sys.stderr, flush=True)


class TrustedSandbox:
    """Runs programs on threads of this process. Runs may overlap, from any threads.

    `say` is told in one line, once, that this is no boundary, and whenever a program could not be stopped.
    """

    name = "trusted"
    layers = (LAYER, "own view of modules", "no limit of memory or processor time")
    """What stands between a program and this machine."""
    boundary = False
    """Whether the layers are meant to hold a hostile program: never."""

    def __init__(self, say: Callable[[str], None] = _say) -> None:
        self._say = say
        self._closed = False
        say(WARNING)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def warm(self) -> None:
        """Import what reviewing and running take, so that the first run is as quick as the next."""
        review("")
        from sandbox.trusted import program  # noqa: F401

    def run(self, source: str, tools: Toolbox, *, limits: Limits, journal: Journal) -> Trace:
        """See `sandbox.base.Sandbox.run`. Of a program that the policy refuses nothing runs."""
        if self._closed:
            raise SandboxUnavailable("the trusted sandbox was closed; make a new one")
        violations = review(source)
        if violations:
            return refused(violations, source, backend=self.name, pins=journal.open())
        from sandbox.trusted.program import InProcess

        child = InProcess(source, lambda: self._say(LEFT))
        return serve(child, source, tools, limits=limits, journal=journal, backend=self.name)

    def close(self) -> None:
        """The sandbox cannot be used afterwards. Runs that are under way go on to their end."""
        self._closed = True


def unavailable() -> str | None:
    """Why this machine cannot run it: it always can, where the interpreter is CPython."""
    if sys.implementation.name != "cpython":
        return f"the trusted sandbox needs CPython, and this is {sys.implementation.name}; use the docker sandbox"
    return None
