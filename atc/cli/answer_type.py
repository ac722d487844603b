"""The option `--output-type`: a small grammar of Python types, and files with a JSON Schema.

A type is parsed and never evaluated, so it can name nothing but what is listed here.
"""

from __future__ import annotations

import ast
import os
from pathlib import Path
from typing import Any

import click

from atc.core.task import LONGEST_TASK
from atc.core.text import clipped
from atc.run.output_type import SchemaType
from protocols.python_source import parse_expression
from protocols.schema import JsonObject, dumps, loads

_DAY = "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"
_NAMES: dict[str, JsonObject] = {
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "str": {"type": "string"},
    "bool": {"type": "boolean"},
    "date": {"type": "string", "format": "date", "pattern": _DAY},
    "list": {"type": "array"},
    "dict": {"type": "object"},
    "None": {"type": "null"},
}
"""The JSON Schema of each type that has a name."""
_LONGEST = 1_000
"""Maximum number of characters of a type."""
_GRAMMAR = (
    "write int, float, str, bool, date, list[TYPE], dict[str, TYPE], TYPE | None,"
    " Literal['a', 'b'], or the name of a .json file with a JSON Schema"
)


class _BadType(Exception):
    """Raised for a text that is no type, or a file without a valid JSON Schema."""


def read_output_type(
    ctx: click.Context, param: click.Parameter, text: str | None
) -> SchemaType | None:
    """Return the type that the option `--output-type` asks for; None without the option.

    Raises:
        click.BadParameter: The text is neither a type nor the name of a file with a JSON Schema.
    """
    if text is None:
        return None
    text = text.strip()
    try:
        if text.endswith(".json") or os.sep in text:
            return _read_file(text)
        return SchemaType(_parse(text))
    except _BadType as error:
        raise click.BadParameter(str(error), ctx, param) from None


def _read_file(name: str) -> SchemaType:
    """Return the type that a file with a JSON Schema describes.

    Raises:
        _BadType: The file cannot be read, is not a JSON Schema, or is too large for a prompt.
    """
    try:
        text = Path(name).read_text(encoding="utf-8-sig")
        schema = loads(text)
    except OSError as error:
        raise _BadType(f"cannot read {name!r} ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise _BadType(f"{name!r} is not JSON ({clipped(str(error), 100)})") from None
    if not isinstance(schema, dict):
        raise _BadType(
            f'{name!r} is no JSON Schema, which is an object, such as {{"type": "integer"}}'
        )
    if len(dumps(schema)) > LONGEST_TASK:
        raise _BadType(
            f"the schema in {name!r} has more than {LONGEST_TASK:,} characters; leave descriptions"
            " and examples out"
        )
    try:
        return SchemaType(schema)
    except (ValueError, RecursionError) as error:
        problem = clipped(str(error), 160)
        raise _BadType(f"{name!r} is not a valid JSON Schema ({problem})") from None


def _parse(text: str) -> JsonObject:
    """Return the JSON Schema of a type such as `list[str]`.

    Raises:
        _BadType: The text is not a type of the grammar.
    """
    if len(text) > _LONGEST:
        raise _BadType(
            f"a type has at most {_LONGEST:,} characters, and this one has {len(text):,}; put a"
            " JSON Schema into a file"
        )
    try:
        return _schema_of(parse_expression(text).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _BadType(f"{clipped(text, 60)!r} is no type; {_GRAMMAR}") from None


def _schema_of(node: ast.expr) -> JsonObject:
    """Return the JSON Schema of a parsed type.

    Raises:
        _BadType: It is not a type of the grammar.
    """
    match node:
        case ast.Name(id=name) if name in _NAMES:
            return _NAMES[name]
        case ast.Constant(value=None):
            return _NAMES["None"]
        case ast.Subscript(value=ast.Name(id="list"), slice=item):
            return {"type": "array", "items": _schema_of(item)}
        case ast.Subscript(
            value=ast.Name(id="dict"), slice=ast.Tuple(elts=[ast.Name(id="str"), item])
        ):
            return {"type": "object", "additionalProperties": _schema_of(item)}
        case ast.Subscript(value=ast.Name(id="Literal"), slice=values):
            return {"enum": _literals(values)}
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return {"anyOf": [*_alternatives(left), *_alternatives(right)]}
        case _:
            raise _BadType(f"{clipped(ast.unparse(node), 60)!r} is no type; {_GRAMMAR}")


def _alternatives(node: ast.expr) -> list[Any]:
    """Return the JSON Schemas that one side of `TYPE | TYPE` allows."""
    schema = _schema_of(node)
    return list(schema.get("anyOf", [schema]))


def _literals(node: ast.expr) -> list[Any]:
    """Return the values in the brackets of `Literal`.

    Raises:
        _BadType: One of them is not a text, a whole number, True, False or None.
    """
    items = node.elts if isinstance(node, ast.Tuple) else [node]
    values = [item.value if isinstance(item, ast.Constant) else ... for item in items]
    if not values or any(not isinstance(value, str | int | None) for value in values):
        raise _BadType(f"Literal takes texts and whole numbers; {_GRAMMAR}")
    return values
