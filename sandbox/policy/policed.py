"""Any sandbox, with the policy in front of it."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.policy.violation import Violation, render
from sandbox.trace import Failure, Frame, Pins, Trace

SHOWN = 3
"""So many violations stand in a failure's message; the others are counted."""

LAYER = "source policy"


class Policed:
    """Runs in `sandbox` the programs that the policy lets through, and tells why of those that it does not.

    Same contract, name and boundary as `sandbox`, which is closed with it.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.name = sandbox.name
        self.boundary: bool = getattr(sandbox, "boundary", False)

    @property
    def layers(self) -> tuple[str, ...]:
        """What stands between a program and the machine."""
        return (*getattr(self.sandbox, "layers", ()), LAYER)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def run(self, source: str, tools: Toolbox, *, limits: Limits, journal: Journal) -> Trace:
        """See `sandbox.base.Sandbox.run`. Of a program that is refused nothing runs; its failure is a `policy` one."""
        from sandbox.policy import review

        violations = review(source)
        if violations:
            return refused(violations, source, backend=self.name, pins=journal.open())
        return self.sandbox.run(source, tools, limits=limits, journal=journal)

    def warm(self) -> None:
        """Start what the sandbox starts ahead of its first run, where it does so."""
        warm = getattr(self.sandbox, "warm", None)
        if warm is not None:
            warm()

    def close(self) -> None:
        """Close the sandbox."""
        self.sandbox.close()


def refused(violations: tuple[Violation, ...], source: str, *, backend: str, pins: Pins) -> Trace:
    """The trace of a program that the policy did not let run."""
    message = "\n".join(render(violation, source) for violation in violations[:SHOWN])
    if len(violations) > SHOWN:
        message += f"\nand {len(violations) - SHOWN} more"
    failure = Failure(kind="policy", type="Refused", message=message, frames=(Frame(line=violations[0].line),))
    return Trace(failure=failure, backend=backend, pins=pins)
