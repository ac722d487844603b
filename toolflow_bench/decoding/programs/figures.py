"""What rows of programs come to: how many are clean to the static check, how many answer right, and what they take."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from atc.strategies.programs.attempt import SEEN_IN_RUNS
from protocols.parsing import parse
from toolflow_bench.compare import Comparison, compare
from toolflow_bench.decoding.frame import Arm
from toolflow_bench.decoding.tables import percent, points, table
from toolflow_bench.metrics import Row
from toolflow_bench.resampling import Estimate, estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramFigures:
    """The figures of one arm, over its graded rows. Intervals are 95%, bootstrap over questions.

    `clean`: the first program written is one of which the check is certain of nothing wrong, before anything is mended.
    `unclean` counts the codes of what is wrong with the others, each once a program. `ran`: some program ended by
    itself and printed an answer, right or wrong.
    """

    arm: Arm
    questions: int
    left: int
    clean: Estimate | None
    unclean: Mapping[str, int]
    ran: Estimate | None
    success: Estimate | None
    by_split: Mapping[str, tuple[int, int]]
    """Solved and graded, of flights and of ToolFlow's tasks."""
    seconds_median: float
    model_seconds_median: float
    input_tokens: float
    output_tokens: float
    statements: float
    output_tokens_a_second: float | None
    """Written tokens by seconds that waited for the model, prompts included."""

    def as_json(self) -> dict[str, Any]:
        """As plain JSON."""
        plain = asdict(self)
        arm = plain.pop("arm")
        return {**arm, **{key: round(value, 4) if isinstance(value, float) else value for key, value in plain.items()}}


def what_is_unclean(row: Row) -> tuple[str, ...]:
    """The codes of what is certainly wrong with a row's first program; `no program` where none was written."""
    if not row.programs or not row.programs[0].strip():
        return ("no program",)
    return tuple(dict.fromkeys(f["code"] for f in _certain(row)))


def _certain(row: Row) -> list[Mapping[str, Any]]:
    """The findings of a row's first program that were there before any call."""
    return [f for f in row.findings if f["attempt"] == 0 and f["certain"] and f["code"] not in SEEN_IN_RUNS]


def statements_of(source: str) -> int:
    """Statements of a program, those in blocks too; 0 for one that Python cannot read."""
    try:
        return sum(isinstance(node, ast.stmt) for node in ast.walk(parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 0


def figures(arm: Arm, rows: Sequence[Row], *, seed: int = 0) -> ProgramFigures:
    """The figures of an arm's rows."""
    graded = [row for row in rows if row.graded]
    wrong = {row.id: what_is_unclean(row) for row in graded}
    splits = {name: [row for row in graded if row.split == name] for name in dict.fromkeys(r.split for r in graded)}
    waited = sum(row.model_seconds for row in graded)

    def middle(values: Sequence[float]) -> float:
        return float(median(values)) if values else 0.0

    return ProgramFigures(
        arm=arm,
        questions=len(graded),
        left=len(rows) - len(graded),
        clean=estimate([float(not wrong[row.id]) for row in graded], seed=seed),
        unclean=dict(Counter(code for codes in wrong.values() for code in codes).most_common()),
        ran=estimate([float(row.answer is not None) for row in graded], seed=seed),
        success=estimate([float(row.correct) for row in graded], seed=seed),
        by_split={name: (sum(row.correct for row in some), len(some)) for name, some in splits.items()},
        seconds_median=middle([row.seconds for row in graded]),
        model_seconds_median=middle([row.model_seconds for row in graded]),
        input_tokens=middle([row.input_tokens for row in graded]),
        output_tokens=middle([row.output_tokens for row in graded]),
        statements=middle([statements_of(row.programs[0]) if row.programs else 0 for row in graded]),
        output_tokens_a_second=sum(row.output_tokens for row in graded) / waited if waited else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramReport:
    """The arms side by side, and each against the one without decoding that is otherwise the same."""

    rows: Mapping[Arm, Sequence[Row]]
    seed: int = 0
    notes: tuple[str, ...] = ()

    @property
    def figures(self) -> list[ProgramFigures]:
        """By arm."""
        return [figures(arm, rows, seed=self.seed) for arm, rows in self.rows.items()]

    @property
    def left(self) -> int:
        """Rows that failed on our side."""
        return sum(one.left for one in self.figures)

    @property
    def differences(self) -> dict[tuple[Arm, Arm], tuple[Comparison, Estimate | None]]:
        """(arm, its free one) → paired outcome, and the difference of clean first programs."""
        found = {}
        for arm in self.rows:
            for base in self.rows:
                if base != arm and base.mode == arm.mode.replace("program", "free") and base.model == arm.model:
                    found[arm, base] = (
                        compare(self.rows[base], self.rows[arm], seed=self.seed),
                        self._clean(arm, base),
                    )
        return found

    def as_json(self) -> dict[str, Any]:
        """As plain JSON; `unclean` has what is wrong with each first program that is not clean."""
        return {
            "notes": list(self.notes),
            "arms": {one.arm.name: one.as_json() for one in self.figures},
            "differences": {
                f"{arm.name} - {base.name}": {**outcome.as_json(), "clean": asdict(clean) if clean else None}
                for (arm, base), (outcome, clean) in self.differences.items()
            },
            "unclean": {
                arm.name: {row.id: _told(row) for row in rows if row.graded and what_is_unclean(row)}
                for arm, rows in self.rows.items()
            },
        }

    def lines(self) -> list[str]:
        """Tables in Markdown."""
        said = [f"{row.id} in {arm.name}: {row.error}" for arm, rows in self.rows.items() for row in rows if row.error]
        return [*self.notes, "", *self._table(), "", *self._differences(), *self._unclean(), *said[:10]]

    def _clean(self, arm: Arm, base: Arm) -> Estimate | None:
        mine, theirs = ({row.id: row for row in self.rows[one] if row.graded} for one in (arm, base))
        shared = sorted(mine.keys() & theirs.keys())
        values = [float(not what_is_unclean(mine[id_])) - float(not what_is_unclean(theirs[id_])) for id_ in shared]
        return estimate(values, seed=self.seed)

    def _table(self) -> list[str]:
        head = ["arm", "n", "clean first programs", "answered", "solved", "by suite", "median s", "of them model"]
        rows = [
            [
                one.arm.name,
                str(one.questions),
                percent(one.clean),
                percent(one.ran),
                percent(one.success),
                ", ".join(f"{name} {solved}/{graded}" for name, (solved, graded) in one.by_split.items()),
                f"{one.seconds_median:.1f}",
                f"{one.model_seconds_median:.1f}",
                f"{one.input_tokens:,.0f}",
                f"{one.output_tokens:,.0f}",
                f"{one.statements:.0f}",
                "-" if one.output_tokens_a_second is None else f"{one.output_tokens_a_second:.1f}",
            ]
            for one in self.figures
        ]
        return table([*head, "read", "written", "statements", "tokens a second"], rows)

    def _differences(self) -> list[str]:
        rows = [
            [
                f"{arm.name} - {base.name}",
                points(clean),
                points(outcome.differences.get("success")),
                f"{outcome.only_b} / {outcome.only_a}",
                "-" if (took := outcome.differences.get("seconds")) is None else f"{took.mean:+.1f} s",
            ]
            for (arm, base), (outcome, clean) in self.differences.items()
        ]
        return table(["difference", "clean", "solved", "only it / only the other", "seconds"], rows) if rows else []

    def _unclean(self) -> list[str]:
        told = [
            f"{one.arm.name}: {', '.join(f'{code} {count}' for code, count in one.unclean.items())}"
            for one in self.figures
            if one.unclean
        ]
        return ["", "First programs that are not clean, by what is wrong:", *told] if told else []


def _told(row: Row) -> list[str]:
    if not row.programs:
        return ["no program"]
    return [f"{f['code']}: {f['message']} (line {f['line']})" for f in _certain(row)] or ["no program"]
