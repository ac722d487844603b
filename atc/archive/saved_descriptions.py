"""The description of a saved tool: the task of its run, with parameters in place of old values."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import date

from atc.core.quoting import format_number
from atc.store.stored import RunSummary
from protocols.schema import Json

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_SMALL_NUMBERS = (
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
"""Words of the numbers from 2. A `one` in a sentence is often no number."""
_ANY_CASE = 4
"""Texts of at least this length are found in any case. `US` must not be found in "tell us"."""


def describe_saved(run: RunSummary, tree: ast.Module, parameters: Mapping[str, Json]) -> str:
    """Return the description of a tool that is made from a run whose program is `tree`.

    It is the run's task. If the user wrote the program, the first paragraph of its docstring takes
    the place of the task; it is "" if the program has no docstring.
    """
    if run.context.names_program:
        return (ast.get_docstring(tree) or "").partition("\n\n")[0]
    return replace_values(run.task, parameters)


def replace_values(task: str, parameters: Mapping[str, Json]) -> str:
    """Return the task with the name of each parameter in place of the value that it replaces.

    A value is found as the program has it, or as people write dates and numbers: `4 July 2013` for
    `2013-07-04`, `1,000` or `ten` for numbers. If a value is not found, the description says that
    the task is only one case of what the tool does. Without parameters it is the task itself.
    """
    if not parameters:
        return task
    found: set[str] = set()

    def name(match: re.Match[str]) -> str:
        parameter = list(parameters)[(match.lastindex or 1) - 1]
        found.add(parameter)
        return f"<{parameter}>"

    described = re.sub("|".join(map(_pattern, parameters.values())), name, task)
    missing = [f"<{parameter}>" for parameter in parameters if parameter not in found]
    if not missing:
        return described
    listed = " and ".join([", ".join(missing[:-1]), missing[-1]] if missing[1:] else missing)
    return f"Like this task, but for any {listed}: {described}"


def _pattern(value: Json) -> str:
    """Return a group that matches each form in which a text may have the value, as a whole."""
    if value == "":
        return "((?!))"  # it stands nowhere
    forms = [re.escape(form) for form in _plain_forms(value)]
    flags = ""
    if isinstance(value, str):
        flags = "i" if len(value) >= _ANY_CASE else ""
        with suppress(ValueError):
            forms = [*_date_forms(date.fromisoformat(value)), *forms]
    return rf"((?{flags}:(?<![\w@.,-])(?:{'|'.join(forms)})(?![\w@-]|[.,]\w)))"


def _plain_forms(value: Json) -> Iterator[str]:
    """Yield the texts of a value: a text itself, or the usual forms of a number."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, int | float):
        yield f"{value:,}"
        yield format_number(value)
        if value in range(2, 2 + len(_SMALL_NUMBERS)):
            yield _SMALL_NUMBERS[int(value) - 2]


def _date_forms(day: date) -> Iterator[str]:
    """Yield patterns of the forms in which English texts have a date, the longest first."""
    month = _MONTHS[day.month - 1]
    names = rf"(?:{month}|{month[:3]}\.?)"
    number = rf"0?{day.day}(?:st|nd|rd|th)?"
    yield rf"{number}(?: of)? {names},? {day.year}"
    yield rf"{names} {number},? {day.year}"
    yield rf"{number}(?: of)? {names}"
    yield rf"{names} {number}"
