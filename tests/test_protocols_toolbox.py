"""Tools by alias: immutable, found by either name, unwrapped by their protocol."""

import pytest

from protocols.errors import InvalidProtocol, UnknownTool
from protocols.protocol import ToolProtocol
from protocols.toolbox import Tool, Toolbox
from protocols.words import alike


def tool(name, source="s", **parts):
    return Tool(ToolProtocol(name=name, **parts), lambda arguments: arguments, source=source)


BOX = Toolbox([tool("read-file"), tool("list"), tool("search", "books"), tool("search", "films")])


@pytest.mark.parametrize("name", ["read_file", "read-file"])
def test_find_takes_either_name(name):
    assert BOX.find(name).protocol.name == "read-file"


def test_a_name_of_two_tools_is_not_found_but_both_are_suggested():
    with pytest.raises(UnknownTool) as caught:
        BOX.find("search")
    assert set(caught.value.suggestions) == {"books_search", "films_search"}


def test_only_keeps_aliases_and_order():
    chosen = BOX.only(["films_search", "read-file"])
    assert list(chosen) == ["films_search", "read_file"]
    assert len(BOX) == 4


def test_one_name_twice_in_one_source_is_an_error():
    with pytest.raises(InvalidProtocol, match=r"^s: two tools are named 'a'\. Rename one"):
        Toolbox([tool("a"), tool("a")])


def test_arguments_by_alias_and_back():
    one = tool("a", input_schema={"properties": {"from": {}, "air-port": {}, "n": {}}, "required": ["from", "n"]})
    assert dict(one.arguments) == {"from_": "from", "air_port": "air-port", "n": "n"}
    assert one.required == {"from_", "n"}
    assert one.original({"from_": 1, "air_port": 2, "other": 3}) == {"from": 1, "air-port": 2, "other": 3}


@pytest.mark.parametrize(
    ("schema", "response", "seen"),
    [
        ({"type": "object", "properties": {"rows": {}}, "required": ["rows"]}, {"rows": [1], "new": 2}, [1]),
        ({"type": "object", "properties": {"rows": {}}, "required": ["rows"]}, {"other": 1}, {"other": 1}),
        ({"type": "object", "properties": {"rows": {}}}, {"rows": [1]}, {"rows": [1]}),
        ({"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a"]}, {"a": 1}, {"a": 1}),
        (
            {"type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": True},
            {"a": 1},
            {"a": 1},
        ),
        ({"$ref": "#/$defs/R", "$defs": {"R": {"properties": {"a": {}}, "required": ["a"]}}}, {"a": 1}, 1),
    ],
)
def test_a_single_required_field_is_unwrapped_by_the_protocol_alone(schema, response, seen):
    assert tool("a", output_schema=schema).unwrap(response) == seen


def test_the_same_noun_is_meant_rather_than_the_same_letters():
    assert alike("fetch_order", ["fetch_other", "get_order", "fetch_user"])[0] == "get_order"
    assert alike("get_item", ["get_time", "get_item_items__item_id__get"])[0] == "get_item_items__item_id__get"
