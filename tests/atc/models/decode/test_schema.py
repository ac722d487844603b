"""Schemas prepared for grammars: bounded, closed, with what cannot be held listed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atc.models.decode.errors import Undecodable
from atc.models.decode.formats import FUNCTION, JSON_CALL, PYTHON_CALL, CallFormat
from atc.models.decode.grammar import call_grammar, classify_text
from atc.models.decode.lark_syntax import names_pattern
from atc.models.decode.schema import arguments_of
from atc.models.decode.write_call import call_schema
from atc.models.dialects import fits_strict
from protocols.toolbox import Toolbox
from protocols.validate import find_violation
from tests.labs.constrained_endpoint import NUMBER, TEXT, TOOLS, tool

pytest.importorskip("llguidance")

NODE = {
    "type": "object",
    "properties": {"x": TEXT, "next": {"$ref": "#/$defs/node"}},
    "required": ["x"],
}
ENDLESS = {
    "type": "object",
    "properties": {"next": {"$ref": "#/$defs/endless"}},
    "required": ["next"],
}
DEFINITIONS = {
    "node": NODE,
    "endless": ENDLESS,
    "size": {"type": "integer", "minimum": 1, "maximum": 9},
}


def verdict(schema: Any, value: str, form: CallFormat = JSON_CALL, *, required: bool = True) -> str:
    """What the grammar of a tool with this one argument says of a call with this text for it."""
    one = tool("one", ("a",) if required else (), a=schema)
    document = {**one.protocol.input_schema, "$defs": DEFINITIONS}
    tools = Toolbox([replace(one, protocol=replace(one.protocol, input_schema=document))])
    inside = {"json": f'{{"a": {value}}}', "keywords": f"a={value}", "positional": value}[
        form.arguments
    ]
    text = f"{form.before}one{form.between}{inside}{form.after}"
    return classify_text(call_grammar(tools, form).text, text)


ACCEPTED: list[tuple[Any, list[str], list[str]]] = [
    (NUMBER, ["1", "-2.5", "1e-7", "0.0001"], ["1e999", '"1"', "01"]),
    ({"type": "integer", "minimum": 3, "exclusiveMaximum": 9}, ["3", "8"], ["2", "9", "3.0"]),
    ({"type": "string", "maxLength": 3}, ['"abc"', '"é"'], ['"abcd"']),
    ({"type": "string", "pattern": r"^\d{2}$"}, ['"12"'], ['"1"', '"٣٣"']),
    ({"type": "string", "format": "date"}, ['"2024-02-28"'], ['"2023-02-30"', '"x"']),
    ({"enum": ["a", 1, None]}, ['"a"', "1", "null"], ['"b"']),
    ({"type": "string", "enum": ["a", 1]}, ['"a"'], ["1"]),
    ({"const": {"k": [1]}}, ['{"k": [1]}'], ["{}"]),
    ({"type": ["string", "null"]}, ["null", '"x"'], ["1"]),
    ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, ["null", "7"], ['"x"']),
    ({"allOf": [{"type": "integer", "minimum": 3}, {"maximum": 5}]}, ["4"], ["2", "6"]),
    ({"$ref": "#/$defs/size"}, ["9"], ["10"]),
    ({"$ref": "#/$defs/node"}, ['{"x": "a", "next": {"x": "b"}}'], ['{"next": {"x": "b"}}']),
    (
        {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2},
        ["[1]", "[1, 2]"],
        ["[]"],
    ),
    ({"type": "array", "items": False}, ["[]"], ["[1]"]),
    ({"type": "object", "properties": {"p": NUMBER}}, ['{"p": 1}', "{}"], ['{"q": 1}']),
    ({"type": "object", "additionalProperties": NUMBER}, ['{"any": 1}'], ['{"any": "x"}']),
    ({}, ["1", '"x"', "[1]", '{"k": null}'], ["{"]),
]


@pytest.mark.parametrize(
    ("schema", "good", "bad"), ACCEPTED, ids=lambda value: json.dumps(value)[:40]
)
def test_a_grammar_takes_what_conforms_and_nothing_else(
    schema: Any, good: list[str], bad: list[str]
) -> None:
    assert [verdict(schema, text) for text in good] == ["complete"] * len(good)
    assert "complete" not in [verdict(schema, text) for text in bad]


def test_strings_lists_and_numbers_are_bounded() -> None:
    assert verdict(TEXT, '"' + "x" * 400 + '"') == "complete"
    assert verdict(TEXT, '"' + "x" * 401) == "outside"
    assert verdict({**TEXT, "minLength": 500}, '"' + "x" * 500 + '"') == "complete"
    assert verdict({"type": "array", "items": NUMBER}, "[" + "1, " * 20) == "outside"
    assert verdict({"type": "array", "items": NUMBER}, "[1" + "0" * 30) == "outside"


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"type": ["string", "null"]}, "None"),
        (TEXT, "'it'"),
        ({"enum": ["it's"]}, '"it\'s"'),
        ({"type": "array", "items": TEXT}, "['a','b']"),
        ({"type": "object", "properties": {"p": TEXT}}, '{"p": "x"}'),
    ],
)
def test_python_calls_use_python_literals(schema: Any, text: str) -> None:
    assert verdict(schema, text, PYTHON_CALL) == "complete"


def test_positions_are_filled_in_order() -> None:
    tools = Toolbox(
        [
            tool("f", ("a",), a=NUMBER, b=TEXT),
            tool("add", values={"type": "array", "items": NUMBER}),
        ]
    )
    text = call_grammar(tools, FUNCTION).text
    good = ["f(1)", 'f(1, "x")', "f(4/3)", "add([1])", "add([1, 2,3])"]
    assert [classify_text(text, call) for call in good] == ["complete"] * len(good)
    assert {
        classify_text(text, call) for call in ("f()", 'f("x")', "f(1, 2", "add()", "add(1")
    } == {"outside"}


@settings(max_examples=10, deadline=None)
@given(st.permutations(["a", "b", "c"]), st.sets(st.sampled_from(["b", "c"])))
def test_arguments_come_once_in_any_order(order: list[str], absent: set[str]) -> None:
    text = call_grammar(Toolbox([tool("f", ("a",), a=NUMBER, b=NUMBER, c=NUMBER)]), JSON_CALL).text
    pairs = [f'"{key}": 1' for key in order if key not in absent]
    call = '{{"name": "f", "arguments": {{{}}}}}'
    assert classify_text(text, call.format(", ".join(pairs))) == "complete"
    assert classify_text(text, call.format(", ".join([*pairs, pairs[0]]))) == "outside"
    assert (
        classify_text(text, call.format(", ".join(pair for pair in pairs if '"a"' not in pair)))
        == "outside"
    )


@pytest.mark.parametrize(
    ("schema", "clause"),
    [
        ({"type": "array", "items": TEXT, "uniqueItems": True}, "/properties/a/uniqueItems"),
        ({"type": "array", "items": {**TEXT, "pattern": "^(?!x)"}}, "/properties/a/items/pattern"),
        ({"not": {"type": "null"}}, "/properties/a/not"),
        ({"oneOf": [{"type": "integer"}, NUMBER]}, "/properties/a/oneOf"),
    ],
)
def test_what_a_grammar_cannot_hold_is_listed(schema: Any, clause: str) -> None:
    assert arguments_of(tool("one", a=schema)).unenforced == (clause,)
    assert not arguments_of(tool("one", a={"oneOf": [{"type": "integer"}, TEXT]})).unenforced


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"type": "integer", "minimum": 5, "maximum": 3},
        {"type": "string", "minLength": 1_000_000},
        {"type": "integer", "enum": ["x"]},
        {"$ref": "#/$defs/endless"},
    ],
    ids=str,
)
def test_unsatisfiable_arguments_are_omitted_or_named(schema: Any) -> None:
    with pytest.raises(Undecodable) as caught:
        verdict(schema, "1")
    assert (caught.value.tool, caught.value.clause) == ("one", "/properties/a")
    assert verdict(schema, "1", required=False) == "outside"


@given(st.sets(st.text(min_size=1, max_size=6), min_size=1, max_size=8), st.text(max_size=6))
@settings(max_examples=20, deadline=None)
def test_a_name_is_one_of_the_names(names: set[str], other: str) -> None:
    grammar = f"%llguidance {{}}\nstart: /{names_pattern(names)}/\n"
    assert all(classify_text(grammar, name) == "complete" for name in names)
    assert (classify_text(grammar, other) == "complete") is (other in names)


def test_strict_mode_uses_null_for_omitted_arguments() -> None:
    schema = call_schema(TOOLS, thought=True, strict=True)
    assert fits_strict(schema)
    given_null = {"thought": "t", "call": {"name": "add", "arguments": {"a": 1, "b": 2, "c": None}}}
    assert not find_violation(schema, given_null)
