"""Creates handlers from the SQL in a service's `openapi.yaml`, and checks that run before handlers.

An operation in the file has at most one of these extensions. If it has none, the Python function
with the operation's id answers it.

- `x-sql`: one of `row: SQL`, `rows: {key: SQL}` (a list of objects), `column: {key: SQL}` (a list
  of values) and `page: {key: columns, from: table, where: [conditions], order: columns}`. Arguments
  are written as `:name`. A condition of a page is skipped if one of its arguments is missing.
  `missing` is the message of a 404 if nothing is found; `booleans` are columns of 0 and 1.
- `x-add: {to: collection, id: field, prefix: xy}`: stores the arguments as a record of the state.
  If `once` lists fields, no two records may have the same values in all of them; `taken` is the
  message of the 409 if they do.
- `x-state: {key: collection}`: returns all records of the state's collection.

`x-needs` lists records of the document's `x-records` that must exist, else the response is a 404.
Messages are Python format strings for the arguments.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from toolflow_bench.services.operation import Arguments, Refusal
from toolflow_bench.services.state import ServiceState

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class RecordLookup:
    """The SQL that finds the record which a request identifies by id, and the 404's message.

    `sql` returns the record's row. `missing` is the message of the 404 if no record has this id.
    """

    sql: str
    missing: str


@dataclass(frozen=True, slots=True)
class Context:
    """The data and state of a service, which every handler of its operations gets.

    `records` has the service's `x-records` (how to find a record by id), keyed by name.
    """

    connection: sqlite3.Connection
    state: ServiceState = field(default_factory=ServiceState)
    records: Mapping[str, RecordLookup] = field(default_factory=dict)

    def rows(self, sql: str, values: Arguments | Sequence[Any] = ()) -> list[Row]:
        """Return all rows of a query.

        `values` is a sequence for the query's `?`, or a mapping for parameters such as `:name`.
        """
        return [dict(row) for row in self.connection.execute(sql, values)]

    def column(self, sql: str, values: Arguments | Sequence[Any] = ()) -> list[Any]:
        """Return the first column of all rows of a query.

        `values` is a sequence for the query's `?`, or a mapping for parameters such as `:name`.
        """
        return [row[0] for row in self.connection.execute(sql, values)]

    def record(self, name: str, arguments: Arguments) -> Row:
        """Return the row of the record that `arguments` identify by id.

        `name` is the record's key in `x-records`. If the id is None, return an empty row.

        Raises:
            Refusal: 404; there is no such record.
        """
        record = self.records[name]
        if any(arguments[parameter] is None for parameter in sql_parameters(record.sql)):
            return {}
        found = self.rows(record.sql, arguments)
        if not found:
            raise Refusal(404, record.missing.format(**arguments))
        return found[0]


def sql_parameters(sql: str) -> list[str]:
    """Return the names of the parameters in `sql`: `name` for `:name`."""
    return re.findall(r"(?<!:):([a-z_]+)", sql)


Handler = Callable[[Context, Arguments], Row]


def handler_of(entry: Mapping[str, Any], handlers: ModuleType) -> Handler:
    """Return the handler of the operation that `entry` of the OpenAPI document describes.

    `handlers` is the module with the handlers written in Python.
    """
    needs = entry.get("x-needs", ())
    if "x-sql" in entry:
        answer = _from_sql(entry["x-sql"])
    elif "x-add" in entry:
        answer = _from_add(**entry["x-add"])
    elif "x-state" in entry:
        (key, collection), *_ = entry["x-state"].items()
        return lambda context, _: {key: context.state.all(collection)}
    else:
        answer = getattr(handlers, entry["operationId"])

    def handle(context: Context, arguments: Arguments) -> Row:
        for name in needs:
            context.record(name, arguments)
        return answer(context, arguments)

    return handle


def _from_sql(spec: Mapping[str, Any]) -> Handler:
    missing = spec.get("missing")
    booleans = spec.get("booleans", ())

    def plain(row: Row) -> Row:
        return {
            **row,
            **{name: None if row[name] is None else bool(row[name]) for name in booleans},
        }

    def require_found(what: Any, arguments: Arguments) -> Any:
        if not what and missing:
            raise Refusal(404, missing.format(**arguments))
        return what

    if "row" in spec:
        return lambda context, arguments: plain(
            require_found(context.rows(spec["row"], arguments), arguments)[0]
        )
    if "page" in spec:
        return lambda context, arguments: _page(context, arguments, spec["page"], require_found)
    if "column" in spec:
        (key, sql), *_ = spec["column"].items()
        return lambda context, arguments: {
            key: require_found(context.column(sql, arguments), arguments)
        }
    (key, sql), *_ = spec["rows"].items()
    return lambda context, arguments: {
        key: list(map(plain, require_found(context.rows(sql, arguments), arguments)))
    }


def _page(
    context: Context, arguments: Arguments, spec: Mapping[str, Any], found: Callable[..., Any]
) -> Row:
    (key, columns), *_ = spec.items()
    table = spec["from"]
    order = spec["order"]
    given = {name for name, value in arguments.items() if value is not None}
    applied = [one for one in spec["where"] if given.issuperset(sql_parameters(one))]
    condition = " AND ".join(applied) or "TRUE"
    size = arguments["page_size"]
    page = arguments["page"]
    matching = f"FROM {table} WHERE {condition}"
    counted = context.column(f"SELECT count(*) {matching}", arguments)[0]
    total = found(counted, arguments)
    sql = f"SELECT {columns} {matching} ORDER BY {order} LIMIT :size OFFSET :start"
    rows = context.rows(sql, {**arguments, "size": size, "start": (page - 1) * size})
    return _page_rows(key, rows, total, arguments)


def _from_add(
    *,
    to: str,
    id: str,  # noqa: A002
    prefix: str,
    once: tuple[str, ...] = (),
    taken: str = "",
) -> Handler:
    def add(context: Context, arguments: Arguments) -> Row:
        records = context.state.all(to)
        if once and any(_are_equal_in(once, record, arguments) for record in records):
            raise Refusal(409, taken.format(**arguments))
        return dict(context.state.add(to, dict(arguments), id_field=id, prefix=prefix))

    return add


def _are_equal_in(names: Sequence[str], record: Row, arguments: Arguments) -> bool:
    return all(record[name] == arguments[name] for name in names)


def page_of(key: str, rows: list[Row], arguments: Arguments) -> Row:
    """Return the requested page of a list; `rows` is the whole list."""
    size = arguments["page_size"]
    page = arguments["page"]
    return _page_rows(key, rows[(page - 1) * size : page * size], len(rows), arguments)


def _page_rows(key: str, shown: list[Row], total: int, arguments: Arguments) -> Row:
    pages = max(1, -(-total // arguments["page_size"]))
    return {key: shown, "page": arguments["page"], "pages": pages, "total": total}
