"""Parameters that may be repeated although their document declares one value."""

import pytest

from protocols.http.request import RequestBuilder
from protocols.protocol import HttpBinding
from protocols.sources.openapi import read_openapi
from sandbox.arguments import BadArguments, contract

TEXT = {"type": "string", "enum": ["open", "done"]}


def read(parameter, **document):
    """The tool with this query parameter."""
    document = {"openapi": "3.0.0", "servers": [{"url": "https://a.example"}], **document}
    operation = {"parameters": [{"name": "state", "in": "query", **parameter}]}
    (tool,) = read_openapi(
        document | {"paths": {"/x": {"get": operation}}}, where="doc.json", base_url=None
    )
    return tool


def sent(tool, value):
    """The query with this value."""
    assert isinstance(tool.binding, HttpBinding)
    accepted = contract(tool).accept({"state": value})
    named = {contract(tool).arguments[alias]: one for alias, one in accepted.items()}
    return RequestBuilder(tool, tool.binding).build(named).url.partition("?")[2]


@pytest.mark.parametrize(
    ("parameter", "query"),
    [
        ({"name": "state[]", "schema": TEXT}, "state%5B%5D=open&state%5B%5D=done"),
        (
            {"explode": True, "schema": {**TEXT, "uniqueItems": True}},
            "state=open&state=done",
        ),
        ({"explode": False, "schema": {**TEXT, "maxItems": 2}}, "state=open%2Cdone"),
        ({"style": "pipeDelimited", "schema": TEXT}, "state=open%7Cdone"),
        (
            {"style": "pipeDelimited", "explode": True, "schema": TEXT},
            "state=open&state=done",
        ),
        ({"schema": TEXT, "description": "Array of states."}, "state=open&state=done"),
        (
            {"schema": TEXT, "description": "To ask for two, pass `state` more than once."},
            "state=open&state=done",
        ),
        (
            {"schema": TEXT, "description": "Can be specified multiple times."},
            "state=open&state=done",
        ),
    ],
)
def test_a_parameter_of_several_values_takes_lists(parameter, query):
    tool = read(parameter)
    assert sent(tool, ["open", "done"]) == query
    assert sent(tool, "open") == query.replace("%7Cdone", "").replace("%2Cdone", "").split("&")[0]
    with pytest.raises(BadArguments, match=r"'state\[1\]' must be one of 'open', 'done'"):
        sent(tool, ["open", "closed"])


def test_swagger_joins_lists_by_commas():
    several = {**TEXT, "description": "An array of states."}
    parts = {"swagger": "2.0", "host": "a.example", "schemes": ["https"]}
    assert sent(read(several, **parts), ["open", "done"]) == "state=open%2Cdone"
    for form, joint in {"multi": "&state=", "ssv": "%20", "tsv": "%09", "pipes": "%7C"}.items():
        tool = read({**several, "collectionFormat": form}, **parts)
        assert sent(tool, ["open", "done"]) == f"state=open{joint}done"


@pytest.mark.parametrize(
    "parameter",
    [
        {"schema": TEXT},
        {"schema": {**TEXT, "uniqueItems": False}},
        {"schema": TEXT, "description": "An array of states, separated by commas."},
        {"schema": TEXT, "description": "A JSON-based array of states."},
        {"name": "state[]", "content": {"application/json": {"schema": TEXT}}},
    ],
)
def test_one_value_stays_one_without_evidence(parameter):
    with pytest.raises(BadArguments, match=r"must be"):
        sent(read(parameter), ["open", "done"])


def test_the_default_and_the_text_stay_outside():
    schema = {"type": "string", "default": "open", "minItems": 1}
    (shown,) = read({"schema": schema, "description": "States."}).parameters.values()
    one = {"type": "string"}
    assert shown == {
        "default": "open",
        "description": "States.",
        "anyOf": [one, {"type": "array", "items": one, "minItems": 1}],
    }
