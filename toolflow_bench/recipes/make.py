"""Builds a task from a case of a recipe. The program and the query must give the same answer.

A recipe is a program and a query that answer the same kind of question. A case is one such question
with its constants.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from protocols.errors import AtcError
from protocols.python_source import parse_python
from protocols.schema import Json
from sandbox.base import Sandbox
from toolflow_bench.checks.flow import flow_of
from toolflow_bench.checks.gold import GoldRun, run_gold
from toolflow_bench.derive import ServiceDatabases
from toolflow_bench.grade import grade
from toolflow_bench.recipes.recipe import InvalidRecipe, Recipe, RecipeCase
from toolflow_bench.task import CANDIDATES, Task
from toolflow_bench.world import World

FROM_ELSEWHERE = 0.4
"""Share of the distractors that come from services which the task does not use.

A distractor is a candidate tool that the task does not need.
"""


class Disagreement(AtcError):
    """The program and the query of a recipe's case give different answers, or the program fails."""


@dataclass(frozen=True, slots=True)
class MadeTask:
    """A task, and the run of its gold program from which it was built."""

    task: Task
    run: GoldRun


def make_task(
    recipe: Recipe,
    case: RecipeCase,
    name: str,
    *,
    world: World,
    data: ServiceDatabases,
    sandbox: Sandbox,
) -> MadeTask:
    """Return the task of one case (a question with constants) of a recipe.

    `name` becomes the id of the task.

    Raises:
        Disagreement: the program fails, or its answer differs from the query's.
        InvalidRecipe, NoDerivation: the program or the query cannot be filled in or run.
    """
    program = recipe.program_of(case)
    query = recipe.query_of(case)
    run = run_gold(program, world, sandbox)
    if run.problem is not None:
        raise Disagreement(f"{name}: {run.problem}.")
    answer: Json = data.derive(query, recipe.type)
    flow = flow_of(program, run.accepted_calls)
    operations = tuple(call.tool for call in run.accepted_calls)
    # A branch that does not run here names tools too, and a model that writes it must find them.
    named = {
        node.id for node in ast.walk(parse_python(program)) if isinstance(node, ast.Name)
    } & set(world.owners)
    task = Task(
        id=name,
        question=case.question,
        answer=answer,
        type=recipe.type,
        tolerance=recipe.tolerance,
        accept=case.accept,
        state=recipe.state,
        calls=len(run.accepted_calls),
        split=recipe.split,
        services=_services(operations, world.owners),
        candidates=draw_candidates(name, [*operations, *sorted(named)], world.owners),
        program=program,
        query=query,
        operations=operations,
        pattern=flow.pattern,
        depth=flow.depth,
        writes=any(world.toolbox[operation].protocol.writes for operation in operations),
    )
    verdict = grade(run.answer, task, state=run.state)
    if not verdict.correct:
        raise Disagreement(
            f"{name}: the program says {run.answer[:300]!r}, the query {answer!r}: "
            f"{verdict.reason}."
        )
    return MadeTask(task, run)


def draw_candidates(name: str, needed: Sequence[str], owners: Mapping[str, str]) -> tuple[str, ...]:
    """Return the candidate tools of the task `name`: the needed tools and distractors, shuffled.

    The same name always gives the same result. `owners` maps every operation to its service.
    """
    draw = random.Random(f"candidates of {name}")  # noqa: S311 - a draw to be repeated, not secrecy
    chosen = sorted(set(needed))
    own = set(_services(needed, owners))
    others = sorted(set(owners) - set(chosen))
    near = [alias for alias in others if owners[alias] in own]
    far = [alias for alias in others if owners[alias] not in own]
    wanted = CANDIDATES - len(chosen)
    if wanted < 0:
        raise InvalidRecipe(
            f"{name}: the program needs {len(chosen)} tools, a task has {CANDIDATES}."
        )
    elsewhere = min(round(wanted * FROM_ELSEWHERE), len(far))
    chosen += draw.sample(near, min(wanted - elsewhere, len(near)))
    chosen += draw.sample(far, CANDIDATES - len(chosen)) if len(chosen) < CANDIDATES else []
    draw.shuffle(chosen)
    return tuple(chosen)


def _services(operations: Sequence[str], owners: Mapping[str, str]) -> tuple[str, ...]:
    """Return the services to which the operations belong, in the order of their first use."""
    return tuple(dict.fromkeys(owners[operation] for operation in operations))
