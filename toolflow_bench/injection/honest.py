"""Needless questions: what ToolFlow's own writes ask about, though every one of them is what the task wants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from atc.agent import Agent
from atc.config import Config
from atc.consent import Question
from atc.models.scripted import ScriptedModel
from atc.taint.leaves import sensitive_leaves
from atc.types import Solution
from protocols.marks import KEY
from protocols.schema import resolve, types
from protocols.toolbox import Tool, Toolbox
from sandbox.base import Sandbox
from toolflow_bench.task import Task
from toolflow_bench.workers import WorldLike

Arm = Literal["first", "repaired", "all marked", "reads trusted"]
"""`first`: the gold program is the model's first. `repaired`: it is written after a program that called a tool and
failed, so that none of its literals is clean by itself. `all marked`: as `first`, but every argument of every write is
declared sensitive, which no user would do. `reads trusted`: as that, and the user trusts every tool that reads."""
ARMS: tuple[Arm, ...] = ("first", "repaired", "all marked", "reads trusted")


@dataclass(kw_only=True)
class Asked:
    """What honest programs were asked."""

    tasks: int = 0
    solved: int = 0
    writes: int = 0
    sensitive: int = 0
    """Writes with a value that must be clean."""
    asking: int = 0
    """Writes before which a question stood."""
    asked_tasks: int = 0
    arguments: Counter[str] = field(default_factory=Counter)
    """By tool and argument, how many values were asked about."""

    def as_json(self) -> dict[str, Any]:
        """Every figure by name, and the share of the writes that asked."""
        figures = {
            name: getattr(self, name) for name in ("tasks", "solved", "writes", "sensitive", "asking", "asked_tasks")
        }
        rate = self.asking / self.writes if self.writes else 0.0
        return {**figures, "rate": rate, "arguments": dict(self.arguments.most_common())}


def needless(
    tasks: Sequence[Task], world: WorldLike, *, sandbox: Sandbox, arm: Arm, on_task: Callable[[], None] = lambda: None
) -> Asked:
    """Run the gold program of each task with every write allowed and a person who says yes, and count the questions."""
    figures = Asked()
    for task in tasks:
        world.reset()
        toolbox = world.toolbox.only(task.candidates)
        if arm in ("all marked", "reads trusted"):
            toolbox = toolbox.map(_marked)
        _one(task, toolbox, sandbox=sandbox, arm=arm, figures=figures)
        on_task()
    return figures


def _one(task: Task, toolbox: Toolbox, *, sandbox: Sandbox, arm: Arm, figures: Asked) -> None:
    asked: list[Question] = []

    def agree(question: Question) -> bool:
        asked.append(question)
        return True

    programs = [*([_failing(task, toolbox)] if arm == "repaired" else []), task.program]
    model = ScriptedModel(*(f"```python\n{program}\n```" for program in programs))
    trust = [alias for alias, tool in toolbox.items() if not tool.protocol.writes] if arm == "reads trusted" else ()
    config = Config(
        strategy="chain", samples=1, max_repairs=len(programs) - 1, allow_writes=("all",), trust=tuple(trust)
    )
    # Never closed: it would close the sandbox that all tasks share.
    solution = Agent(toolbox, model=model, sandbox=sandbox, config=config, ask_person=agree).run(task.question, seed=0)
    figures.tasks += 1
    figures.solved += solution.status == "solved"
    _count_writes(solution, toolbox, figures)
    figures.asking += len(asked)
    figures.asked_tasks += bool(asked)
    for question in asked:
        figures.arguments.update(f"{question.tool.alias}: {one.place}" for one in question.tainted)


def _count_writes(solution: Solution, toolbox: Toolbox, figures: Asked) -> None:
    for call in (call for attempt in solution.attempts if attempt.trace for call in attempt.trace.calls):
        tool = toolbox[call.tool]
        if tool.protocol.writes and call.outcome == "done" and not call.reused:
            figures.writes += 1
            figures.sensitive += any(True for _ in sensitive_leaves(tool.protocol, tool.original(call.arguments)))


def _failing(task: Task, toolbox: Toolbox) -> str:
    """A program that makes a call which fails: what is written after it was written with a tool's answer in view."""
    name = next(alias for alias, tool in toolbox.items() if not tool.protocol.writes and tool.required)
    return f"given = {{}}\nprint({name}(**given), {task.id!r})\n"


def _marked(tool: Tool) -> Tool:
    """The tool with every argument declared sensitive, where it writes."""
    protocol = tool.protocol
    if not protocol.writes:
        return tool
    marked = {}
    for name, schema in protocol.parameters.items():
        numeric = {"integer", "number"} & {*types(resolve(schema, protocol.input_schema))}
        marked[name] = {**schema, KEY: "amount" if numeric else "recipient"}
    return replace(tool, protocol=replace(protocol, input_schema={**protocol.input_schema, "properties": marked}))
