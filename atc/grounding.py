"""Finds values that a program made up: ids that neither the task nor any result gave.

A model that lacks a flight's number writes 1234 and goes on. The call that follows finds nothing, or worse, something.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any

from atc.findings import finding
from atc.types import Finding, Program
from protocols.parsing import parsed
from protocols.producers import Producers
from protocols.schema import validator
from protocols.toolbox import Tool, Toolbox

_SMALL = 100
"""Below it a number may be an hour, a count or a limit; from it on it is likely an id."""

_LONGEST_CODE = 4
"""Characters: an ICAO code's."""

_MEASURES = re.compile(
    r"(^|_)(km|m|mi|miles|ft|feet|kt|kts|knots|mph|kg|lb|lbs|ms|seconds|minutes|hours|days|nights|years|usd|eur|percent|"
    r"radius|distance|limit|count|amount|size|length|width|height|weight|population|price|duration)$",
    re.IGNORECASE,
)
"""Names of arguments whose numbers are measures: a program may choose how wide it looks, as a person would."""


def made_up(program: Program, task: str, tools: Toolbox) -> tuple[Finding, ...]:
    """Findings for literals in required arguments whose values, by the links, come from another tool.

    Only telling ones count, integers from 100 on, words with letters and digits, and what `is_opaque`, and only where
    the task does not hold them: a code such as `BOS` may be known to the model, a date may be spelled otherwise in the
    task. A measure (`radius_km`) is no id, whatever response has one of its name.
    """
    tree = parsed(program.source)
    if tree is None:
        return ()
    producers = Producers(tools)
    words = words_of(task)
    found: list[Finding] = []
    for tool, keyword, value in _literals(tree, tools):
        name = tool.arguments[keyword.arg or ""]
        sources, schema = producers.of(tool, name), tool.protocol.parameters[name]
        if isinstance(value, int) and is_measure(keyword.arg or ""):
            continue
        telling = not is_common(value) or (isinstance(value, str) and is_opaque(value, schema))
        if not sources or not telling or str(value).casefold() in words or str(value).casefold() in task.casefold():
            continue
        message = (
            f"{value!r} for {keyword.arg!r} of {tool.alias} is made up: the task does not give it. Take it from"
            f" {producers.expression(sources[0])}, or use a function that does not need it."
        )
        found.append(finding("made-up-value", keyword.value, message, tool=tool.alias))
    return tuple(found)


def _literals(tree: ast.Module, tools: Toolbox) -> Iterator[tuple[Tool, ast.keyword, str | int]]:
    """Each literal that fills a required argument of a tool by name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in tools:
            tool = tools[node.func.id]
            for keyword in node.keywords:
                if keyword.arg in tool.required and isinstance(keyword.value, ast.Constant):
                    value = keyword.value.value
                    if isinstance(value, str | int) and not isinstance(value, bool):
                        yield tool, keyword, value


def words_of(task: str) -> frozenset[str]:
    """What a task gives: its words and numbers, casefolded."""
    return frozenset(re.findall(r"\w+", task.casefold()))


def is_measure(argument: str) -> bool:
    """Whether an argument of this name is a measure, of which a program may choose the number."""
    return _MEASURES.search(argument) is not None


def is_common(value: str | int) -> bool:
    """Whether a value says too little to be made up: a small number, or no code of letters and digits."""
    if isinstance(value, int):
        return abs(value) < _SMALL
    telling = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return not (telling and re.fullmatch(r"[\w-]+", value))


def is_opaque(value: str, schema: Any) -> bool:
    """Whether the pattern in `schema` makes a text an id that nobody knows by heart: `fl_abcde` for `^fl_[a-z2-7]{5}$`.

    So it is where all such texts are as long, a letter may as well be a digit or the reverse, and it is longer than
    codes are that stand for a name (`JFK`, `KJFK`), or has small letters, which those have not.
    """
    pattern = schema.get("pattern") if isinstance(schema, Mapping) else None
    if not isinstance(pattern, str) or (value == value.upper() and len(value) <= _LONGEST_CODE):
        return False
    try:
        conforms = validator({"pattern": pattern}).is_valid
    except ValueError:
        return False
    if not conforms(value) or any(map(conforms, (value + value[-1:], value[:-1]))):
        return False
    others = (("acACxX" if character.isdigit() else "3579") if character.isalnum() else "" for character in value)
    return any(conforms(value[:i] + other + value[i + 1 :]) for i, some in enumerate(others) for other in some)
