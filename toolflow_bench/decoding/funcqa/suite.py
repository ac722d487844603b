"""FuncQA's one-hop questions: one call each, executed, its result held against the answer."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from protocols.ask import Ask
from protocols.errors import ToolError
from protocols.jsontypes import Json
from toolflow_bench.decoding.data import digest, draw
from toolflow_bench.decoding.figures import CallReport
from toolflow_bench.decoding.frame import Arm, OpenModel, Say, Wanted, Watch, blank, label, run_arms
from toolflow_bench.decoding.funcqa.data import FuncQuestion, GoldCall, close, read_questions, training_calls
from toolflow_bench.decoding.funcqa.operations import operations
from toolflow_bench.decoding.writing import DOCS, MODES, Writer, execute, noted
from toolflow_bench.metrics import Row

if TYPE_CHECKING:
    from atc.config import Config
    from atc.decode.read import ReadCall

FOLDER = Path("../shared/data/funcqa")
MOST_TOKENS = 96
"""Of a reply: a call takes 10 to 30, and a sentence or two may stand before it."""


def run(wanted: Wanted, open_model: OpenModel, _config: Config, watch: Watch, say: Say) -> CallReport:
    """Ask the questions in every mode, with documentation and without.

    Raises:
        InvalidDecodingData: the questions cannot be read.
    """
    folder = wanted.data or FOLDER
    questions = read_questions(folder)
    cases = draw(questions, wanted.sample, seed=wanted.seed)
    notes = [agreement(folder)] if folder.is_dir() and (folder / "train.json").exists() else []
    rows: dict[Arm, list[Row]] = {}
    for model in wanted.models:
        arms = [
            Arm(suite="funcqa", model=label(model), mode=mode, docs=docs)
            for docs in wanted.docs or DOCS
            for mode in wanted.modes or MODES
        ]
        say(f"funcqa: {len(cases)} questions in {len(arms)} arms with {model}; rows go to {wanted.folder}")
        with open_model(model) as ask:
            asked = Asked(ask, seed=wanted.seed)
            rows |= run_arms(
                arms, cases, asked, wanted, data=digest(questions), watch=watch, asked=asked.asked, warm=asked.warm
            )
    return CallReport(suite="funcqa", success="accuracy", rows=rows, seed=wanted.seed, notes=tuple(notes))


class Asked:
    """Asks one question in one arm; see `frame.Answer`."""

    def __init__(self, ask: Ask, *, seed: int) -> None:
        from atc.decode.formats import FUNCTION

        self.tools = operations()
        self.writer = Writer(
            ask=ask, tools=self.tools, form=FUNCTION, max_tokens=MOST_TOKENS, budget=ask.prompt_tokens, seed=seed
        )

    def asked(self, arm: Arm, /) -> str:
        """How questions are asked: a digest."""
        return self.writer.asked(arm.docs)

    def warm(self, arm: Arm, /) -> None:
        """Have the tools read."""
        self.writer.warm(arm.docs)

    def __call__(self, arm: Arm, case: FuncQuestion, beside: Mapping[str, Row], /) -> Row:
        """The row of a question."""
        if arm.mode.startswith("fuzzy") and "free" in beside:
            return self._judged(self.writer.mended(arm.mode, beside["free"]), case)
        begun = time.perf_counter()
        messages = self.writer.prompt(case.question, arm.docs)
        written = self.writer.write(arm.mode, messages, failed=self._failed)
        row = noted(blank(case, seed=self.writer.seed), written, seconds=time.perf_counter() - begun)
        return self._judged(row, case)

    def _failed(self, call: ReadCall) -> bool:
        """Whether a call has no result: what backtracking goes by, as ToolkenGPT's did."""
        tool = self.tools[call.tool]
        try:
            tool.call(tool.original(call.arguments))
        except ToolError:
            return True
        return False

    def _judged(self, row: Row, case: FuncQuestion) -> Row:
        made, result = execute(self.tools, row.made[-1])
        right = isinstance(result, int | float) and case.accepts(result)
        failure = made["class"] or ("refused" if result is None else "" if right else "wrong_answer")
        return replace(
            row,
            made=(*row.made[:-1], made),
            answer=None if result is None else str(result),
            correct=right,
            status="solved" if result is not None else "failed",
            reason=made["error"] or "",
            calls=int(result is not None),
            failure=failure,
            tools=tuple(self.tools),
        )


def agreement(folder: Path) -> str:
    """A sentence: for how many of the training rows' calls our operations compute what the row says."""
    tools = operations()
    calls = training_calls(folder)
    found = [agrees(call, tools) for call in calls]
    odd = found.count(None)
    said = f"; {odd} cannot be computed as they are written (no numbers)" if odd else ""
    return f"training rows: the operations agree on {found.count(True)} of {len(calls)} calls{said}"


def agrees(call: GoldCall, tools: Mapping[str, Any]) -> bool | None:
    """Whether a tool gives what a gold call says, within 0.1% or the rounding of what is written; None: no numbers."""
    try:
        numbers: list[Json] = [_number(text) for text in call.arguments]
        wanted = float(call.result)
        tool = tools[call.name]
    except (ValueError, ZeroDivisionError, KeyError):
        return None
    try:
        result = tool.unwrap(tool.call(dict(zip(tool.protocol.parameters, numbers, strict=False))))
    except ToolError:
        return False
    places = len(call.result.partition(".")[2])
    return close(result, wanted) or abs(result - wanted) <= 0.5 * 10.0**-places + 1e-9


def _number(text: str) -> int | float:
    """The number that a gold argument spells; fractions (`4/3`) are some."""
    value = Fraction(text)
    return int(value) if value.denominator == 1 else float(value)
