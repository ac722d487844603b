"""Derives answers with SQL from the services' databases, without a service or a program."""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path

from protocols.errors import AtcError
from protocols.schema import Json
from toolflow_bench.numbers import fold
from toolflow_bench.services.geometry import kilometres
from toolflow_bench.services.service import NAMES, find_service
from toolflow_bench.task import AnswerType


class NoDerivation(AtcError):
    """The result of a query is not an answer of the expected type. The message has the result."""


class ServiceDatabases:
    """A connection to the databases of several services. Close it after use.

    In queries, each database has the name of its service (SQLite's ATTACH).

    Raises:
        SourceUnavailable: a Python package with data is missing, or the cache folder cannot be
            written.
    """

    def __init__(self, names: Sequence[str] = NAMES, *, folder: Path | None = None) -> None:
        paths = {name: find_service(name).database(folder) for name in names}
        self._connection = sqlite3.connect("file::memory:", uri=True, check_same_thread=False)
        for name, path in paths.items():
            self._connection.execute(
                f"ATTACH DATABASE ? AS {name}", (f"{path.absolute().as_uri()}?mode=ro",)
            )
        self._connection.create_function("km", 4, kilometres, deterministic=True)
        self._connection.create_function("visited", 0, iter(range(sys.maxsize)).__next__)
        self._connection.create_function(
            "fold", 1, lambda text: text and fold(text), deterministic=True
        )

    def derive(self, query: str, type_: AnswerType) -> Json:
        """Return the answer that the SQL query `query` gives.

        The docstring of `toolflow_bench.recipes.recipe.Recipe` says which rows a query must return
        for each type of answer.

        Raises:
            NoDerivation: the query is wrong, its rows are not an answer of this type, or several
                rows rank equal, so that more than one answer is right.
        """
        # Rows that the sorting does not distinguish come in the opposite order.
        answer = self._answer(query, type_)
        turned = re.sub(r"\s+LIMIT\b", ", visited() DESC LIMIT", query)
        try:
            other = self._answer(turned, type_) if turned != query else answer
        except NoDerivation:  # a UNION is sorted by its columns alone
            return answer
        if other != answer:
            raise NoDerivation(
                f"what the query sorts by ties: {answer!r} and {other!r} are both right."
            )
        return answer

    def _answer(self, query: str, type_: AnswerType) -> Json:
        try:
            rows = self._connection.execute(query).fetchall()
        except sqlite3.Error as error:
            raise NoDerivation(f"the query fails: {error}.") from error
        match type_:
            case "none" if not rows:
                return None
            case "set" | "list" if rows:
                items = [row[0] if len(row) == 1 else list(row) for row in rows]
                return sorted(items, key=str) if type_ == "set" else items
            case "number" | "text" if (
                len(rows) == 1 and len(rows[0]) == 1 and rows[0][0] is not None
            ):
                value: Json = rows[0][0]
                return value
            case "state" if len(rows) == 1 and len(rows[0]) == 1:
                state: Json = json.loads(rows[0][0])
                return state
        raise NoDerivation(
            f"the query gives {len(rows)} rows, {rows[:3]!r} first: no answer of type {type_!r}."
        )

    def rows(self, query: str) -> list[dict[str, Json]]:
        """Return all rows that a query selects, as dictionaries, sorted by their values."""
        cursor = self._connection.execute(query)
        names = [column[0] for column in cursor.description]
        return sorted(
            (dict(zip(names, row, strict=True)) for row in cursor),
            key=lambda row: str(list(row.values())),
        )

    def close(self) -> None:
        """Close the databases."""
        self._connection.close()
