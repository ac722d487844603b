"""Programs written by the caller, which are executed without a model.

They are checked, their writes ask for consent, their calls are recorded, and the cause of a failure
is determined, as in every run. Automatic fixes are not applied, and values are not reported as
invented, because only the caller knows where they come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from atc.core.program import Program
from atc.core.types import Attempt, Finding, Solution
from atc.pipeline.check import check
from atc.run.attempt import run_given_program
from atc.run.passes import rests_on_responses
from atc.run.program_tools import with_named
from atc.run.strategy_run import Parts, Run
from protocols.errors import ModelUnavailable
from protocols.model import Message
from protocols.toolbox import Toolbox

GIVEN = "given"
"""Name of the strategy in the record of a run whose programs were written by the caller."""


@dataclass(frozen=True)
class NoModel:
    """A placeholder for the model (`Ask`) in runs without a model."""

    name: str = "none"
    prompt_tokens: int = 0

    def __call__(
        self,
        messages: Sequence[Message],  # noqa: ARG002 - the shape of `Ask`
        **how: Any,  # noqa: ARG002
    ) -> NoReturn:
        """Raise an error instead of replying.

        Raises:
            ModelUnavailable: always.
        """
        raise ModelUnavailable("this run has no model: the caller writes its programs.")


def run_given(
    program: Program,
    task: str,
    parts: Parts,
    *,
    everything: Toolbox,
    earlier: Sequence[Attempt] = (),
    insists: bool = False,
) -> Solution:
    """Execute a program that the caller wrote, and return the outcome.

    `earlier` are attempts of the same run; their completed calls are not repeated. If the check
    finds a problem that is certain, the program is stopped before any call. If all certain problems
    rest on response schemas, which may be wrong, the program is executed once its caller has sent
    it again. `insists` is True if the caller sent it before in another run. `everything` has all
    tools, from which suggestions for unknown names are taken; `parts.toolbox` may contain only the
    tools that the run needs.
    """
    run = Run(task, parts, tools=named_tools(program, parts.toolbox), attempts=earlier)
    # running the same program again is not a repair
    run.round = len({one.program for one in earlier} - {program})
    findings = certain_findings(program, everything)
    was_refused = any(one.program == program and one.findings for one in earlier)
    if (insists or was_refused) and is_open_to_doubt(findings, program, everything):
        findings = ()
    run.answer = run_given_program(run, program, findings).answer
    return run.solution()


def is_open_to_doubt(findings: Sequence[Finding], program: Program, toolbox: Toolbox) -> bool:
    """Return True if the findings may be wrong, because all rest on response schemas.

    Findings are the problems that the check found in `program`.
    """
    return bool(findings) and rests_on_responses(findings, program, named_tools(program, toolbox))


def named_tools(program: Program, toolbox: Toolbox) -> Toolbox:
    """Return the tools that a program needs, which are those whose aliases occur in it."""
    return with_named(program, Toolbox(), toolbox)


def certain_findings(program: Program, toolbox: Toolbox) -> tuple[Finding, ...]:
    """Return those problems found in `program` that do not depend on the data.

    Suggestions for an unknown tool are taken from the whole toolbox.
    """
    found = check(program, named_tools(program, toolbox))
    if any(one.code == "unknown-tool" for one in found):
        found = check(program, toolbox)
    return tuple(finding for finding in found if finding.certain)
