"""Formatting of the answer that one run gave to one task. Long texts are cut to fit the page."""

from __future__ import annotations

import json
from collections.abc import Sequence

from atc.core.pages.formats import dollars, seconds, size
from atc.core.pages.markup import Markup, escape_text
from atc.core.pages.templates import format_json
from atc.core.text import count
from protocols.schema import Json, JsonObject
from toolflow_bench.metrics import Row

MOST_CALLS = 100  # calls shown for one answer; a program may have made thousands
_LONGEST_NAME = 100  # characters of a tool's name, which a program may have invented
MARKS = {"right": "✓", "wrong": "✕", "outage": "!"}


def cut(value: Json, most: int) -> Markup:
    """Return the first `most` characters of a text, followed by a note of how many are missing."""
    whole = format_json(value)
    left = Markup('<span class="cut">… {} more, in the file of rows</span>')
    shown = escape_text(whole[:most])
    return shown + left.format(size(len(whole) - most)) if len(whole) > most else shown


def verdict(row: Row) -> str:
    """Return the verdict on an answer: `right`, `wrong` or `outage`."""
    if not row.graded:
        return "outage"
    return "right" if row.correct else "wrong"


def chip(rows: Sequence[Row]) -> tuple[str, str]:
    """Return the verdict on a run's answers to one task, and a short mark for the verdict.

    All repeats of the task are considered. The verdict is `mixed` if repeats differ, `absent` if
    there are no rows. The mark is `✓`, or `2/3` if several repeats were graded.
    """
    graded = [row for row in rows if row.graded]
    if not rows:
        return "absent", "·"
    if not graded:
        return "outage", MARKS["outage"]
    right = sum(row.correct for row in graded)
    if len(graded) == 1:
        return verdict(graded[0]), MARKS[verdict(graded[0])]
    mark = f"{right}/{len(graded)}"
    if 0 < right < len(graded):
        return "mixed", mark
    return "right" if right else "wrong", mark


def describe_usage(row: Row) -> list[str]:
    """Return phrases that list the calls, tokens and time of an answer, and its path metrics."""
    parts = [
        count(row.calls, "call"),
        count(row.model_calls, "model call"),
        count(row.repairs, "repair"),
        f"{row.input_tokens:,} tokens in, {row.output_tokens:,} out",
        seconds(row.seconds)
        + (f" ({seconds(row.model_seconds)} model)" if row.model_calls else ""),
        *([dollars(row.cost)] if row.cost is not None else []),
    ]
    shares = {"path": row.path, "precision": row.precision}
    parts += [f"{name} {100 * share:.0f}%" for name, share in shares.items() if share is not None]
    if row.cp is not None:
        parts.append("correct path" if row.cp else "not the correct path")
    writes = {"repeated": row.repeated_writes, "orphaned": row.orphaned_writes}
    return parts + [count(number, f"{name} write") for name, number in writes.items() if number]


def findings(row: Row, attempt: int) -> list[JsonObject]:
    """Return what the static check found in the program of one attempt."""
    return [one for one in row.findings if one.get("attempt") == attempt]


def lines_at_fault(row: Row, attempt: int) -> list[Json]:
    """Return the numbers of the program's lines that a fault or finding of an attempt names."""
    return [
        one.get("line") for one in (*row.faults, *row.findings) if one.get("attempt") == attempt
    ]


def describe_place(fault: JsonObject) -> str:
    """Return where a fault occurred, such as `attempt 2, line 3, get_film`."""
    attempt = fault.get("attempt")
    line = fault.get("line")
    tool = fault.get("tool")
    parts = [
        f"attempt {attempt + 1}" if isinstance(attempt, int) else "",
        f"line {format_json(line)}" if line is not None else "",
        format_json(tool)[:_LONGEST_NAME] if tool else "",
    ]
    return ", ".join(filter(None, parts))


def count_sent_calls(row: Row) -> int:
    """Count the calls that were sent to a tool.

    A call was not sent if it was refused, or answered with the recorded response to an equal call.
    """
    return sum(not call.get("reused") and call.get("outcome") != "not_run" for call in row.made)


def call_number(call: JsonObject, number: int, row: Row) -> str:
    """Return the number of a call as text.

    If there are several attempts, it is preceded by the number of the attempt, such as `2.7`.
    """
    attempt = call.get("attempt")
    several = len({one.get("attempt") for one in row.made}) > 1
    return f"{attempt + 1}.{number}" if several and isinstance(attempt, int) else str(number)


def format_arguments(call: JsonObject) -> str:
    """Format the arguments of a call as Python keyword arguments."""
    arguments = call.get("arguments")
    pairs = arguments.items() if isinstance(arguments, dict) else ()
    return ", ".join(
        f"{name}={json.dumps(value, ensure_ascii=False, default=repr)}" for name, value in pairs
    )
