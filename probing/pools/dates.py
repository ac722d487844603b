"""Dates for an argument: of those that responses held."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from operator import itemgetter

from probing.facts import ArgumentFacts
from probing.naming import ends_range, words_of
from probing.pools.place import Place
from probing.sample import Value
from probing.shape import format_of
from protocols.jsontypes import Json

_DISTANCE, _STEP = 1.5, 0.5
_MOST = 30


def is_date(argument: ArgumentFacts) -> bool:
    """Whether an argument is a date, by what was said of it or, where nothing was, by its name."""
    formats = {str(argument.declared.get("format", "")), *(hint.format for hint in argument.hints)} - {""}
    if formats:
        return bool(formats & {"date", "date-time"})
    given = [held.value for held in argument.accepted] + [v for h in argument.hints for v in h.values]
    texts = [value for value in given if isinstance(value, str)]
    if texts:
        return any(format_of(text) in ("date", "date-time") for text in texts)
    if given or argument.declared.get("type") in ("integer", "number", "boolean"):
        return False
    return bool(set(words_of(argument.name).split("_")) & {"date", "datetime", "dob", "birthday"})


def dates_for(argument: ArgumentFacts, places: Sequence[Place]) -> Iterator[tuple[float, Value]]:
    """Dates that responses held, with their distances: a start takes the earliest of each place.

    The end of a range takes the day after each of these first, since long ranges are refused more often than short
    ones; then the latest.
    """
    with_time = "date-time" in {argument.declared.get("format"), *(hint.format for hint in argument.hints)}
    ends = ends_range(argument.name)
    for place in places:
        held = ((day, value.origin) for value in place.values.values() if (day := _day(value.value)) is not None)
        days = sorted(held, key=itemgetter(0))
        if not days:
            continue
        made = [(_written(day, with_time=with_time), origin) for day, origin in days[:_MOST]]
        if ends:
            after = _written(_next(days[0][0]), with_time=with_time)
            latest = [(_written(day, with_time=with_time), origin) for day, origin in days[: -_MOST - 1 : -1]]
            made = [(after, days[0][1]), *latest]
        for number, (text, origin) in enumerate(dict.fromkeys(made)):
            yield _DISTANCE + _STEP * number, place.values.get(text) or Value(text, replace(origin, kind="generated"))


def _day(text: Json) -> str | None:
    if not isinstance(text, str) or not re.match(r"\d{4}-\d\d-\d\d(?:[Tt ]|$)", text):
        return None
    try:
        return str(date.fromisoformat(text[:10]))
    except ValueError:
        return None


def _written(day: str, *, with_time: bool) -> str:
    return f"{day}T00:00:00Z" if with_time else day


def _next(day: str) -> str:
    return str(date.fromisoformat(day) + timedelta(days=1)) if day < "9999-12-31" else day
