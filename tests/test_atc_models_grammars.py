"""Grammars on their way to a runtime: judged here first, and schemas brought into those of OpenAI."""

from __future__ import annotations

import pytest

from atc.decode.grammar import judge
from atc.models import held, strict
from protocols.errors import ModelUnavailable


def test_a_character_that_the_limit_cut_is_no_fault():
    pytest.importorskip("llguidance")
    grammar = "%llguidance {}\nstart: /[a-zé]{1,5}/\n"
    assert held.keeps(grammar, "ab\ufffd", truncated=True)
    assert not held.keeps(grammar, "ab\ufffd", truncated=False)


@pytest.mark.parametrize("name", ['x"', "x\ny", "x\\", "x\u2028", 'a"; start: "b'])
def test_a_schemas_names_cannot_break_out_of_its_grammar(name):
    pytest.importorskip("llguidance")
    schema = {"type": "object", "properties": {name: {"const": 1}}, "required": [name], "additionalProperties": False}
    grammar = held.schema_grammar(schema)
    assert not held.problem(grammar)
    assert judge(grammar, '{"x": 1}') == "outside"
    assert held.require_taken(grammar) == grammar


CLOSED = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}


def within(part: object) -> dict[str, object]:
    return CLOSED | {"properties": {"a": part}}


@pytest.mark.parametrize(
    ("schema", "fits"),
    [
        (CLOSED, True),
        (within(CLOSED), True),
        (within({"type": "array", "items": CLOSED, "maxItems": 3}), True),
        (within({"anyOf": [{"type": "null"}, {"enum": ["x"]}]}), True),
        (within({"$ref": "#/$defs/b"}) | {"$defs": {"b": CLOSED}}, True),
        (within({"type": ["string", "null"], "format": "date"}), True),
        (within({"type": ["object", "null"]}), False),
        (within({"type": "object"}), False),
        (within({"type": "string", "minLength": 1}), False),
        (within({"type": "string", "format": "iban"}), False),
        (within({"type": "array"}), False),
        (within({}), False),
        (within(True), False),
        (within({"$ref": "#/$defs/b"}) | {"$defs": {"b": {"type": "object"}}}, False),
        (CLOSED | {"required": []}, False),
        (CLOSED | {"additionalProperties": True}, False),
        (CLOSED | {"allOf": [{}]}, False),
        ({"type": "array", "items": CLOSED}, False),
        ({"anyOf": [CLOSED]}, False),
    ],
)
def test_openai_is_strict_about_closed_objects_with_all_keys_required(schema, fits):
    assert strict.fits(schema) is fits


def test_a_schema_that_nests_too_deep_for_openai_is_told():
    deep = CLOSED
    for _ in range(9):
        deep = within(deep)  # type: ignore[assignment]
    assert not strict.fits(deep)


def test_a_schema_is_sent_so_that_what_can_be_enforced_is(monkeypatch):
    pytest.importorskip("llguidance")
    unique = {"type": "array", "uniqueItems": True}
    assert held.usable({"type": "array"}) == {"type": "array"}
    assert held.usable(unique) == unique | {"x-guidance": {"lenient": True}}
    assert held.usable({"type": "integer", "minimum": 3, "maximum": 2}) is None
    monkeypatch.setattr(held, "find_spec", lambda _: None)
    assert held.usable({"type": "array"}) == {"type": "array", "x-guidance": {"lenient": True}}
    with pytest.raises(ModelUnavailable, match="needs 'llguidance'"):
        held.require_taken("%llguidance {}\nstart: /a/\n")
