"""Working examples for a model that has made the same mistake again.

The facts about the failure did not help, so that the model is shown something else: a call of the
tool that really succeeded, the shape of its result, and the code that reads the values.
"""

from __future__ import annotations

from collections.abc import Sequence

from atc.core.messages import format_tool_call
from atc.core.types import Attempt, Fault
from atc.pipeline.repair.responses import escape_fences, read_examples
from protocols.schema import shape
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall

_LONGEST_SHAPE = 400


def is_repeated(attempt: Attempt, earlier: Sequence[Attempt]) -> bool:
    """Return True if one of the earlier attempts had the same fault as this one.

    Faults are the same if they concern the same place of the same tool, or, if the check found
    them, if its findings are of the same kinds.
    """
    fault = attempt.fault
    if fault is None or fault.tool is None:
        return False
    return any(_fault_key(before) == _fault_key(attempt) for before in earlier)


def _fault_key(attempt: Attempt) -> tuple[object, ...]:
    fault = attempt.fault
    codes = frozenset((found.code, found.tool) for found in attempt.findings)
    return () if fault is None else (fault.kind, fault.tool, fault.path, codes)


def show_worked_call(fault: Fault, calls: Sequence[ToolCall], tools: Toolbox) -> str:
    """Return code that makes a successful call of the tool at fault and reads its result.

    Of several calls, the one with the fewest arguments is shown. The result is "" if none
    succeeded.
    """
    worked = [call for call in calls if call.tool == fault.tool and call.error is None]
    if not worked or fault.tool not in tools:
        return ""
    call = min(worked, key=lambda made: len(made.arguments))
    tool = tools[call.tool]
    value = tool.unwrap(call.result)
    text = shape(value)
    lines = [
        f"result = {format_tool_call(call)}",
        f"# result is {text if len(text) <= _LONGEST_SHAPE else text[:_LONGEST_SHAPE] + '…'}",
        *(f"{read}  # {shown}" for read, shown in read_examples(call, tool, near=fault.path or "")),
    ]
    return escape_fences("\n".join(lines))
