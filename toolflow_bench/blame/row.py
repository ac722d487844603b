"""One fault that was put somewhere, and what was said of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from atc.types import Fault
from toolflow_bench.blame.judge import Verdict
from toolflow_bench.mutants import Truth

Shown = Literal["found", "failed", "unanswered", "doubted", "wrong", "none"]
"""How a fault shows itself: in a finding, in a run that fails, in one without an answer, in a doubt about the answer,
in a wrong answer alone, or not at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What attribution said, and what is right of that."""

    fault: Fault
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """`found` is attribution from the check's findings, `run` from the run alone, which is made in any case.

    `doubts` are those that the gold run does not raise. `correct`: the answer and what the writes left are right.
    """

    id: str
    task: str
    kind: str
    variant: str
    line: int
    truths: tuple[Truth, ...]
    run: Told | None
    doubts: tuple[str, ...]
    correct: bool
    found: Told | None = None
    before: str = ""
    after: str = ""

    @property
    def shown(self) -> Shown:
        """How the fault shows itself first in the pipeline, in which nothing runs that the check finds wrong."""
        return "found" if self.found is not None else self.shown_by_run

    @property
    def shown_by_run(self) -> Shown:
        """The same where nothing is checked."""
        if self.run is not None:
            return "unanswered" if self.run.fault.kind == "no_answer" else "failed"
        if self.doubts:
            return "doubted"
        return "none" if self.correct else "wrong"

    @property
    def told(self) -> Told | None:
        """What the pipeline says: of the findings where there are some, else of the run."""
        return self.found or self.run

    @property
    def doubt_names_tool(self) -> bool:
        """Whether a doubt speaks of a tool that is to blame."""
        return any(truth.tool in doubt for truth in self.truths for doubt in self.doubts)

    def as_json(self) -> dict[str, Any]:
        """As plain JSON, for one line of a file."""
        return {
            "id": self.id,
            "task": self.task,
            "kind": self.kind,
            "variant": self.variant,
            "line": self.line,
            "before": self.before,
            "after": self.after,
            "shown": self.shown,
            "shown_by_run": self.shown_by_run,
            "correct": self.correct,
            "truths": [asdict(truth) for truth in self.truths],
            "found": _told(self.found),
            "run": _told(self.run),
            "doubts": list(self.doubts),
            "doubt_names_tool": self.doubt_names_tool,
        }


def _told(told: Told | None) -> dict[str, Any] | None:
    return (
        None
        if told is None
        else {
            **asdict(told.fault),
            **asdict(told.verdict),
            "right": told.verdict.right,
            "path": told.fault.path,
            "call": told.fault.call,
            "right_call": told.verdict.call,
            "right_path": told.verdict.path,
        }
    )
