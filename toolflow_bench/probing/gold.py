"""Gold programs of ToolFlow's tasks, unchanged, in the static check against protocols that probing made.

A program passes where `atc check` ends with 0: nothing is certainly wrong. Notes (a field that can be null) are counted
apart. Where nothing is known of a tool, nothing is certainly wrong either: so a sample of the programs, drawn by seed,
is also run with these protocols over the services, and graded as any answer is. The same is done with the declared
protocols, and with those that probing was given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from atc.check import check
from atc.types import Finding, Program
from protocols.invoke import Invoker
from protocols.protocol import ToolProtocol
from protocols.sources import load_tools
from protocols.toolbox import Tool, Toolbox
from sandbox.choose import open_sandbox
from toolflow_bench.checks.gold import run_program
from toolflow_bench.given import Given, described_by
from toolflow_bench.grade import grade
from toolflow_bench.probing import writes
from toolflow_bench.probing.census import declared
from toolflow_bench.probing.counts import Share, percent
from toolflow_bench.probing.part import Options, Part, Row, run_part, unit_folder
from toolflow_bench.probing.prober import PROTOCOLS, STRIPPED
from toolflow_bench.services.service import NAMES, find_service
from toolflow_bench.suites.toolflow import choose_tasks, draw, services_of
from toolflow_bench.task import Task
from toolflow_bench.world import World

SAMPLE = 60
"""Programs that are run."""

_EXAMPLES = 12
_NOWHERE = "http://127.0.0.1"  # nothing is called


@dataclass(frozen=True, slots=True)
class Checked:
    """A task whose gold program has findings, and the first of them."""

    task: Task
    findings: tuple[Finding, ...]

    @property
    def certain(self) -> bool:
        """Whether the check is sure of any."""
        return any(finding.certain for finding in self.findings)


def protocol_folders(options: Options, setting: str, kind: str = PROTOCOLS) -> dict[str, Path]:
    """By service: where the part `writes` wrote its protocols, or with `stripped` those that it was given."""
    services = options.services or NAMES
    return {name: unit_folder(writes.NAME, f"{name}-{setting}", options) / kind for name in services}


def check_tasks(tasks: Sequence[Task], toolbox: Toolbox) -> list[Checked]:
    """The tasks whose gold programs do not pass, each checked with its own candidates."""
    found = [Checked(task, check(Program(task.program), toolbox.only(task.candidates))) for task in tasks]
    return [one for one in found if one.findings]


def run_tasks(tasks: Sequence[Task], given: Given, options: Options) -> Share:
    """How many of the tasks their gold programs solve, with tools as `given` describes them.

    Raises:
        SourceUnavailable, SandboxUnavailable: services or sandbox cannot be had here.
    """
    names = services_of(tasks)
    open_world = described_by(
        lambda: World(names, folder=options.cache), {name: given[name] for name in names if name in given}
    )
    verdicts = []
    with open_world() as world, closing(open_sandbox("zygote,docker")) as sandbox:
        for task in tasks:
            world.reset()
            answer = run_program(task.program, world.toolbox, sandbox).stdout.strip()
            verdicts.append(grade(answer, task, state=world.snapshot()).correct)
    return Share.count(verdicts)


def _measure(unit: str, options: Options) -> Row:
    run_part(writes.PART, options)
    tasks = choose_tasks("all", options.services)
    with Invoker() as invoker:
        if unit == "declared":
            toolbox = _declared(options, invoker)
        else:
            setting, _, kind = unit.partition("-")
            folders = protocol_folders(options, setting, STRIPPED if kind == "bare" else PROTOCOLS)
            toolbox = load_tools(*(f"{name}={folder}" for name, folder in folders.items()), invoker=invoker)
        # Distractors of services that were not probed are not there to be offered.
        wanted = [task for task in tasks if set(task.operations) <= set(toolbox)]
        failed = check_tasks([_offered(task, toolbox) for task in wanted], toolbox)
        given: dict[str, dict[str, ToolProtocol]] = {name: {} for name in options.services or NAMES}
        for tool in toolbox.values():
            given[tool.source][tool.protocol.name] = tool.protocol
    solved = run_tasks(draw(wanted, SAMPLE, seed=options.seed), given, options)
    return {"protocols": unit, "tasks": len(wanted), "solved": solved.as_json(), **_counted(failed, len(wanted))}


def _offered(task: Task, toolbox: Toolbox) -> Task:
    return replace(task, candidates=tuple(name for name in task.candidates if name in toolbox))


def _declared(options: Options, invoker: Invoker) -> Toolbox:
    return Toolbox(
        Tool(protocol=protocol, call=invoker.bind(protocol), source=name)
        for name in options.services or NAMES
        for protocol in declared(find_service(name), _NOWHERE)
    )


def _counted(failed: Sequence[Checked], tasks: int) -> dict[str, Any]:
    wrong = sum(one.certain for one in failed)
    certain = [(one.task, finding) for one in failed for finding in one.findings if finding.certain]
    codes = Counter(finding.code for _, finding in certain)
    return {
        "passed": tasks - wrong,
        "share": round(1 - wrong / tasks, 4) if tasks else None,
        "without_notes": tasks - len(failed),
        "by_code": dict(codes.most_common()),
        "by_service": dict(Counter("+".join(one.task.services) for one in failed if one.certain).most_common()),
        "messages": dict(Counter(finding.message for _, finding in certain).most_common(_EXAMPLES)),
        "examples": [f"{task.id}: line {f.line}, {f.code}: {f.message}" for task, f in certain[:_EXAMPLES]],
    }


def _lines(rows: Sequence[Row], _total: Row) -> list[str]:
    shown = []
    for row in rows:
        passed = f"{row['passed']:>4} of {row['tasks']} pass ({percent(row['share'])})"
        solved = f"{row['solved']['right']} of {row['solved']['of']} solve their task when they are run"
        shown.append(f"{row['protocols']:<12} {passed}, {row['without_notes']} without a note; {solved}")
        shown += [f"             {number:>4}  {message}" for message, number in list(row["messages"].items())[:6]]
    return shown


PART = Part(
    name="gold",
    summary="gold programs in the static check against probed protocols",
    units=lambda options: ["declared", *(name for one in options.settings for name in (one, f"{one}-bare"))],
    measure=_measure,
    total=lambda rows: {
        row["protocols"]: {"share": row["share"], "tasks": row["tasks"], "solved": row["solved"]} for row in rows
    },
    lines=_lines,
    resumes=False,
)
