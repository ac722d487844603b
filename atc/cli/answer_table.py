"""Answers as tables: CSV for programs, and aligned columns for people."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from atc.core.quoting import escape_hidden
from atc.core.text import clipped, escape_controls
from protocols.schema import JsonValue, dumps

_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠\t\r]")
"""The beginning of a text that a spreadsheet may take for a formula."""
_PLAIN_NUMBER = re.compile(r"[+-][0-9][0-9 .,]*")
_NUMBERS = (int, float)


class NoTable(Exception):
    """Raised for an answer that is no table. The message says what the answer is."""


@dataclass(frozen=True, slots=True)
class AnswerTable:
    """An answer as rows that all have the same columns. A cell is None where a value is missing."""

    columns: Sequence[str]
    rows: Sequence[Sequence[JsonValue]]


def make_table(value: JsonValue) -> AnswerTable:
    """Return the table that an answer represents.

    - a list of records: a row for each; the columns are all keys, in the order of appearance;
    - a list of lists: a row for each, with the columns `column_1`, `column_2`, …;
    - a list of other values: the only column is `value`;
    - an object whose values are records: a row for each, and its key in the column `key`;
    - an object whose values are numbers: a row for each, with the columns `key` and `value`;
    - any other object: one record, in one row.

    Raises:
        NoTable: The answer is a text, a number, true, false or null, or a list of mixed values.
    """
    if isinstance(value, dict):
        return _table_of_object(value)
    if not isinstance(value, list):
        raise NoTable(f"a {_name_kind(value)}")
    records = [item for item in value if isinstance(item, dict)]
    rows = [item for item in value if isinstance(item, list)]
    if len(records) == len(value):
        return _table_of_records(records)
    if len(rows) == len(value):
        width = max(map(len, rows))
        names = [f"column_{number}" for number in range(1, width + 1)]
        return AnswerTable(names, [[*row, *[None] * (width - len(row))] for row in rows])
    if records or rows:
        raise NoTable("a list of records and other values")
    return AnswerTable(["value"], [[item] for item in value])


def _table_of_records(records: Sequence[dict[str, JsonValue]]) -> AnswerTable:
    """Return a table with a row for each record, and a column for each key of any record."""
    columns = list(dict.fromkeys(key for record in records for key in record))
    return AnswerTable(columns, [[record.get(key) for key in columns] for record in records])


def _table_of_object(value: dict[str, JsonValue]) -> AnswerTable:
    """Return the table of an object, see `make_table`."""
    items = list(value.values())
    if items and all(isinstance(item, dict) for item in items):
        inner = _table_of_records([item for item in items if isinstance(item, dict)])
        keys = [[key, *row] for key, row in zip(value, inner.rows, strict=True)]
        return AnswerTable(["key", *inner.columns], keys)
    if len(items) > 1 and all(_is_number(item) or item is None for item in items):
        return AnswerTable(["key", "value"], [[key, item] for key, item in value.items()])
    return _table_of_records([value] if value else [])


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, _NUMBERS) and not isinstance(value, bool)


def _name_kind(value: JsonValue) -> str:
    """Return what a value that is neither a list nor an object is called."""
    if isinstance(value, str):
        return "text"
    return "number" if _is_number(value) else f"single value ({dumps(value)})"


def format_csv(table: AnswerTable) -> str:
    """Return a table as CSV with a header; "" if it has no columns.

    A text that a spreadsheet may take for a formula gets an apostrophe before it, as OWASP advises,
    because the answer may contain what a tool's service wrote.
    """
    if not table.columns:
        return ""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([_defuse(name) for name in table.columns])
    writer.writerows([_csv_cell(value) for value in row] for row in table.rows)
    return file.getvalue()


def _csv_cell(value: JsonValue) -> str:
    """Return a value as a cell of CSV: a text as it is, nothing for null, else JSON."""
    if value is None:
        return ""
    return _defuse(value) if isinstance(value, str) else escape_controls(dumps(value))


def _defuse(text: str) -> str:
    """Return a text with its control characters escaped, and so that it is no formula."""
    shown = escape_controls(text, keep_newlines=True)
    is_formula = _FORMULA.match(text) and not _PLAIN_NUMBER.fullmatch(text)
    return f"'{shown}" if is_formula else shown


def format_table(table: AnswerTable, *, width: int | None) -> str:
    """Return a table as text in aligned columns, numbers at the right.

    If the columns do not fit into `width`, long cells are wrapped. If it is None, they are not.
    """
    if not table.columns:
        return ""
    shown = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name, cells in zip(table.columns, zip(*table.rows, strict=True), strict=True):
        is_number = all(_is_number(cell) or cell is None for cell in cells)
        justify: Any = "right" if is_number else "left"
        shown.add_column(Text(escape_hidden(name)), justify=justify, overflow="fold")
    for row in table.rows:
        shown.add_row(*(Text(_shown_cell(cell)) for cell in row))
    console = Console(file=io.StringIO(), width=width or 1_000_000, color_system=None)
    if width is None:
        console.width = Measurement.get(console, console.options, shown).maximum
    with console.capture() as capture:
        console.print(shown)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def _shown_cell(value: JsonValue) -> str:
    """Return a value as one line: a text as it is, nothing for null, else JSON."""
    if value is None:
        return ""
    return escape_hidden(value if isinstance(value, str) else dumps(value))


def describe_no_table(option: str, error: NoTable, answer: str) -> str:
    """Return the sentence for an answer that is no table, which ends with the answer itself."""
    return (
        f"--{option} needs a list of records, and the answer is {error}; ask for a list with"
        f" --output-type 'list[dict]', or leave --{option} out. The answer: {clipped(answer, None)}"
    )
