"""Arguments of a tool from words of a command line: `code=JFK limit=5 tags=a tags=b filter:='{"open": true}'`."""

from __future__ import annotations

from collections.abc import Sequence

import click

from protocols.jsontypes import Json, JsonObject, loads
from protocols.judge import violations
from protocols.schema import resolve
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
        value = _json(text, original) if raw else _read(text, schema, tool.protocol.input_schema)
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


def _read(text: str, schema: JsonObject, root: JsonObject) -> Json:
    """What `text` spells: the first of a JSON value, a text, and a list of either that `schema` takes."""
    try:
        value = loads(text)
    except (ValueError, RecursionError):
        value = text
    if isinstance(value, str):
        value = text  # a quoted text keeps its quotes, as `name:=` would take them
    whole: JsonObject = {**{key: root[key] for key in ("$defs", "definitions") if key in root}, **schema}
    return next((one for one in (value, text, [value], [text]) if not violations(whole, one)), value)


def _json(text: str, name: str) -> Json:
    try:
        return loads(text)
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"{name!r}: {text[:40]!r} is not JSON ({error})") from error
