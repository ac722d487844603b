"""Bounds a JSON Schema, so that llguidance can compile it and every value has an end."""

from atc.models.decode.bound_schema import Bounds, SchemaBounder


def test_a_schema_gets_bounds():
    assert SchemaBounder({}, Bounds()).value({"type": "string"}, 100, "x") == {
        "type": "string",
        "maxLength": 100,
    }
    assert (
        SchemaBounder({}, Bounds()).value(
            {"type": "array", "items": {"type": "boolean"}}, 100, "x"
        )["maxItems"]
        == 2
    )
