"""Measures for how many tasks planned searches find all needed tools among thousands of tools.

For each task, a model has written several search queries in advance. The file SEARCHES has them,
one JSON object on each line: `{"task": id of a ToolFlow task, "queries": [...]}`. The tools to
search are the operations of ToolFlow and `--count` tools of other APIs (`--others`).

The result is the share of tasks whose needed tools are all among the chosen tools. It is computed
for four ways of choosing k tools, each for k = 12, 20 and 40:

- `question`: the hits of one search for the question of the task, for comparison.
- `searches`: the hits of all planned searches, the best hit of each search first.
- `searches + producers`: the same, but some of the k tools are those that return the ids which the
  best hits need as arguments.
- `searches + producers + named`: the same, and in addition the tools that the documentation of the
  best hits mentions.

With --solve N, the first N tasks are run end to end instead. Without --model, a script plays the
model: it returns the planned searches, asks for needed tools that were not found, and then returns
the correct program of the task.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from atc import Agent
from atc.cli.wiring import choose_model
from atc.core.events import ToolsChosen
from atc.models.scripted import ScriptedModel
from atc.pipeline.retrieve.base import Hit, hits
from atc.pipeline.retrieve.document import ToolDocument
from atc.pipeline.retrieve.embed import choose_embedder
from atc.pipeline.retrieve.embedders import DEFAULT
from atc.pipeline.retrieve.finder import READ, named_in_docs
from atc.pipeline.retrieve.fuse import Hybrid
from atc.pipeline.retrieve.index import ToolIndex
from atc.pipeline.retrieve.planned import in_turns
from atc.settings.reading import load_config
from benchmarks.retrieval.data import load_data
from benchmarks.runner import suite
from protocols.model import Ask
from protocols.protocol import Annotations, ToolProtocol
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.choose import open_sandbox
from toolflow_bench.grade import grade
from toolflow_bench.task import Task, load_tasks
from toolflow_bench.world import World

SHOWN = (12, 20, 40)
"""Numbers of chosen tools for which the shares are computed."""
DEPTH = 100
"""Number of hits of each search that are used."""


def _tools_of(chosen: Sequence[Hit]) -> list[str]:
    return [hit.tool for hit in chosen]


def share_of_tasks_covered(
    rows: Sequence[dict[str, Any]], others: Sequence[ToolDocument], embedder: str
) -> dict[str, dict[int, float]]:
    """Return the share of tasks for which the first k tools include all needed ones.

    The result maps each way of choosing tools to its shares, keyed by k.
    """
    data = load_data("toolflow")
    assert data.toolbox is not None
    asked = {query.id: query for query in data.queries}
    index = ToolIndex.build(
        [*data.documents, *others],
        embedder=None if embedder == "none" else choose_embedder(embedder),
    )
    ranker = Hybrid([(index.dense, 0.8), (index.lexical, 0.2)]) if index.dense else index.lexical
    found: dict[str, dict[int, float]] = {}
    for row in rows:
        query = asked[row["task"]]
        own, *lists = (
            hits(one, ranker.names, k=DEPTH)
            for one in ranker.top([query.text, *row["queries"]], n=DEPTH)
        )
        for k in SHOWN:
            ways = {"question": own[:k], "searches": in_turns(lists, Toolbox(), k=k)}
            ways["searches + producers"] = in_turns(lists, data.toolbox, k=k)
            shown = {way: _tools_of(chosen) for way, chosen in ways.items()}
            best = shown["searches + producers"]
            read = [tool for tool in best[:READ] if tool in data.toolbox]
            shown["searches + producers + named"] = [*best, *named_in_docs(read, data.toolbox)]
            for way, tools in shown.items():
                whole = found.setdefault(way, dict.fromkeys(SHOWN, 0.0))
                whole[k] += set(tools).issuperset(query.gold) / len(rows)
    return found


def solve(
    rows: Sequence[dict[str, Any]], others: Sequence[ToolDocument], name: str | None
) -> dict[str, Any]:
    """Run tasks end to end and return how many were solved.

    `shown` counts the tasks for which the first searches found all needed tools. `shown in the end`
    counts those for which all searches together did. The model `name` plans, searches and writes
    programs (ATC_MAX_SECONDS limits the time of a task). If `name` is None, a script does so.
    """
    tasks = {task.id: task for task in load_tasks()}
    config = load_config({"model": name})
    model = choose_model(config) if name else None
    figures: dict[str, Any] = {
        "tasks": len(rows),
        "solved": 0,
        "shown": 0,
        "shown in the end": 0,
        "runs": [],
    }
    with World() as world, open_sandbox("zygote") as sandbox, TemporaryDirectory() as folder:
        toolbox = world.toolbox.also(Tool(_protocol(document), call=dict) for document in others)
        scripted: dict[str, Any] = (
            {} if model else {"strategy": "chain", "samples": 1, "max_repairs": 0}
        )
        config = replace(config, allow_writes=("all",), index=Path(folder), **scripted)
        for row in rows:
            world.reset()
            task = tasks[row["task"]]
            chosen = list[str]()
            needed = {toolbox.find(name).alias for name in task.operations}
            asked = model or _script(task, row["queries"], needed, chosen, toolbox)

            def watch(event: Any, chosen: list[str] = chosen) -> None:
                chosen.extend(event.tools if isinstance(event, ToolsChosen) and not chosen else ())

            agent = Agent(toolbox, model=asked, sandbox=sandbox, config=config)
            found = agent.run(task.question, seed=0, observer=watch)
            solved = (
                found.status == "solved"
                and grade(found.answer, task, state=world.snapshot()).correct
            )
            figures["solved"] += solved
            figures["shown"] += needed.issubset(chosen)
            figures["shown in the end"] += needed.issubset({*chosen, *found.tools})
            took = f"{found.usage.model_calls} model calls, {found.seconds:.0f} s"
            figures["runs"].append(
                f"{task.id}: {'right' if solved else found.status}, {took}: {found.answer!r}"[:160]
            )
            click.echo(figures["runs"][-1], err=True)
    return figures


def _script(
    task: Task, queries: Sequence[str], needed: set[str], chosen: Sequence[str], tools: Toolbox
) -> Ask:
    """Return a scripted model that plans `queries` and returns the gold program.

    If a needed tool is missing, the model searches for it first.
    """
    program = f"```python\n{task.program}\n```"

    def search(_: Any) -> str:
        missing = sorted(needed.difference(chosen))
        about = "; ".join(tools[name].protocol.description.split(". ")[0] for name in missing)
        return f"SEARCH: {about}" if missing else program

    return ScriptedModel(json.dumps({"searches": list(queries)}), search, program)


def _protocol(document: ToolDocument) -> ToolProtocol:
    properties = {
        name: {"type": "string", "description": about}
        for name, about in document.parameters.items()
    }
    schema = {"type": "object", "properties": properties, "required": list(document.required)}
    reads = Annotations(read_only=True)
    return ToolProtocol(
        name=document.name, description=document.description, input_schema=schema, annotations=reads
    )


@suite
@click.argument("searches", type=click.Path(path_type=Path, exists=True))
@click.option("--others", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--count", default=2000, show_default=True)
@click.option("--seed", default=3, show_default=True)
@click.option("--embedder", default=DEFAULT, show_default=True)
@click.option("--solve", "most", default=0, help="Run so many tasks end to end instead.")
@click.option("--model", help="Who solves them; without it a script does, with the gold programs.")
def main(
    searches: Path, others: Path, count: int, seed: int, embedder: str, most: int, model: str | None
) -> dict[str, Any]:
    rows = [json.loads(line) for line in searches.read_text(encoding="utf-8").splitlines()]
    drawn = random.Random(seed).sample(list(load_data(others).documents), count)
    figures = (
        solve(rows[:most], drawn, model)
        if most
        else {"shown": share_of_tasks_covered(rows, drawn, embedder)}
    )
    return {"suite": "planned_searches", "tasks": len(rows), "others": count, **figures}


if __name__ == "__main__":
    main()
