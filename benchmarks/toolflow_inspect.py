"""ToolFlow as a task of inspect_ai, a framework that provides models, logs and a viewer.

    pip install inspect_ai
    inspect eval benchmarks/toolflow_inspect.py --model openai/gpt-5 -T split=short -T limit=20

The model calls the operations as tools. Each sample has services with their own state, and is
graded as in `atc bench run toolflow`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from inspect_ai import Task as InspectTask
from inspect_ai import task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Score, Target, accuracy, scorer, stderr
from inspect_ai.solver import Generate, TaskState, solver, system_message
from inspect_ai.tool import ToolDef, ToolParams
from inspect_ai.tool import ToolError as FailedCall

from protocols.errors import ToolError
from protocols.tool import Tool
from toolflow_bench.grade import grade
from toolflow_bench.suites import choose_tasks, services_of
from toolflow_bench.task import Task
from toolflow_bench.world import World

_PROMPT = (
    "Use the tools to answer. Your last message must be the answer alone, as short as it can be."
)


@task
def toolflow(
    split: str = "all", limit: int | None = None, sample: int | None = None, seed: int = 0
) -> InspectTask:
    """Return the inspect task for the tasks of a split, or for a sample drawn with the seed."""
    tasks = choose_tasks(split, sample=sample, seed=seed)[:limit]
    known = {one.id: one for one in tasks}
    samples = [
        Sample(id=one.id, input=one.question, target=json.dumps(one.answer)) for one in tasks
    ]
    return InspectTask(
        dataset=MemoryDataset(samples, name="toolflow"),
        solver=[system_message(_PROMPT), in_a_world(known)],
        scorer=by_program(known),
    )


@solver
def in_a_world(known: dict[str, Task]) -> Any:
    """Return a solver that lets the model call the task's candidate tools until it answers.

    The final state of the services is kept for grading.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        one = known[str(state.sample_id)]
        world = await asyncio.to_thread(World, services_of([one]))
        try:
            state.tools = [_as_tool(tool) for tool in world.toolbox.only(one.candidates).values()]
            state = await generate(state)
            state.metadata["left"] = world.snapshot()
        finally:
            await asyncio.to_thread(world.close)
        return state

    return solve


@scorer(metrics=[accuracy(), stderr()])
def by_program(known: dict[str, Task]) -> Any:
    """Return a scorer that uses `toolflow_bench.grade` and gives its reason as the explanation."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - required
        answer = state.output.completion
        verdict = grade(answer, known[str(state.sample_id)], state=state.metadata.get("left", {}))
        return Score(value=verdict.correct, answer=answer, explanation=verdict.reason)

    return score


def _allowed_keywords(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema with only those keywords that Inspect accepts."""
    allowed = ("type", "description", "enum", "default", "format")
    return {key: value for key, value in schema.items() if key in allowed}


def _as_tool(tool: Tool) -> Any:
    async def call(**kwargs: Any) -> str:
        try:
            response = await asyncio.to_thread(tool.call, tool.original_arguments(kwargs))
        except ToolError as error:
            raise FailedCall(str(error)) from error
        return json.dumps(tool.unwrap(response), ensure_ascii=False)

    properties = {alias: tool.protocol.parameters[name] for alias, name in tool.arguments.items()}
    kept = {name: _allowed_keywords(schema) for name, schema in properties.items()}
    parameters = ToolParams.model_validate({"properties": kept, "required": sorted(tool.required)})
    return ToolDef(
        call, name=tool.alias, description=tool.protocol.description, parameters=parameters
    ).as_tool()
