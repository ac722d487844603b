"""Schemas that cannot be decoded: said when the grammar is built, with the tool and the clause."""

from __future__ import annotations

from typing import Any

import pytest

from atc.decode.arguments import arguments_grammar
from atc.decode.errors import Undecodable
from tests.decode_schema_lab import of_schema, tool

ENDLESS = {"x": {"type": "object", "properties": {"a": {"$ref": "#/$defs/x"}}, "required": ["a"]}}
ITSELF = {"x": {"$ref": "#/$defs/x"}}

CONTRADICTORY: list[tuple[Any, str, str]] = [
    ({"type": "integer", "minimum": 5, "maximum": 3}, "minimum", "minimum 5"),
    ({"type": "integer", "minimum": 1.2, "maximum": 1.8}, "minimum", "no integer"),
    ({"type": "integer", "multipleOf": 10, "minimum": 1, "maximum": 9}, "multipleOf", "multiple"),
    ({"type": "number", "minimum": 1, "exclusiveMaximum": 1}, "minimum", "minimum 1"),
    ({"type": "string", "enum": [1, 2]}, "enum", "of the type"),
    ({"enum": []}, "enum", "empty"),
    ({"enum": ["a"], "const": "b"}, "const", "not in the enum"),
    ({"type": "string", "const": 5}, "const", "of the type"),
    ({"type": "string", "minLength": 5, "maxLength": 3}, "minLength", "more than maxLength"),
    ({"type": "string", "pattern": "^[a-z]{5}$", "maxLength": 3}, "pattern", "at most 3"),
    ({"type": "string", "pattern": "a^b"}, "pattern", "'a^b'"),
    ({"type": "string", "pattern": "$a"}, "pattern", "'$a'"),
    ({"type": "string", "pattern": "[]"}, "pattern", "'[]'"),
    ({"type": "string", "format": "date", "maxLength": 5}, "format", "'date'"),
    ({"type": "string", "format": "date", "pattern": "^x"}, "pattern", "at once"),
    ({"type": "array", "minItems": 3, "maxItems": 1}, "minItems", "more than maxItems"),
    ({"type": "array", "uniqueItems": True, "items": {"enum": [1, 2]}, "minItems": 3}, "minItems", "only 2"),
    ({"type": "array", "items": {"type": "string", "enum": [1]}, "minItems": 1}, "items/enum", "of the type"),
    ({"allOf": [{"type": "string"}, {"type": "integer"}]}, "", "both"),
    ({"oneOf": [{"type": "integer"}, {"type": "integer"}]}, "oneOf/1", "another"),
    (
        {"type": "object", "properties": {}, "required": ["b"], "additionalProperties": False},
        "additionalProperties",
        "false",
    ),
    (
        {"type": "object", "properties": {"a": {"type": "string"}}, "minProperties": 3, "additionalProperties": False},
        "minProperties",
        "3",
    ),
    (
        {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a", "b"], "maxProperties": 1},
        "maxProperties",
        "1",
    ),
    (False, "", "false"),
]

BROKEN: list[tuple[Any, str, str]] = [
    ({"type": "strng"}, "type", "'strng'"),
    ({"type": []}, "type", "no type"),
    ({"type": "integer", "minimum": "3"}, "minimum", "'3'"),
    ({"type": "string", "minLength": -1}, "minLength", "-1"),
    ({"type": "number", "multipleOf": 0}, "multipleOf", "above zero"),
    ({"anyOf": []}, "anyOf", "at least one"),
    ({"type": "array", "items": 5}, "items", "5"),
    ({"type": "array", "items": [{}]}, "items", "prefixItems"),
    ({"$ref": "#/$defs/none"}, "$ref", "leads nowhere"),
    ({"$ref": "https://example.org/x"}, "$ref", "leads nowhere"),
    ({"$dynamicRef": "#x"}, "$dynamicRef", "not supported"),
    ({"type": "string", "pattern": "^(a"}, "pattern", "not closed"),
    ({"type": "string", "pattern": "*"}, "pattern", "nothing to repeat"),
    ({"type": "string", "pattern": "[z-a]"}, "pattern", "out of order"),
    ({"type": "string", "pattern": "^(?=a)b$"}, "pattern", "looking ahead"),
    ({"type": "string", "pattern": "(?<!a)b"}, "pattern", "looking ahead or behind"),
    ({"type": "string", "pattern": r"\bfoo"}, "pattern", "word boundary"),
    ({"type": "string", "pattern": r"(a)\1"}, "pattern", "reference"),
    ({"type": "string", "pattern": "a{3000}"}, "pattern", "2000"),
]


@pytest.mark.parametrize(("schema", "clause", "said"), CONTRADICTORY)
def test_what_nothing_conforms_to(schema: Any, clause: str, said: str) -> None:
    with pytest.raises(Undecodable, match="nothing conforms") as caught:
        arguments_grammar(tool({"n": schema}, ["n"]), "json")
    _names(caught.value, f"/properties/n/{clause}".rstrip("/"), said)


@pytest.mark.parametrize(("schema", "clause", "said"), BROKEN)
def test_what_is_no_schema_or_cannot_be_held_to(schema: Any, clause: str, said: str) -> None:
    for required in (["n"], []):
        with pytest.raises(Undecodable) as caught:
            arguments_grammar(tool({"n": schema}, required), "json")
        _names(caught.value, f"/properties/n/{clause}", said)


TANGLED = r"(?:id(?:\S+#{2}a*)(.+[a-f0-9]+\${1,3}|/{1,3}[a-z]+[\-+]{0,2})+?|.{1,3}\"{0,2}){3,}[^a-z](\w{3,})+?$"


@pytest.mark.parametrize("length", [{}, {"minLength": 12, "maxLength": 14}])
@pytest.mark.parametrize("form", ["json", "keywords"])
def test_a_pattern_on_which_a_lexer_gives_up_in_the_middle(length: dict[str, int], form: Any) -> None:
    schema = {"type": "string", "pattern": TANGLED} | length
    with pytest.raises(Undecodable) as caught:
        arguments_grammar(tool({"n": schema}, ["n"]), form)
    _names(caught.value, "/properties/n/pattern", "too many ways")
    [left] = arguments_grammar(tool({"n": schema}), form).left_out
    assert "too many ways" in left
    plain = {"type": "string", "pattern": "^([A-Z]{2,3}-?){1,3}([0-9]+-?)*$"} | length
    assert arguments_grammar(tool({"n": plain}, ["n"]), form).rules is not None


@pytest.mark.parametrize(("more", "clause"), [(ENDLESS, "/$defs/x"), (ITSELF, "/$defs/x")])
def test_recursion_without_an_end(more: Any, clause: str) -> None:
    with pytest.raises(Undecodable) as caught:
        arguments_grammar(tool({"n": {"$ref": "#/$defs/x"}}, ["n"], definitions=more), "json")
    _names(caught.value, clause, "recursion an end")


@pytest.mark.parametrize(
    ("schema", "clause"),
    [({"type": "array", "minItems": 10**6}, "minItems"), ({"type": "string", "minLength": 10**6}, "minLength")],
)
def test_what_demands_more_than_a_call_can_hold(schema: Any, clause: str) -> None:
    with pytest.raises(Undecodable, match=f"{clause} 1000000 is more than") as caught:
        arguments_grammar(tool({"n": schema}, ["n"]), "json")
    assert caught.value.clause == f"/properties/n/{clause}"


def test_what_conforms_but_cannot_be_told_is_not_called_a_contradiction() -> None:
    with pytest.raises(Undecodable, match="cannot be told") as caught:
        arguments_grammar(tool({"n": {"type": "integer", "not": {"multipleOf": 2}}}, ["n"]), "json")
    assert caught.value.clause == "/properties/n/not"
    assert "nothing conforms" not in str(caught.value)


def test_arguments_that_are_no_object() -> None:
    with pytest.raises(Undecodable, match="the arguments of a tool are an object") as caught:
        arguments_grammar(of_schema({"type": "array"}), "json")
    assert (caught.value.tool, caught.value.clause) == ("book", "/type")


def test_a_required_argument_behind_one_that_cannot_be_given_by_position() -> None:
    one = tool({"a": {"enum": []}, "b": {"type": "integer"}}, ["b"])
    with pytest.raises(Undecodable, match="stands behind"):
        arguments_grammar(one, "positional")
    assert arguments_grammar(one, "keywords").left_out == ("/properties/a/enum: the enum is empty",)


def test_a_place_in_the_schema_is_a_json_pointer() -> None:
    with pytest.raises(Undecodable) as caught:
        arguments_grammar(tool({"a/b": {"type": "object", "properties": {"c~d": {"type": 5}}}}), "json")
    assert caught.value.clause == "/properties/a~1b/properties/c~0d/type"


def _names(error: Undecodable, clause: str, said: str) -> None:
    assert error.tool == "book"
    assert error.clause.startswith(clause)
    assert said in str(error)
    assert str(error).startswith(f"book at {error.clause}: ")
