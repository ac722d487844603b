"""The arms of a benchmark run, that is, several ways to answer the same questions.

The arms run one after another, and their results are the rows of one table.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from atc.core.config import Config, public
from atc.core.parallel import Pool
from atc.core.version import __version__
from atc.models.prices import Price, price_of
from atc.pipeline.retrieve.finder import describe_words_alone
from toolflow_bench.metrics import Row, Summary
from toolflow_bench.resampling import Estimate
from toolflow_bench.rows import Header
from toolflow_bench.runner import Item, OpenWorker, question_digest, run_suite

_SETTINGS = (
    *("sandbox", "max_tools", "prompt_tokens", "samples", "max_repairs", "max_calls", "max_tokens"),
    *(
        "max_model_calls",
        "max_cost",
        "repair",
        "decoding",
        "docs",
        "temperature",
        "retrieval",
        "embedder",
    ),
)
"""Names of the configuration settings that can change results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The command-line options that apply to every suite, that is, every set of questions."""

    limit: int | None
    jobs: int | None
    seed: int
    timeout: float
    repeats: int
    out: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One way to answer the questions of a suite, such as a strategy with a model.

    `open_worker` opens a worker that answers questions. `settings` has settings of the suite that
    also belong to the header of the file with the results.
    """

    name: str
    model: str
    config: Config
    open_worker: OpenWorker
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def price(self) -> Price | None:
        """Price of the model, or None if the arm uses no model."""
        return price_of(self.model, None if self.model == "none" else self.config.model_price)

    def header(self, suite: str, data: str, how: RunOptions) -> Header:
        """Return the header for the file with the arm's rows (one row for each answer).

        A run can be continued only if the file has an equal header.
        """
        known: Mapping[str, Any] = public(self.config)
        price = self.price and [self.price.input, self.price.output]
        own = {"strategy": self.name, "price": price, "timeout": how.timeout, **self.settings}
        settings = {key: known[key] for key in _SETTINGS} | own
        return Header(
            suite=suite,
            model=self.model,
            seed=how.seed,
            data=data,
            version=__version__,
            settings=settings,
        )


Asked = tuple[Arm, Path, Sequence[Row]]
"""The results of an arm: the arm, the file of its rows, and the rows in the order of the questions.

"""


def ask_arms(
    suite: str,
    items: Sequence[Item],
    arms: Sequence[Arm],
    how: RunOptions,
    pool: Pool,
    *,
    say: Callable[[str], None],
    advance: Callable[[int], None],
) -> list[Asked]:
    """Let each arm answer the first `how.limit` items, and return the rows of each arm.

    An item (a question with its tools) is not asked again if the arm's file has a graded row for
    it. `say` is called with lines that report the progress, and `advance` with the number of
    answers so far, counted over all arms.
    """
    asked = items[: how.limit]
    times = f", {how.repeats} times each," if how.repeats > 1 else ""
    each = len(asked) * how.repeats
    data = question_digest([item.question for item in items])
    found: list[Asked] = []
    told: set[str] = set()

    def show(row: Row, done: int, _: int) -> None:
        for note in {describe_words_alone(arm.config)}.intersection(row.notes) - told:
            told.add(note)
            say(note)
        verdict = _verdict(row)
        took = f"{row.seconds:6.1f} s  {row.calls:>3} calls"
        say(f"{done:>3}/{each}  {verdict:<6} {took}  {row.id}: {row.error or row.reason}")
        advance(len(found) * each + done)

    for arm in arms:
        header = arm.header(suite, data, how)
        path = _path(arm, header, how.out, alone=len(arms) == 1)
        say(
            f"{suite}, {arm.name}: {len(asked)} questions{times} with {arm.model}; rows go to "
            f"{path}"
        )
        rows = run_suite(
            asked,
            arm.open_worker,
            header=header,
            out=path,
            pool=pool,
            repeats=how.repeats,
            timeout_seconds=how.timeout,
            price=arm.price,
            on_row=show,
        )
        found.append((arm, path, rows))
    return found


def _verdict(row: Row) -> str:
    if not row.graded:
        return row.status
    return "right" if row.correct else "wrong"


def _path(arm: Arm, header: Header, out: Path | None, *, alone: bool) -> Path:
    """Return the path of the file with an arm's rows.

    It is the option `--out`, or else a file in the state folder whose name is made from the header.
    With several arms, the name of the arm is added to `--out`.
    """
    slug = re.sub(r"[^\w@]+", "-", arm.name).strip("-")
    if out is not None:
        return out if alone else out.with_stem(f"{out.stem}-{slug}")
    same = hashlib.sha256(
        json.dumps(asdict(header), sort_keys=True, default=repr).encode()
    ).hexdigest()[:8]
    return arm.config.state_dir / "bench" / f"{header.suite}-{same}-{slug}.jsonl"


def cells(name: str, summary: Summary, repeats: int) -> dict[str, str]:
    """Return one row of the result table, keyed by column: shares of tasks, then means."""
    n = summary.graded

    def mean(total: float | None, digits: int = 0) -> str:
        return f"{total / n:,.{digits}f}" if n and total is not None else "–"

    def share(found: Estimate | None) -> str:
        return "–" if found is None else f"{found.mean:.0%}"

    return {
        "strategy": name,
        "n": str(n),
        "solved": share(summary.success),
        "95%": "–" if summary.interval is None else "{:.0%}–{:.0%}".format(*summary.interval),
        **({f"pass^{repeats}": share(summary.pass_k.get(repeats))} if repeats > 1 else {}),
        "Path": share(summary.path),
        "Precision": share(summary.precision),
        "CP": share(summary.cp),
        "tokens": mean(summary.input_tokens + summary.output_tokens),
        "model calls": mean(summary.model_calls, 1),
        "calls": mean(summary.calls, 1),
        "s": mean(summary.seconds_total, 1),
        "USD": mean(summary.cost, 4),
    }
