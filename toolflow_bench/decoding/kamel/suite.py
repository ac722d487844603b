"""KAMEL's questions: is the right relation called, by its name alone or with all relations described?"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from protocols.ask import Ask
from protocols.toolbox import Toolbox
from toolflow_bench.decoding.data import digest, draw
from toolflow_bench.decoding.figures import CallReport
from toolflow_bench.decoding.frame import Arm, Case, OpenModel, Say, Wanted, Watch, blank, label, run_arms
from toolflow_bench.decoding.kamel.relations import Kamel, read_kamel
from toolflow_bench.decoding.writing import Writer, noted
from toolflow_bench.metrics import Row

if TYPE_CHECKING:
    from atc.config import Config

FOLDER = Path("../shared/data/kamel")
RELATIONS = (10, 20, 30)
QUESTIONS = 100
"""Of each test, where no sample is given."""
ARMS = (("calls", "names"), ("free", "full"), ("calls", "full"))
"""Mode and documentation, where neither is chosen."""
MOST_TOKENS = 96
_DOCUMENTATION = 7000
"""Tokens: all 234 relations, described, fit a context of 8,192."""


def run(wanted: Wanted, open_model: OpenModel, _config: Config, watch: Watch, say: Say) -> CallReport:
    """Ask the questions over the first relations, more and more of them.

    Raises:
        InvalidDecodingData: the data cannot be read, or have no such test.
    """
    data = read_kamel(wanted.data or FOLDER)
    rows: dict[Arm, list[Row]] = {}
    notes: list[str] = []
    chosen = {count: data.test(count) for count in wanted.relations or RELATIONS}
    for count, (size, _) in chosen.items():
        if size != count:
            notes.append(f"{count} relations are offered, and asked is what the test over {size} asks.")
    for model in wanted.models:
        with open_model(model) as ask:
            for count, (_, test) in chosen.items():
                cases = draw(test, wanted.sample or QUESTIONS, seed=wanted.seed)
                arms = _arms(wanted, model, count)
                say(f"kamel: {len(cases)} questions, {count} relations, {len(arms)} arms with {model}; {wanted.folder}")
                asked = Asked(ask, data, count, seed=wanted.seed)
                notes += [f"{model}: {told}" for arm in arms if (told := asked.left_out(arm.docs))]
                known = digest(test, [relation.name for relation in data.relations[:count]])
                rows |= run_arms(
                    arms, cases, asked, wanted, data=known, watch=watch, asked=asked.asked, warm=asked.warm
                )
    return CallReport(
        suite="kamel", success="right relation", rows=rows, seed=wanted.seed, notes=tuple(dict.fromkeys(notes))
    )


def _arms(wanted: Wanted, model: str, count: int) -> list[Arm]:
    pairs: Sequence[tuple[str, str]] = ARMS
    if wanted.modes or wanted.docs:
        pairs = [
            (mode, docs) for docs in wanted.docs or ("names", "full") for mode in wanted.modes or ("free", "calls")
        ]
    return [
        Arm(suite="kamel", model=label(model), mode=mode, docs=docs, settings={"relations": count})
        for mode, docs in pairs
    ]


class Asked:
    """Asks one question in one arm; see `frame.Answer`."""

    def __init__(self, ask: Ask, data: Kamel, count: int, *, seed: int) -> None:
        from atc.decode.formats import FUNCTION

        self.tools: Toolbox
        self.tools, self.aliases = data.toolbox(count)
        self.writer = Writer(
            ask=ask,
            tools=self.tools,
            form=FUNCTION,
            max_tokens=MOST_TOKENS,
            budget=max(ask.prompt_tokens, _DOCUMENTATION),
            seed=seed,
        )

    def left_out(self, docs: str) -> str:
        """What the prompt cannot hold of the tools, a sentence; empty where it holds all."""
        told = self.writer.told(docs)
        if len(told) == len(self.tools):
            return ""
        return f"of {len(self.tools)} relations the prompt tells {len(told)} with docs {docs}; the others do not fit."

    def asked(self, arm: Arm, /) -> str:
        """How questions are asked: a digest."""
        return self.writer.asked(arm.docs)

    def warm(self, arm: Arm, /) -> None:
        """Have the tools read."""
        self.writer.warm(arm.docs)

    def __call__(self, arm: Arm, case: Case, beside: Mapping[str, Row], /) -> Row:
        """The row of a question."""
        gold = tuple(self.aliases[id_] for id_ in case.gold)
        if arm.mode.startswith("fuzzy") and "free" in beside:
            return _judged(self.writer.mended(arm.mode, beside["free"]), gold)
        begun = time.perf_counter()
        messages = self.writer.prompt(case.question, arm.docs)
        written = self.writer.write(arm.mode, messages)
        row = noted(blank(case, seed=self.writer.seed), written, seconds=time.perf_counter() - begun)
        return _judged(row, gold)


def _judged(row: Row, gold: Sequence[str]) -> Row:
    """Right is a call of the gold relation, whatever its arguments: as the paper counts."""
    made = row.made[-1]
    right = made["tool"] in gold
    failure = made["class"] or ("" if right else "wrong_answer")
    return replace(
        row,
        gold=tuple(gold),
        expected=gold[0],
        answer=made["tool"] or None,
        correct=right,
        status="solved" if not made["class"] else "failed",
        reason=made["error"] or "",
        failure=failure,
    )
