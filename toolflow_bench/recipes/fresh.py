"""New tasks that no training set contains: known recipes and questions with new constants.

A recipe is a data flow, given as a program and as a query. Every answer is derived twice, by the
program and by the query.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from protocols.errors import AtcError
from protocols.schema import Json
from sandbox.base import Sandbox
from sandbox.choose import open_sandbox
from toolflow_bench.checks.needed import find_unneeded_calls
from toolflow_bench.checks.wording import near_duplicates
from toolflow_bench.derive import ServiceDatabases
from toolflow_bench.recipes.make import make_task
from toolflow_bench.recipes.recipe import FOLDERS, Recipe, RecipeCase, recipes_of
from toolflow_bench.task import Task, load_tasks
from toolflow_bench.world import World

MOST_TRIES = 12
"""Maximum number of successive draws from one recipe that give no task.

A draw gives no task if, for example, its answer is a tie or empty, or a call is needless.
"""

_PRONOUN = re.compile(r"\b(?:he|she|his|her|hers|him|man|woman|lady)\b", re.IGNORECASE)
_MEN = ("baseball/", "hard/park", "hard/hall", "across/")
"""Prefixes of the recipes in which all people are men, so that questions may use male pronouns."""


class TooFewTasks(AtcError):
    """The recipes did not give as many tasks as were requested."""


def fresh_tasks(count: int, *, seed: int, folder: Path | None = None) -> Iterator[Task]:
    """Yield `count` new tasks. If constants do not give a unique answer, others are drawn.

    Raises:
        TooFewTasks: the recipes give no more tasks.
        SourceUnavailable, SandboxUnavailable: the services or the sandbox are not available here.
    """
    draw = random.Random(f"fresh {seed}")  # noqa: S311 - must repeat
    sql = yaml.safe_load(Path(__file__).with_name("draws.yaml").read_text(encoding="utf-8"))
    untrue = tuple(sql.pop("x-untrue"))
    recipes = {
        f"{name}/{one.id}": one
        for name in FOLDERS
        for one in recipes_of(name)
        if f"{name}/{one.id}" in sql
    }
    with (
        World(folder=folder) as world,
        closing(ServiceDatabases(folder=folder)) as data,
        closing(open_sandbox()) as sandbox,
    ):
        rows = {name: data.rows(query) for name, query in sorted(sql.items())}
        maker = _FreshTaskMaker(world, data, sandbox, draw, seed, untrue)
        made = maker.made
        while len(made) < count:
            before = len(made)
            for name in draw.sample(sorted(recipes), len(recipes)):
                task = maker.make(name, recipes[name], rows[name])
                if task is not None:
                    yield task
                if len(made) == count:
                    return
            if len(made) == before:
                raise TooFewTasks(
                    f"the recipes gave {len(made)} of {count} tasks; ask for fewer, or add to "
                    "draws.yaml."
                )


@dataclass
class _FreshTaskMaker:
    """Makes new tasks from recipes, with new constants that are drawn at random.

    `made` has the tasks that passed all checks.
    """

    world: World
    data: ServiceDatabases
    sandbox: Sandbox
    draw: random.Random
    seed: int
    untrue: Sequence[str]
    made: list[Task] = field(default_factory=list)
    numbers: Counter[str] = field(default_factory=Counter)
    """Number of tasks made so far from each recipe."""
    known: set[str] = field(default_factory=lambda: {task.question for task in load_tasks()})
    """Questions that have been asked before and must not be asked again."""

    def make(self, name: str, recipe: Recipe, rows: Sequence[Mapping[str, Json]]) -> Task | None:
        """Return a new task of a recipe, or None if `MOST_TRIES` draws gave none.

        Each of `rows` maps the names of constants to values; one row is drawn for a task.
        """
        texts = wordings(recipe, list(rows[0]), men=name.startswith(_MEN), untrue=self.untrue)
        for _ in range(MOST_TRIES if texts else 0):
            case = _case(*self.draw.choice(texts), self.draw.choice(rows))
            if case.question in self.known:
                continue
            task_id = f"fresh{self.seed}/{name.replace('/', '.')}-{self.numbers[name] + 1}"
            task = self._make_case(recipe, case, task_id)
            if task is not None:
                self.numbers[name] += 1
                self.known.add(case.question)
                self.made.append(task)
                return task
        return None

    def _make_case(self, recipe: Recipe, case: RecipeCase, task_id: str) -> Task | None:
        """Return the task of a case (a question with constants), or None if it fails a check."""
        try:
            found = make_task(
                recipe, case, task_id, world=self.world, data=self.data, sandbox=self.sandbox
            )
        except AtcError:
            return None
        task = found.task
        idle = find_unneeded_calls(
            task.program,
            case.question,
            found.run,
            self.world.toolbox,
            self.sandbox,
            nothing_found=task.type == "none",
        )
        fits = task.calls >= 7 if recipe.split == "long" else task.calls <= 6
        if not fits or any(idle) or any(True for _ in near_duplicates([*self.made[-60:], task])):
            return None
        return task


def wordings(
    recipe: Recipe, drawn: Sequence[str], *, men: bool, untrue: Sequence[str] = ()
) -> list[tuple[str, Mapping[str, Json]]]:
    """Return the recipe's questions as templates, each with the constants that are not replaced.

    A template has `{name}` (for a date, `{name:%d}`) in place of each constant in `drawn`. A
    question is left out if it contains a phrase of `untrue`, which would be false for other
    constants. A question with a pronoun such as `he` is left out, too, unless all people in the
    recipe's data are men (`men`).
    """
    found: list[tuple[str, Mapping[str, Json]]] = []
    for case in recipe.cases:
        text = case.question
        if any(phrase in text for phrase in untrue):
            continue
        for name in drawn:
            text = _blank_constant(text, name, case.constants[name])
        whole = all(f"{{{name}" in text for name in drawn)
        left = {
            word for name in drawn for word in re.findall(r"[A-Z]\w{3,}", str(case.constants[name]))
        }
        if (
            whole
            and not any(re.search(rf"\b{word}\b", text) for word in left)
            and (men or not _PRONOUN.search(text))
        ):
            found.append(
                (text, {key: value for key, value in case.constants.items() if key not in drawn})
            )
    return found


_DATES = ("%Y-%m-%d", "%-d %B %Y", "%B %-d, %Y", "%d %B %Y", "%B %-d %Y")


def _blank_constant(text: str, name: str, value: Any) -> str:
    """Replace a constant in a question with `{name}`, so that another value can be filled in.

    A date can be written in several formats. Only the first format that occurs is replaced.
    """
    spellings = {str(value): f"{{{name}}}"}
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        spellings = {date.fromisoformat(value).strftime(one): f"{{{name}:{one}}}" for one in _DATES}
    for spelt, blank in spellings.items():
        text, times = re.subn(rf"(?<![\w]){re.escape(spelt)}(?!\w)", blank, text)
        if times:
            return text
    return text


def _case(text: str, kept: Mapping[str, Json], drawn: Mapping[str, Json]) -> RecipeCase:
    shown: dict[str, Any] = {
        name: date.fromisoformat(value)
        if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value)
        else value
        for name, value in drawn.items()
    }
    return RecipeCase.model_validate({"question": text.format(**shown), "with": {**kept, **drawn}})
