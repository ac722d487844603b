"""The file format: what is written is read again, what is wrong is named with its place."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.documentation import docs_page
from protocols.errors import InvalidProtocol
from protocols.protocol import (
    DOCUMENT_SCHEMA,
    Annotations,
    ErrorOutcome,
    Evidence,
    Example,
    HttpBinding,
    Link,
    McpBinding,
    PythonBinding,
    ToolProtocol,
    dump,
    load,
)
from tests.labs.paths import ROOT

names = st.text(min_size=1, max_size=8)
texts = st.text(max_size=20)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(texts, json_values, max_size=3)
hints = st.none() | st.booleans()
levels = st.sampled_from(["declared", "observed", "guessed"])
places = st.sampled_from(["path", "query", "header", "cookie", "body", "form"])
http = st.builds(
    HttpBinding,
    method=st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]),
    url=st.sampled_from(
        ["https://a.example/x/{id}", "http://127.0.0.1:8000", "https://a.example?x={y}"]
    ),
    locations=st.dictionaries(names, places, max_size=3),
    wire_names=st.dictionaries(names, names, max_size=2),
    body_argument=st.none() | names,
    accept=st.sampled_from([(), ("text/csv",), ("application/vnd.a.v1+json", "image/png")]),
    credentials=st.lists(names, max_size=2).map(tuple),
    idempotency_header=st.none() | names,
)
input_schemas = st.builds(
    lambda properties: {
        "type": "object",
        "properties": {k: {"default": v} for k, v in properties.items()},
    },
    objects,
)
known = set(DOCUMENT_SCHEMA["properties"])
protocols = st.builds(
    ToolProtocol,
    name=names,
    title=texts,
    description=texts,
    input_schema=input_schemas,
    output_schema=st.none() | objects,
    annotations=st.builds(Annotations, read_only=hints, destructive=hints, idempotent=hints),
    binding=st.none()
    | http
    | st.builds(PythonBinding, module=texts, function=texts)
    | st.builds(McpBinding, server=texts, tool=texts),
    errors=st.lists(
        st.builds(ErrorOutcome, status=texts, description=texts, schema=st.none() | objects),
        max_size=2,
    ).map(tuple),
    examples=st.lists(
        st.builds(Example, question=texts, program=texts, arguments=objects, result=json_values),
        max_size=2,
    ).map(tuple),
    links=st.lists(
        st.builds(Link, argument=texts, tool=texts, path=texts, support=levels), max_size=2
    ).map(tuple),
    category=texts,
    collection=texts,
    evidence=st.builds(
        Evidence,
        level=levels,
        observations=st.integers(0, 9),
        fields=st.dictionaries(texts, st.integers(0, 9), max_size=2),
    ),
    extra=objects.filter(lambda extra: not known & extra.keys()),
)


@given(protocols)
def test_what_is_dumped_is_loaded_again(protocol):
    assert load(dump(protocol)) == protocol


def test_unknown_keys_survive_where_others_put_them():
    document = {
        "name": "a",
        "inputSchema": {"type": "object", "properties": {}},
        "annotations": {"readOnlyHint": True, "openWorldHint": False, "title": "A"},
        "_meta": {"vendor": [1, None]},
        "icons": [],
    }
    assert dump(load(document)) == document


HTTP = {"method": "GET", "url": "https://a.example/x"}


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ({}, ""),
        ({"name": ""}, "name"),
        ({"name": "a", "inputSchema": {"properties": {"x": 5}}}, "inputSchema.properties.x"),
        ({"name": "a", "binding": {"ftp": {}}}, "binding"),
        ({"name": "a", "binding": {"http": HTTP, "mcp": {"server": "s", "tool": "t"}}}, "binding"),
        (
            {"name": "a", "binding": {"http": {**HTTP, "url": "https://{host}/x"}}},
            "binding.http.url",
        ),
        (
            {"name": "a", "binding": {"http": {**HTTP, "locations": {"x": "body text"}}}},
            "binding.http.locations.x",
        ),
        ({"name": "a", "binding": {"http": {**HTTP, "password": "p"}}}, "binding.http"),
    ],
)
def test_a_bad_document_is_refused_with_its_place(document, path):
    with pytest.raises(InvalidProtocol) as caught:
        load(document, where="folder/a.json")
    assert caught.value.path == path
    assert str(caught.value).startswith("folder/a.json")
    assert docs_page("reference/protocols#the-format") in str(caught.value)


def test_the_documented_example_loads():
    text = (ROOT / "docs" / "reference" / "protocols.md").read_text()
    document = json.loads(re.search(r"```json\n(.*?)```", text, re.DOTALL)[1])
    protocol = load(document)
    assert dump(protocol) == document
    assert document.keys() == known
    assert {field for field in HttpBinding.__slots__ if getattr(protocol.binding, field)} == {
        "method", "url", "locations", "wire_names", "credentials"
    }  # fmt: skip
