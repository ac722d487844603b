"""The plain way: what Python itself says of a failure, and nothing more."""

from __future__ import annotations

from atc.findings import render_finding
from atc.repair.case import Case
from atc.types import Attempt
from protocols.ask import Message

FILE = "program.py"
"""What the program's file is called in a traceback."""


def told(case: Case) -> list[Message]:
    """The program, and its traceback."""
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
        lines += [f'  File "{FILE}", line {frame.line}, in {frame.function}', f"    {program.line(frame.line)}"]
    return "\n".join([*lines, f"{failure.type}: {failure.message}" if failure.message else failure.type])
