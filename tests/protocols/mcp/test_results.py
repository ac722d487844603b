"""Results of MCP tools reach the program whole, in the form that their schema declares."""

import pytest

from protocols.errors import ToolError
from protocols.files import file_of_bytes
from protocols.mcp.results import find_lost_parts, read_contents, read_result, text_value

META = {"path": "a.md"}
IMAGE = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
SHOWN = file_of_bytes(bytes(3), "image.png", "image/png")


def text(value):
    return {"type": "text", "text": value}


def value_of(result, schema=None, *, is_declared=False):
    return read_result(result, schema, is_declared=is_declared, failed="unknown")


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ({"structuredContent": {"n": 1}}, {"n": 1}),
        ({"structuredContent": [1]}, [1]),
        ({"structuredContent": 0, "content": None}, 0),
        ({"structuredContent": None, "content": [text("a")]}, "a"),
        ({"content": [text("a"), text("b")], "isError": "false"}, ["a", "b"]),
        ({"content": "a"}, "a"),
        ({"content": ["a"]}, "a"),
        ({"content": {"n": 1}}, {"n": 1}),
        ({"content": text("[1]")}, [1]),
        ({"content": [{"type": "text", "text": {"n": 1}}]}, {"n": 1}),
        ({"content": [{"text": "a"}]}, "a"),
        ({"content": [{"text": "a", "n": 1}]}, {"text": "a", "n": 1}),
        ({"content": [{"type": "json", "json": {"n": 1}}]}, {"n": 1}),
        ({"content": [{"type": "table", "head": [1], "rows": []}]}, {"head": [1], "rows": []}),
        ({"content": [{"type": "resource_link", "uri": "a:b", "name": "b", "_meta": {}}]},
         {"type": "resource_link", "uri": "a:b", "name": "b"}),
        ({"total": 36, "_meta": {"x": 1}}, {"total": 36}),
        ({}, None),
    ],
)  # fmt: skip
def test_odd_results_are_read(result, expected):
    assert value_of(result) == expected


@pytest.mark.parametrize(
    ("content", "structured", "expected"),
    [
        ([text("# A")], META, {"structured": META, "text": "# A"}),
        ([text('{"path":"a.md"}')], META, META),
        (
            [text('{"n": 1}'), text('{"n": 2}')],
            {"result": [{"n": 1}, {"n": 2}]},
            {"result": [{"n": 1}, {"n": 2}]},
        ),
        ([text("3")], {"result": 3}, {"result": 3}),
        ([text("plain\n")], {"result": "plain"}, {"result": "plain"}),
        ([text("a"), text("b")], META, {"structured": META, "text": ["a", "b"]}),
        ([text("")], META, META),
        ([IMAGE], META, {"structured": META, "content": [SHOWN]}),
    ],
)
def test_text_beside_structured_content(content, structured, expected):
    result = {"content": content, "structuredContent": structured}
    assert value_of(result) == expected
    assert value_of(result, {"type": "object"}, is_declared=True) == structured


def test_what_a_declared_form_loses_is_named():
    result = {"content": [text("There is 1."), IMAGE], "structuredContent": META, "total": 1}
    assert find_lost_parts(result, is_declared=True) == (
        "the text beside its structured answer",
        "the images, files or other blocks beside its structured answer",
        "the further fields 'total'",
    )
    assert find_lost_parts({**result, "total": 1}, is_declared=False) == (
        "the further fields 'total'",
    )
    assert find_lost_parts({"total": 1}, is_declared=False) == ()
    inside = {"content": [text("a "), IMAGE], "structuredContent": {"content": ["a", IMAGE]}}
    assert find_lost_parts(inside, is_declared=True) == ()


@pytest.mark.parametrize(
    "sent", ["3.10", "007", "1e5", "true", "null", '"quoted"', " 42 ", "{broken", "NaN"]
)
def test_text_stays_text(sent):
    assert text_value(sent, None) == sent
    assert text_value(sent, {"type": ["string", "number", "null"]}) == sent


@pytest.mark.parametrize(
    ("sent", "schema", "expected"),
    [
        ("3.10", {"type": "number"}, 3.1),
        ("42", {"type": "number"}, 42),
        ("4.2", {"type": "integer"}, "4.2"),
        ("42", {"properties": {"n": {"type": "number"}}, "required": ["n"]}, 42),
        ("true", {"anyOf": [{"type": "boolean"}, {"type": "null"}]}, True),
        ("[1]", {"type": "string"}, "[1]"),
        ("[1]", {"type": ["string", "null"]}, "[1]"),
        (' {"a": 1}', None, {"a": 1}),
    ],
)
def test_a_schema_decides_about_text(sent, schema, expected):
    assert text_value(sent, schema) == expected


@pytest.mark.parametrize(
    ("result", "says"),
    [
        ({"isError": True, "structuredContent": {"reason": "closed"}}, "closed"),
        ({"isError": "true", "content": "no such note"}, "no such note"),
        ({"isError": 1, "content": [{"type": "json", "json": {"code": "E1"}}]}, "E1"),
        ({"isError": True, "reason": "closed"}, "closed"),
        ({"isError": True}, "no explanation"),
        ({"resultType": "input_required"}, "asks for further input"),
    ],
)
def test_an_error_is_an_error_in_any_form(result, says):
    with pytest.raises(ToolError) as caught:
        value_of(result)
    assert says in caught.value.body


def test_contents_of_a_resource():
    one = {"uri": "a:b", "mimeType": "text/plain", "text": "3.10"}
    assert read_contents({"contents": [one]}) == "3.10"
    assert read_contents({"contents": [{**one, "text": '{"a": 1}'}]}) == {"a": 1}
    assert read_contents({"contents": [one, {"uri": "a:c", "blob": "AAECAw=="}]}) == [
        {"type": "resource", **one},
        file_of_bytes(b"\0\1\2\3", "resource"),
    ]
