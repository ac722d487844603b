"""A census of one of ToolFlow's services: varied valid calls by one who knows its data, and what it answered.

Calls are spread over the operations in turn and drawn by seed from the service's own data (`valid.yaml`), optional
arguments given by chance; none is made twice. Probing sees nothing of it.
"""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from benchmarks.probing.score import LinkKey
from protocols.errors import ToolError
from protocols.invoke import Invoker
from protocols.jsontypes import Json, JsonObject
from protocols.protocol import ToolProtocol
from protocols.sources.openapi import read_openapi
from protocols.toolbox import Tool, Toolbox
from toolflow_bench.services.database import connect
from toolflow_bench.services.document import document
from toolflow_bench.services.operation import Operation, Parameter
from toolflow_bench.services.serve import serve
from toolflow_bench.services.service import Service

_ACCEPTED, _TRIES, _FRESH_CALLS = 5, 4, 12
"""Values from a link's path that the consumer must accept; calls with one of them; calls of the producer."""
_CHANCE_OF_OPTIONAL, _ROWS = 0.4, 24
"""Of an optional argument; different draws of one query, each of which is a scan of what may be a large table."""
_SMALL = {"page": (1, 1, 1, 2), "page_size": (1, 3, 10, 50), "limit": (1, 3, 10, 50)}


def declared(service: Service, url: str) -> list[ToolProtocol]:
    """The protocols that the service's own document declares, served at `url`."""
    described = document(service.operations, info=service.info, schemas=service.schemas, server=url)
    return read_openapi(described, where=f"the {service.name} service")


@cache
def _valid() -> Any:
    return yaml.safe_load(Path(__file__).with_name("valid.yaml").read_text(encoding="utf-8"))


class Drawer:
    """Arguments that an operation accepts, drawn by seed. `state` is that of the running service."""

    def __init__(self, service: str, connection: sqlite3.Connection, *, seed: int, state: Any) -> None:
        self._valid, self._state, self._connection = _valid()[service], state, connection
        self._random = random.Random(f"{service} {seed}")
        self._rows: dict[str, list[dict[str, Json]]] = {}
        self._counts: dict[str, int] = {}

    def draw(self, operation: Operation, fixed: JsonObject | None = None) -> dict[str, Json] | None:
        """Arguments for one call; those `fixed` stay, and others are drawn to go with them where the data can say.

        `None` where there is nothing to draw from: no record of the state yet, or none that goes with `fixed`.
        """
        drawn = self._together(operation, fixed or {})
        if drawn is None:
            return None
        for parameter in operation.parameters:
            wanted = parameter.required or self._random.random() < _CHANCE_OF_OPTIONAL
            if wanted and parameter.name not in drawn:
                drawn[parameter.name] = self._alone(parameter)
        return {parameter.name: drawn[parameter.name] for parameter in operation.parameters if parameter.name in drawn}

    def _together(self, operation: Operation, fixed: JsonObject) -> dict[str, Json] | None:
        sources = list(self._valid["of_tool"].get(operation.id, ()))
        self._random.shuffle(sources)
        for source in sources:
            row = self._row(source, fixed) if isinstance(source, str) else self._kept(source, fixed)
            if row is not None:
                return {**row, **fixed}
        # A fixed value that the data does not hold in this place is for the service to judge.
        return dict(fixed) if fixed or not sources else None

    def _kept(self, source: Mapping[str, Any], fixed: JsonObject) -> dict[str, Json] | None:
        records = self._state.all(source["state"])
        rows = [{name: record[key] for name, key in source["fields"].items()} for record in records]
        fitting = [row for row in rows if all(row[name] == fixed[name] for name in row.keys() & fixed.keys())]
        return self._random.choice(fitting) if fitting else None

    def _row(self, query: str, fixed: JsonObject) -> dict[str, Json] | None:
        """A row of a query that has the values that are fixed; without any, one of `_ROWS` that are drawn as needed."""
        drawn = self._rows.setdefault(query, [])
        if not drawn and (first := self._drawn(query, {})) is not None:
            drawn.append(first)
        known = {name: fixed[name] for name in (drawn[0] if drawn else ()) if name in fixed}
        if known or not drawn:
            return self._drawn(query, known)
        if len(drawn) < _ROWS and (row := self._drawn(query, {})) is not None:
            drawn.append(row)
            return row
        return self._random.choice(drawn)

    def _drawn(self, query: str, known: JsonObject) -> dict[str, Json] | None:
        where, values = " AND ".join(f"{name} = ?" for name in known) or "TRUE", tuple(known.values())
        inside = f"FROM ({query}) WHERE {where}"
        key = f"{inside} {values}"
        if key not in self._counts:
            self._counts[key] = int(self._connection.execute(f"SELECT count(*) {inside}", values).fetchone()[0])
        if not self._counts[key]:
            return None
        place = self._random.randrange(self._counts[key])
        return dict(self._connection.execute(f"SELECT * {inside} LIMIT 1 OFFSET ?", (*values, place)).fetchone())

    def _alone(self, parameter: Parameter) -> Json:
        source, schema = self._valid["anywhere"].get(parameter.name), parameter.schema
        if isinstance(source, str):
            row = self._row(source, {})
            assert row is not None, f"no values of {parameter.name!r}"
            return next(iter(row.values()))
        if parameter.name in _SMALL:
            return min(self._random.choice(_SMALL[parameter.name]), int(schema.get("maximum", 100)))
        listed = source or schema.get("enum")
        if listed:
            chosen: Json = self._random.choice(listed)
            return chosen
        if schema.get("format") == "date":
            return (date(2013, 1, 1) + timedelta(self._random.randrange(365))).isoformat()
        return self._random.randint(int(schema.get("minimum", 0)), int(schema.get("maximum", 100)))


@dataclass(frozen=True, slots=True)
class Knower:
    """A running service, its declared tools, and one who knows its data. It shares nothing with what is probed."""

    operations: Mapping[str, Operation]
    toolbox: Toolbox
    drawer: Drawer

    def call(self, operation: Operation, arguments: dict[str, Json]) -> tuple[bool, Json]:
        """Whether it was answered with success, and the response."""
        try:
            return True, self.toolbox.find(operation.id).call(arguments)
        except ToolError:
            return False, None

    def answers(self, calls: int) -> dict[str, list[Json]]:
        """What the operations answer to so many calls."""
        found: dict[str, list[Json]] = {name: [] for name in self.operations}
        for operation, arguments in self._varied(calls):
            done, response = self.call(operation, arguments)
            found[operation.id] += [response] if done else []
        return found

    def really_flows(self, link: LinkKey) -> bool:
        """Whether the consumer accepts five different values from the link's path, or all where there are fewer."""
        producer, path, consumer, argument = link
        operations = self.operations
        if producer not in operations or consumer not in operations:
            return False
        values: dict[str, Json] = {}
        for _ in range(_FRESH_CALLS):
            drawn = self.drawer.draw(operations[producer]) or self._after_writes(operations[producer])
            done, response = self.call(operations[producer], drawn) if drawn is not None else (False, None)
            for value in _values_at(response, path)[:3] if done else ():
                values.setdefault(json.dumps(value), value)
        chosen = [value for value in values.values() if value is not None][:_ACCEPTED]
        return bool(chosen) and all(self._accepts(operations[consumer], argument, value) for value in chosen)

    def _after_writes(self, operation: Operation) -> dict[str, Json] | None:
        """Arguments of an operation on records that nobody has made yet, or that are gone: they are made now."""
        for other in self.operations.values():
            if other.method == "POST" and (arguments := self.drawer.draw(other)) is not None:
                self.call(other, arguments)
        return self.drawer.draw(operation)

    def _accepts(self, consumer: Operation, argument: str, value: Json) -> bool:
        # Another argument may be what was refused: it gets a second chance with others.
        tries = (self.drawer.draw(consumer, {argument: value}) for _ in range(_TRIES))
        return any(drawn is not None and self.call(consumer, drawn)[0] for drawn in tries)

    def _varied(self, calls: int) -> Iterator[tuple[Operation, dict[str, Json]]]:
        """Different calls, one of each operation in turn, until there are enough or none can be drawn."""
        made: set[str] = set()
        new = True
        while new and len(made) < calls:
            new = False
            for operation in self.operations.values():
                drawn = [one for _ in range(_TRIES) if (one := self.drawer.draw(operation)) is not None]
                fresh = next((one for one in drawn if json.dumps([operation.id, one]) not in made), None)
                if fresh is not None and len(made) < calls:
                    new = True
                    made.add(json.dumps([operation.id, fresh]))
                    yield operation, fresh


@contextmanager
def knower(service: Service, *, writes: bool, seed: int, folder: Path | None) -> Iterator[Knower]:
    """The service as its makers know it, running: its reading operations, or with `writes` all of them."""
    operations = {one.id: one for one in service.operations if writes or not one.writes}
    database = service.database(folder)
    with serve(service.app(database)) as served, Invoker() as invoker, closing(connect(database)) as connection:
        protocols = [protocol for protocol in declared(service, served.url) if protocol.name in operations]
        toolbox = Toolbox(Tool(protocol=p, call=invoker.bind(p), source=service.name) for p in protocols)
        drawer = Drawer(service.name, connection, seed=seed, state=served.app.state.run)
        yield Knower(operations, toolbox, drawer)


def _values_at(response: Json, path: str) -> list[Json]:
    """Every scalar at `path` (`airports[].code`, `rates.*`), in the response's order."""
    found: Sequence[Any] = [response]
    for step in path.replace("[]", ".[]").strip(".").split(".") if path else ():
        following: list[Any] = []
        for node in found:
            if step == "[]":
                following += node if isinstance(node, list) else []
            elif isinstance(node, Mapping):
                following += node.values() if step == "*" else [node[step]] if step in node else []
        found = following
    return [value for value in found if not isinstance(value, list | Mapping)]
