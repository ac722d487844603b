"""Fields that only the examples of a document show."""

import pytest

from protocols.response_examples import find_shown_fields

ROOT = {
    "user": {"properties": {"id": {}, "friends": {"items": {"$ref": "#/user"}}}},
    "open": {"properties": {}},
}
REF = {"$ref": "#/user"}


@pytest.mark.parametrize(
    ("example", "schema", "shown"),
    [
        ({"id": 1}, REF, {}),
        ({"id": 1, "name": "a"}, REF, {"name": {}}),
        ([{"id": 1}, {"age": 2}], {"items": REF}, {"age": {}}),
        ({"friends": [{"friends": [{"age": 2}]}]}, REF, {"age": {}}),
        ({"age": 2}, {"anyOf": [REF, {"properties": {"age": {}}}]}, {}),
        ({"age": 2}, {"$ref": "#/open"}, {}),
        ({"age": 2}, {"$ref": "#/nowhere"}, {}),
    ],
)
def test_examples_show_what_no_schema_declares(example, schema, shown):
    found = find_shown_fields([example], schema, ROOT)
    while found and found.get("properties") != shown:
        found = found.get("items") or found["properties"]["friends"]
    assert found.get("properties", {}) == shown


def test_an_endless_example_is_read_to_a_depth():
    example = {"name": "a"}
    for _ in range(100):
        example = {"friends": [example]}
    assert find_shown_fields([example], REF, ROOT) == {}
