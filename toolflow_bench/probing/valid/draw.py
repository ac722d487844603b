"""Arguments that an operation accepts, drawn by seed: from the service's data where they name something in it."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from protocols.jsontypes import Json, JsonObject
from toolflow_bench.services.database import connect
from toolflow_bench.services.operation import Operation, Parameter
from toolflow_bench.services.state import State

_CHANCE_OF_OPTIONAL = 0.4
_SMALL = {"page": (1, 1, 1, 2), "page_size": (1, 3, 10, 50), "limit": (1, 3, 10, 50)}
_ROWS = 24
"""Different draws of one query; later ones are taken from these, since each is a scan of what may be a large table."""

_FIRST_DATE, _DAYS = date(2013, 1, 1), 365


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Records of the state that writes left: argument → field of the record."""

    collection: str
    fields: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Valid:
    """Where a service's valid arguments are.

    `anywhere` maps an argument to a query with one column, or to the values themselves. `of_tool` maps a tool to
    queries whose columns are named after its arguments, which belong together there; of several, one is drawn.
    """

    anywhere: Mapping[str, str | Sequence[Json]] = field(default_factory=dict)
    of_tool: Mapping[str, Sequence[str | Kept]] = field(default_factory=dict)


class Drawer:
    """Draws for one service. Close it, or use it as a context manager."""

    def __init__(self, service: str, database: Path, *, seed: int, state: State | None = None) -> None:
        """`state` is that of the running service, where records of its own are to be drawn."""
        found = import_module(f"toolflow_bench.probing.valid.{service}").VALID
        assert isinstance(found, Valid)
        self._valid, self._state, self._database = found, state, database
        self._random = random.Random(f"{service} {seed}")  # noqa: S311 - a sample, not secrecy
        self._rows: dict[str, list[dict[str, Json]]] = {}
        self._counts: dict[tuple[str, tuple[Json, ...]], int] = {}

    def draw(self, operation: Operation, fixed: JsonObject | None = None) -> dict[str, Json] | None:
        """Arguments for one call; those `fixed` stay, and others are drawn to go with them where the data can say.

        `None` where there is nothing to draw from: no record of the state yet, or none that goes with `fixed`.
        """
        fixed = fixed or {}
        drawn = self._together(operation, fixed)
        if drawn is None:
            return None
        for parameter in operation.parameters:
            if parameter.name in drawn:
                continue
            if parameter.required or self._random.random() < _CHANCE_OF_OPTIONAL:
                drawn[parameter.name] = self._alone(parameter)
        return {parameter.name: drawn[parameter.name] for parameter in operation.parameters if parameter.name in drawn}

    def close(self) -> None:
        """Close the database."""
        if "_connection" in self.__dict__:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @cached_property
    def _connection(self) -> sqlite3.Connection:
        return connect(self._database)

    def _together(self, operation: Operation, fixed: JsonObject) -> dict[str, Json] | None:
        sources = list(self._valid.of_tool.get(operation.id, ()))
        self._random.shuffle(sources)
        for source in sources:
            row = self._kept(source, fixed) if isinstance(source, Kept) else self._row(source, fixed)
            if row is not None:
                return {**row, **fixed}
        # A fixed value that the data does not hold in this place is for the service to judge.
        return dict(fixed) if fixed or not sources else None

    def _kept(self, source: Kept, fixed: JsonObject) -> dict[str, Json] | None:
        records = [] if self._state is None else self._state.all(source.collection)
        rows = [{name: record[key] for name, key in source.fields.items()} for record in records]
        fitting = [row for row in rows if all(row[name] == fixed[name] for name in row.keys() & fixed.keys())]
        return self._random.choice(fitting) if fitting else None

    def _row(self, query: str, fixed: JsonObject) -> dict[str, Json] | None:
        """A row of a query that has the values that are fixed; without any, one of `_ROWS` that are drawn as needed."""
        drawn = self._rows.setdefault(query, [])
        if not drawn and (first := self._drawn(query, ())) is not None:
            drawn.append(first)
        known = tuple((name, fixed[name]) for name in (drawn[0] if drawn else ()) if name in fixed)
        if known or not drawn:
            return self._drawn(query, known)
        if len(drawn) == _ROWS:
            return self._random.choice(drawn)
        row = self._drawn(query, ())
        assert row is not None, "there was one before"
        drawn.append(row)
        return row

    def _drawn(self, query: str, known: tuple[tuple[str, Json], ...]) -> dict[str, Json] | None:
        where = " AND ".join(f"{name} = ?" for name, _ in known) or "TRUE"
        inside, values = f"FROM ({query}) WHERE {where}", tuple(value for _, value in known)
        if (inside, values) not in self._counts:
            number = self._connection.execute(f"SELECT count(*) {inside}", values).fetchone()[0]
            self._counts[inside, values] = int(number)
        if not self._counts[inside, values]:
            return None
        place = self._random.randrange(self._counts[inside, values])
        return dict(self._connection.execute(f"SELECT * {inside} LIMIT 1 OFFSET ?", (*values, place)).fetchone())

    def _alone(self, parameter: Parameter) -> Json:
        source = self._valid.anywhere.get(parameter.name)
        if isinstance(source, str):
            row = self._row(source, {})
            assert row is not None, f"no values of {parameter.name!r}"
            return next(iter(row.values()))
        if source is not None:
            return self._random.choice(source)
        return self._by_schema(parameter)

    def _by_schema(self, parameter: Parameter) -> Json:
        schema: Mapping[str, Any] = parameter.schema
        if parameter.name in _SMALL:
            return min(self._random.choice(_SMALL[parameter.name]), int(schema.get("maximum", 100)))
        if "enum" in schema:
            chosen: Json = self._random.choice(schema["enum"])
            return chosen
        if schema.get("format") == "date":
            return (_FIRST_DATE + timedelta(self._random.randrange(_DAYS))).isoformat()
        assert schema["type"] in ("integer", "number"), f"nothing says what {parameter.name!r} may be"
        low, high = int(schema.get("minimum", 0)), int(schema.get("maximum", 100))
        return self._random.randint(low, high)
