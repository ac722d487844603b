"""Where a document departs from what its tools really do."""

from __future__ import annotations

import pytest

from protocols.protocol import ErrorOutcome, ToolProtocol
from toolflow_bench.probing.real_departures import (
    ABSENT,
    ACCEPTED,
    NEEDED,
    NEVER,
    NOT_NEEDED,
    STATUS,
    TYPE,
    UNDECLARED,
    UNDESCRIBED,
    UNREADABLE,
    Observation,
    declared_rate,
    departures,
)

TEXT, WHOLE = {"type": "string"}, {"type": "integer"}


def thing(**properties):
    return {"type": "object", "properties": properties}


def tool(output=None, required=("id",), errors=(), **arguments):
    return ToolProtocol(
        name="get_thing",
        input_schema={**thing(**arguments), "required": list(required)},
        output_schema=output,
        errors=tuple(ErrorOutcome(status=status) for status in errors),
    )


def done(response, by="census", **arguments):
    return Observation(arguments=arguments, done=True, response=response, by=by)


def refused(status, **arguments):
    return Observation(arguments=arguments, done=False, status=status)


def found(declared, *seen, produced=None):
    return {(one.kind, one.where) for one in departures(declared, seen, produced)}


def test_a_document_that_says_what_is_departs_in_nothing():
    declared = tool(thing(name=TEXT, size=WHOLE), id=WHOLE, errors=("404", "4XX", "default"))
    assert found(declared, done({"name": "a", "size": 1}, id=1), refused(404, id=2), refused(503, id=2)) == set()


@pytest.mark.parametrize(
    ("output", "responses", "expected"),
    [
        (None, [{"name": "a"}], {(UNDESCRIBED, "")}),
        (None, [{}, [], None], set()),
        (thing(name=TEXT), [{"name": "a", "tags": [{"id": 1}]}], {(UNDECLARED, "tags: array")}),
        (thing(name=TEXT), [{"name": 5}], {(TYPE, "name: type (integer)")}),
        (thing(a=TEXT, b=thing(c=TEXT)), [{"a": "x"}] * 3, {(NEVER, "b")}),
        (thing(a=TEXT, b=TEXT), [{"a": "x"}] * 2, set()),
        (thing(a={"type": "array", "items": thing(b=TEXT)}, c=TEXT), [{"a": [], "c": ""}] * 3, {(NEVER, "a[]")}),
        ({**thing(a=TEXT), "required": ["a"]}, [{}], {(ABSENT, "in the response")}),
        (thing(a=TEXT, data={"type": "object", "additionalProperties": True}), [{"a": "", "data": {"b": 1}}], set()),
        ({"type": "object", "additionalProperties": True}, [{"b": 1}], set()),
        (thing(a=TEXT, data={"type": "object"}), [{"a": "", "data": {"b": 1}}], set()),
        (thing(data={**thing(b=WHOLE), "additionalProperties": {}}), [{"data": {"b": 1, "c": 2}}] * 3, set()),
        (thing(data={**thing(b=WHOLE), "additionalProperties": {}}), [{"data": {"c": 2}}] * 3, {(NEVER, "data.b")}),
        (thing(rates={"type": "object", "additionalProperties": WHOLE}), [{"rates": {"EUR": 1}}], set()),
        ({"type": "array", "items": thing(a=TEXT)}, [[{"a": "x"}, {"a": 2}]], {(TYPE, "[].a: type (integer/string)")}),
    ],
)
def test_responses_that_depart(output, responses, expected):
    assert found(tool(output, id=WHOLE), *(done(response, id=1) for response in responses)) == expected


def test_what_never_came_in_one_s_calls_may_have_come_in_the_other_s():
    declared = tool(thing(a=TEXT, b=TEXT), id=WHOLE)
    few = [done({"a": "x"}, id=1)] * 3
    assert found(declared, *few) == {(NEVER, "b")}
    assert found(declared, *few, done({"b": "y"}, by="probing", id=1)) == set()


def test_outcomes_that_no_document_tells_of():
    declared = tool(thing(a=TEXT), id=WHOLE, errors=("404",))
    assert found(declared, refused(404), refused(418), refused(200), refused(None)) == {
        (STATUS, "418"),
        (UNREADABLE, ""),
    }


def test_arguments_that_are_otherwise():
    declared = tool(thing(a=TEXT), ("id",), id=WHOLE, size=WHOLE, kind={"enum": ["x", "y"]}, on={"type": "boolean"})
    spelled = done({"a": ""}, id="5", size=" 7 ", kind="x", on="true")
    assert found(declared, spelled) == set()
    assert found(declared, done({"a": ""}, size="big", kind="z", on="maybe")) == {
        (NOT_NEEDED, "id"),
        (ACCEPTED, "size"),
        (ACCEPTED, "kind"),
        (ACCEPTED, "on"),
    }
    assert found(declared, refused(422, id=1), produced=tool(None, ("id", "size"), id=WHOLE, size=WHOLE)) == {
        (STATUS, "422"),
        (NEEDED, "size"),
    }
    assert (NEEDED, "size") not in found(declared, done({"a": ""}, id=1), produced=tool(None, ("size",), size=WHOLE))


def test_whose_calls_show_it():
    declared = tool(None, id=WHOLE)
    (one,) = departures(declared, [done({"a": 1}, id=1), done({"a": 2}, by="probing", id=2)])
    assert one.by == ("census", "probing")
    assert str(one) == f"get_thing: {UNDESCRIBED} (census, probing)"


def test_what_a_document_leaves_open_counts_for_nothing():
    produced = thing(id=TEXT, data=thing(title=TEXT, pages=WHOLE))
    assert declared_rate(produced, None).said == 0
    assert declared_rate(produced, thing()).said == 0
    assert declared_rate(produced, {"type": "object", "additionalProperties": {}}).said == 0
    left_open = thing(id=TEXT, data={"type": "object", "additionalProperties": {}})
    assert declared_rate(produced, left_open).as_json()["precision"] == 1.0
    closed = declared_rate(produced, thing(id=WHOLE, data=thing(title=TEXT)))
    assert (closed.right, closed.said, closed.wanted) == (2, 4, 3)
