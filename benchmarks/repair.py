"""Repair of programs with facts about the failure, compared with the repair of a plain agent.

The first program of a task is the same in every arm: a gold program with a fault that is noticed.
Each repair has one sample, and there are at most three repairs. An interrupted run continues from
the files in --out. The exit status is 3 if an outage is left.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, replace
from functools import partial
from itertools import combinations, islice
from pathlib import Path
from typing import Any

import click

from atc.agent import Agent
from atc.cli.wiring import choose_model
from atc.core.config import Config, public
from atc.core.program import Program
from atc.core.replies import program_in_reply
from atc.core.types import Attempt, Fault, Solution
from atc.core.version import __version__
from atc.pipeline.attribute import attribute
from atc.pipeline.repair import RepairCase, Way, correction
from atc.run.model_budget import BudgetedModel, BudgetSpent
from atc.settings.reading import load_config
from benchmarks.blame.gold import NoObservation, observe
from benchmarks.blame.mutants import Mutant, mutants, pick
from benchmarks.runner import suite, track_progress
from protocols.model import Ask, Completion, Message
from protocols.schema import JsonObject
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.choose import open_sandbox
from sandbox.journal import Journal, canonical_call
from sandbox.limits import Limits
from sandbox.trace import Pins, Trace
from toolflow_bench.checks.gold import run_program
from toolflow_bench.compare import compare
from toolflow_bench.metrics import Row, summarize
from toolflow_bench.rows import Header, RowFile
from toolflow_bench.runner import AnsweredItem, Item, ask_item, question_digest
from toolflow_bench.suites import choose_tasks, services_of
from toolflow_bench.task import Task
from toolflow_bench.workers import WorldLike, build_answered_item, tools_for_item
from toolflow_bench.world import World

ARMS: tuple[Way, ...] = ("traceback", "reflection", "facts")
"""The arms of the experiment, that is, three ways to repair.

`traceback`: a plain agent without a check, which repeats all calls. `reflection`: the same, but the
model itself names the tool to blame (equation 2 of the ATC paper). `facts`: atc's own repair.
"""
_SETTINGS = (
    "docs",
    "max_tools",
    "max_repairs",
    "max_calls",
    "prompt_tokens",
    "sandbox",
    "decoding",
)
_NO_PROGRAM = Fault(kind="syntax", message="The reply held no Python program.")


class FirstReplyModel:
    """A model whose first reply is `program`. All other replies come from the wrapped model.

    `messages` is the prompt of the first reply.
    """

    def __init__(self, ask: Ask, program: str) -> None:
        self._ask = ask
        self._program = program
        self.messages = tuple[Message, ...]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ask, name)

    def __call__(self, messages: Sequence[Message], **options: Any) -> Completion:
        """Return the program on the first call, and the wrapped model's reply on every other call.

        See `protocols.model.Ask` for the arguments.
        """
        if self.messages:
            return self._ask(messages, **options)
        self.messages = tuple(messages)
        return Completion(text=f"```python\n{self._program.rstrip()}\n```", model=self._ask.name)


class RepairBench:
    """Answers questions in any arm of the experiment, with the tools of one `World`.

    `programs` are the first programs, keyed by the id of the item (a question with its tools).
    """

    def __init__(
        self,
        world: WorldLike,
        *,
        ask: Ask,
        sandbox: Sandbox,
        config: Config,
        programs: dict[str, str],
    ) -> None:
        self._world = world
        self._ask = ask
        self._sandbox = sandbox
        self._programs = programs
        self.config = replace(config, samples=1, strategy="chain", allow_writes=("all",))

    def answer(
        self,
        arm: Way,
        item: Item,
        /,
        *,
        seed: int,
        repeat: int = 0,  # noqa: ARG002
        max_seconds: float | None,
    ) -> AnsweredItem:
        """Answer the question of an item in one arm of the experiment (with one way to repair).

        Raises:
            AtcError: an outage, which says nothing about the arm.
        """
        self._world.reset()
        toolbox = tools_for_item(self._world, item)
        question = item.question
        first: Any = FirstReplyModel(self._ask, self._programs[question.id])
        config = replace(self.config, max_seconds=max_seconds, repair=arm)
        with Agent(
            toolbox, model=first, sandbox=self._sandbox, config=config, ask_person=lambda _: True
        ) as agent:
            if arm == "facts":
                solution = agent.run(question.question, seed=seed)
            else:
                agent.draft(question.question)
                solution = self._solve_plainly(question.question, toolbox, first, config, seed)
        return build_answered_item(solution, self._world, toolbox)

    def _solve_plainly(
        self, question: str, toolbox: Toolbox, first: Any, config: Config, seed: int
    ) -> Solution:
        """Solve the task as a plain code agent does.

        Responses are not kept from one attempt to the next, so each attempt makes all calls again.
        """
        messages = list(first.messages)
        first.messages = ()  # the prompt that all arms begin with
        meter = BudgetedModel(first, lambda _: None, config)
        attempts = list[Attempt]()
        limit = None
        pins = Pins(seed=seed, clock=time.time())
        try:
            while len(attempts) <= config.max_repairs and not (
                attempts and attempts[-1].fault is None
            ):
                if attempts:
                    case = RepairCase(
                        attempts[-1], toolbox, complete=meter.complete, messages=tuple(messages)
                    )
                    messages += correction(case, config.repair)
                program = program_in_reply(
                    meter.complete(messages, purpose="write", temperature=0.0, seed=0).text
                )
                if program is None:
                    attempts.append(
                        Attempt(Program(""), (), None, _NO_PROGRAM, round=len(attempts))
                    )
                    continue
                limits = Limits(tool_calls=config.max_calls)
                left = meter.seconds_left
                if left is not None:
                    limits = replace(limits, wall_seconds=max(1.0, min(limits.wall_seconds, left)))
                trace = self._sandbox.run(
                    program.source, toolbox, limits=limits, journal=Journal(pins=pins)
                )
                fault = attribute(program, (), trace, toolbox)
                attempts.append(Attempt(program, (), trace, fault, round=len(attempts)))
        except BudgetSpent as spent:
            limit = spent.limit
        answer = attempts[-1].answer if attempts else None
        ended: dict[str, Any] = {
            "status": "failed" if answer is None else "solved",
            "answer": answer,
            "limit": limit,
        }
        took: dict[str, Any] = {"usage": meter.usage, "seconds": meter.seconds}
        return Solution(
            task=question, attempts=tuple(attempts), tools=tuple(toolbox), **ended, **took
        )


def count_repeated_calls(made: Sequence[JsonObject]) -> int:
    """Count the calls that were sent more often than needed.

    A call is needed n times if the attempt that issued it most often issued it n times.
    """
    issued: dict[str, Counter[int]] = {}
    sent: Counter[str] = Counter()
    for call in made:
        key = canonical_call(call["tool"], call["arguments"])
        issued.setdefault(key, Counter())[call["attempt"]] += 1
        sent[key] += call["outcome"] == "done" and not call["reused"]
    return sum(max(0, count - max(issued[key].values())) for key, count in sent.items())


def faulty_programs(
    tasks: Sequence[Task], world: World, sandbox: Sandbox, *, seed: int = 0
) -> Iterator[Mutant]:
    """Yield, for each task, a random mutant that fails at run time.

    A mutant whose only fault is a wrong answer gives a model no information for a repair.
    """
    rng = random.Random(f"{seed} repair")
    for task in rng.sample(tasks, len(tasks)):
        world.reset()
        try:
            drawn = list(pick(mutants(observe(task, world.toolbox), seed=seed), seed=seed))
        except NoObservation:
            continue
        for mutant in rng.sample(drawn, len(drawn)):
            world.reset()
            if _needs_repair(run_program(mutant.program, world.toolbox, sandbox)):
                yield mutant
                break


def _needs_repair(trace: Trace) -> bool:
    """Return True if a program raised an exception, or ended without an answer."""
    if trace.failure is not None:
        return trace.failure.kind == "exception"
    return not trace.stdout.strip() and trace.value is None


def run_repair_arms(
    items: Sequence[Item],
    bench: RepairBench,
    files: Mapping[Way, Path],
    header: Header,
    *,
    timeout_seconds: Any = None,
) -> dict[str, Any]:
    """Ask every question (item) in every arm of the experiment.

    Answers that are in the files already are not asked for again. The arms take turns in being
    first, so that none of them always comes last.
    """
    names = list(files)
    turns: list[tuple[Item, Way]] = []
    for number, item in enumerate(items):
        first = number % len(names)
        turns += [(item, name) for name in (*names[first:], *names[:first])]
    with ExitStack() as stack:
        own = {name: replace(header, settings={**header.settings, "arm": name}) for name in names}
        opened = {name: stack.enter_context(RowFile(files[name], own[name])) for name in names}
        for item, name in track_progress("repairing", turns, total=len(turns)):
            known = opened[name].rows.get((item.question.id, 0))
            if known is None or not known.graded:
                work = partial(bench.answer, name)
                row = ask_item(
                    item, work, seed=header.seed, repeat=0, timeout_seconds=timeout_seconds
                )
                opened[name].append(row)
        keys = [(item.question.id, 0) for item in items]
        found = {name: list(map(file.rows.__getitem__, keys)) for name, file in opened.items()}
    return _report(found, seed=header.seed)


def _report(found: Mapping[Way, Sequence[Row]], *, seed: int) -> dict[str, Any]:
    """Return the measurements of each way to repair (arm), and the differences of every two."""
    pairs = {
        f"{b} - {a}": compare(found[a], found[b], seed=seed) for a, b in combinations(found, 2)
    }
    return {
        "arms": {name: figures(rows) for name, rows in found.items()},
        "differences": {name: asdict(pair)["differences"] for name, pair in pairs.items()},
        "left": sum(not row.graded for rows in found.values() for row in rows),
    }


def figures(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the measurements of one arm of the experiment.

    `sent` counts the calls that were sent, `repeated` those that were sent without need.
    """
    graded = [row for row in rows if row.graded]
    every = asdict(summarize(rows))
    shown = (
        "solved",
        "graded",
        "interval",
        "path",
        "repairs",
        "model_calls",
        "input_tokens",
        "output_tokens",
    )
    counts = {
        "sent": sum(row.calls for row in graded),
        "repeated": sum(count_repeated_calls(row.made) for row in graded),
    }
    return {**{name: every[name] for name in shown}, **counts}


@suite
@click.option(
    "--sample",
    "count",
    type=click.IntRange(1),
    default=15,
    show_default=True,
    help="Drawn by --seed.",
)
@click.option("--seed", default=0, show_default=True, help="What is drawn by.")
@click.option("--model", help="As 'atc run' takes it.")
@click.option(
    "--timeout",
    type=click.FloatRange(1),
    default=600.0,
    show_default=True,
    help="Seconds a task and arm.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Folder of rows, a file an arm.")
def main(
    count: int, seed: int, model: str | None, timeout: float, out: Path | None
) -> dict[str, Any]:
    tasks = choose_tasks()
    config = load_config({"model": model})
    folder = out or config.state_dir / "bench" / f"repair-mutants-{seed}"
    with ExitStack() as stack:
        world = stack.enter_context(World(services_of(tasks), folder=config.cache_dir))
        sandbox = stack.enter_context(closing(open_sandbox(config.sandbox, policy=config.policy)))
        ask = choose_model(config)
        faulty = list(islice(faulty_programs(tasks, world, sandbox, seed=seed), count))
        items = [
            replace(Item.of(one.task), question=replace(one.task, id=one.id)) for one in faulty
        ]
        programs = {mutant.id: mutant.program for mutant in faulty}
        bench = RepairBench(world, ask=ask, sandbox=sandbox, config=config, programs=programs)
        every = public(bench.config)
        settings = {"timeout": timeout, "sample": count} | {key: every[key] for key in _SETTINGS}
        about: dict[str, Any] = {"suite": "repair-mutants", "model": ask.name, "seed": seed}
        data = question_digest([item.question for item in items])
        header = Header(**about, data=data, version=__version__, settings=settings)
        files = {name: folder / f"{name}.jsonl" for name in ARMS}
        found = run_repair_arms(items, bench, files, header, timeout_seconds=timeout)
    return about | {"tasks": len(items), "rows": str(folder)} | found


if __name__ == "__main__":
    main()
