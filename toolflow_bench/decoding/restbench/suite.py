"""RestBench's TMDB tasks with all 54 operations: their names alone, or each with its arguments and description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from protocols.ask import Ask
from toolflow_bench.decoding.data import digest, draw
from toolflow_bench.decoding.figures import CallReport
from toolflow_bench.decoding.frame import Arm, Case, OpenModel, Say, Wanted, Watch, blank, label, run_arms, text_digest
from toolflow_bench.decoding.restbench.turns import LIMITS, Walker, callable_tools
from toolflow_bench.decoding.writing import warm
from toolflow_bench.metrics import Row
from toolflow_bench.restbench.data import items, load_restbench
from toolflow_bench.restbench.world import RestWorld

if TYPE_CHECKING:
    from atc.config import Config

FOLDER = Path("../shared/data/restbench")
API = "tmdb"
TASKS = 10
"""Where no sample is given; the paper asks all 100."""
ARMS = (("grounded", "names"), ("calls", "names"), ("free", "full"), ("calls", "full"))
"""Mode and documentation, where neither is chosen."""
MODES = ("free", "calls", "grounded")
"""`grounded`: as `calls`, and ids are held to those that the task gives or a result held (`atc.decode.reach`)."""


def run(wanted: Wanted, open_model: OpenModel, _config: Config, watch: Watch, say: Say) -> CallReport:
    """Walk the tasks in every arm.

    Raises:
        InvalidData: RestBench's files cannot be read.
        SourceUnavailable: the mock cannot be served.
    """
    bench = load_restbench(wanted.data or FOLDER, (API,))
    rows: dict[Arm, list[Row]] = {}
    left_out: tuple[str, ...] = ()
    with RestWorld(bench, seed=wanted.seed) as world:
        asked = [
            Case(id=item.question.id, question=item.question.question, gold=item.gold)
            for item in items(bench, world.toolbox, seed=wanted.seed)
        ]
        cases = draw(asked, wanted.sample or TASKS, seed=wanted.seed)
        for model in wanted.models:
            arms = _arms(wanted, model)
            say(f"restbench: {len(cases)} tasks in {len(arms)} arms with {model}; rows go to {wanted.folder}")
            with open_model(model) as ask:
                walked = Walked(ask, world, seed=wanted.seed)
                left_out = walked.notes
                rows |= run_arms(
                    arms, cases, walked, wanted, data=digest(asked), watch=watch, asked=walked.asked, warm=walked.warm
                )
    note = (
        f"{len(world.toolbox)} operations of {API} and `finish`; documentation is signatures and descriptions, without "
        "responses; prompt tokens are those of a task's first turn."
    )
    return CallReport(suite="restbench", success="CP", rows=rows, seed=wanted.seed, notes=(note, *left_out))


def _arms(wanted: Wanted, model: str) -> list[Arm]:
    pairs: Sequence[tuple[str, str]] = ARMS
    if wanted.modes or wanted.docs:
        pairs = [(mode, docs) for docs in wanted.docs or ("names", "full") for mode in wanted.modes or MODES]
    return [Arm(suite="restbench", model=label(model), mode=mode, docs=docs) for mode, docs in pairs]


class Walked:
    """Walks one task in one arm; see `frame.Answer`."""

    def __init__(self, ask: Ask, world: RestWorld, *, seed: int) -> None:
        self.ask, self.world, self.seed = ask, world, seed
        self.tools, self.notes = callable_tools(list(world.toolbox.values()))

    def asked(self, arm: Arm, /) -> str:
        """How tasks are asked: a digest."""
        return text_digest([[message.content for message in self._walker(arm).opening("")], *LIMITS])

    def warm(self, arm: Arm, /) -> None:
        """Have the tools read."""
        warm(self.ask, self._walker(arm).opening(""))

    def __call__(self, arm: Arm, case: Case, _beside: Mapping[str, Row], /) -> Row:
        """The row of a task."""
        self.world.reset()
        return self._walker(arm).walk(replace(blank(case, seed=self.seed), tools=tuple(self.tools)))

    def _walker(self, arm: Arm) -> Walker:
        return Walker(
            ask=self.ask,
            tools=self.tools,
            docs="names" if arm.docs == "names" else "requests",
            decoding="off" if arm.mode == "free" else "calls",
            grounded=arm.mode == "grounded",
            seed=self.seed,
        )
