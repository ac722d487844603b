"""What the check reads from the documents of others."""

import json

import pytest

from atc.core.program import Program
from atc.pipeline.check import check
from protocols.render import stubs
from protocols.sources import load_tools
from protocols.toolbox import Toolbox
from tests.labs.tools import tool

FEATURE = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "geometry": {"type": "object"},
        "properties": {"type": "object"},
    },
    "additionalProperties": False,
}
COLLECTION = {
    "type": "object",
    "properties": {
        "features": {"type": "array", "items": {"$ref": "#/components/schemas/Feature"}}
    },
}
ALERT = {"type": "object", "properties": {"event": {"type": "string"}}}
ALERTS = {
    "allOf": [
        {"$ref": "#/components/schemas/Collection"},
        {
            "type": "object",
            "properties": {
                "features": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"properties": {"$ref": "#/components/schemas/Alert"}},
                    },
                }
            },
        },
    ]
}


SHOWN = {"features": [{"id": "a"}, {"id": "b", "bbox": [1]}], "next": {"url": "/2"}}


def load(tmp_path, response, *, arguments=(), error=None, **components):
    """Return the tool `get_it`, whose response has a schema, and examples beside it.

    Its `arguments` take any value; `error` is the schema of its `default` response.
    """
    responses = {"200": {"description": "ok", "content": {"application/json": response}}}
    if error is not None:
        content = {"application/json": {"schema": error}}
        responses["default"] = {"description": "an error", "content": content}
    document = {
        "openapi": "3.0.3",
        "info": {"title": "things", "version": "1"},
        "servers": [{"url": "http://127.0.0.1:9"}],
        "paths": {
            "/it": {
                "get": {
                    "operationId": "get_it",
                    "parameters": [
                        {"name": name, "in": "query", "schema": {}} for name in arguments
                    ],
                    "responses": responses,
                }
            }
        },
        "components": {"schemas": components},
    }
    file = tmp_path / "things.json"
    file.write_text(json.dumps(document))
    return load_tools(str(file))


def missing(tools, program):
    return [one.message for one in check(Program(program), tools) if one.certain]


def test_items_keep_the_keys_of_both_schemas(tmp_path):
    tools = load(tmp_path, {"schema": ALERTS}, Collection=COLLECTION, Feature=FEATURE, Alert=ALERT)
    first = 'one = get_it()["features"][0]\n'
    assert not missing(
        tools, first + 'print(one["id"], one["geometry"], one["properties"]["event"])'
    )
    assert len(missing(tools, first + 'print(one["ident"], one["properties"]["evnt"])')) == 2
    assert "geometry: dict" in stubs(tools)


@pytest.mark.parametrize(
    "response",
    [
        {"schema": {"$ref": "#/components/schemas/Collection"}, "example": SHOWN},
        {
            "schema": {"$ref": "#/components/schemas/Collection"},
            "examples": {"usual": {"value": SHOWN}},
        },
        {"schema": {"allOf": [{"$ref": "#/components/schemas/Collection"}], "example": SHOWN}},
    ],
)
def test_keys_of_the_documents_examples_exist(tmp_path, response):
    tools = load(tmp_path, response, Collection=COLLECTION, Feature=FEATURE)
    first = 'it = get_it()\none = it["features"][0]\n'
    assert not missing(tools, first + 'print(it["next"]["url"], one["bbox"][0])')
    assert len(missing(tools, first + 'print(it["nxt"], one["bounds"])')) == 2


def test_an_empty_property_name_opens_a_schema(tmp_path):
    schema = {"type": "object", "properties": {"": {"type": "object"}, "page": {"type": "integer"}}}
    assert not missing(load(tmp_path, {"schema": schema}), 'print(get_it()["results"])')


ROWS = {"type": "array", "items": FEATURE}


def test_a_page_with_an_envelope_keeps_its_items(tmp_path):
    tools = load(tmp_path, {"schema": ROWS}, arguments=["per_page"])
    for read in ('rows["data"]', 'rows.get("data", [])'):
        rows = f'rows = get_it(per_page=5)\nfor one in {read}:\n    print(one["id"], one["ident"])'
        envelope, key = missing(tools, rows)
        assert "is a list" in envelope
        assert "'ident'" in key
    whole = load(tmp_path, {"schema": ROWS})
    assert len(missing(whole, 'print(get_it()["data"][0]["ident"])')) == 1


@pytest.mark.parametrize(
    ("read", "certain"),
    [
        ('get_it().get("download", [])', False),
        ('get_it().get("geometri", {})', True),
        ('get_it().get("download")', True),
    ],
)
def test_a_default_for_a_missing_key_is_noted(tmp_path, read, certain):
    found = check(Program(f"print({read})"), load(tmp_path, {"schema": FEATURE}))
    assert [one.certain for one in found] == [certain]


ACCEPTED = {"type": "object", "properties": {"ok": {"enum": [True]}, "ts": {"type": "string"}}}
REFUSED = {"type": "object", "properties": {"ok": {"enum": [False]}, "error": {"type": "string"}}}


@pytest.mark.parametrize(
    ("test", "refused", "accepted"),
    [
        ('not it["ok"]', "yes", "no"),
        ('it.get("ok")', "no", "yes"),
        ('it["ok"] is False', "yes", "no"),
        ('it["ok"] != True', "yes", "no"),
    ],
)
def test_a_refuted_constant_means_the_documented_error(tmp_path, test, refused, accepted):
    tools = load(tmp_path, {"schema": ACCEPTED}, error=REFUSED)
    program = "it = get_it()\nprint({yes} if {test} else {no})"
    error, time = 'it["error"]', 'it["ts"]'
    right = program.format(test=test, **{refused: error, accepted: time})
    assert not missing(tools, right)
    wrong = program.format(test=test, **{refused: time, accepted: error})
    assert len(missing(tools, wrong)) == 2
    undocumented = load(tmp_path, {"schema": ACCEPTED})
    kept = 'it = get_it()\nok = it["ok"]\nprint(it["ts"] if ok else it["error"])'
    assert not missing(tools, kept)
    assert not missing(undocumented, 'it = get_it()\nprint(it["ok"] or it["reason"])')


TEXT = {"type": "string"}
PERSON = {"type": "object", "properties": dict.fromkeys(["id", "summary", "email", "name"], TEXT)}
REFERENCE = {"type": "object", "properties": dict.fromkeys(["id", "summary"], TEXT)}
SHIFT = {
    "type": "object",
    "properties": {
        "user": {"$ref": "#/components/schemas/Reference"},
        "deputy": {"$ref": "#/components/schemas/User"},
        "team": TEXT,
        "weather": {"type": "object", "properties": {"rain": TEXT}},
    },
}


@pytest.mark.parametrize(
    ("read", "certain"),
    [
        ('get_it(include="all")["shift"]', False),
        ('get_it(append_to_response="notes,calls")["calls"]', False),
        ('get_it(include=["note"])["notes"]', False),
        ('get_it(include=",".join(["note", "call"]))["calls"]', False),
        ('get_it(include=",".join(["note", "call"]))["users"]', True),
        ('get_it(include=",".join(["note", str(1)]))["users"]', False),
        ('get_it(model="icon")["weather"]["rain_icon"]', False),
        ('get_it(model="icon")["weather"]["wind"]', True),
        ('get_it(order="wind")["weather"]["wind"]', True),
        ('get_it(include="team")["team"]["name"]', False),
        ('get_it(model="team")["team"]["name"]', True),
        ('get_it(include="users")["user"]["email"]', False),
        ('get_it(include="users")["user"]["mail"]', True),
        ('get_it(model="users")["user"]["email"]', True),
        ('get_it(include="users")["shift"]', True),
        ('get_it(with_phone=True)["user"]["phone"]', False),
        ('get_it(with_phone=False)["user"]["phone"]', True),
    ],
)
def test_a_call_may_name_keys_of_its_response(tmp_path, read, certain):
    arguments = ["include", "append_to_response", "model", "order", "with_phone"]
    shift = {"schema": SHIFT}
    tools = load(tmp_path, shift, arguments=arguments, User=PERSON, Reference=REFERENCE)
    found = check(Program(f"print({read})"), tools)
    assert [one.certain for one in found] == [certain]


@pytest.mark.parametrize("shown", [5, {"properties": 5}, {"type": [[]]}, {"$ref": "#"}])
def test_broken_examples_never_break_the_check(tmp_path, shown):
    protocol = tool("get_it", None, output={**FEATURE, "x-atc-shown-fields": shown})
    assert len(missing(Toolbox([protocol]), 'print(get_it()["ident"])')) == 1
    read = {"schema": {**FEATURE, "x-atc-shown-fields": shown, "example": {"bbox": [1]}}}
    assert not missing(load(tmp_path, read), 'print(get_it()["bbox"])')
