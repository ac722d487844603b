"""Scoring probed protocols: fields, arguments, enums, errors, links and effects, on cases with known figures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from protocols.protocol import Annotations, ErrorOutcome, HttpBinding, Link, ToolProtocol
from toolflow_bench.probing.counts import Rate, Share, percent
from toolflow_bench.probing.fields import map_paths, pairs, response_fields, says_something, schema_fields
from toolflow_bench.probing.score import Score, field_rate, missed, score_effects, score_tool
from toolflow_bench.probing.strip import strip
from toolflow_bench.probing.truth import ToolTruth, links_of
from toolflow_bench.probing.values import values_at


def thing(**properties):
    return {"type": "object", "properties": properties}


TEXT, WHOLE, NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}
DECLARED = ToolProtocol(
    name="list_cities",
    description="Cities of a country.",
    category="cities",
    input_schema={
        "type": "object",
        "properties": {
            "country": {"type": "string", "pattern": "^[A-Z]{2}$", "description": "Two letters."},
            "order": {"type": "string", "enum": ["name", "size"], "default": "name"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 50},
        },
        "required": ["country"],
    },
    output_schema={
        "$ref": "#/$defs/Page",
        "$defs": {
            "Page": thing(cities={"type": "array", "items": {"$ref": "#/$defs/City"}}, total=WHOLE),
            "City": thing(name=TEXT, area={"type": ["number", "null"]}),
        },
    },
    binding=HttpBinding(
        method="GET",
        url="https://api.example.org/countries/{country}/cities",
        locations={"country": "path", "order": "query", "limit": "query"},
        idempotency_header="Idempotency-Key",
    ),
    annotations=Annotations(read_only=True),
    errors=tuple(ErrorOutcome(status=status) for status in ("404", "422", "500")),
    links=(Link(argument="country", tool="list_countries", path="countries[].code", support="declared"),),
)
ANSWERS = (
    {"cities": [{"name": "Oslo", "area": 480.5}, {"name": "Bergen", "area": None}], "total": 2},
    {"cities": [], "total": 0},
)
TRUTH = ToolTruth(DECLARED, ANSWERS)


def probed(**changes):
    output = thing(cities={"type": "array", "items": thing(name=TEXT, area=NUMBER)}, total=WHOLE)
    return replace(DECLARED, **{"output_schema": output, **changes})


# --- fields


def test_fields_of_schemas_and_of_responses_are_spelled_alike():
    wanted = {
        ("cities", "array"),
        ("cities[]", "object"),
        ("cities[].name", "string"),
        ("cities[].area", "number"),
        ("total", "integer"),
    }
    assert pairs(schema_fields(DECLARED.output_schema)) == wanted
    assert pairs(response_fields(ANSWERS)) == wanted


def test_maps_have_one_field_for_all_keys():
    schema = thing(rates={"type": "object", "additionalProperties": NUMBER})
    assert map_paths(schema) == {"rates"}
    seen = response_fields([{"rates": {"USD": 1.5, "EUR": 2}}], maps=map_paths(schema))
    assert pairs(seen) == pairs(schema_fields(schema)) == {("rates", "object"), ("rates.*", "number")}
    whole = {"type": "object", "additionalProperties": TEXT}
    assert pairs(response_fields([{"a": "b"}], maps=map_paths(whole))) == {("*", "string")}


def test_alternatives_and_recursion_come_to_an_end():
    node = {"type": "object", "properties": {"next": {"$ref": "#"}, "id": {"anyOf": [TEXT, WHOLE, {"type": "null"}]}}}
    found = schema_fields(node)
    assert found["id"] == {"string", "integer", "null"}
    assert pairs({"id": found["id"]}) == {("id", "string"), ("id", "integer")}


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        (None, False),
        ({}, False),
        (thing(cities={"type": "array"}), False),
        (thing(cities={"type": "array", "items": thing(gone={"type": "null"})}), False),
        (thing(cities={"type": "array", "items": TEXT}), True),
        (TEXT, True),
    ],
)
def test_a_schema_that_only_wraps_documents_nothing(schema, says):
    assert says_something(schema) is says


def test_values_at_a_path():
    response = {"rows": [{"id": 1}, {"id": 2, "tags": ["a"]}, {}], "by": {"x": {"n": 5}}}
    assert values_at(response, "rows[].id") == [1, 2]
    assert values_at(response, "rows[].tags[]") == ["a"]
    assert values_at(response, "by.*.n") == [5]
    assert values_at(["a", "b"], "[]") == ["a", "b"]
    assert values_at(response, "rows") == []


# --- counts


def test_rates_add_up_and_know_when_there_is_nothing():
    rate = Rate.of({1, 2, 3}, {2, 3, 4, 5}) + Rate(0, 0, 1)
    assert (rate.right, rate.said, rate.wanted) == (2, 3, 5)
    assert rate.as_json() == {"right": 2, "said": 3, "wanted": 5, "precision": 0.6667, "recall": 0.4}
    assert (Rate().precision, Rate().recall, Share().share) == (None, None, None)
    assert (percent(None), percent(0.5)) == ("–", "50.0%")


def test_a_type_that_the_census_could_not_see_is_not_held_against_anyone():
    true = {"a": frozenset({"null"}), "b": frozenset({"string"})}
    said = {"a": frozenset({"number"}), "b": frozenset({"integer"}), "c": frozenset({"null"})}
    rate = field_rate(said, true)
    assert (rate.right, rate.said, rate.wanted) == (1, 3, 2)
    assert missed(said, true) == (["b: integer", "c: null"], ["b: string"])


# --- a tool's score


def test_a_perfect_protocol_scores_full_marks():
    score = score_tool(probed(output_schema=DECLARED.output_schema), TRUTH)
    for rate in (score.seen, score.seen_paths, score.declared, score.nullable, score.enum_values, score.errors):
        assert rate.right == rate.said == rate.wanted > 0
    for share in (score.documented, score.documented_of_seen, score.required, score.argument_types, score.replies):
        assert share.right == share.of > 0
    assert score.keywords["enum"] == score.keywords["default"] == score.keywords["pattern"] == Rate(1, 1, 1)
    assert score.errors == Rate(2, 2, 2)  # 500 is not a caller's to bring about
    assert score.required_beyond_path == Share(2, 2)


def test_integer_for_number_is_wrong_and_a_null_that_was_not_seen_breaks_replies():
    items = {"type": "array", "items": thing(name=TEXT, area=WHOLE)}
    score = score_tool(probed(output_schema=thing(cities=items, total=WHOLE)), TRUTH)
    assert (score.seen.right, score.seen.said, score.seen.wanted) == (4, 5, 5)
    assert score.seen_paths == Rate(5, 5, 5)
    assert score.nullable == Rate(0, 0, 1)
    assert score.replies == Share(1, 2)


def test_arguments_are_judged_one_by_one():
    found = {
        "country": {"type": "string"},
        "order": {"type": "string", "enum": ["size", "name", "age"]},
        "limit": {"type": ["string", "null"]},
    }
    schema = {"type": "object", "properties": found, "required": ["country", "limit"]}
    score = score_tool(probed(input_schema=schema), TRUTH)
    assert score.required == Share(2, 3)
    assert score.required_needed == Share(1, 1)
    assert score.required_beyond_path == Share(1, 2)
    assert score.argument_types == Share(2, 3)
    assert score.keywords["enum"] == Rate(0, 1, 1)
    assert score.enum_values == Rate(2, 3, 2)
    assert score.keywords["maximum"] == Rate(0, 0, 1)


def test_errors_of_either_side():
    score = score_tool(probed(errors=(ErrorOutcome(status="404"), ErrorOutcome(status="409"))), TRUTH)
    assert score.errors == Rate(1, 2, 2)
    assert score.errors_by_status == {"404": Rate(1, 1, 1), "409": Rate(0, 1, 0), "422": Rate(0, 0, 1)}


def test_an_enum_of_a_response_that_the_census_contradicts_is_wrong():
    items = {"type": "array", "items": thing(name={"enum": ["Oslo"]}, area={"type": ["number", "null"]})}
    score = score_tool(probed(output_schema=thing(cities=items, total={"enum": [0, 2]})), TRUTH)
    assert score.response_enums == Share(1, 2)


def test_a_tool_that_probing_knows_nothing_of_is_missing_in_every_figure():
    score = score_tool(None, TRUTH)
    assert (score.documented, score.required, score.replies) == (Share(0, 1), Share(0, 3), Share(0, 2))
    assert (score.seen, score.errors) == (Rate(0, 0, 5), Rate(0, 0, 2))
    empty = score_tool(None, ToolTruth(DECLARED, ({"cities": [], "total": None},)))
    assert empty.documented_of_seen == Share()


def test_scores_add_up():
    one = score_tool(probed(), TRUTH)
    both = Score.total([one, one])
    assert both.seen == one.seen + one.seen
    assert both.keywords["enum"].wanted == 2
    assert both.errors_by_status["404"] == Rate(2, 2, 2)
    assert both.as_json()["documented"] == {"right": 2, "of": 2, "share": 1.0}


def test_links_that_were_guessed_or_lead_out_do_not_count():
    countries = ToolProtocol(name="list_countries")
    found = replace(
        DECLARED,
        links=(
            *DECLARED.links,
            Link(argument="country", tool="list_countries", path="x", support="guessed"),
            Link(argument="country", tool="elsewhere", path="x", support="observed"),
        ),
    )
    assert links_of([found, countries]) == {("list_countries", "countries[].code", "list_cities", "country")}


def test_only_effects_that_the_document_states_are_judged():
    tools = {"a": TRUTH, "b": ToolTruth(replace(DECLARED, annotations=Annotations(read_only=False, destructive=True)))}
    said = {"a": probed(annotations=Annotations(read_only=True, destructive=True)), "b": probed()}
    assert score_effects(said, tools, "read_only") == Share(1, 2)
    assert score_effects(said, tools, "destructive") == Share(0, 1)
    assert score_effects(said, tools, "idempotent") == Share()
    assert score_effects(said, tools, "read_only", of_writes=True) == Share(0, 1)


# --- what a prober is given


def test_only_names_and_places_are_left():
    [bare] = strip([DECLARED], "names")
    assert bare.parameters == {"country": {}, "order": {}, "limit": {}}
    assert bare == ToolProtocol(
        name="list_cities",
        input_schema={"type": "object", "properties": {"country": {}, "order": {}, "limit": {}}},
        binding=replace(DECLARED.binding, idempotency_header=None),
        annotations=Annotations(read_only=True),
    )
    [typed] = strip([DECLARED], "types")
    assert typed.parameters == {"country": TEXT, "order": TEXT, "limit": WHOLE}


def test_what_is_no_get_is_not_called_a_read():
    deleting = replace(DECLARED, binding=replace(DECLARED.binding, method="DELETE"), annotations=Annotations())
    assert strip([deleting], "names")[0].annotations == Annotations()
