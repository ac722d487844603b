"""Arguments of a tool from words of a command line: `code=JFK limit=5 filter:='{"open": true}'`."""

from __future__ import annotations

from collections.abc import Sequence

import click

from atc.cli.output import read_stdin
from protocols.jsontypes import Json, JsonObject, loads
from protocols.judge import violations
from protocols.schema import resolve
from protocols.toolbox import Tool
from protocols.words import alike


def read_arguments(words: Sequence[str], tool: Tool) -> dict[str, Json]:
    """The arguments by original name, each value read as its schema says, and checked against it.

    `name=text` reads text as the schema's type; `name:=JSON` takes JSON as it is. A single `-` reads one JSON object
    from stdin.

    Raises:
        click.UsageError: a word, a name or a value that does not fit, or one that is missing.
    """
    given = _object(tool) if list(words) == ["-"] else [_value(word, tool) for word in words]
    values = dict(given)
    if len(values) < len(given):
        raise click.UsageError("an argument is given twice; write a list as NAME:=JSON")
    missing = [name for name in tool.protocol.parameters if name in tool.protocol.required - set(values)]
    if missing:
        raise click.UsageError(f"{tool.alias} needs {', '.join(map(repr, missing))}; write {missing[0]}=VALUE")
    for violation in violations(tool.protocol.input_schema, values):
        where = f"the argument {violation.path!r}: " if violation.path else ""
        raise click.UsageError(f"{where}{violation.message}")
    return values


def _object(tool: Tool) -> list[tuple[str, Json]]:
    document = _json(read_stdin(), "stdin")
    if not isinstance(document, dict):
        raise click.UsageError("the arguments on stdin must be one JSON object")
    return [(_original(name, tool), value) for name, value in document.items()]


def _value(word: str, tool: Tool) -> tuple[str, Json]:
    """The argument's original name, and what the word says of it."""
    name, separator, text = word.partition("=")
    if not separator:
        raise click.UsageError(f"{word!r} is no argument; write NAME=VALUE, or NAME:=JSON")
    original = _original(name.removesuffix(":"), tool)
    if name.endswith(":"):
        return original, _json(text, original)
    root = tool.protocol.input_schema
    return original, _spelled(text, resolve(tool.protocol.parameters[original], root), root)


def _original(name: str, tool: Tool) -> str:
    """The argument's original name, from it or from its alias."""
    known = tool.protocol.parameters
    original = name if name in known else tool.arguments.get(name)
    if original is None:
        near = alike(name, known)
        hint = f"did you mean {near[0]!r}?" if near else f"it takes {', '.join(map(repr, known)) or 'none'}"
        raise click.UsageError(f"{tool.alias} has no argument {name!r}; {hint}")
    return original


def _spelled(text: str, schema: JsonObject, root: JsonObject) -> Json:
    """What `text` spells: a JSON value where `schema` takes that one, else a text, or a list of one text."""
    whole: JsonObject = {**{key: root[key] for key in ("$defs", "definitions") if key in root}, **schema}
    try:
        value = loads(text)
    except (ValueError, RecursionError):
        value = text
    if isinstance(value, str):
        value = text  # a quoted text keeps its quotes, as `name:=` would take them
    return next((one for one in (value, text, [text]) if not violations(whole, one)), value)


def _json(text: str, name: str) -> Json:
    try:
        return loads(text)
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"{name!r}: {text[:40]!r} is not JSON ({error})") from error
