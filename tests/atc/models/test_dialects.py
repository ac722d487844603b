"""What kinds of endpoint can enforce."""

from atc.models.dialects import fits_strict


def test_strict_schemas_are_closed_and_complete():
    closed = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    assert fits_strict(closed)
    assert not fits_strict(closed | {"required": []})
    assert not fits_strict({"type": "array", "items": {"type": "object"}})
