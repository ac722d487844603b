"""Two ways to tell of a failure that others have: the ATC paper's reflection, and a plain traceback."""

from __future__ import annotations

import re

from atc.findings import render_finding
from atc.prompts import fill
from atc.repair.case import Case
from atc.repair.reading import documentation
from atc.types import Attempt
from protocols.ask import Message

_MOST_NAMES = 40
"""Tools that a question lists where the program names none."""
_LONGEST_ANSWER = 200
"""Characters of an answer that stay in the conversation where it names no tool."""


def reflection(case: Case) -> list[Message]:
    """The paper's way (section 3.3, equation 2): the model names the tool that an error comes from, then revises.

    First t_j = M(x, T, I_a, r_j): from the error message, with the faulty snippet and its trace, exactly a tool's name.
    Then C_j = M(x, T, D, I_c, {(C_<j, r_<j)}, d_j): the program again, given that tool's documentation d_j.
    """
    names = case.named or list(case.tools)[:_MOST_NAMES]
    question = fill("reflect", error=traceback_text(case.attempt), tools=", ".join(names))
    answer = case.ask(question).strip()[:_LONGEST_ANSWER]
    words = re.findall(r"[^\W\d]\w*", answer)
    tool = next((word for word in words if word in case.tools), None)
    about = [f"The error comes from {tool}."] if tool else []
    if tool and case.docs != "names":
        about.append(documentation(case.tools[tool], among=case.tools))
    said = Message("assistant", tool or answer or "(none)")
    return [case.written, Message("user", question), said, case.rewrite(about)]


def traceback(case: Case) -> list[Message]:
    """The plain way: what Python itself says of a failure, and nothing more."""
    return [case.written, case.rewrite(["That program failed:", traceback_text(case.attempt)])]


def traceback_text(attempt: Attempt) -> str:
    """What a Python that ran the program would print; for a program that the check stopped, what a compiler would."""
    program, trace = attempt.program, attempt.trace
    if attempt.findings:
        return "\n".join(render_finding(finding, program) for finding in attempt.findings)
    failure = trace.failure if trace is not None else None
    if failure is None:
        return attempt.fault.message if attempt.fault is not None else ""
    lines = ["Traceback (most recent call last):"] if failure.frames else []
    for frame in failure.frames:
        lines += [f'  File "program.py", line {frame.line}, in {frame.function}', f"    {program.line(frame.line)}"]
    return "\n".join([*lines, f"{failure.type}: {failure.message}" if failure.message else failure.type])
