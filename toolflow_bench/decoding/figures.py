"""What rows of single calls come to, arm by arm, and how arms differ on the same questions.

`errors`: replies without a call that fits its tool, by the class of `atc.decode.read`; `refused` calls fit and have no
result, and are no errors. `success`: right results (FuncQA), right relations (KAMEL), right paths (RestBench).
`prompt tokens` are those of a question's first request, cached or not; `seconds` of a whole question. Intervals are
95%: Wilson's of a rate, which 0 of 60 has too; of differences, percentile bootstrap over the questions that both arms
have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

from toolflow_bench.blame.figures import wilson
from toolflow_bench.compare import Comparison, compare
from toolflow_bench.decoding.frame import Arm
from toolflow_bench.decoding.tables import differences_table, figures_table, growing_table
from toolflow_bench.decoding.writing import MODES
from toolflow_bench.metrics import Row
from toolflow_bench.resampling import Estimate, estimate
from toolflow_bench.rows import InvalidRunFile, read_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmFigures:
    """The figures of one arm; the module's docstring says how each is counted."""

    arm: Arm
    questions: int
    left: int
    """Outages and crashes, in no other figure."""
    error: Estimate | None
    errors: Mapping[str, int]
    refused: int
    success: Estimate | None
    seconds_median: float | None
    prompt_tokens: float | None
    input_tokens: float | None
    """Of all requests of a question."""
    output_tokens: float | None
    tries: float | None
    truncated: int
    """Replies that the token limit cut."""
    unheld: int
    """Replies that an endpoint did not hold to what it was told; they were sampled anew."""

    def as_json(self) -> dict[str, Any]:
        """As plain JSON."""
        plain = asdict(self)
        arm = plain.pop("arm")
        return {**arm, **{key: round(value, 4) if isinstance(value, float) else value for key, value in plain.items()}}


def figures(arm: Arm, rows: Sequence[Row]) -> ArmFigures:
    """The figures of an arm's rows."""
    graded = [row for row in rows if row.graded]
    made = [call for row in graded for call in row.made]
    return ArmFigures(
        arm=arm,
        questions=len(graded),
        left=len(rows) - len(graded),
        error=rate([erred(row) for row in graded]),
        errors=dict(Counter(row.failure for row in graded if erred(row)).most_common()),
        refused=sum(row.failure == "refused" for row in graded),
        success=rate([row.correct for row in graded]),
        seconds_median=median(row.seconds for row in graded) if graded else None,
        prompt_tokens=_mean([prompt_tokens(row) for row in graded if row.made]),
        input_tokens=_mean([row.input_tokens for row in graded]),
        output_tokens=_mean([row.output_tokens for row in graded]),
        tries=_mean([row.attempts for row in graded]),
        truncated=sum(bool(call["truncated"]) for call in made),
        unheld=sum(call["enforced"] is False for call in made),
    )


def rate(hits: Sequence[bool]) -> Estimate | None:
    """The share of `hits` with Wilson's interval; None of nothing."""
    interval = wilson(sum(hits), len(hits))
    if interval is None:
        return None
    return Estimate(mean=sum(hits) / len(hits), low=interval.low, high=interval.high, n=len(hits))


def erred(row: Row) -> bool:
    """Whether a call of a row did not fit its tool, or there was none."""
    return any(call["class"] for call in row.made)


def prompt_tokens(row: Row) -> int:
    """Those of a row's first request."""
    return int(row.made[0]["prompt_tokens"]) if row.made else 0


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """An arm minus another on the same questions: rates, seconds, prompt tokens; `outcome` has McNemar's counts."""

    arm: Arm
    base: Arm
    outcome: Comparison
    error: Estimate | None
    prompt_tokens: Estimate | None

    def as_json(self) -> dict[str, Any]:
        """As plain JSON."""
        own = {"error": self.error, "prompt_tokens": self.prompt_tokens}
        return {**self.outcome.as_json(), **{key: asdict(one) if one else None for key, one in own.items()}}


def difference(arm: Arm, base: Arm, rows: Mapping[Arm, Sequence[Row]], *, seed: int = 0) -> Difference:
    """How `arm` differs from `base` on the questions that both have graded rows of."""
    mine, theirs = ({row.id: row for row in rows[one] if row.graded} for one in (arm, base))
    pairs = [(mine[id_], theirs[id_]) for id_ in sorted(mine.keys() & theirs.keys())]

    def of(value: Callable[[Row], float]) -> Estimate | None:
        return estimate([value(a) - value(b) for a, b in pairs], seed=seed)

    return Difference(
        arm=arm,
        base=base,
        outcome=compare(rows[base], rows[arm], seed=seed),
        error=of(lambda row: float(erred(row))),
        prompt_tokens=of(prompt_tokens),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CallReport:
    """The rows of a suite of calls, and what they come to. `success` is what the suite calls it."""

    suite: str
    success: str
    rows: Mapping[Arm, Sequence[Row]]
    seed: int = 0
    notes: tuple[str, ...] = ()

    @property
    def figures(self) -> list[ArmFigures]:
        """By arm, in the order of asking."""
        return [figures(arm, rows) for arm, rows in self.rows.items()]

    @property
    def differences(self) -> list[Difference]:
        """Each mode minus `free` with the same prompt, and `calls` without documentation minus each mode with it."""
        pairs = [(arm, base) for arm in self.rows for base in self.rows if _comparable(arm, base)]
        found = [difference(arm, base, self.rows, seed=self.seed) for arm, base in pairs]
        return [one for one in found if one.outcome.shared]

    @property
    def left(self) -> int:
        """Rows that failed on our side."""
        return sum(one.left for one in self.figures)

    def as_json(self) -> dict[str, Any]:
        """As plain JSON."""
        return {
            "success": self.success,
            "notes": list(self.notes),
            "arms": {one.arm.name: one.as_json() for one in self.figures},
            "differences": {f"{d.arm.name} - {d.base.name}": d.as_json() for d in self.differences},
        }

    def lines(self) -> list[str]:
        """Tables in Markdown."""
        said = [f"{row.id} in {arm.name}: {row.error}" for arm, rows in self.rows.items() for row in rows if row.error]
        return [*self.notes, "", *figures_table(self), "", *growing_table(self), *differences_table(self), *said[:10]]


def _comparable(arm: Arm, base: Arm) -> bool:
    if (arm.model, arm.settings) != (base.model, base.settings) or arm == base:
        return False
    if arm.docs == base.docs:
        return base.mode == "free" or (arm.mode, base.mode) == ("grounded", "calls")
    return (arm.mode, arm.docs, base.docs) == ("calls", "names", "full") and base.mode in ("free", "calls")


def read_folder(folder: Path, *, suite: str) -> dict[Arm, list[Row]]:
    """The rows of a suite's files in a folder, for tables from runs that are over.

    Raises:
        InvalidRunFile: the folder has none, or one cannot be read.
    """
    found: dict[Arm, list[Row]] = {}
    for path in sorted(folder.glob(f"{suite}-*.jsonl")):
        header, rows = read_rows(path)
        settings = dict(header.settings)
        mode, docs = str(settings.pop("mode")), str(settings.pop("docs"))
        settings.pop("asked", None)
        found[Arm(suite=suite, model=header.model, mode=mode, docs=docs, settings=settings)] = rows
    if not found:
        raise InvalidRunFile(f"{str(folder)!r} has no rows of {suite}; give the folder that --out named.")
    return dict(sorted(found.items(), key=lambda pair: _place(pair[0])))


def _place(arm: Arm) -> tuple[str, list[str], str, int]:
    """Models, what else there is, documentation, and modes in their order."""
    known = MODES.index(arm.mode) if arm.mode in MODES else len(MODES)
    return arm.model, [f"{key} {value!s:>9}" for key, value in arm.settings.items()], arm.docs, known
