"""Grades of an answer that `atc` gave: right, or wrong with or without a mark."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Literal, get_args

Grade = Literal["right", "unsure", "not offered", "no answer", "marked", "silent"]
"""`right`: solved with the true answer. `unsure`: the true answer, but not `solved`. `marked`: a
wrong answer that `atc` doubts or does not call solved. `silent`: a wrong answer without a mark.
`not offered`: the prompt does not mention a function that the program needs.
"""
GRADES: tuple[Grade, ...] = get_args(Grade)
"""All grades, the best first."""


def grade_report(report: Mapping[str, Any], truth: Any, *, written: bool = True) -> Grade:
    """Return the grade of a run, given the object that `atc run --json` printed.

    `written` is False if the service does not hold what the task asked for.
    """
    answer = report.get("answer")
    status = report.get("status")
    if answer is None or status not in ("solved", "unsure"):
        return "no answer"
    if same_answer(answer, truth) and written:
        return "right" if status == "solved" else "unsure"
    return "marked" if status == "unsure" or doubts_of(report) else "silent"


def doubts_of(report: Mapping[str, Any]) -> list[str]:
    """Return the doubts about the programs of a run, also those that the model denied."""
    return [
        str(doubt) for attempt in report.get("attempts", ()) for doubt in attempt.get("doubts", ())
    ]


def same_answer(answer: Any, truth: Any) -> bool:
    """Return True if an answer says the same as the truth.

    Numbers are compared by value, and texts without surrounding space. A text may be the Python
    form of the truth, but the text "3.10" is not the number 3.1.
    """
    if isinstance(answer, str) and not isinstance(truth, str):
        with suppress(ValueError, SyntaxError):
            answer = ast.literal_eval(answer.strip())
    if isinstance(truth, list):
        items = list(answer) if isinstance(answer, list | tuple) else None
        return (
            items is not None and len(items) == len(truth) and all(map(same_answer, items, truth))
        )
    if isinstance(truth, bool) or not isinstance(truth, int | float):
        return str(answer).strip() == str(truth)
    if isinstance(answer, bool) or not isinstance(answer, int | float):
        return False
    return abs(answer - truth) <= 1e-9 * max(1.0, abs(truth))
