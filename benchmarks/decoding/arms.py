"""Arms of the decoding experiments, and their results.

An arm is one way of decoding with one model. Intervals are 95%: Wilson intervals for rates,
bootstrap intervals over the questions of both arms for differences. An *error* is a reply without a
call that fits its tool. A call is *refused* if it is valid but gives no result.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from statistics import fmean, median
from typing import Any, Literal

from atc.models.decode.formats import FUNCTION
from atc.models.decode.parse import ReadCall
from atc.models.decode.prompt import call_prompt
from atc.models.decode.write_call import Sampling, write_call
from atc.models.local import LocalModel
from atc.pipeline.retrieve.model_replies import Tally
from benchmarks.decoding.rivals import fuzzy_call, write_backtracking
from benchmarks.runner import Rows, interval, share_with_interval
from protocols.errors import AtcError
from protocols.model import Ask, Message
from protocols.schema import Json
from protocols.toolbox import Toolbox
from toolflow_bench.runner import question_digest

MODES = ("free", "calls", "fuzzy", "backtrack")
"""Decoding modes.

`free`: the reply is not constrained. `calls`: the reply is constrained to a call. `fuzzy` and
`backtrack` are the rival methods, which repair a free reply.
"""
BLOCK = 10
"""Number of questions after which the next arm of the experiment continues.

The arms alternate, so that other load on the machine affects all of them.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodingArm:
    """An arm of the experiment: one way of decoding with one model.

    `mode` is one of `MODES`. `docs` is the documentation in the prompt, "full" or "names". `part`
    is the part of the suite, such as `relations=30`.
    """

    model: str
    mode: str
    docs: str = "full"
    part: str = ""

    @property
    def name(self) -> str:
        return f"{self.model} {self.mode} {self.docs} {self.part}".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodingCase:
    """One question with its expected answer. `gold` names the tools that it needs, in order."""

    id: str
    question: str
    expected: Json = None
    gold: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodingRow:
    """The result of a question in one arm of the experiment.

    `kind` is the kind of error in the call, empty if the call is valid. `outage` is a message if
    the model or this program failed, which says nothing about the arm.
    """

    id: str
    arm: str
    correct: bool = False
    kind: str = ""
    failure: str = ""
    answer: str | None = None
    text: str = ""
    seconds: float = 0.0
    prompt_tokens: int = 0  # tokens of the first prompt
    tries: int = 0
    unheld: bool = False
    """True if the endpoint did not enforce the constraint, and the reply was sampled again."""
    outage: str = ""


class CallSuite:
    """Base class of suites in which each question asks for one call, at temperature 0.

    `budget` is the maximum number of tokens of documentation in a prompt.
    """

    def __init__(self, ask: Ask, tools: Toolbox, *, budget: int, seed: int) -> None:
        self.ask = ask
        self.tools = tools
        self._budget = budget
        self._seed = seed

    def answer(self, call: ReadCall) -> Json:
        """Return the result of a call that a model wrote, or None if the call has no result."""
        raise NotImplementedError

    def accepts(self, case: Any, answer: Json) -> bool:
        raise NotImplementedError

    def prompt(self, arm: DecodingArm, task: str = "") -> list[Message]:
        """Return the prompt that asks for a call.

        If `task` is empty, return the beginning that all prompts of this arm of the experiment
        share.
        """
        return call_prompt(
            task,
            self.tools,
            FUNCTION,
            "names" if arm.docs == "names" else "full",
            budget=self._budget,
        )

    def __call__(self, arm: DecodingArm, case: DecodingCase, /) -> DecodingRow:
        """Ask a question in one arm of the experiment and return the result.

        Raises:
            AtcError: an outage, which says nothing about the arm.
        """
        begun = time.perf_counter()
        messages = self.prompt(arm, case.question)
        sampling = Sampling(max_tokens=96, seed=self._seed)
        if arm.mode == "backtrack":
            how: dict[str, Any] = {
                "failed": lambda call: self.answer(call) is None,
                "sampling": sampling,
            }
            found, read = write_backtracking(self.ask, messages, self.tools, form=FUNCTION, **how)
        else:
            held: Literal["calls", "off"] = "calls" if arm.mode == "calls" else "off"
            counted = Tally(self.ask)
            found = write_call(
                counted, messages, self.tools, form=FUNCTION, decoding=held, sampling=sampling
            )
            read = counted.usage.input_tokens // max(counted.usage.model_calls, 1)
        call = fuzzy_call(found.text, self.tools, FUNCTION) if arm.mode == "fuzzy" else found.call
        seconds = time.perf_counter() - begun
        answer = self.answer(call)
        right = answer is not None and self.accepts(case, answer)
        kind = call.error.kind if call.error else ""
        failure: str = kind
        if not kind and not right:
            failure = "refused" if answer is None else "wrong_answer"
        said: dict[str, Any] = {
            "answer": None if answer is None else str(answer),
            "text": found.text,
        }
        took: dict[str, Any] = {"prompt_tokens": read, "seconds": seconds}
        took |= {"tries": found.tries, "unheld": found.enforced is False}
        return DecodingRow(
            id=case.id, arm=arm.name, correct=right, kind=kind, failure=failure, **said, **took
        )


def run_arms(
    arms: Sequence[DecodingArm],
    cases: Sequence[DecodingCase],
    ask: Ask,
    asked: CallSuite,
    *,
    path: Path,
    seed: int,
) -> dict[DecodingArm, list[DecodingRow]]:
    """Ask every question in every arm of the experiment and return the rows of each arm.

    Questions that are already in the file are not asked again. Questions are asked in blocks; the
    arms with the same documentation take turns after each block.
    """
    warm = ""

    def measure(one: tuple[DecodingArm, DecodingCase]) -> Mapping[str, Any]:
        nonlocal warm
        arm, case = one
        if isinstance(ask, LocalModel) and warm != (warm := arm.docs):
            with suppress(AtcError):  # the first question will report it
                ask(asked.prompt(arm), max_tokens=1)
        try:
            return asdict(asked(arm, case))
        except AtcError as error:
            return asdict(DecodingRow(id=case.id, arm=arm.name, outage=str(error)))

    groups: dict[str, list[DecodingArm]] = {}
    for arm in arms:
        groups.setdefault(arm.docs, []).append(arm)
    blocks = [cases[start : start + BLOCK] for start in range(0, len(cases), BLOCK)]
    todo: list[tuple[DecodingArm, DecodingCase]] = []
    for group, block in product(groups.values(), blocks):
        todo += product(group, block)
    digest = question_digest(cases)  # type: ignore[arg-type]
    header = {"format": "atc-decoding-3", "seed": seed, "asked": digest}
    with Rows(path, header, key=("arm", "id")) as file:
        file.fill(todo, measure, key=lambda one: (one[0].name, one[1].id), label=path.stem)
        rows = {}
        for arm in arms:
            rows[arm] = [DecodingRow(**file.rows[arm.name, case.id]) for case in cases]
        return rows


def report(rows: Mapping[DecodingArm, Sequence[DecodingRow]]) -> dict[str, Any]:
    pairs = [(arm, base) for arm in rows for base in rows if _comparable(arm, base)]
    return {
        "arms": {arm.name: _figures(some) for arm, some in rows.items()},
        "differences": {
            f"{arm.name} - {base.name}": _difference(rows[arm], rows[base]) for arm, base in pairs
        },
        "left": sum(bool(row.outage) for some in rows.values() for row in some),
    }


def _figures(rows: Sequence[DecodingRow]) -> dict[str, Any]:
    graded = [row for row in rows if not row.outage]
    kinds = Counter(row.kind for row in graded if row.kind)
    return {
        "questions": len(graded),
        "error": share_with_interval(kinds.total(), len(graded)),
        "success": share_with_interval(sum(row.correct for row in graded), len(graded)),
        "errors": ", ".join(f"{n} {kind}" for kind, n in kinds.most_common()),
        "refused": sum(row.failure == "refused" for row in graded),
        "seconds_median": median(row.seconds for row in graded) if graded else None,
        "prompt_tokens": fmean(row.prompt_tokens for row in graded) if graded else None,
        "tries": fmean(row.tries for row in graded) if graded else None,
        "unheld": sum(row.unheld for row in graded),
    }


def _difference(rows: Sequence[DecodingRow], others: Sequence[DecodingRow]) -> dict[str, Any]:
    """Return the mean differences between the results of two arms: `rows` minus `others`.

    Only questions that both arms have answered are compared.
    """
    theirs = {row.id: row for row in others if not row.outage}
    both = [(row, theirs[row.id]) for row in rows if not row.outage and row.id in theirs]
    return {
        "error": interval([bool(a.kind) - bool(b.kind) for a, b in both]),
        "success": interval([a.correct - b.correct for a, b in both]),
        "seconds": interval([a.seconds - b.seconds for a, b in both]),
        "only_it": sum(a.correct and not b.correct for a, b in both),
        "only_the_other": sum(b.correct and not a.correct for a, b in both),
    }


def _comparable(arm: DecodingArm, base: DecodingArm) -> bool:
    if arm == base or (arm.model, arm.part) != (base.model, base.part):
        return False
    if arm.docs == base.docs:
        return base.mode == "free"
    return (arm.mode, arm.docs, base.docs) == ("calls", "names", "full") and base.mode in (
        "free",
        "calls",
    )
