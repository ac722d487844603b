"""Schemas: validated without the network, resolved without end."""

import pytest

from protocols.schema import resolve, shape
from protocols.schema_intersection import intersect_schemas
from protocols.validate import BoundedValidator, TooExpensive, find_violation, validator
from tests.labs.loopback import Reply, serving


def test_a_violation_names_path_and_clause():
    schema = {
        "properties": {
            "rows": {"items": {"properties": {"id": {"type": "string"}}, "required": ["id"]}}
        }
    }
    found = find_violation(schema, {"rows": [{"id": "a"}, {"id": 5}, {}]})
    assert (found.path, found.clause) == ("rows[1].id", "properties/rows/items/properties/id/type")
    assert found.message == '5 is not of type "string"'
    assert find_violation(schema, {"rows": [{"id": "a"}]}) is None


@pytest.mark.parametrize(("form", "bad"), [("date-time", "yesterday"), ("date", "2013-02-30")])
def test_formats_count(form, bad):
    assert find_violation({"format": form}, bad)


def test_remote_references_are_not_fetched():
    with serving(lambda _: Reply(body={"type": "string"})) as server:
        with pytest.raises(ValueError, match="cannot fetch"):
            validator({"$ref": f"{server.url}/s.json"})
        assert server.seen == []


@pytest.mark.parametrize("schema", [{"type": "int"}, {"$ref": "#/$defs/none"}])
def test_an_impossible_schema_is_a_value_error(schema):
    with pytest.raises(ValueError):
        validator(schema)


def test_resolve_keeps_what_stands_beside_the_reference():
    root = {
        "$defs": {
            "A": {"$ref": "#/$defs/B", "title": "a"},
            "B": {"type": "string", "title": "b", "minLength": 1},
        }
    }
    seen = resolve({"$ref": "#/$defs/A", "description": "d"}, root)
    assert seen == {"type": "string", "title": "a", "minLength": 1, "description": "d"}


@pytest.mark.parametrize("ref", ["#/$defs/none", "http://a.example/x", "#/$defs/A/x/y"])
def test_resolve_gives_nothing_for_what_leads_nowhere(ref):
    assert resolve({"$ref": ref}, {"$defs": {"A": {"x": 5}}}) == {}


def test_shape_of_nested_values():
    value = {"id": "x", "stops": [{"code": "JFK"}, {"code": "LGA"}], "empty": [], "none": None}
    assert shape(value) == "{id: string, stops: [{code: string}] × 2, empty: [], none: null}"


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        (
            {"type": "string"},
            {"type": "string", "enum": ["a", "b"]},
            {"type": "string", "enum": ["a", "b"]},
        ),
        ({"enum": ["a", "b"]}, {"enum": ["b", "c"]}, {"enum": ["b"]}),
        ({"type": "number", "minimum": 1}, {"type": "integer"}, {"type": "integer", "minimum": 1}),
        (
            {"type": "object", "properties": {"s": {"type": "string"}}, "required": ["s"]},
            {"type": "object", "properties": {"s": {"const": "x"}}},
            {
                "type": "object",
                "properties": {"s": {"type": "string", "const": "x"}},
                "required": ["s"],
            },
        ),
        (True, {"type": "null"}, {"type": "null"}),
    ],
)
def test_two_schemas_narrow_each_other_in_any_order(one, other, both, swap):
    assert (intersect_schemas(other, one) if swap else intersect_schemas(one, other)) == both


def test_a_reference_is_never_hidden_by_its_siblings():
    feature, alert = {"$ref": "#/$defs/feature"}, {"properties": {"alert": {}}}
    both = {"items": {"allOf": [feature, alert]}}
    assert intersect_schemas({"items": feature}, {"items": alert}) == both


HOST = {"pattern": r"^([a-z0-9-]{1,63}\.){1,10}[a-z]{2,63}$"}
TANGLED = {"allOf": [{"$ref": "#/$defs/t"}, {"$ref": "#/$defs/t"}]}


def test_hosts_are_compared_with_their_pattern():
    assert BoundedValidator({"items": HOST}).is_valid(["api.example.org"] * 1000)


def test_a_field_named_id_starts_no_document():
    schema = {
        "properties": {"$id": {"type": "string"}, "owner": {"$ref": "#/$defs/user"}},
        "$defs": {"user": {}},
    }
    assert find_violation(schema, {"$id": "x", "owner": 5}) is None


def test_a_schema_serves_any_number_of_values(monkeypatch):
    monkeypatch.setattr("protocols.validate.MOST_PARTS", 9)
    judge = BoundedValidator({"items": {"type": "integer"}})
    assert all(judge.is_valid([n]) for n in range(20))


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"pattern": "((a{20}){20}){20}b"}, "a" * 20_000),
        ({"patternProperties": {"(a{99}){99}b": {}}}, {"a" * 30_000: 1}),
        ({"$defs": {"t": TANGLED}, **TANGLED}, 1),
        # An anchor is no key of the schema.
        ({"node": {}, "$defs": {"t": {"$anchor": "node", "minLength": 1}}, "$ref": "#node"}, "x"),
    ],
)
def test_what_would_take_too_long_is_not_compared(schema, value):
    with pytest.raises(TooExpensive):
        BoundedValidator(schema).is_valid(value)
