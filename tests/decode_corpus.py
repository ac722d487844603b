"""A corpus of calls, good and bad, over schemas of every sort: made by rule, the same each time, with some by hand."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from atc.decode.formats import ArgumentForm
from protocols.toolbox import Tool
from tests.decode_schema_lab import tool


@dataclass(frozen=True, kw_only=True)
class Written:
    """One text for the arguments of a tool."""

    tool: Tool
    form: ArgumentForm
    text: str


_NODE = {
    "type": "object",
    "properties": {"v": {"type": "integer"}, "of": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
    "required": ["v"],
}

_Examples = list[dict[str, Any]]
_LISTED: list[tuple[Tool, _Examples]] = [
    (tool({}, name="now"), [{}]),
    (
        tool({"a": {"type": "number"}, "b": {"type": "number"}}, ["a", "b"], name="multiply"),
        [{"a": 12, "b": 30}, {"a": -1.5, "b": 2e20}, {"a": 0, "b": 0.001}],
    ),
    (
        tool({"n": {"type": "integer", "minimum": -3, "maximum": 1200}}, ["n"], name="level"),
        [{"n": -3}, {"n": 0}, {"n": 999}, {"n": 1200}],
    ),
    (
        tool({"x": {"type": "number", "exclusiveMinimum": 0, "maximum": 1}}, ["x"], name="share"),
        [{"x": 0.5}, {"x": 1}, {"x": 0.001}],
    ),
    (
        tool({"city": {"type": "string"}, "unit": {"enum": ["C", "F", "°"]}}, ["city"], name="weather"),
        [{"city": "Zürich"}, {"unit": "C", "city": 'a "b" \\'}, {"city": "", "unit": "°"}, {"city": "x\ny\t"}],
    ),
    (
        tool(
            {
                "code": {"type": "string", "pattern": "^[A-Z]{2}-\\d{2,3}$"},
                "at": {"type": "string", "format": "date"},
            },
            ["code"],
            name="lookup",
        ),
        [{"code": "AB-12"}, {"at": "2024-02-29", "code": "ZZ-999"}],
    ),
    (
        tool(
            {
                "tags": {
                    "type": "array",
                    "items": {"type": "string", "minLength": 1, "maxLength": 5},
                    "minItems": 1,
                    "maxItems": 3,
                },
                "all": {"type": "boolean"},
            },
            name="tag",
        ),
        [{}, {"tags": ["a"]}, {"all": True, "tags": ["ab", "cdefg", "é"]}, {"all": False}],
    ),
    (
        tool(
            {
                "who": {
                    "type": "object",
                    "properties": {"id": {"type": "integer"}, "name": {"type": ["string", "null"]}},
                    "required": ["id"],
                    "additionalProperties": False,
                }
            },
            ["who"],
            name="person",
        ),
        [{"who": {"id": 7}}, {"who": {"name": None, "id": 0}}, {"who": {"id": 1, "name": "Ann"}}],
    ),
    (
        tool(
            {
                "where": {
                    "anyOf": [
                        {"type": "string", "maxLength": 4},
                        {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
                        {"type": "null"},
                    ]
                }
            },
            ["where"],
            name="place",
        ),
        [{"where": "ZRH"}, {"where": [47.5, 8]}, {"where": None}],
    ),
    (
        tool(
            {
                "shape": {
                    "oneOf": [
                        {
                            "type": "object",
                            "properties": {"kind": {"const": "circle"}, "r": {"type": "number"}},
                            "required": ["kind", "r"],
                        },
                        {
                            "type": "object",
                            "properties": {"kind": {"const": "box"}, "w": {"type": "integer"}},
                            "required": ["kind", "w"],
                        },
                    ]
                }
            },
            ["shape"],
            name="draw",
        ),
        [{"shape": {"kind": "circle", "r": 1.5}}, {"shape": {"w": 3, "kind": "box"}}],
    ),
    (
        tool({"t": {"$ref": "#/$defs/node"}}, ["t"], name="tree", definitions={"node": _NODE}),
        [{"t": {"v": 1}}, {"t": {"v": 1, "of": [{"v": 2}, {"of": [], "v": 3}]}}],
    ),
    (
        tool(
            {
                "mode": {"const": 3},
                "row": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "boolean"}], "items": False},
            },
            ["mode"],
            name="row",
        ),
        [{"mode": 3}, {"mode": 3, "row": ["x", True]}, {"row": [], "mode": 3}],
    ),
    (
        tool(
            {"max": {"enum": [1, 12, "1", "12", None, [1], [1, 2]]}, "from": {"type": "integer", "multipleOf": 5}},
            ["max"],
            name="choose",
        ),
        [{"max": 1}, {"max": "12"}, {"max": [1, 2], "from": 25}, {"max": None, "from": -5}],
    ),
    (
        tool({f"p{i}": {"type": "integer"} for i in range(7)}, ["p0", "p6"], name="seven"),
        [{"p0": 1, "p6": 2}, {f"p{i}": i for i in range(7)}, {"p6": 2, "p0": 1}],
    ),
    (
        tool({"s": {"type": "string", "pattern": "ab", "minLength": 3, "maxLength": 6}}, ["s"], name="twice"),
        [{"s": "xab"}, {"s": "ababab"}],
    ),
    (
        tool(
            {"o": {"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": 2}},
            ["o"],
            name="counts",
        ),
        [{"o": {}}, {"o": {"a": 1}}, {"o": {"a": 1, "b": 2}}],
    ),
]

TOOLS = {one.alias: (one, examples) for one, examples in _LISTED}

BY_HAND: list[tuple[str, ArgumentForm, str]] = [
    ("multiply", "positional", "12, 30"),
    ("multiply", "positional", "12,30"),
    ("multiply", "positional", "1,200, 30"),
    ("multiply", "positional", "12,  30"),
    ("multiply", "positional", "4/3, 1"),
    ("multiply", "positional", "4/0, 1"),
    ("multiply", "positional", "1e5, -2.5E-3"),
    ("multiply", "positional", "+1, 2"),
    ("multiply", "positional", "1., 2"),
    ("multiply", "positional", "'1', 2"),
    ("multiply", "keywords", "a=1,b=2"),
    ("multiply", "keywords", "b = 2, a = 1"),
    ("multiply", "keywords", "a=1, a=2"),
    ("multiply", "keywords", "a=1, b=2, c=3"),
    ("multiply", "json", '{"a":1,"b":2}'),
    ("multiply", "json", '{"a": 1, "b": 2, "a": 3}'),
    ("multiply", "json", '{"a": 1e999, "b": 1}'),
    ("multiply", "json", '{"a": NaN, "b": 1}'),
    ("multiply", "json", '{"a": 00, "b": 1}'),
    ("multiply", "json", '{"a": 1, "b": 2}}'),
    ("multiply", "json", '{"a": 1, "b": 2'),
    ("multiply", "json", ""),
    ("weather", "json", '{"city": "\\ud83d\\ude00"}'),
    ("weather", "json", '{"city": "\\ud83d"}'),
    ("weather", "json", '{"city": "\\x41"}'),
    ("weather", "json", '{"city": "a\nb"}'),
    ("weather", "json", "{'city': 'x'}"),
    ("weather", "json", '{"city": "' + "x" * 400 + '"}'),
    ("weather", "json", '{"city": "' + "x" * 401 + '"}'),
    ("weather", "keywords", 'city="it\'s"'),
    ("weather", "keywords", "city='it\\'s'"),
    ("weather", "keywords", "city='it's'"),
    ("weather", "keywords", "city=b'x'"),
    ("weather", "keywords", "city='x' 'y'"),
    ("weather", "positional", "'x', 'F'"),
    ("weather", "positional", "'x', unit='F'"),
    ("lookup", "json", '{"code": "AB-12\\n"}'),
    ("lookup", "json", '{"code": "AB-12", "at": "2023-02-29"}'),
    ("choose", "json", '{"max": [1,2]}'),
    ("choose", "json", '{"max": [1, 3]}'),
    ("choose", "json", '{"max": 2}'),
    ("choose", "json", '{"max": 123}'),
    ("choose", "keywords", "max=12, from_=10"),
    ("choose", "keywords", "max=12, from=10"),
    ("place", "json", '{"where": [1]}'),
    ("place", "json", '{"where": [1, 2, 3]}'),
    ("place", "json", '{"where": "toolong"}'),
    ("tree", "json", '{"t": {"v": 1, "of": [{"v": 1, "of": [{}]}]}}'),
    ("share", "json", '{"x": 0}'),
    ("share", "json", '{"x": 0.0}'),
    ("share", "json", '{"x": 1.0}'),
    ("share", "json", '{"x": 1.01}'),
    ("level", "json", '{"n": -0}'),
    ("level", "json", '{"n": 1e2}'),
]


def corpus() -> list[Written]:
    """Every text, each once."""
    found: dict[tuple[str, ArgumentForm, str], Written] = {}
    for name, form, text in [*BY_HAND, *_made()]:
        found.setdefault((name, form, text), Written(tool=TOOLS[name][0], form=form, text=text))
    return list(found.values())


def _made() -> Iterator[tuple[str, ArgumentForm, str]]:
    draw = random.Random(8)
    for name, (one, examples) in TOOLS.items():
        for example in examples:
            aliases = {alias: example[original] for alias, original in one.arguments.items() if original in example}
            yield name, "json", json.dumps(aliases, ensure_ascii=False, separators=(",", ":"))
            for arguments in (aliases, *_changed(aliases, draw)):
                for form, text in _texts(arguments):
                    yield name, form, text
                    yield name, form, _broken(text, draw)


def _texts(arguments: dict[str, Any]) -> Iterator[tuple[ArgumentForm, str]]:
    yield "json", json.dumps(arguments)
    yield "keywords", ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    yield "positional", ", ".join(map(repr, arguments.values()))


def _changed(arguments: dict[str, Any], draw: random.Random) -> Iterator[dict[str, Any]]:
    """The same with something wrong, or only different: an order, a key, a value of another type."""
    names = list(arguments)
    if names:
        yield dict(reversed(arguments.items()))
        name = draw.choice(names)
        yield {key: value for key, value in arguments.items() if key != name}
        yield arguments | {name: draw.choice([None, True, 0, -7.25, "x", [], {}, [1, "a"], {"id": 1}, 10**9])}
    yield arguments | {"more": 1}


def _broken(text: str, draw: random.Random) -> str:
    """The text with one character left out, doubled or replaced."""
    if not text:
        return " "
    at = draw.randrange(len(text))
    return text[:at] + draw.choice(["", text[at] * 2, draw.choice("\"'{}[],:= 0\\x-")]) + text[at + 1 :]
