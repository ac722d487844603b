"""What a file of rows comes to: solved, by how many calls a question needs, and what it took.

Outages and crashes are our side's failures: they are counted apart, and no figure but their own number holds them.

- *solved*: graded right; the share is of the questions that were graded. The interval is a 95% percentile bootstrap
  over questions (2,000 resamples, seeded, so that the same rows give the same interval).
- *calls*: tool calls really made, over all attempts. *repairs*: attempts after the first.
- *seconds*: wall time of a question; *model_seconds*: the part of it spent waiting for the model.
- *tokens*: of prompts (in) and replies (out), as the model counts them.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

_RESAMPLES = 2000
_CLASSES = (("1", 1, 1), ("2-3", 2, 3), ("4+", 4, None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """How one question went: one line of a run's file."""

    id: str
    question: str
    expected: Any
    needs: int
    """Tool calls that the shortest program needs."""
    answer: str | None = None
    correct: bool = False
    reason: str = ""
    status: str = "failed"
    """solved (it gave an answer, right or wrong), failed, paused, outage (an AtcError) or crash (our bug)."""
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    model_calls: int = 0
    seconds: float = 0.0
    model_seconds: float = 0.0
    repairs: int = 0
    attempts: int = 0
    run: str | None = None
    """Where the run is stored, if it is."""
    error: str | None = None
    """The sentence of an outage or crash."""

    @property
    def graded(self) -> bool:
        """Whether this row says something about the model."""
        return self.status not in ("outage", "crash")


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """How many of how many."""

    solved: int
    graded: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The figures of a run; the module's docstring says how each is counted."""

    questions: int
    graded: int
    solved: int
    share: float | None
    interval: tuple[float, float] | None
    """95%, of the share; None without a graded question."""
    outages: int
    crashes: int
    by_calls: Mapping[str, Share] = field(default_factory=dict)
    calls: int = 0
    repairs: int = 0
    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds_median: float | None = None
    seconds_max: float | None = None
    seconds_total: float = 0.0
    model_seconds_total: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """The summary as plain JSON, times to a millisecond."""
        return {key: round(value, 3) if isinstance(value, float) else value for key, value in asdict(self).items()}


def summarize(rows: Sequence[Row], *, seed: int = 0) -> Summary:
    """The figures of `rows`, one a question."""
    graded = [row for row in rows if row.graded]
    solved = sum(row.correct for row in graded)
    seconds = [row.seconds for row in graded]
    return Summary(
        questions=len(rows),
        graded=len(graded),
        solved=solved,
        share=solved / len(graded) if graded else None,
        interval=bootstrap([row.correct for row in graded], seed=seed),
        outages=sum(row.status == "outage" for row in rows),
        crashes=sum(row.status == "crash" for row in rows),
        by_calls={name: _share(graded, least, most) for name, least, most in _CLASSES},
        calls=sum(row.calls for row in graded),
        repairs=sum(row.repairs for row in graded),
        model_calls=sum(row.model_calls for row in graded),
        input_tokens=sum(row.input_tokens for row in graded),
        output_tokens=sum(row.output_tokens for row in graded),
        seconds_median=median(seconds) if seconds else None,
        seconds_max=max(seconds, default=None),
        seconds_total=sum(seconds),
        model_seconds_total=sum(row.model_seconds for row in graded),
    )


def bootstrap(outcomes: Sequence[bool], *, seed: int = 0) -> tuple[float, float] | None:
    """The 95% percentile interval of the share of true outcomes; None without any."""
    if not outcomes:
        return None
    draw = random.Random(seed)  # noqa: S311 - resampling, not secrecy
    count = len(outcomes)
    shares = sorted(sum(draw.choices(outcomes, k=count)) / count for _ in range(_RESAMPLES))
    return shares[int(0.025 * _RESAMPLES)], shares[int(0.975 * _RESAMPLES) - 1]


def _share(rows: Sequence[Row], least: int, most: int | None) -> Share:
    within = [row for row in rows if row.needs >= least and (most is None or row.needs <= most)]
    return Share(solved=sum(row.correct for row in within), graded=len(within))
