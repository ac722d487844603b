"""Bounded schemas of numbers, of open objects, and of values of any type."""

from atc.models.decode.value_schemas import have_distinct_types, is_number, open_object, read_count


def test_values_have_bounded_schemas():
    assert not is_number(True)
    assert is_number(1.5)
    assert not is_number(float("inf"))
    assert read_count({"maxItems": 3}, "maxItems", 9) == 3
    assert read_count({"maxItems": "x"}, "maxItems", 9) == 9
    assert have_distinct_types([{"type": "string"}, {"type": "integer"}])
    assert not have_distinct_types([{"type": "number"}, {"type": "integer"}])
    assert open_object({"type": "string"})["type"] == "object"
