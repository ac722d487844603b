"""What tasks are made from: one data flow, and the questions that it answers with other constants."""

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
"""A folder of recipes for each service; one for those that span several; those in which what to call next depends on
what was seen; and those that cannot be done."""

_BLANK = re.compile(r"\$(\w+)")


class InvalidRecipe(AtcError):
    """A recipe that no task can be made from: names it and says what is wrong."""


class RecipeCase(BaseModel):
    """One task of a recipe: the question as a person asks it, and the constants that stand in program and query.

    Each case asks in words of its own.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    question: str
    accept: tuple[str, ...] = ()
    """Other spellings of the answer."""
    constants: dict[str, Json] = Field(default_factory=dict, alias="with")


class Recipe(BaseModel):
    """A way to answer questions, as a program over tools and as a query over the data.

    In `program` and `query`, `$name` stands for a constant of the case: as a Python literal in the program, as an SQL
    literal in the query. `program` calls tools of `services` by operation id and keyword arguments and prints the
    answer. `query` is SQL over the services' databases, each attached under its service's name (`movies.films`), and
    takes another way than the services' handlers do; it gives

    - `number`, `text`: one row of one column; no row for a text means that the answer is `none`;
    - `set`, `list`: a row an item; several columns make an item a list;
    - `none`: no row at all;
    - `state`: one row of one column, JSON: `{"flights": {"bookings": [{…}]}}`, what the state's snapshots must be.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    """The file's name without its ending."""
    services: tuple[str, ...]
    split: Split
    type: AnswerType
    tolerance: float = 0.0
    state: dict[str, Json] | None = None
    """What must be left beside an answer that is no state: `{}` for what cannot be done and must not be tried."""
    program: str
    query: str
    cases: tuple[RecipeCase, ...]

    def program_of(self, case: RecipeCase) -> str:
        """The program for a case.

        Raises:
            InvalidRecipe: it names a constant that the case lacks.
        """
        return self._fill_template(self.program, case.constants, repr).strip() + "\n"

    def query_of(self, case: RecipeCase) -> str:
        """The query for a case.

        Raises:
            InvalidRecipe: it names a constant that the case lacks, or one that SQL has no literal for.
        """
        return self._fill_template(self.query, case.constants, _sql).strip()

    def _fill_template(
        self, text: str, constants: Mapping[str, Json], literal: Callable[[Json], str]
    ) -> str:
        def fill(match: re.Match[str]) -> str:
            if match[1] not in constants:
                raise InvalidRecipe(
                    f"recipe {self.id!r}: no case constant {match[1]!r}; it has {', '.join(constants)}."
                )
            return literal(constants[match[1]])

        return _BLANK.sub(fill, text)


def recipes_of(folder: str) -> tuple[Recipe, ...]:
    """The recipes of one of `FOLDERS`, in order of their ids.

    Raises:
        InvalidRecipe: a file is no recipe.
    """
    return tuple(
        load_recipe(path) for path in sorted((Path(__file__).parent / folder).glob("*.yaml"))
    )


def load_recipe(path: Path) -> Recipe:
    """The recipe in a YAML file, called as the file is.

    Raises:
        InvalidRecipe: the file is no recipe.
    """
    try:
        return Recipe.model_validate(
            {"id": path.stem, **yaml.safe_load(path.read_text(encoding="utf-8"))}
        )
    except (yaml.YAMLError, TypeError, ValidationError) as error:
        raise InvalidRecipe(f"{path}: no recipe: {error}") from error


def _sql(value: Json) -> str:
    """A value as an SQL literal."""
    if isinstance(value, bool) or value is None or isinstance(value, list | dict):
        raise InvalidRecipe(f"a constant must be a text or a number, got {value!r}.")
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)
