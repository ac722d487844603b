"""Put faults into gold programs and services, and see whether attribution blames the right call and path.

    python -m benchmarks.blame [--sample N] [--seed N] [--kind KIND]… [--most N] [--out FILE] [--json]

The truth is known, since each fault was put where it is. No model is asked. What the figures count:

`faults`: all that were put somewhere. `none`: those that changed nothing. `wrong`: the answer, or what the writes left,
is wrong, and nothing says so. `doubted`: a doubt about the answer says so (`doubted_tool`: and names the tool to
blame). `shown`: the check found something, the run failed, or it ended without an answer. Only of these does
attribution speak: `call` and `right` are counted over `shown`, `right` being those with the right call *and* the right
path; of a finding, which comes before any call, the right tool, path and line. `run_…`: the same where nothing is
checked and every program runs.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from typing import Any, TextIO

import click

from atc.attribute import attribute
from atc.check import check
from atc.doubt import doubts
from atc.types import Fault, Program
from benchmarks.blame.broken import BROKEN_KINDS, LATENCY_MS, Breaking, draw_broken
from benchmarks.blame.gold import NoObservation, Truth, observe
from benchmarks.blame.mutants import MUTANT_KINDS, Mutant, mutants, pick
from benchmarks.runner import show, start
from protocols.invoke import Invoker, InvokeSettings
from protocols.parsing import parse
from protocols.sources import load_tools
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.choose import open_sandbox
from sandbox.effects import Effects
from sandbox.journal import Journal
from sandbox.trace import Pins, Trace
from toolflow_bench.checks.gold import CLOCK, LIMITS, run_program
from toolflow_bench.columns import columns
from toolflow_bench.grade import grade
from toolflow_bench.resampling import wilson
from toolflow_bench.suites import choose_tasks, services_of
from toolflow_bench.task import Task
from toolflow_bench.world import World

KINDS = (*MUTANT_KINDS, *BROKEN_KINDS)


Row = dict[str, Any]
"""One fault as JSON. `found` is what attribution said of the check's findings, `run` of the run, which is made in any
case; `doubts` are those that the gold run does not raise. `correct`: the answer and what the writes left are right."""


def judge(fault: Fault, trace: Trace, truths: Sequence[Truth]) -> dict[str, Any]:
    """A fault that a run's trace led to: it must name one of the true calls, and that truth's path."""
    blamed = next((call for call in trace.calls if call.index == fault.call), None)
    return _told(fault, [truth for truth in truths if blamed is not None and truth.meets(blamed)])


def judge_finding(fault: Fault, truths: Sequence[Truth], lines: range) -> dict[str, Any]:
    """A fault that a finding led to: it must name tool, path and a line of the faulty statement or of the call."""
    line = fault.line or 0
    named = [truth for truth in truths if fault.tool == truth.tool]
    near = line in lines or any(truth.first_line <= line <= truth.last_line for truth in named)
    return _told(fault, named if near else [])


def _told(fault: Fault, named: Sequence[Truth]) -> dict[str, Any]:
    right = any(same_place(fault.path, truth.path) for truth in named)
    return {"fault": asdict(fault), "right_call": bool(named), "right": right}


def same_place(blamed: str | None, true: str) -> bool:
    """Whether two paths are the same but for the indices of lists."""
    return re.sub(r"\[-?\d*\]", "[]", blamed or "") == re.sub(r"\[-?\d*\]", "[]", true)


@dataclass(frozen=True)
class Bench:
    """Measures tasks in one world; a row a fault."""

    world: World
    sandbox: Sandbox
    impatient: Toolbox

    def rows(self, task: Task, kinds: Sequence[str], *, most: int, seed: int) -> Iterator[Row]:
        """The rows of one task; none of one that cannot be observed."""
        tools = self.world.toolbox
        self.world.reset()
        try:
            gold = observe(task, tools)
        except NoObservation:
            return
        usual = self._doubts(task, task.program, self._run(task.program))
        own = [kind for kind in MUTANT_KINDS if kind in kinds]
        for mutant in pick(mutants(gold, seed=seed, kinds=own), seed=seed, most=most) if own else ():
            findings = tuple(one for one in check(Program(mutant.program), tools) if one.certain)
            fault = attribute(Program(mutant.program), findings, None, tools) if findings else None
            found = judge_finding(fault, mutant.truths, _statement(mutant)) if fault is not None else None
            about = {"id": mutant.id, "kind": mutant.kind, "variant": mutant.variant, "found": found}
            yield about | self._row(task, mutant.program, self._run(mutant.program), mutant.truths, usual)
        for number in range(most):
            broken_kinds = [kind for kind in BROKEN_KINDS if kind in kinds]
            for broken in draw_broken(gold, seed=seed + 1_000_003 * number, kinds=broken_kinds):
                breaking = Breaking(broken, gold, self.world, self.impatient)
                self.world.reset()
                effects = Effects(tools=tools, settle_seconds=0.0, wait=lambda _: None)
                journal = Journal(pins=Pins(seed=0, clock=CLOCK), effects=effects)
                trace = self.sandbox.run(task.program, breaking.toolbox, limits=LIMITS, journal=journal)
                variant = " ".join(breaking.changes[:1]) or gold.calls[broken.call].tool
                id_ = f"{task.id}/{broken.kind}/{broken.call}"
                about = {"id": id_, "kind": broken.kind, "variant": variant, "found": None}
                yield about | self._row(task, task.program, trace, breaking.truths(trace), usual)

    def _run(self, program: str) -> Trace:
        self.world.reset()
        return run_program(program, self.world.toolbox, self.sandbox)

    def _row(
        self, task: Task, program: str, trace: Trace, truths: Sequence[Truth], usual: Sequence[str]
    ) -> dict[str, Any]:
        fault = attribute(Program(program), (), trace, self.world.toolbox)
        verdict = grade(trace.stdout.strip() or None, task, state=self.world.snapshot())
        return {
            "task": task.id,
            "truths": [asdict(truth) for truth in truths],
            "run": judge(fault, trace, truths) if fault is not None else None,
            "doubts": [doubt for doubt in self._doubts(task, program, trace) if doubt not in usual],
            "correct": trace.failure is None and verdict.correct,
        }

    def _doubts(self, task: Task, program: str, trace: Trace) -> tuple[str, ...]:
        answer = trace.stdout.strip()
        if trace.failure is not None or not answer:
            return ()
        return doubts(task.question, Program(program), trace, answer, self.world.toolbox)


def measure(
    tasks: Sequence[Task],
    *,
    seed: int = 0,
    most: int = 1,
    kinds: Sequence[str] = KINDS,
    on_task: Callable[[int], object] = lambda _: None,
) -> Iterator[Row]:
    """A row for each fault, at most `most` of each kind for each task."""
    settings = InvokeSettings(timeout_seconds=LATENCY_MS / 4000, sleep=lambda _: None)
    with ExitStack() as stack:
        world = stack.enter_context(World(services_of(tasks)))
        invoker = stack.enter_context(Invoker(settings))
        sources = [f"{name}={served.document_url}" for name, served in world.services.items()]
        sandbox = stack.enter_context(closing(open_sandbox("zygote,docker")))
        bench = Bench(world, sandbox, load_tools(*sources, invoker=invoker))
        for task in tasks:
            yield from bench.rows(task, kinds, most=most, seed=seed)
            on_task(1)


def _statement(mutant: Mutant) -> range:
    """The lines of the innermost statement that the edit stands in."""
    nodes = [node for node in ast.walk(parse(mutant.program)) if isinstance(node, ast.stmt)]
    spans = [range(node.lineno, (node.end_lineno or node.lineno) + 1) for node in nodes]
    return max((span for span in spans if mutant.line in span), key=lambda span: (span.start, -span.stop))


def figures(rows: Sequence[Row]) -> dict[str, Any]:
    """Counts and shares, with Wilson's 95% interval; see the module's docstring."""
    told, ran = [row["found"] or row["run"] for row in rows], [row["run"] for row in rows if row["run"]]
    silent = [row for row, one in zip(rows, told, strict=True) if not one]
    told = [one for one in told if one]
    doubted = [row for row in silent if row["doubts"]]
    named = [any(truth["tool"] in one for truth in row["truths"] for one in row["doubts"]) for row in doubted]
    right, run_right = sum(one["right"] for one in told), sum(one["right"] for one in ran)
    whole = len(told) + len(doubted)
    return {
        "faults": len(rows),
        "none": sum(row["correct"] for row in silent if not row["doubts"]),
        "wrong": sum(not row["correct"] for row in silent if not row["doubts"]),
        "doubted": len(doubted),
        "doubted_tool": sum(named),
        "shown": len(told),
        "call": sum(one["right_call"] for one in told),
        "right": right,
        "run_shown": len(ran),
        "run_call": sum(one["right_call"] for one in ran),
        "run_right": run_right,
        "said": dict(Counter(one["fault"]["kind"] for one in told).most_common()),
        "share": right / len(told) if told else None,
        "interval": wilson(right, len(told)),
        "run_share": run_right / len(ran) if ran else None,
        "run_interval": wilson(run_right, len(ran)),
        "right_or_doubted": (right + sum(named)) / whole if whole else None,
    }


def lines(report: dict[str, Any]) -> Iterator[str]:
    """The table for people."""
    heads = ("faults", "none", "wrong", "doubted", "shown", "call", "right")
    table = [("kind", *heads, "share", "95%")]
    for kind, one in {**report["kinds"], "all": report["all"]}.items():
        low, high = one["interval"] or (0.0, 1.0)
        share = "-" if one["share"] is None else f"{one['share']:.1%}"
        table.append((kind, *(str(one[name]) for name in heads), share, f"{low:.0%} to {high:.0%}"))
    whole = report["all"]
    yield from columns(table)
    yield f"without the check: {whole['run_right']} of {whole['run_shown']}"
    yield f"with doubts: {whole['right'] + whole['doubted_tool']} of {whole['shown'] + whole['doubted']}"


@click.command(help=__doc__.partition("\n")[0])
@click.option("--sample", type=click.IntRange(1), default=120, show_default=True, help="Tasks, drawn by --seed.")
@click.option("--kind", "kinds", type=click.Choice(KINDS), multiple=True, help="Only faults of this kind; repeatable.")
@click.option("--most", type=click.IntRange(1, 100), default=1, show_default=True, help="Faults of a kind and task.")
@click.option("--seed", default=0, show_default=True, help="What tasks and faults are drawn by.")
@click.option("--out", type=click.File("w"), help="Write a row for each fault, as JSON Lines.")
@click.option("--json", "as_json", is_flag=True)
def main(*, sample: int, kinds: tuple[str, ...], most: int, seed: int, out: TextIO | None, as_json: bool) -> None:
    """See the module's docstring."""
    tasks = choose_tasks(sample=sample, seed=seed)
    rows: list[Row] = []
    with click.progressbar(length=len(tasks), label="blaming", file=sys.stderr) as bar:
        for row in measure(tasks, seed=seed, most=most, kinds=kinds or KINDS, on_task=bar.update):
            rows.append(row)
            if out is not None:
                out.write(json.dumps(row, default=repr) + "\n")
    own = {kind: figures(of) for kind in KINDS if (of := [row for row in rows if row["kind"] == kind])}
    report = {"suite": "blame", "seed": seed, "tasks": len(tasks), "kinds": own, "all": figures(rows)}
    show(report, lines(report), as_json=as_json)


if __name__ == "__main__":
    start(main)
