"""Recipes, from which tasks are built.

A recipe is a data flow (a program and a query) and the questions that it answers, each with its own
constants.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from protocols.errors import AtcError
from protocols.schema import Json
from toolflow_bench.task import AnswerType, Split

FOLDERS = ("flights", "baseball", "movies", "places", "across", "hard", "impossible")
"""Folders of recipes: one for each service, and three more.

`across` is for tasks that span several services, `hard` for tasks in which a result decides which
tool to call next, and `impossible` for requests that cannot be fulfilled.
"""

_BLANK = re.compile(r"\$(\w+)")


class InvalidRecipe(AtcError):
    """No task can be built from a recipe. The message names the recipe and the problem."""


class RecipeCase(BaseModel):
    """One task of a recipe: a question in a user's words, and the constants for program and query.

    The cases of a recipe have different wordings.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    question: str
    accept: tuple[str, ...] = ()
    """Other spellings of the answer that are also right."""
    constants: dict[str, Json] = Field(default_factory=dict, alias="with")


class Recipe(BaseModel):
    """A way to answer questions, as a program over tools and as a query over the data.

    In `program` and `query`, `$name` stands for a constant of the case: a Python literal in the
    program, an SQL literal in the query. `program` calls tools of `services` by operation id with
    keyword arguments and prints the answer. `query` is SQL over the services' databases, each
    attached under its service's name (`movies.films`). It must not repeat the logic of the
    handlers. It returns

    - `number`, `text`: one row with one column; no row for a text means that the answer is `none`;
    - `set`, `list`: one row for each item; with several columns each item is a list;
    - `none`: no row;
    - `state`: one row with one JSON column, the expected snapshots:
      `{"flights": {"bookings": [{…}]}}`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    """The name of the recipe's file without its extension."""
    services: tuple[str, ...]
    split: Split
    type: AnswerType
    tolerance: float = 0.0
    state: dict[str, Json] | None = None
    """Records that the run must write in addition to giving its answer.

    For an impossible request it is `{}`: nothing may be written.
    """
    program: str
    query: str
    cases: tuple[RecipeCase, ...]

    def program_of(self, case: RecipeCase) -> str:
        """Return the recipe's program with the constants of a case filled in.

        Raises:
            InvalidRecipe: the program names a constant that the case lacks.
        """
        return self._fill_template(self.program, case.constants, repr).strip() + "\n"

    def query_of(self, case: RecipeCase) -> str:
        """Return the recipe's SQL query with the constants of a case filled in.

        Raises:
            InvalidRecipe: the query names a constant that the case lacks or that has no SQL
                literal.
        """
        return self._fill_template(self.query, case.constants, _sql).strip()

    def _fill_template(
        self, text: str, constants: Mapping[str, Json], literal: Callable[[Json], str]
    ) -> str:
        def fill(match: re.Match[str]) -> str:
            if match[1] not in constants:
                raise InvalidRecipe(
                    f"recipe {self.id!r}: no case constant {match[1]!r}; it has "
                    f"{', '.join(constants)}."
                )
            return literal(constants[match[1]])

        return _BLANK.sub(fill, text)


def recipes_of(folder: str) -> tuple[Recipe, ...]:
    """Return the recipes in one of the folders that `FOLDERS` names, in order of their ids.

    Raises:
        InvalidRecipe: a file is not a recipe.
    """
    return tuple(
        load_recipe(path) for path in sorted((Path(__file__).parent / folder).glob("*.yaml"))
    )


def load_recipe(path: Path) -> Recipe:
    """Read the recipe in a YAML file. Its id is the file's name.

    Raises:
        InvalidRecipe: the file is not a recipe.
    """
    try:
        return Recipe.model_validate(
            {"id": path.stem, **yaml.safe_load(path.read_text(encoding="utf-8"))}
        )
    except (yaml.YAMLError, TypeError, ValidationError) as error:
        raise InvalidRecipe(f"{path}: no recipe: {error}") from error


def _sql(value: Json) -> str:
    """Return a value as an SQL literal."""
    if isinstance(value, bool) or value is None or isinstance(value, list | dict):
        raise InvalidRecipe(f"a constant must be a text or a number, got {value!r}.")
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)
