"""Arms, their files of rows, the order of asking, and the figures.

An arm is one way of decoding with one model. Its rows are a file's, and the same command goes on where a run was
stopped. Intervals are 95%: Wilson's of a rate; of differences, percentile bootstrap over the questions that both arms
have. An *error* is a reply without a call that fits its tool; a *refused* call fits and has no result.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from pathlib import Path
from statistics import fmean, median
from typing import Any, Protocol, TypeVar

import click

from atc.decode.call import Sampling, Written, write_call
from atc.decode.formats import CallFormat
from atc.decode.prompt import call_prompt
from atc.decode.read import ReadCall
from atc.models.local import LocalModel
from benchmarks.decoding.rivals import fuzzy_call, write_backtracking
from benchmarks.runner import MOST_OUTAGES, Rows, interval, rate
from protocols.ask import Ask, Message
from protocols.errors import AtcError
from protocols.jsontypes import Json
from protocols.toolbox import Toolbox
from toolflow_bench.suites import drawn

MODES = ("free", "calls", "fuzzy", "fuzzy-longest", "backtrack", "grounded")
"""`free`: nothing is asked of the endpoint, the reply is read. `calls`: held to a call while it is written. `fuzzy`: a
free reply whose unknown name is taken for the tool that ends with it (ToolDec's table 3), `fuzzy-longest` for the one
that shares the longest ending. `backtrack`: a failed call is taken up again at the next-likeliest token (table 4).
`grounded`: as `calls`, and ids are held to those that the task gives or a result held."""
BLOCK = 10
"""Questions that an arm is asked before the next arm's turn: what else the machine does meets all arms alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One way of decoding with one model. `settings` tell it from other arms, e.g. `{"relations": 30}`."""

    suite: str
    model: str
    mode: str
    docs: str = "full"
    settings: Mapping[str, Json] = field(default_factory=dict, hash=False)

    @property
    def name(self) -> str:
        """As tables have it: `local calls names`."""
        more = [f"{key}={value}" for key, value in self.settings.items()]
        return " ".join([self.model, self.mode, self.docs, *more])


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One question; `gold` are the tools that it takes, in order."""

    id: str
    question: str
    expected: Json = None
    gold: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What became of a question in an arm. `kind` is the class of a call's error, `outage` a failure on our side."""

    id: str
    correct: bool = False
    kind: str = ""
    failure: str = ""
    answer: str | None = None
    texts: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    """Tools that were called."""
    seconds: float = 0.0
    prompt_tokens: int = 0
    """Of the first request."""
    input_tokens: int = 0
    output_tokens: int = 0
    requests: int = 0
    tries: int = 0
    truncated: int = 0
    unheld: int = 0
    """Replies that an endpoint did not hold to what it was told; they were sampled anew."""
    outage: str = ""

    def heard(self, written: Written, seconds: float) -> Row:
        """The row with a reply and what it took added."""
        error = written.call.error
        return replace(
            self,
            kind=self.kind or (error.kind if error else ""),
            texts=(*self.texts, written.text),
            seconds=self.seconds + seconds,
            prompt_tokens=self.prompt_tokens or written.input_tokens // max(written.requests, 1),
            input_tokens=self.input_tokens + written.input_tokens,
            output_tokens=self.output_tokens + written.output_tokens,
            requests=self.requests + written.requests,
            tries=self.tries + written.tries,
            truncated=self.truncated + written.truncated,
            unheld=self.unheld + (written.enforced is False),
        )


class Asked(Protocol):
    """A suite's way of asking one question in one arm."""

    def __call__(self, arm: Arm, case: Any, /) -> Row:
        """The row. Raises AtcError: an outage, which is no verdict."""

    def prompt(self, arm: Arm, /) -> list[Message]:
        """What all the arm's questions begin with."""


_C = TypeVar("_C", bound=Case)


def sampled(cases: Sequence[_C], count: int | None, seed: int) -> list[_C]:
    """`count` of the cases (None: all) in their order, drawn by seed and ids alone."""
    whole = len(cases) if count is None else count
    return list(drawn(cases, whole, seed=seed, name=lambda case: case.id, stratum=lambda _: "decoding"))


def run_arms(
    arms: Sequence[Arm], cases: Sequence[Case], ask: Ask, asked: Asked, *, folder: Path, seed: int, restart: bool
) -> dict[Arm, list[Row]]:
    """Ask every case in every arm; what the files hold already is not asked again, but for outages.

    Arms with the same documentation take turns, `BLOCK` questions each. An embedded model reads what all prompts begin
    with before another documentation's turn: that is no question's time.

    Raises:
        InvalidRunFile: a file holds another run, or cannot be written.
    """
    with ExitStack() as stack:
        files: dict[Arm, Rows] = {}
        for arm in arms:
            plain = [[case.id, case.question, case.expected, list(case.gold)] for case in cases]
            words = [plain, [message.content for message in asked.prompt(arm)]]
            digest = hashlib.sha256(json.dumps(words, default=repr).encode()).hexdigest()[:16]
            path = folder / (re.sub(r"[^\w.]+", "_", f"{arm.suite}-{arm.name}") + ".jsonl")
            header = {"format": "atc-decoding-1", **asdict(arm), "seed": seed, "asked": digest}
            files[arm] = stack.enter_context(Rows(path, header, key=("id",), restart=restart))
        failed, warm = Counter[Arm](), ""
        for arm, case in _turns(arms, cases):
            done = files[arm].rows.get((case.id,))
            if failed[arm] >= MOST_OUTAGES or (done is not None and not done["outage"]):
                continue
            if isinstance(ask, LocalModel) and warm != (warm := f"{arm.docs} {arm.settings}"):
                with suppress(AtcError):  # what is wrong with the model, the first question tells
                    ask(asked.prompt(arm), max_tokens=1)
            try:
                row = asked(arm, case)
            except AtcError as error:
                row = Row(id=case.id, outage=str(error))
            failed[arm] = failed[arm] + 1 if row.outage else 0
            files[arm].append(asdict(row))
            told = row.outage or row.failure or ("right" if row.correct else "wrong")
            click.echo(f"{arm.name:<24} {told:<16} {row.seconds:6.2f} s  {case.id}", err=True)
        return {
            arm: [_row(file.rows[case.id,]) for case in cases if (case.id,) in file.rows] for arm, file in files.items()
        }


def _row(row: Mapping[str, Any]) -> Row:
    return Row(**{key: tuple(value) if isinstance(value, list) else value for key, value in row.items()})


def _turns(arms: Sequence[Arm], cases: Sequence[Case]) -> Iterator[tuple[Arm, Case]]:
    """Arms with one prompt in turn, block by block, each block beginning with another arm."""
    for _, some in groupby(arms, key=lambda arm: (arm.docs, arm.settings)):
        group = list(some)
        for number, start in enumerate(range(0, len(cases), BLOCK)):
            place = number % len(group)
            for arm in [*group[place:], *group[:place]]:
                yield from ((arm, case) for case in cases[start : start + BLOCK])


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """How single calls are asked for: the same for every arm of a suite. `budget` is in tokens of documentation."""

    ask: Ask
    tools: Toolbox
    form: CallFormat
    budget: int
    seed: int
    max_tokens: int = 96

    def messages(self, task: str, docs: str) -> list[Message]:
        """The conversation that asks for one call; what does not fit `budget` is left out."""
        return call_prompt(task, self.tools, self.form, "names" if docs == "names" else "full", budget=self.budget)

    def write(self, arm: Arm, case: Case, failed: Callable[[ReadCall], bool] | None = None) -> tuple[Row, ReadCall]:
        """A call in the arm's mode, at temperature 0; `failed` says of a valid one whether to backtrack."""
        begun, messages = time.perf_counter(), self.messages(case.question, arm.docs)
        sampling = Sampling(max_tokens=self.max_tokens, seed=self.seed)
        if arm.mode == "backtrack":
            found = write_backtracking(self.ask, messages, self.tools, form=self.form, failed=failed, sampling=sampling)
        else:
            held = "calls" if arm.mode == "calls" else "off"
            found = write_call(self.ask, messages, self.tools, form=self.form, decoding=held, sampling=sampling)
        if arm.mode.startswith("fuzzy"):
            rule: Any = "longest" if arm.mode == "fuzzy-longest" else "published"
            found = replace(found, call=fuzzy_call(found.text, self.tools, self.form, rule=rule))
        return Row(id=case.id).heard(found, time.perf_counter() - begun), found.call


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The rows of a suite, and what they come to. `success` is what the suite calls it."""

    success: str
    rows: Mapping[Arm, Sequence[Row]]
    notes: tuple[str, ...] = ()

    @property
    def left(self) -> int:
        """Rows that failed on our side."""
        return sum(bool(row.outage) for rows in self.rows.values() for row in rows)

    def as_json(self) -> dict[str, Any]:
        """Figures by arm, and differences of arms."""
        pairs = [(arm, base) for arm in self.rows for base in self.rows if _comparable(arm, base)]
        return {
            "success": self.success,
            "notes": list(self.notes),
            "arms": {arm.name: _figures(arm, rows) for arm, rows in self.rows.items()},
            "differences": {f"{arm.name} - {base.name}": self._difference(arm, base) for arm, base in pairs},
        }

    def lines(self) -> list[str]:
        """A line an arm, and a line a difference."""
        told, lines = self.as_json(), list(self.notes)
        for name, one in told["arms"].items():
            errors, right = f"{_percent(one['error'])} {one['errors'] or ''}", _percent(one["success"])
            took = f"{one['seconds_median'] or 0:.2f} s, {one['prompt_tokens'] or 0:.0f} tokens in a prompt"
            lines.append(f"{name}: {one['questions']} questions, tool errors {errors}, {self.success} {right}, {took}")
        for name, one in told["differences"].items():
            lines.append(f"{name}: tool errors {_percent(one['error'])}, {self.success} {_percent(one['success'])}")
        return lines

    def _difference(self, arm: Arm, base: Arm) -> dict[str, Any]:
        """`arm` minus `base` on the questions that both have."""
        mine, theirs = ({row.id: row for row in self.rows[one] if not row.outage} for one in (arm, base))
        both = [(mine[id_], theirs[id_]) for id_ in mine if id_ in theirs]
        metrics: Mapping[str, Callable[[Row], float]] = {
            "error": lambda row: bool(row.kind),
            "success": lambda row: row.correct,
            "seconds": lambda row: row.seconds,
            "prompt_tokens": lambda row: row.prompt_tokens,
        }
        found: dict[str, Any] = {name: interval([of(a) - of(b) for a, b in both]) for name, of in metrics.items()}
        found["only_it"] = sum(a.correct and not b.correct for a, b in both)
        return found | {"only_the_other": sum(b.correct and not a.correct for a, b in both)}


def _figures(arm: Arm, rows: Sequence[Row]) -> dict[str, Any]:
    graded = [row for row in rows if not row.outage]
    means = ("prompt_tokens", "input_tokens", "output_tokens", "tries")
    return {
        **asdict(arm),
        "questions": len(graded),
        "left": len(rows) - len(graded),
        "error": rate(sum(bool(row.kind) for row in graded), len(graded)),
        "success": rate(sum(row.correct for row in graded), len(graded)),
        "errors": dict(Counter(row.kind for row in graded if row.kind).most_common()),
        "refused": sum(row.failure == "refused" for row in graded),
        "seconds_median": median(row.seconds for row in graded) if graded else None,
        **{name: fmean(getattr(row, name) for row in graded) if graded else None for name in means},
        **{name: sum(getattr(row, name) for row in graded) for name in ("truncated", "unheld")},
    }


def _comparable(arm: Arm, base: Arm) -> bool:
    if arm == base or (arm.model, arm.settings) != (base.model, base.settings):
        return False
    if arm.docs == base.docs:
        return base.mode == "free" or (arm.mode, base.mode) == ("grounded", "calls")
    return (arm.mode, arm.docs, base.docs) == ("calls", "names", "full") and base.mode in ("free", "calls")


def _percent(rate: Mapping[str, float] | None) -> str:
    return "-" if rate is None else f"{rate['mean']:.1%} ({100 * rate['low']:.0f} to {100 * rate['high']:.0f})"
