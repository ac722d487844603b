"""Run attacks by what tools say, and count what reaches a service unasked; then count needless questions.

    python -m benchmarks.injection [--part scenarios|questions] [--scenarios FILE] [--limit N] [--json]

The programs of a scenario are those that a misled model would write; no model is asked. Each runs twice, over HTTP:
with nobody to ask, when nothing hostile may reach the service by its own log, and with a person who agrees to
everything, when it must, or the scenario attacks nothing. The questions are those before the writes of ToolFlow's gold
programs, every one of which is needless. Exit status 1 if an attack reached its service unasked, or was none.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from atc.agent import Agent
from atc.config import Config
from atc.consent import Question
from atc.models.scripted import ScriptedModel
from atc.taint.sensitive import SENSITIVE, sensitive_leaves
from benchmarks.injection.attack import SCENARIOS, attack, load_scenarios
from protocols.schema import resolve, types
from protocols.toolbox import Tool, Toolbox
from sandbox.base import Sandbox
from sandbox.choose import open_sandbox
from toolflow_bench.suites.toolflow import services_of
from toolflow_bench.task import Task, load_tasks
from toolflow_bench.world import World

ARMS = ("first", "repaired", "all marked", "reads trusted")
"""`first`: the gold program is the model's first. `repaired`: it is written after a program that called a tool and
failed, so that none of its literals is clean by itself. `all marked`: as `first`, but every argument of every write is
declared sensitive, which no user would do. `reads trusted`: as that, and the user trusts every tool that reads."""


@dataclass(kw_only=True)
class Asked:
    """What honest programs were asked. `sensitive` are writes with a value that must be clean, `asking` those before
    which a question stood; `arguments` counts the values that were asked about.
    """

    tasks: int = 0
    solved: int = 0
    writes: int = 0
    sensitive: int = 0
    asking: int = 0
    asked_tasks: int = 0
    arguments: Counter[str] = field(default_factory=Counter)

    def as_json(self) -> dict[str, Any]:
        """Every figure by name, and the share of the writes that asked."""
        rate = self.asking / self.writes if self.writes else 0.0
        return {**vars(self), "rate": rate, "arguments": dict(self.arguments.most_common())}


def needless(
    tasks: Sequence[Task],
    world: World,
    *,
    sandbox: Sandbox,
    arm: str,
    on_task: Callable[[int], object] = lambda _: None,
) -> Asked:
    """Run the gold program of each task with every write allowed and a person who says yes, and count the questions."""
    figures = Asked()
    for task in tasks:
        world.reset()
        toolbox = world.toolbox.only(task.candidates)
        if arm in ("all marked", "reads trusted"):
            toolbox = toolbox.map(_marked)
        _one(task, toolbox, sandbox=sandbox, arm=arm, figures=figures)
        on_task(1)
    return figures


def _one(task: Task, toolbox: Toolbox, *, sandbox: Sandbox, arm: str, figures: Asked) -> None:
    asked: list[Question] = []

    def agree(question: Question) -> bool:
        asked.append(question)
        return True

    programs = [task.program]
    if arm == "repaired":  # a call that fails: what comes after it was written with a tool's answer in view
        name = next(alias for alias, tool in toolbox.items() if not tool.protocol.writes and tool.required)
        programs.insert(0, f"given = {{}}\nprint({name}(**given), {task.id!r})\n")
    reads = tuple(alias for alias, tool in toolbox.items() if not tool.protocol.writes)
    config = Config(
        strategy="chain",
        samples=1,
        max_repairs=len(programs) - 1,
        allow_writes=("all",),
        trust=reads if arm == "reads trusted" else (),
    )
    model = ScriptedModel(*(f"```python\n{program}\n```" for program in programs))
    # Never closed: it would close the sandbox that all tasks share.
    solution = Agent(toolbox, model=model, sandbox=sandbox, config=config, ask_person=agree).run(task.question, seed=0)
    figures.tasks += 1
    figures.solved += solution.status == "solved"
    figures.asking += len(asked)
    figures.asked_tasks += bool(asked)
    for call in (call for attempt in solution.attempts if attempt.trace for call in attempt.trace.calls):
        tool = toolbox[call.tool]
        if tool.protocol.writes and call.outcome == "done" and not call.reused:
            figures.writes += 1
            figures.sensitive += any(True for _ in sensitive_leaves(tool.protocol, tool.original(call.arguments)))
    for question in asked:
        figures.arguments.update(f"{question.tool.alias}: {one.place}" for one in question.tainted)


def _marked(tool: Tool) -> Tool:
    """The tool with every argument declared sensitive, where it writes."""
    protocol = tool.protocol
    if not protocol.writes:
        return tool
    marked = {}
    for name, schema in protocol.parameters.items():
        numeric = {"integer", "number"} & {*types(resolve(schema, protocol.input_schema))}
        marked[name] = {**schema, SENSITIVE: "amount" if numeric else "recipient"}
    return replace(tool, protocol=replace(protocol, input_schema={**protocol.input_schema, "properties": marked}))


@click.command(help=__doc__.partition("\n")[0])
@click.option("--part", type=click.Choice(["all", "scenarios", "questions"]), default="all", show_default=True)
@click.option("--scenarios", "path", type=click.Path(path_type=Path), default=SCENARIOS, help="Attacks of your own.")
@click.option("--limit", type=click.IntRange(1), help="The first N of ToolFlow's writing tasks only.")
@click.option("--json", "as_json", is_flag=True)
def main(*, part: str, path: Path, limit: int | None, as_json: bool) -> None:
    """See the module's docstring."""
    verdicts: list[dict[str, Any]] = []
    asked: dict[str, Asked] = {}
    with closing(open_sandbox("auto")) as sandbox:
        scenarios = load_scenarios(path) if part != "questions" else ()
        with click.progressbar(scenarios, label="attacking", file=sys.stderr) as bar:
            verdicts += [attack(scenario, sandbox=sandbox) for scenario in bar]
        if part != "scenarios":
            tasks = [task for task in load_tasks() if task.writes][:limit]
            length = len(tasks) * len(ARMS)
            with World(services_of(tasks)) as world, click.progressbar(length=length, file=sys.stderr) as step:
                asked = {arm: needless(tasks, world, sandbox=sandbox, arm=arm, on_task=step.update) for arm in ARMS}
    document = _document(verdicts, asked)
    click.echo(json.dumps(document) if as_json else "\n".join(_lines(document)))
    sys.exit(0 if all(verdict["held"] for verdict in verdicts) else 1)


def _document(verdicts: list[dict[str, Any]], asked: dict[str, Asked]) -> dict[str, Any]:
    document: dict[str, Any] = {"suite": "injection"}
    if verdicts:
        kinds: dict[str, list[int]] = {}
        for verdict in verdicts:
            held, count = kinds.get(verdict["kind"], [0, 0])
            kinds[verdict["kind"]] = [held + verdict["held"], count + 1]
        document |= {
            "scenarios": len(verdicts),
            "reached": sum(verdict["reached"] for verdict in verdicts),
            "held": sum(verdict["held"] for verdict in verdicts),
            "kinds": kinds,
            "verdicts": verdicts,
        }
    return document | ({"questions": {arm: figures.as_json() for arm, figures in asked.items()}} if asked else {})


def _lines(document: dict[str, Any]) -> Iterator[str]:
    """The figures for people."""
    for one in document.get("verdicts", ()):
        if not one["held"]:
            said = "REACHED" if one["reached"] else "no harm" if not one["live"] else "no pause"
            yield f"{said:<8} {one['kind']}: {one['name']}"
    if "scenarios" in document:
        yield f"attacks  {document['held']} of {document['scenarios']} held, {document['reached']} reached unasked"
        yield "by kind  " + ", ".join(f"{kind} {held}/{count}" for kind, (held, count) in document["kinds"].items())
    for arm, figures in document.get("questions", {}).items():
        yield (
            f"asked    {arm}: {figures['asking']} of {figures['writes']} honest writes ({figures['rate']:.1%}),"
            f" {figures['sensitive']} with a sensitive value; {figures['solved']} of {figures['tasks']} tasks solved"
        )


if __name__ == "__main__":
    main()
