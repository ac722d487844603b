"""Whether a fault names the call and the path that are truly to blame."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from atc.types import Fault
from sandbox.trace import Trace
from toolflow_bench.mutants import Truth


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What is right of a fault: the call (of a finding, the tool), the path as well, and the line.

    `tied` is how many calls the facts could not tell apart, 0 where they left one; `among` says that the right one is
    one of them.
    """

    call: bool = False
    path: bool = False
    line: bool = False
    tied: int = 0
    among: bool = False

    @property
    def right(self) -> bool:
        """Whether call and path are right."""
        return self.call and self.path


def judge_run(fault: Fault, trace: Trace, truths: Sequence[Truth]) -> Verdict:
    """A fault that a run's trace led to: it must name one of the true calls, and that truth's path."""
    calls = {call.index: call for call in trace.calls}
    blamed = calls.get(fault.call) if fault.call is not None else None
    named = [truth for truth in truths if blamed is not None and truth.meets(blamed)]
    tied = [calls[index] for index in fault.candidates if index in calls]
    return Verdict(
        call=bool(named),
        path=any(same_place(fault.path, truth.path) for truth in named),
        line=any(truth.first_line <= (blamed.line if blamed else 0) <= truth.last_line for truth in named),
        tied=len(tied),
        among=any(truth.meets(call) for truth in truths for call in tied),
    )


def judge_finding(fault: Fault, truths: Sequence[Truth], *, lines: range) -> Verdict:
    """A fault that a finding led to, before any call: it must name the tool and the path, and a line of the fault.

    `lines` are those of the statement that the fault stands in. A finding may also stand on the line of the call.
    """
    named = [truth for truth in truths if fault.tool == truth.tool]
    line = fault.line or 0
    return Verdict(
        call=bool(named),
        path=any(same_place(fault.path, truth.path) for truth in named),
        line=line in lines or any(truth.first_line <= line <= truth.last_line for truth in named),
    )


def same_place(blamed: str | None, true: str) -> bool:
    """Whether two paths are the same but for the indices of lists. No path and the empty path differ from any other."""
    return _general(blamed or "") == _general(true)


def _general(path: str) -> str:
    return re.sub(r"\[-?\d*\]", "[]", path)
