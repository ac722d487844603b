"""A program that the caller wrote: checked, executed and blamed as any other, without a model.

The check, the journal, consent and attribution are those of every run. What a model's own programs get besides is left
out: nothing is mended, and a value does not count as invented because no task holds it, since only the caller knows
where it came from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from atc.core.types import Attempt, Finding, Program, Solution
from atc.pipeline.check import check
from atc.run.attempt import run_given_program, with_named
from atc.run.strategy_run import Parts, Run
from protocols.errors import ModelUnavailable
from protocols.model import Message
from protocols.toolbox import Toolbox

GIVEN = "given"
"""What a run's record names as its strategy when the caller wrote its programs."""


@dataclass(frozen=True)
class NoModel:
    """The model of a run that asks none."""

    name: str = "none"
    prompt_tokens: int = 0

    def __call__(self, messages: Sequence[Message], **how: Any) -> NoReturn:  # noqa: ARG002 - the shape of `Ask`
        """Never replies.

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
) -> Solution:
    """Run `program` after the `earlier` attempts of the same run, whose completed calls are not repeated.

    Findings that are certain stop it before any call. `everything` holds the names that they suggest; `parts.toolbox`
    may be only what the run needs of it.
    """
    run = Run(task, parts, tools=named_tools(program, parts.toolbox), attempts=earlier)
    run.round = len({one.program for one in earlier} - {program})  # the same again is no repair
    run.answer = run_given_program(run, program, certain_findings(program, everything)).answer
    return run.solution()


def named_tools(program: Program, toolbox: Toolbox) -> Toolbox:
    """The tools whose aliases stand in `program`: what a run needs of a large toolbox."""
    return with_named(program, Toolbox(), toolbox)


def certain_findings(program: Program, toolbox: Toolbox) -> tuple[Finding, ...]:
    """What is certainly wrong with `program`. The nearest names for an unknown tool are looked for among all tools."""
    found = check(program, named_tools(program, toolbox))
    if any(one.code == "unknown-tool" for one in found):
        found = check(program, toolbox)
    return tuple(finding for finding in found if finding.certain)
