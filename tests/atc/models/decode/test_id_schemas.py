"""Arguments whose values a model may choose or know, judged by their schemas."""

import pytest

from atc.models.decode.id_schemas import allows_known_code, has_id_pattern, is_free


@pytest.mark.parametrize(
    ("argument", "schema", "free"),
    [
        ("verbose", {"type": "boolean"}, True),
        ("page", {"type": "integer", "maximum": 50}, True),
        ("movie_id", {"type": "integer"}, False),
        ("since", {"type": "string", "format": "date"}, True),
        ("since", {"type": "string", "pattern": r"^\d{4}-\d\d-\d\d$"}, True),
        ("code", {"type": "string", "pattern": "^[A-Z]{3}$"}, False),
    ],
)
def test_free_values(argument, schema, free):
    assert is_free(argument, schema) is free


def test_opaque_ids_differ_from_known_codes():
    opaque = {"type": "string", "pattern": "^st_[a-z2-7]{5}$"}
    airport = {"type": "string", "pattern": "^[A-Z]{3}$"}
    assert (has_id_pattern(opaque), allows_known_code(opaque)) == (True, False)
    assert (has_id_pattern(airport), allows_known_code(airport)) == (False, True)
