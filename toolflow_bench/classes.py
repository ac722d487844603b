"""Why a question was not solved: one class for each row that was graded wrong, the first that applies.

`retrieval`
    A gold tool was neither among the tools that the prompt offered nor called.
`wrong_answer`
    An answer was given, and it, or the state that was left, is not the right one.
`limit`
    Time, calls, tokens or another cap ended the run before an answer.
`misread`
    The last program misread a response (a key, shape or type that is not there, an empty result), at run time or by
    what the check found before; or the response had left its schema.
`tool`
    A tool failed (5xx, 429, no answer) and the last program did not get over it, or a write's outcome stayed unknown.
`program`
    The last program passed no check, called a tool with bad arguments or one that does not exist, or raised.
`no_answer`
    The last program ended well and said nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from toolflow_bench.metrics import FailureClass, Row

_OF_FAULT: Mapping[str, FailureClass] = {
    "syntax": "program",
    "policy": "program",
    "unknown_tool": "program",
    "bad_arguments": "program",
    "error": "program",
    "misread_result": "misread",
    "empty_result": "misread",
    "drift": "misread",
    "tool_failed": "tool",
    "unknown_outcome": "tool",
    "limit": "limit",
    "no_answer": "no_answer",
}
"""By `atc.types.FaultKind`."""


def failure_class(row: Row) -> FailureClass:
    """The class of a row, from its own facts; the module's docstring says what each means."""
    if row.correct or not row.graded:
        return ""
    called = {call["tool"] for call in row.made}
    if set(row.gold) - set(row.tools) - called:
        return "retrieval"
    if row.answer is not None:
        return "wrong_answer"
    if row.limit is not None:
        return "limit"
    if row.status == "paused":  # every write is allowed here, so what stopped it is one whose outcome nobody knows
        return "tool"
    if not row.faults:
        return "no_answer"
    return _OF_FAULT.get(row.faults[-1]["kind"], "program")
