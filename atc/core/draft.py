"""The beginning of a run, before anything is executed."""

from __future__ import annotations

from dataclasses import dataclass

from atc.core.program import Program
from atc.core.types import Finding
from protocols.toolbox import Toolbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The beginning of a run, before anything is executed.

    It has the tools found for the task, a first program, and the findings of the check in it.
    `program` is None if the model wrote none.
    """

    tools: Toolbox
    program: Program | None = None
    findings: tuple[Finding, ...] = ()
