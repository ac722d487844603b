"""How often all tools that a task needs are shown, among thousands, by searches that a model planned for it.

SEARCHES is JSON lines of `{"task": id of ToolFlow, "queries": [...]}`. ToolFlow's operations stand among `--count` APIs
of StableToolBench. The hits of a task's searches are merged in turns, with and without the producers of the ids that
they need; beside them, the question as one query. With --solve, the first N tasks are run end to end: the scripted
model gives the searches, asks (`SEARCH:`) for what was not shown, and then gives the gold program.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from atc import Agent, Config
from atc.events import ToolsChosen
from atc.models.scripted import ScriptedModel
from atc.retrieve.document import ToolDocument
from atc.retrieve.embed import choose
from atc.retrieve.embedders import DEFAULT
from atc.retrieve.fuse import Hybrid, hits
from atc.retrieve.index import ToolIndex
from atc.retrieve.searches import in_turns
from benchmarks.retrieval.data import load_data
from benchmarks.runner import suite
from protocols.protocol import Annotations, ToolProtocol
from protocols.toolbox import Tool, Toolbox
from sandbox.base import Sandbox
from sandbox.choose import open_sandbox
from toolflow_bench.task import Task, load_tasks
from toolflow_bench.world import World

SHOWN = (12, 20, 40)
DEPTH = 100  # hits of each search that take part


def shown(rows: Sequence[dict[str, Any]], others: Sequence[ToolDocument], embedder: str) -> dict[str, dict[int, float]]:
    """The share of tasks of which all needed tools are among the first so many, by each way of choosing them."""
    data = load_data("toolflow")
    assert data.toolbox is not None
    asked = {query.id: query for query in data.queries}
    index = ToolIndex.build([*data.documents, *others], embedder=choose(embedder))
    assert index.dense is not None
    found: dict[str, dict[int, float]] = {}
    for name, ranker in (("bm25", index.lexical), ("hybrid", Hybrid([(index.dense, 0.8), (index.lexical, 0.2)]))):
        for row in rows:
            query = asked[row["task"]]
            ranked = ranker.top([query.text, *row["queries"]], n=DEPTH)
            own, *lists = (hits(one, ranker.names, k=DEPTH) for one in ranked)
            for k in SHOWN:
                ways = {"question": own[:k], "searches": in_turns(lists, Toolbox(), k=k)}
                ways["searches + producers"] = in_turns(lists, data.toolbox, k=k)
                for way, chosen in ways.items():
                    whole = found.setdefault(f"{name}, {way}", dict.fromkeys(SHOWN, 0.0))
                    whole[k] += {hit.tool for hit in chosen}.issuperset(query.gold)
    return {way: {k: count / len(rows) for k, count in whole.items()} for way, whole in found.items()}


def solve(rows: Sequence[dict[str, Any]], others: Sequence[ToolDocument]) -> dict[str, Any]:
    """Tasks solved end to end, those whose tools were shown at once, and those whose missing tools were asked for."""
    tasks = {task.id: task for task in load_tasks()}
    figures: dict[str, Any] = {"tasks": len(rows), "solved": 0, "shown": 0, "asked for": 0, "problems": []}
    with World() as world, open_sandbox("zygote") as sandbox, TemporaryDirectory() as folder:
        toolbox = world.toolbox.also(Tool(_protocol(document), call=dict) for document in others)
        for row in rows:
            world.reset()
            task = tasks[row["task"]]
            needed = {toolbox.find(name).alias for name in task.operations}
            config = Config(strategy="chain", samples=1, max_repairs=0, allow_writes=("all",), index=Path(folder))
            status, chosen, told = _solved(task, row["queries"], needed, toolbox, sandbox, config)
            figures["solved"] += status == "solved"
            figures["shown"] += needed <= chosen
            figures["asked for"] += not needed <= chosen and all(f"def {name}(" in told for name in needed)
            figures["problems"] += [f"{task.id}: {status}"] if status != "solved" else []
    return figures


def _solved(
    task: Task, queries: Sequence[str], needed: set[str], toolbox: Toolbox, sandbox: Sandbox, config: Config
) -> tuple[str, set[str], str]:
    """How the run ended, the tools that were shown at once, and the model's last prompt."""
    chosen, program = set[str](), f"```python\n{task.program}\n```"

    def search(_: Any) -> str:
        missing = sorted(needed - chosen)
        about = "; ".join(toolbox[name].protocol.description.split(". ")[0] for name in missing)
        return f"SEARCH: {about}" if missing else program

    def watch(event: Any) -> None:
        chosen.update(event.tools if isinstance(event, ToolsChosen) else ())

    model = ScriptedModel(json.dumps({"searches": list(queries)}), search, program)
    solution = Agent(toolbox, model=model, sandbox=sandbox, config=config).run(task.question, seed=0, observer=watch)
    return solution.status, chosen, "\n".join(message.content for message in model.prompts[-1])


def _protocol(document: ToolDocument) -> ToolProtocol:
    properties = {name: {"type": "string", "description": about} for name, about in document.parameters.items()}
    schema = {"type": "object", "properties": properties, "required": list(document.required)}
    reads = Annotations(read_only=True)
    return ToolProtocol(name=document.name, description=document.description, input_schema=schema, annotations=reads)


@suite
@click.argument("searches", type=click.Path(path_type=Path, exists=True))
@click.option("--others", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--count", default=2000, show_default=True)
@click.option("--seed", default=3, show_default=True)
@click.option("--embedder", default=DEFAULT, show_default=True)
@click.option("--solve", "most", default=0, help="Run so many tasks end to end instead.")
def main(searches: Path, others: Path, count: int, seed: int, embedder: str, most: int) -> dict[str, Any]:
    rows = [json.loads(line) for line in searches.read_text(encoding="utf-8").splitlines()]
    drawn = random.Random(seed).sample(list(load_data(others).documents), count)
    figures = solve(rows[:most], drawn) if most else {"shown": shown(rows, drawn, embedder)}
    return {"suite": "planned_searches", "tasks": len(rows), "others": count, **figures}


if __name__ == "__main__":
    main()
