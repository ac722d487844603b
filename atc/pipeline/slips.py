"""Detection of wrong units in programs.

No correct program of the benchmark ToolFlow has one. This was checked for its 587 gold
programs and for 70 programs of a strong model.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from atc.core.answers import parse_answer


class _Unit(NamedTuple):
    """A unit of measure, with patterns that recognise it in a task and in the name of a field."""

    name: str
    measures: str
    """The quantity that the unit measures, such as `distance`."""
    asked: str
    """Regular expression for the words of a task that ask for the unit."""
    field: str
    """Regular expression for the last word in the name of a field that has a value in this unit."""


_UNITS = [
    _Unit("km", "distance", r"km|kilomet(?:er|re)s?", "km|kilometers|kilometres"),
    _Unit("m", "distance", r"met(?:er|re)s", "m|meters|metres"),
    _Unit("miles", "distance", r"miles?(?! per)|mileage|mi", "mi|miles"),
    _Unit("feet", "distance", r"ft|feet|foot", "ft|feet"),
    _Unit("km/h", "speed", r"km/h|kmh|kph|kilomet(?:er|re)s per hour", "kmh|kph|km_h"),
    _Unit("mph", "speed", r"mph|miles per hour", "mph"),
    _Unit("knots", "speed", r"kts?|knots?", "kts?|knots"),
    _Unit("minutes", "duration", r"minutes?|mins?", "minutes|min|mins"),
    _Unit("hours", "duration", r"hours", "hours|hrs"),
    _Unit("kg", "weight", r"kg|kilograms?|kilos?", "kg|kilograms"),
    _Unit("pounds", "weight", r"lbs?|pounds? in weight", "lbs?|pounds"),
    _Unit("°C", "temperature", r"°c|celsius|centigrade", "c|celsius"),
    _Unit("°F", "temperature", r"°f|fahrenheit", "f|fahrenheit"),
]
FACTORS = (
    0.3048, 3.28084, 1.609344, 0.621371, 1.852, 0.539957, 1.15078, 0.868976, 0.514444, 1.94384,
    2.23694, 0.44704, 0.453592, 2.20462,
)  # fmt: skip
"""Numbers by which a length, a speed or a weight is multiplied to convert it."""
_ROUNDED = 0.01
"""Relative difference between a converted number and the rounded one that a program contains."""
_CLOSE = 2e-3
"""Relative difference up to which a number of a program counts as one of `FACTORS`."""


def find_unit_slip(
    task: str, tree: ast.Module, keys: Sequence[str], read: Collection[str] = ()
) -> str | None:
    """Return a sentence about a unit that the program gets wrong, or None.

    There are two mistakes. The fields that the program reads are in another unit than the task asks
    for, and the program computes nothing. Or they are in this unit, and the program converts them
    nevertheless. If the fields for one quantity, such as distance, have several units, they are not
    checked.

    `keys` are the keys of the responses that the program got. A program reads a field if it names
    the key. The keys in `read` are also read without a name, because the program gets their value
    instead of the whole response.
    """
    constants = [node for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    read = {*read, *(node.value for node in constants if isinstance(node.value, str))}
    fields: dict[str, dict[_Unit, str]] = {}
    for key in (key for key in keys if key in read):
        if (unit := _unit_of_field(key)) is not None:
            fields.setdefault(unit.measures, {}).setdefault(unit, key)
    for measures, units in fields.items():
        asked = [one for one in _UNITS if one.measures == measures and _has_word(one.asked, task)]
        if len(asked) != 1 or len(units) != 1:
            continue
        unit, key = next(iter(units.items()))
        if slip := _describe_unit_slip(task, tree, key, unit, asked[0]):
            return slip
    return None


def _describe_unit_slip(
    task: str, tree: ast.Module, key: str, unit: _Unit, asked: _Unit
) -> str | None:
    """Return a sentence if a program gives a field's value in a wrong unit, or None.

    `key` is the name of the field, `unit` its unit, and `asked` the unit that the task asks for.
    """
    if asked != unit and not _computes(tree) and not _has_converted(task, tree):
        return f"The task asks for {asked.name}, but {key!r} is in {unit.name}."
    factor = _conversion(tree, whole=unit.measures == "duration")
    if asked == unit and factor is not None:
        return f"{key!r} is in {unit.name} already, but the program converts it by {factor}."
    return None


def _unit_of_field(key: str) -> _Unit | None:
    """Return the unit that the last word of a key names, as in `wind_speed_mph`; else None."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).lower().split("_")
    if len(words) < 2:
        return None
    return next((one for one in _UNITS if re.fullmatch(one.field, words[-1])), None)


def _has_word(pattern: str, task: str) -> bool:
    return re.search(rf"(?<![\w°])(?:{pattern})(?!\w)", task, re.IGNORECASE) is not None


def _computes(tree: ast.Module) -> bool:
    """Return True if a program multiplies or divides anything."""
    scaling = (ast.Mult, ast.Div, ast.FloorDiv)
    operations = (node for node in ast.walk(tree) if isinstance(node, ast.BinOp | ast.AugAssign))
    return any(isinstance(node.op, scaling) for node in operations)


def _has_converted(task: str, tree: ast.Module) -> bool:
    """Return True if a program contains a number of the task in another unit, such as 161 for 100.

    The program was then written with the unit in mind.
    """
    constants = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    numbers = [value for value in constants if isinstance(value, int | float)]
    return any(
        math.isclose(value, float(number) * factor, rel_tol=_ROUNDED)
        for number in re.findall(r"(?<![\w.])\d{1,9}(?![\w.])", task)
        for factor in FACTORS
        for value in numbers
        if number.strip("0")
    )


def _conversion(tree: ast.Module, *, whole: bool) -> float | None:
    """Return a number by which the program converts one unit into another, or None.

    `whole` is True for durations, which a division by a whole number (60 or 3600) converts.
    """
    for node in ast.walk(tree):
        value = node.value if isinstance(node, ast.Constant) else None
        if isinstance(value, float) and any(
            abs(value - factor) <= _CLOSE * factor for factor in FACTORS
        ):
            return value
        match node:
            case ast.BinOp(op=ast.Div(), right=ast.Constant(value=60 | 3600) as divisor) if whole:
                return float(ast.literal_eval(divisor))
    return None


_PERCENT = re.compile(r"\bper ?cent(?:age)?\b|(?<=[\d\s])%", re.IGNORECASE)


def is_share_for_percent(task: str, source: str, answer: str) -> bool:
    """Return True if the task asks for percent and the answer is a quotient from 0 to 1.

    False if the program contains the number 100 or a `%` format, because it then computes percent.
    """
    value = parse_answer(answer)
    if not isinstance(value, float) or not 0 < abs(value) <= 1 or not _PERCENT.search(task):
        return False
    return "/" in source and "100" not in source and "%}" not in source
