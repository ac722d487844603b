"""Repair: messages that show the model a failed attempt and ask for the next program.

There are three ways, of which a setting chooses one. `facts` shows the model what attribution found
and what the responses really contain. `reflection` is equation 2 of the ATC paper: the model itself
names the tool to blame and gets its documentation. `traceback` is Python's own error text, as plain
code agents use it. In all three, the messages are appended to the conversation, so that the model
sees every earlier attempt and the beginning of the prompt stays cached.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, get_args

from atc.core.messages import render_finding
from atc.core.prompts import fill
from atc.core.types import Attempt
from atc.pipeline.repair.facts import RepairCase, describe_looked, describe_writes, facts
from atc.pipeline.repair.responses import documentation, format_results
from protocols.model import Message
from sandbox.arguments import shorten

__all__ = ["WAYS", "RepairCase", "Way", "correction", "traceback_text", "worth_repairing"]

Way = Literal["facts", "reflection", "traceback"]
WAYS: tuple[Way, ...] = get_args(Way)

_LONGEST_ANSWER = 300
"""Maximum length, in characters, of a doubtful answer in the prompt."""
_LONGEST_NAMING = 200
"""Maximum length, in characters, of a reflection reply that is kept in the conversation."""
_MOST_NAMES = 40
"""Maximum number of tools in the question of `reflection`, if the program names no tool."""


def correction(case: RepairCase, mode: str = "facts") -> list[Message]:
    """Build the messages after an attempt that did not end the run.

    They show its program and what went wrong, what is doubtful about its answer, or the values that
    it looked at.

    They show the program of the attempt and what went wrong. `mode` is the way of repair, one of
    `WAYS`.

    Raises:
        ValueError: the mode is `reflection`, which asks a model, but `case.complete` is None.
        KeyError: there is no such mode.
    """
    if case.attempt.only_looked:
        parts = [describe_looked(case.attempt), describe_writes(case.orphans), fill("look_next")]
        return [case.program_message, Message("user", "\n\n".join(filter(None, parts)))]
    if case.attempt.fault is None:
        confirm = "reply with the one word SAME" if case.takes_same else "write the same program"
        answer = shorten(case.attempt.answer or "", _LONGEST_ANSWER)
        doubts = "\n".join(f"- {doubt}" for doubt in case.attempt.doubts)
        calls = format_results(case.attempt.calls, case.tools) or "(no call succeeded)"
        return [
            case.program_message,
            Message(
                "user",
                fill("doubt", answer=answer, doubts=doubts, calls=calls, confirm=confirm),
            ),
        ]
    return {"facts": facts, "reflection": _reflection, "traceback": _traceback}[mode](case)


def worth_repairing(attempts: Sequence[Attempt]) -> Attempt:
    """Return which of several attempts to repair: the one that got furthest.

    An attempt with a (doubtful) answer got further than one that failed, and one with more calls
    further than one with fewer. Attempts that the check stopped come last; among them, fewer
    findings are better. Of equal attempts, the earliest is returned.
    """
    return max(
        attempts,
        key=lambda a: (
            a.answer is not None,
            a.trace is not None,
            len(a.trace.calls) if a.trace else -len(a.findings),
        ),
    )


def _reflection(case: RepairCase) -> list[Message]:
    """Build the messages of the ATC paper's method, in which the model itself finds the fault.

    This is equation 2 in section 3.3. First the model gets the error message with its traceback,
    and replies with the name of the tool at fault: t_j = M(x, T, I_a, r_j). Then it writes the
    program again, given the documentation d_j of this tool: C_j = M(x, T, D, I_c, {(C_<j, r_<j)},
    d_j).
    """
    if case.complete is None:
        raise ValueError("this way of repair asks the model: give `complete`")
    named = [word for word in case.attempt.program.names if word in case.tools]
    names = named or list(case.tools)[:_MOST_NAMES]
    question = fill("reflect", error=traceback_text(case.attempt), tools=", ".join(names))
    turns = [*case.messages, case.program_message, Message("user", question)]
    answer = case.complete(turns, purpose="attribute", temperature=0.0, seed=0).text.strip()[
        :_LONGEST_NAMING
    ]
    words = re.findall(r"[^\W\d]\w*", answer)
    tool = next((word for word in words if word in case.tools), None)
    about = [f"The error comes from {tool}."] if tool else []
    if tool and case.docs != "names":
        about.append(documentation(case.tools[tool], case.attempt.program, among=case.tools))
    reply = Message("assistant", tool or answer or "(none)")
    return [case.program_message, Message("user", question), reply, case.rewrite(about)]


def _traceback(case: RepairCase) -> list[Message]:
    """Build the messages that show the model only what Python itself prints about a failure."""
    return [
        case.program_message,
        case.rewrite(["That program failed:", traceback_text(case.attempt)]),
    ]


def traceback_text(attempt: Attempt) -> str:
    """Return the text that Python would print about the failure of an attempt: the traceback.

    For a program that the check stopped, it is what a compiler would print about the findings.
    """
    program = attempt.program
    trace = attempt.trace
    if attempt.findings:
        return "\n".join(render_finding(finding, program) for finding in attempt.findings)
    failure = trace.failure if trace is not None else None
    if failure is None:
        return attempt.fault.message if attempt.fault is not None else ""
    lines = ["Traceback (most recent call last):"] if failure.frames else []
    for frame in failure.frames:
        lines += [
            f'  File "program.py", line {frame.line}, in {frame.function}',
            f"    {program.line(frame.line)}",
        ]
    return "\n".join(
        [*lines, f"{failure.type}: {failure.message}" if failure.message else failure.type]
    )
