"""Formats that the examples or the description of a document contradict."""

import pytest

from protocols.sources.openapi import read_openapi
from protocols.sources.shown_formats import with_shown_formats

MOMENT = {"type": "string", "format": "date-time"}
EITHER = {
    "type": "string",
    "anyOf": [{"type": "string", "format": "date"}, {"type": "string", "format": "date-time"}],
}


def shown(schema):
    """The schema without its evidence."""
    found = with_shown_formats(schema)
    return {key: part for key, part in found.items() if key in ("type", "format", "anyOf")}


@pytest.mark.parametrize(
    "evidence",
    [
        {"examples": ["2008-01-02"]},
        {"examples": ["2008-01-02T10:00:00Z", "2008-01-02"]},
        {"default": "2008-01-02"},
        {"description": "Specify a date as `YYYY-MM-DD` in UTC."},
        {"description": "Only calls of this day, for example: 2009-07-06."},
    ],
)
def test_a_shown_date_is_accepted(evidence):
    assert shown({**MOMENT, **evidence}) == EITHER


def test_a_shown_time_widens_a_date():
    described = "Such as `2009-07-06T10:00:00Z`."
    assert shown({"type": "string", "format": "date", "description": described}) == EITHER


@pytest.mark.parametrize(
    "evidence",
    [
        {"examples": ["06/11/2019 22:05:25 MST"]},
        {"examples": [1714521600]},
        {"description": "A Unix timestamp, or a date and time."},
    ],
)
def test_another_form_ends_the_format(evidence):
    assert shown({**MOMENT, **evidence}) == {"type": "string"}


@pytest.mark.parametrize(
    "schema",
    [
        MOMENT,
        {**MOMENT, "examples": ["2008-01-02T10:00:00Z", "string", ""]},
        {**MOMENT, "description": "Since version 2009-07-06. Format: YYYY-MM-DDThh:mm:ssZ."},
        {**MOMENT, "description": "May be the start of the UNIX epoch."},
        {"type": "string", "format": "email", "examples": ["no address"]},
        {"type": "integer", "format": "date-time", "examples": [5]},
    ],
)
def test_a_format_without_contradiction_stays(schema):
    assert with_shown_formats(schema) == schema


def test_evidence_outside_a_list_counts_inside():
    schema = {"type": "array", "items": MOMENT, "examples": [["2008-01-02"]]}
    assert with_shown_formats(schema)["items"] == EITHER
    described = {"type": "array", "items": MOMENT, "description": "Days as YYYY-MM-DD."}
    assert with_shown_formats(described)["items"] == EITHER


def test_parameters_and_fields_show_their_formats():
    example = {"from": {"value": "2008-01-02"}}
    field = {**MOMENT, "nullable": True, "description": "YYYY-MM-DD"}
    body = {"type": "object", "properties": {"on": field, "id": {"type": "string"}}}
    operation = {
        "parameters": [{"name": "since", "in": "query", "schema": MOMENT, "examples": example}],
        "requestBody": {"content": {"application/json": {"schema": body}}},
        "responses": {"200": {"content": {"application/json": {"schema": body}}}},
    }
    document = {"openapi": "3.0.0", "servers": [{"url": "https://a.example"}]}
    (tool,) = read_openapi(document | {"paths": {"/x": {"post": operation}}}, where="doc.json")
    assert tool.parameters["since"]["anyOf"] == EITHER["anyOf"]
    kinds = [one["type"] for one in tool.parameters["on"]["anyOf"]]
    assert kinds == [["string", "null"]] * 2
    assert tool.output_schema["properties"]["on"]["format"] == "date-time"
