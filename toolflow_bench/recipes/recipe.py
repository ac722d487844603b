"""What tasks are made from: one data flow, and the questions that it answers with other constants."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from protocols.errors import AtcError
from protocols.jsontypes import Json
from toolflow_bench.task import AnswerType, Split

_BLANK = re.compile(r"\$(\w+)")


class InvalidRecipe(AtcError):
    """A recipe that no task can be made from: names it and says what is wrong."""


class Case:
    """One task of a recipe: the question as a person asks it, and the constants that stand in program and query.

    `Case("Which …?", airline="Delta", date="2013-05-20")`. Each case asks in words of its own.
    """

    def __init__(self, question: str, *, accept: tuple[str, ...] = (), **constants: Json) -> None:
        self.question, self.accept, self.constants = question, accept, constants


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A way to answer questions, as a program over tools and as a query over the data.

    In `program` and `query`, `$name` stands for a constant of the case: as a Python literal in the program, as an SQL
    literal in the query. `program` calls tools of `services` by operation id and keyword arguments and prints the
    answer. `query` is SQL over the services' databases, each attached under its service's name (`movies.films`), and
    takes another way than the services' handlers do; it gives

    - `number`, `text`: one row of one column; no row for a text means that the answer is `none`;
    - `set`, `list`: a row an item; several columns make an item a list;
    - `none`: no row at all;
    - `state`: one row of one column, JSON: `{"flights": {"bookings": [{…}]}}`, what the state's snapshots must be.

    `accept` holds other spellings, for all cases.
    """

    id: str
    services: tuple[str, ...]
    split: Split
    type: AnswerType
    program: str
    query: str
    cases: tuple[Case, ...]
    tolerance: float = 0.0

    def program_of(self, case: Case) -> str:
        """The program for a case.

        Raises:
            InvalidRecipe: it names a constant that the case lacks.
        """
        return self._filled(self.program, case.constants, repr).strip() + "\n"

    def query_of(self, case: Case) -> str:
        """The query for a case, on one line a line.

        Raises:
            InvalidRecipe: it names a constant that the case lacks.
        """
        return self._filled(self.query, case.constants, _sql).strip()

    def _filled(self, text: str, constants: Mapping[str, Json], literal: Callable[[Json], str]) -> str:
        def fill(match: re.Match[str]) -> str:
            if match[1] not in constants:
                raise InvalidRecipe(
                    f"recipe {self.id!r}: no case constant {match[1]!r}; it has {', '.join(constants)}."
                )
            return literal(constants[match[1]])

        return _BLANK.sub(fill, text)


def _sql(value: Json) -> str:
    """A value as an SQL literal."""
    if isinstance(value, bool) or value is None or isinstance(value, list | dict):
        raise InvalidRecipe(f"a constant must be a text or a number, got {value!r}.")
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)
