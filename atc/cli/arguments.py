"""Arguments of a tool from words of a command line: `code=JFK limit=5 tags=a tags=b filter:='{"open": true}'`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from protocols.jsontypes import Json, JsonObject, loads
from protocols.schema import resolve, types, violations
from protocols.toolbox import Tool
from protocols.words import alike


def read_arguments(words: Sequence[str], tool: Tool) -> dict[str, Json]:
    """The arguments by original name, each value read as its schema says, and checked against it.

    `name=text` reads text as the schema's type, and as an item where that is a list; `name:=JSON` takes JSON as it is.

    Raises:
        click.UsageError: a word, a name or a value that does not fit.
    """
    values: dict[str, Json] = {}
    for word in words:
        name, separator, text = word.partition("=")
        if not separator:
            raise click.UsageError(f"{word!r} is no argument; write NAME=VALUE, or NAME:=JSON")
        raw = name.endswith(":")
        original = _original(name.removesuffix(":"), tool)
        schema = resolve(tool.protocol.parameters[original], tool.protocol.input_schema)
        value = _json(text, original) if raw else _read(text, schema, tool.protocol.input_schema, original)
        if original in values and isinstance(value, list) and isinstance(values[original], list):
            value = values[original] + value
        elif original in values:
            raise click.UsageError(f"the argument {original!r} is given twice")
        values[original] = value
    return checked(values, tool)


def read_object(text: str, tool: Tool) -> dict[str, Json]:
    """The arguments of one JSON object, as a program or a pipe gives them.

    Raises:
        click.UsageError: it is no JSON object, or a name or a value does not fit.
    """
    document = _json(text, "stdin")
    if not isinstance(document, dict):
        raise click.UsageError(f"the arguments on stdin must be one JSON object, got {text.strip()[:40]!r}")
    return checked({_original(name, tool): value for name, value in document.items()}, tool)


def read_stdin() -> str:
    """All of stdin.

    Raises:
        click.UsageError: it is closed, or not UTF-8 text.
    """
    if sys.stdin is None:
        raise click.UsageError("stdin is closed, so '-' reads nothing")
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise click.UsageError("what came on stdin is not UTF-8 text") from error


def checked(values: dict[str, Json], tool: Tool) -> dict[str, Json]:
    """`values` if the tool's schema takes them.

    Raises:
        click.UsageError: an argument is missing, or breaks a clause.
    """
    missing = [name for name in tool.protocol.parameters if name in tool.protocol.required - set(values)]
    if missing:
        raise click.UsageError(f"{tool.alias} needs {', '.join(map(repr, missing))}; write {missing[0]}=VALUE")
    for violation in violations(tool.protocol.input_schema, values):
        where = f"the argument {violation.path!r}: " if violation.path else ""
        raise click.UsageError(f"{where}{violation.message}")
    return values


def _original(name: str, tool: Tool) -> str:
    """The argument's original name, from it or from its alias."""
    known = tool.protocol.parameters
    original = name if name in known else tool.arguments.get(name)
    if original is None:
        near = alike(name, known)
        hint = f"did you mean {near[0]!r}?" if near else f"it takes {', '.join(map(repr, known)) or 'none'}"
        raise click.UsageError(f"{tool.alias} has no argument {name!r}; {hint}")
    return original


def _read(text: str, schema: JsonObject, root: JsonObject, name: str) -> Json:
    """`text` as the first type of `schema` that it fits; where the schema leaves it open, JSON if it is, else text."""
    kinds = _kinds(schema, root)
    value = _scalar(text)
    kind = {bool: "boolean", int: "integer", float: "number", type(None): "null"}.get(type(value), "object")
    if isinstance(value, list):
        kind = "array"
    if not isinstance(value, str) and (not kinds or kind in kinds or (kind == "integer" and "number" in kinds)):
        return value
    if "string" in kinds or not kinds:
        return text
    if "array" in kinds:
        return [_read(text, resolve(schema.get("items", {}), root), root, name)]
    raise click.UsageError(f"the argument {name!r} must be {' or '.join(sorted(kinds))}, got {text!r}")


def _kinds(schema: JsonObject, root: JsonObject) -> set[str]:
    """Every JSON type that the schema allows, its alternatives included; empty when it leaves that open."""
    kinds = set(types(schema))
    for branch in (*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())):
        if isinstance(branch, Mapping):
            kinds |= _kinds(resolve(branch, root), root)
    return kinds


def _scalar(text: str) -> Any:
    """The JSON value that `text` spells, or `text` itself."""
    try:
        value = loads(text)
    except (ValueError, RecursionError):
        return text
    return text if isinstance(value, str) else value  # a quoted text keeps its quotes, as `name:=` would take them


def _json(text: str, name: str) -> Json:
    try:
        return loads(text)
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"{name!r}: {text[:40]!r} is not JSON ({error})") from error
