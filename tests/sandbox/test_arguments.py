"""What a protocol lets through, and how it says no."""

from __future__ import annotations

import re

import pytest

from protocols.protocol import HttpBinding, ToolProtocol
from sandbox.arguments import BadArguments, Contract, contract

SCHEMA = {
    "type": "object",
    "required": ["from", "count"],
    "properties": {
        "from": {"type": "string"},
        "count": {"$ref": "#/$defs/count"},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "size": {"type": ["integer", "number"]},
        "page": {"type": "integer", "default": 1},
        "order": {"enum": ["up", "down"]},
        "when": {"type": "string", "format": "date-time"},
        "stops": {
            "type": "array",
            "items": {"type": "object", "properties": {"code": {"type": "string"}}},
        },
        "any": {},
        "kind": {"anyOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "null"}]},
        "price": {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "null"}]},
    },
    "$defs": {"count": {"type": "integer", "minimum": 1}},
}


def make(schema=SCHEMA, **more):
    return Contract(ToolProtocol(name="t", input_schema=schema, **more))


@pytest.mark.parametrize(
    ("given", "accepted"),
    [
        ({}, {}),
        ({"note": None}, {"note": None}),
        ({"page": None}, {}),
        ({"page": 3.0}, {"page": 3}),
        ({"size": 3.0}, {"size": 3.0}),
        ({"when": "tomorrow"}, {"when": "tomorrow"}),
        ({"stops": [{"code": "JFK"}]}, {"stops": [{"code": "JFK"}]}),
    ],
)
def test_accepts(given, accepted):
    result = make().accept({"from_": "x", "count": 2, **given})
    assert repr(result) == repr({"from_": "x", "count": 2, **accepted})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"from_": None}, "argument 'from_' must be a string, got None"),
        ({"count": 0}, "argument 'count': 0 is less than the minimum of 1"),
        ({"note": 5}, "argument 'note' must be a string or None, got 5"),
        ({"kind": "c"}, "argument 'kind' must be one of 'a', 'b', got 'c'"),
        ({"price": -1}, "argument 'price': -1 is less than or equal to the minimum of 0"),
        ({"price": "x"}, "argument 'price' must be a number or None, got 'x'"),
        ({"order": "left"}, "argument 'order' must be one of 'up', 'down', got 'left'"),
        ({"stops": [{"code": 5}]}, "argument 'stops[0].code' must be a string, got 5"),
        ({"from": "x"}, "no argument 'from'; did you mean 'from_'?"),
        (
            {"zzz": 1},
            "no argument 'zzz'; it takes from_, count, note, size, page, order, when, stops, any, kind, price",
        ),
        (
            {"from_": "x" * 1000, "count": "y" * 1000},
            "argument 'count' must be an integer, got '" + "y" * 78 + "…",
        ),
    ],
)
def test_refuses(given, said):
    with pytest.raises(BadArguments) as caught:
        make().accept({"from_": "x", "count": 2, **given})
    assert str(caught.value) == said


def test_unknown_arguments_pass_where_the_schema_is_open():
    terms = make({"type": "object", "additionalProperties": {"type": "integer"}})
    assert terms.accept({"x": 1}) == {"x": 1}
    with pytest.raises(BadArguments, match="argument 'x' must be an integer"):
        terms.accept({"x": "1"})


def test_unreadable_schemas_refuse_only_by_name():
    terms = make(
        {"type": "object", "properties": {"x": {"$ref": "https://elsewhere.example/x.json"}}}
    )
    assert terms.accept({"x": object}) == {"x": object}


def test_drift_names_the_broken_clause():
    row = {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}
    terms = make(output_schema={"type": "array", "items": row})
    assert terms.drift([{"id": 1}]) == ()
    assert terms.drift([{"id": 1}, {"id": None}, {}]) == ('[1].id: null is not of type "integer"',)


def test_types_alone_decide_without_other_clauses():
    number = {"type": "integer"}
    some = ToolProtocol(
        name="f", input_schema={"type": "object", "properties": {"n": number}, "minProperties": 1}
    )
    with pytest.raises(BadArguments):
        contract(some).accept({})
    least = ToolProtocol(
        name="f", input_schema={"type": "object", "properties": {"n": {**number, "minimum": 3}}}
    )
    with pytest.raises(BadArguments, match="3"):
        contract(least).accept({"n": 2})
    assert contract(least).accept({"n": 3}) == {"n": 3}


SENT = {
    "ts": {"type": "number"},
    "page": {"type": "integer", "maximum": 10},
    "code": {"type": "string", "pattern": "^[0-9]{3}$"},
    "level": {"type": "string", "enum": ["1", "2"]},
    "ids": {"type": "array", "items": {"type": "integer"}},
    "body": {"type": "integer"},
}


def sent(**given):
    places = dict.fromkeys(SENT, "query") | {"body": "body", "code": "header"}
    binding = HttpBinding(method="POST", url="https://api.example/x", locations=places)
    return make({"type": "object", "properties": SENT}, binding=binding).accept(given)


def test_texts_of_digits_are_sent_as_written():
    given = {"ts": "1714521600.000000", "page": "07", "ids": ["80351110224678912"]}
    assert sent(**given) == given


def test_a_number_becomes_the_text_sent():
    assert sent(code=123, level=2, ts=5) == {"code": "123", "level": "2", "ts": 5}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"page": "11"}, "argument 'page': 11 is greater than the maximum of 10"),
        ({"page": "one"}, "argument 'page' must be an integer, got 'one'"),
        ({"code": 12}, "argument 'code': \"12\" does not match"),
        ({"level": 3}, "argument 'level' must be one of '1', '2', got '3'"),
        ({"code": True}, "argument 'code' must be a string, got True"),
        ({"body": "5"}, "argument 'body' must be an integer, got '5'"),
    ],
)
def test_rules_hold_on_texts_sent(given, said):
    with pytest.raises(BadArguments, match=re.escape(said)):
        sent(ts="1", **given)
