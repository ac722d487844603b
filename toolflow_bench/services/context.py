"""What the answers of a service are made from: its data, read only, and the state that a run's writes change."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolflow_bench.services.database import Connections
from toolflow_bench.services.operation import Arguments, Refusal
from toolflow_bench.services.state import State

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Record:
    """How a thing is found by the id in a request: `sql` gives its row, `missing` is what a 404 says."""

    sql: str
    missing: str


@dataclass(frozen=True, slots=True)
class Context:
    """Handed to every handler. `records` are those of the service's `x-records`, by name."""

    connections: Connections
    state: State = field(default_factory=State)
    records: Mapping[str, Record] = field(default_factory=dict)

    def rows(self, sql: str, values: Arguments | Sequence[Any] = ()) -> list[Row]:
        """All rows of a query; `values` for its `?`, or by name for its `:name`."""
        return [dict(row) for row in self.connections().execute(sql, values)]

    def column(self, sql: str, values: Arguments | Sequence[Any] = ()) -> list[Any]:
        """The first column of all rows of a query."""
        return [row[0] for row in self.connections().execute(sql, values)]

    def record(self, name: str, arguments: Arguments) -> Row:
        """The row of the thing that `arguments` name; an empty one where they leave it out.

        Raises:
            Refusal: 404; there is no such thing.
        """
        record = self.records[name]
        if any(arguments[parameter] is None for parameter in parameters(record.sql)):
            return {}
        found = self.rows(record.sql, arguments)
        if not found:
            raise Refusal(404, record.missing.format(**arguments))
        return found[0]


def parameters(sql: str) -> list[str]:
    """The names that `sql` takes, as in `:name`."""
    return re.findall(r"(?<!:):([a-z_]+)", sql)
