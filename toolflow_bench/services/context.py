"""What the handlers of a service work on: its data, read only, and the state that a run's writes change."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from toolflow_bench.services.database import Connections
from toolflow_bench.services.operation import Arguments, Refusal
from toolflow_bench.services.state import State

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Context:
    """Handed to every handler."""

    connections: Connections
    state: State = field(default_factory=State)

    def rows(self, sql: str, *values: Any) -> list[Row]:
        """All rows of a query."""
        return [dict(row) for row in self.connections().execute(sql, values)]

    def one(self, sql: str, *values: Any, otherwise: str) -> Row:
        """The first row of a query; where there is none, a 404 that says `otherwise`."""
        row = self.connections().execute(sql, values).fetchone()
        if row is None:
            raise Refusal(404, otherwise)
        return dict(row)

    def column(self, sql: str, *values: Any) -> list[Any]:
        """The first column of all rows of a query."""
        return [row[0] for row in self.connections().execute(sql, values)]


def paged(
    context: Context,
    key: str,
    columns: str,
    source: str,
    conditions: dict[str, Any],
    *,
    order: str,
    arguments: Arguments,
) -> Row:
    """One page of `columns` from table `source`.

    `conditions` maps SQL with one `?` to its value; a condition whose value is None does not apply.
    """
    applied = {sql: value for sql, value in conditions.items() if value is not None}
    where = " AND ".join(applied) or "TRUE"
    values = list(applied.values())
    size, page = arguments["page_size"], arguments["page"]
    total = context.column(f"SELECT count(*) FROM {source} WHERE {where}", *values)[0]  # noqa: S608 - our own names
    sql = f"SELECT {columns} FROM {source} WHERE {where} ORDER BY {order} LIMIT ? OFFSET ?"  # noqa: S608
    rows = context.rows(sql, *values, size, (page - 1) * size)
    return {key: rows, "page": page, "pages": max(1, -(-total // size)), "total": total}
