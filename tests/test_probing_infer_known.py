"""Schemas inferred beside a partial or wrong document: what no reply breaks stays, what one breaks is widened."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from probing.infer import Inference, infer
from protocols.schema import validator


def record(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": sorted(properties)}


TEXT, WHOLE = {"type": "string"}, {"type": "integer"}


@pytest.mark.parametrize(
    ("known", "values", "schema"),
    [
        (TEXT, ["x"], TEXT),
        (TEXT, ["2024-01-01", "2024-01-02", "2024-01-03"], TEXT),
        (TEXT, [None], {"type": ["string", "null"]}),
        (TEXT, [5], {"type": ["string", "integer"]}),
        (WHOLE, [2.5], {"type": "number"}),
        ({"type": "number"}, [1], {"type": "number"}),
        ({"type": ["integer", "null"]}, [1], {"type": ["integer", "null"]}),
        ({"type": "string", "format": "date"}, ["soon"], TEXT),
        ({"type": "string", "format": "date", "maxLength": 10}, ["soon"], {"type": "string", "maxLength": 10}),
        ({"type": "integer", "minimum": 0, "maximum": 9}, [12], {"type": "integer", "minimum": 0}),
        ({"type": "string", "enum": ["a", "b"]}, ["a"], {"type": "string", "enum": ["a", "b"]}),
        ({"type": "string", "enum": ["a", "b"]}, ["a", "c"], {"type": "string", "enum": ["a", "b", "c"]}),
        ({"type": "string", "enum": ["a", "b"]}, ["c", "d", "e"], TEXT),
        ({"enum": ["a", "b"]}, [3], {"type": ["string", "integer"]}),
        ({"const": "a"}, ["a"], {"const": "a"}),
        ({}, ["x"], TEXT),
        (True, ["x"], TEXT),
        ({"examples": [None]}, ["x"], {"type": ["string", "null"]}),
        ({"examples": [None]}, [None], {"examples": [None]}),
        ({"description": "says nothing of values"}, [1], WHOLE),
        ({"anyOf": [TEXT, {"type": "null"}]}, [3], {"type": ["string", "integer", "null"]}),
        ({"oneOf": [TEXT, WHOLE]}, ["x"], {"oneOf": [TEXT, WHOLE]}),
        ({"oneOf": [TEXT, WHOLE]}, [True], {"anyOf": [{"oneOf": [TEXT, WHOLE]}, {"type": "boolean"}]}),
        ({"type": "array", "items": TEXT}, [[]], {"type": "array", "items": TEXT}),
        ({"type": "array", "items": TEXT}, [["x", 1]], {"type": "array", "items": {"type": ["string", "integer"]}}),
        ({"type": "array"}, [[1]], {"type": "array", "items": WHOLE}),
        ({"type": "array", "items": TEXT, "maxItems": 1}, [["x", "y"]], {"type": "array", "items": TEXT}),
    ],
)
def test_one_field(known: Any, values: list[Any], schema: dict[str, Any]) -> None:
    # The other field is in no document, so that the replies are not described whole.
    found = infer([{"field": value, "other": 1} for value in values], known=record(field=known))
    assert found["properties"] == {"field": schema, "other": WHOLE}
    assert found["required"] == ["field"], "without `other` a reply is allowed by the document"


def test_what_was_not_seen_stays_and_what_was_not_known_is_added() -> None:
    known = record(id=WHOLE, note=TEXT | {"description": "free text"}, tags={"type": "array", "items": TEXT})
    schema = infer([{"id": 1, "at": {"lat": 1.5}}], known=known)
    assert schema["properties"] == {
        "id": WHOLE,
        "at": {"type": "object", "properties": {"lat": {"type": "number"}}, "required": ["lat"]},
        "note": TEXT | {"description": "free text"},
        "tags": {"type": "array", "items": TEXT},
    }
    assert schema["required"] == ["id"]


def test_marks_and_descriptions_stay_where_values_are_merged() -> None:
    marked = {"type": "string", "description": "for one hour", "x-atc-secret": True}
    schema = infer([{"token": None, "new": 1}], known=record(token=marked))
    assert schema["properties"]["token"] == {**marked, "type": ["string", "null"]}


def test_a_closed_object_is_open_once_it_was_wrong() -> None:
    known = record(a=WHOLE) | {"additionalProperties": False}
    assert infer([{"a": 1}], known=known) == known
    assert "additionalProperties" not in infer([{"a": 1, "b": 2}], known=known)


def test_a_known_map_stays_a_map() -> None:
    known = {"type": "object", "properties": {"base": TEXT}, "additionalProperties": WHOLE}
    schema = infer([{"base": "x", "first": 1, "second": 2.5}], known=known)
    assert schema["properties"] == {"base": TEXT}
    assert schema["additionalProperties"] == {"type": "number"}


def test_an_object_of_which_nothing_is_known_is_described() -> None:
    for known in ({"type": "object"}, {"type": "object", "additionalProperties": True}):
        schema = infer([{"a": 1}], known=known)
        assert schema["properties"] == {"a": WHOLE}
        assert validator(schema).is_valid({})


def test_references_keep_leading_to_their_definitions() -> None:
    known = {
        "type": "object",
        "properties": {"root": {"$ref": "#/$defs/Node"}, "spare": {"$ref": "#/$defs/Node"}, "self": {"$ref": "#"}},
        "$defs": {"Node": {"type": "object", "properties": {"name": TEXT, "next": {"$ref": "#/$defs/Node"}}}},
    }
    before = copy.deepcopy(known)
    schema = infer([{"root": {"name": None, "next": {"name": "x", "new": 1}}}], known=known)
    assert known == before
    judge = validator(schema)
    deep = {"name": "a", "next": {"name": "b", "next": {"name": "c", "next": {"name": "d"}}}}
    assert judge.is_valid({"root": deep, "spare": deep, "self": {"spare": deep}})
    assert not judge.is_valid({"spare": {"name": "a", "next": {"name": "b", "next": {"name": 1.5}}}})
    assert not judge.is_valid({"self": {"spare": 7}})


def test_a_known_tree_and_a_seen_tree_are_one() -> None:
    known = {
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/Node"}},
        "$defs": {
            "Node": {
                "type": "object",
                "properties": {
                    "name": TEXT,
                    "size": WHOLE,
                    "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
                },
                "required": ["name"],
            }
        },
    }
    leaf = {"name": "c", "size": 2.5, "children": []}
    schema = infer(
        [{"tree": {"name": "a", "size": 1, "children": [{"name": "b", "size": 1, "children": [leaf]}]}}], known
    )
    assert schema["properties"]["tree"] == {"$ref": "#/$defs/Node"}
    assert schema["$defs"]["Node"]["properties"]["size"] == {"type": "number"}
    assert schema["$defs"]["Node"]["required"] == ["name"]


def test_a_known_schema_that_says_more_than_can_be_merged_is_kept_whole() -> None:
    known = record(a={"type": "object", "patternProperties": {"^x": WHOLE}}, b={"type": "array", "prefixItems": [TEXT]})
    schema = infer([{"a": {"x1": 1}, "b": ["x", 1], "new": 1}], known=known)
    assert schema["properties"]["a"] == known["properties"]["a"]
    assert schema["properties"]["b"] == known["properties"]["b"]
    wrong = infer([{"a": {"x1": "text"}, "b": [], "new": 1}], known=known)
    assert wrong["properties"]["a"]["anyOf"][0] == known["properties"]["a"]


def test_a_known_union_of_texts_is_not_called_an_object() -> None:
    known = {"oneOf": [{"$ref": "#/$defs/A"}, {"type": "object"}], "$defs": {"A": {"type": "string"}}}
    schema = infer([{"new": 1}, "x"], known=known)
    assert validator(schema).is_valid("y")


def test_fields_count_what_was_seen_not_what_is_known() -> None:
    inference = Inference(record(id=WHOLE, note=TEXT))
    inference.add({"id": 1})
    assert inference.fields() == {"id": 1}
    assert inference.schema()["properties"].keys() == {"id", "note"}


def test_a_document_that_cannot_be_read_breaks_nothing() -> None:
    for known in ({"type": 5}, {"properties": []}, {"$ref": "#/nowhere"}, {"type": "string", "pattern": "("}):
        assert infer([{"a": 1}, "x"], known=known) == infer([{"a": 1}, "x"])
