"""Schemas of MCP tools of any draft, and with mistakes, become valid ones that still take the arguments."""

import pytest

from protocols.mcp.schemas import read_input_schema, read_output_schema
from protocols.validate import BoundedValidator

X = {"type": "string"}
ONE_OF_TWO = [
    {"properties": {"id": X, "k": {"const": "a"}}, "required": ["id", "k"]},
    {"properties": {"n": X, "k": {"const": "b"}}, "required": ["n", "k"]},
]
SELF = {"type": "object", "properties": {"child": {"$ref": "#"}}}


def of(schema):
    return {"type": "object", "properties": {"x": schema}}


@pytest.mark.parametrize(
    ("raw", "valid", "invalid"),
    [
        ({"oneOf": ONE_OF_TWO}, {"n": "1", "k": "b"}, {"n": "1", "k": "a"}),
        (
            {"allOf": [{"$ref": "#/definitions/A"}], "definitions": {"A": of(X)}},
            {"x": ""},
            {"x": 1},
        ),
        (
            {"$ref": "#/$defs/N", "$defs": {"N": of({"$ref": "#/$defs/N"})}},
            {"x": {"x": {}}},
            {"x": 1},
        ),
        (SELF, {"child": {"child": {}}}, {"child": {"child": 1}}),
        ({**of({"$ref": "#name"}), "$defs": {"N": {"$anchor": "name", **X}}}, {"x": ""}, {"x": 1}),
        ({**of({"$ref": "name"}), "definitions": {"N": {"$id": "name", **X}}}, {"x": ""}, {"x": 1}),
        ({"type": ["object", "null"], "properties": {"x": X}}, {"x": ""}, {"x": 1}),
        (of({"type": "number", "minimum": 0, "exclusiveMinimum": True}), {"x": 0.1}, {"x": 0}),
        (of({"maximum": 5, "exclusiveMaximum": False}), {"x": 5}, {"x": 6}),
        (of({"items": [X], "additionalItems": False}), {"x": ["a"]}, {"x": ["a", "b"]}),
        (of({"items": [], "additionalItems": X}), {"x": ["a"]}, {"x": [1]}),
        (of({"type": "string", "required": True}), {"x": ""}, {}),
        (of({"type": "int", "nullable": True}), {"x": None}, {"x": ""}),
        (of({"enum": ["a", "a"]}), {"x": "a"}, {"x": "b"}),
        ({**of(X), "dependencies": {"x": ["y"]}}, {"x": "", "y": 1}, {"x": ""}),
        ({**of(X), "required": ["y"]}, {"y": 1}, {"x": ""}),
    ],
)
def test_an_odd_schema_keeps_its_meaning(raw, valid, invalid):
    schema, problems = read_input_schema(raw)
    checks = BoundedValidator(schema)
    assert problems == ()
    assert schema["type"] == "object"
    assert valid.keys() <= schema["properties"].keys()
    assert checks.is_valid(valid)
    assert not checks.is_valid(invalid)


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (of({"$ref": "#/definitions/gone"}), "the reference '#/definitions/gone' leads nowhere"),
        (of({"$ref": "http://x.example/y.json"}), "leads nowhere"),
        (of({"pattern": "(["}), "'pattern' cannot be '(['"),
        (of({"enum": "a"}), "'enum' cannot be 'a'"),
        (of({"type": "nonsense"}), "'type' cannot be 'nonsense'"),
        (of({"minLength": -1, "maxItems": "3"}), "'minLength' cannot be -1"),
        ({"type": "object", "properties": {"x": {"$ref": "#/a"}}, "a": {"$ref": "#/a"}}, "itself"),
    ],
)
def test_a_mistake_is_dropped_and_named(raw, problem):
    schema, problems = read_input_schema(raw)
    assert problem in "; ".join(problems)
    assert BoundedValidator(schema).is_valid({"x": 5})
    assert "x" in schema["properties"]


@pytest.mark.parametrize(
    "raw", [None, True, {}, {"$schema": "http://json-schema.org/draft-07/schema#"}, 5, {"city": X}]
)
def test_no_schema_takes_any_arguments(raw):
    schema, _ = read_input_schema(raw)
    assert schema["additionalProperties"] is True
    assert BoundedValidator(schema).is_valid({"any": 1})


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"type": "array", "items": X}, {"type": "array", "items": X}),
        ({"$ref": "#/definitions/A", "definitions": {"A": {"type": "array"}}}, {"type": "array"}),
        ({}, None),
        (True, None),
        ({"type": "nonsense"}, None),
    ],
)
def test_output_schemas_are_of_any_type(raw, expected):
    schema, _ = read_output_schema(raw)
    assert schema is None if expected is None else expected.items() <= schema.items()


def test_a_long_chain_of_references_is_read():
    chain = {f"d{n}": of({"$ref": f"#/$defs/d{n + 1}"}) for n in range(5_000)}
    schema, problems = read_input_schema({"$ref": "#/$defs/d0", "$defs": chain})
    assert list(schema["properties"]) == ["x"]
    assert problems == ("the reference '#/$defs/d5000' leads nowhere",)
