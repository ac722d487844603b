"""The APIs that queries are made of: toolboxes, StableToolBench's templates, and responses made up of them."""

import json

import pytest

from protocols.errors import ToolError
from protocols.protocol import Annotations, ToolProtocol
from protocols.toolbox import Tool, Toolbox
from toolflow_bench.anytoolbench.pool import CallFailed, TooFewApis, pool_of_toolbox
from toolflow_bench.anytoolbench.templates import closed, pool_of_data, response

TEMPLATE = {
    "city": "str", "count": "int", "rate": "float", "open": "bool", "note": "NoneType", "tags": "empty list",
    "days": [{"date": "str", "_list_length": 50}], "codes": ["list of int with length 2"], "words": ["str"],
    "kind": "weekly",
}  # fmt: skip


def record(category, tool, api, **more):
    return {
        "id": f"{category}/{tool}/{api}", "category_name": category, "tool_name": tool, "api_name": api,
        "api_description": f"{api} of {tool}", "required_parameters": [], "optional_parameters": [], **more,
    }  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    city = {"name": "city", "type": "STRING", "description": "where", "default": "Milan"}
    days = {"name": "days", "type": "NUMBER", "description": "", "default": ""}
    apis = [
        record(
            "Weather", "sky", "Rain", required_parameters=[city], optional_parameters=[days], template_response=TEMPLATE
        ),
        record("Food", "pan", "Cakes", template_response='{"cakes": [{"name": "str", "price": "float"}, {"na'),
        record("Food", "pan", "Silent"),
        record("Food", "pan", "Garbled", template_response='"st'),
    ]  # fmt: skip
    (tmp_path / "apis.json").write_text(json.dumps(apis))
    return tmp_path


def test_a_response_has_the_shape_of_its_template_and_repeats_itself():
    found = response(TEMPLATE, {"City": "Rome"}, 7, "Rain")
    assert found == response(TEMPLATE, {"City": "Rome"}, 7, "Rain")
    assert found != response(TEMPLATE, {"City": "Rome"}, 8, "Rain")
    assert (found["city"], found["note"], found["tags"], found["kind"]) == ("Rome", None, [], "weekly")
    assert [type(found[key]) for key in ("count", "rate", "open")] == [int, float, bool]
    assert [list(day) for day in found["days"]] == [["date"]] * 3
    assert len({day["date"] for day in found["days"]}) == 3
    assert [type(code) for code in found["codes"]] == [int, int]
    assert len(found["words"]) == 1


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ('{"a": "str", "b": {"c": "int", "d": [{"e": "fl', {"a": "str", "b": {"c": "int"}}),
        ('{"a": "str"}', {"a": "str"}),
        ('[{"a": "str"}, {"b":', [{"a": "str"}]),
        ('{"a, [}": "s\\"tr", "b": ', {"a, [}": 's"tr'}),
        ('{"a": ', None),
        ("str", None),
        ("", None),
    ],
)
def test_a_template_that_was_cut_off_is_read_as_far_as_it_is_whole(text, whole):
    assert closed(text) == whole


def test_stabletoolbench_is_a_pool_whose_apis_can_be_called(folder):
    pool = pool_of_data(folder, seed=0)
    assert list(pool) == ["sky/Rain", "pan/Cakes"]
    assert pool.notes == ("Left out, since nothing is known of their responses: 2 of 4 APIs.",)
    assert pool.categories(["pan/Cakes", "sky/Rain", "pan/Cakes"]) == ["Food", "Weather"]
    rain = pool["sky/Rain"]
    assert (rain.document.returns[:2], pool["pan/Cakes"].document.returns) == (("city", "count"), ("cakes",))
    assert "_list_length" not in rain.document.returns
    assert rain.document.parameters == {"city": "where; such as 'Milan'", "days": ""}
    assert rain.call({"city": "Rome"})["city"] == "Rome"
    assert list(pool["pan/Cakes"].call({})["cakes"][0]) == ["name", "price"]
    for arguments, said in [({}, "'city' is missing"), ({"city": "Rome", "days": "two"}, "must be a number")]:
        with pytest.raises(CallFailed, match=said):
            rain.call(arguments)


def test_other_data_have_the_names_of_returned_fields(tmp_path):
    tools = [
        {"id": "rain", "category": "Weather", "description": "rain", "returns": ["chance"]},
        {"id": "cake", "category": "Food", "description": "cake", "returns": ["recipe"]},
        {"id": "mute", "category": "Food", "description": "nothing"},
    ]
    data = {"tools": tools, "queries": [{"id": "1", "query": "Rain?", "gold": ["rain"]}]}
    (tmp_path / "data.json").write_text(json.dumps(data))
    pool = pool_of_data(tmp_path / "data.json", seed=0)
    assert {name: list(api.call({})) for name, api in pool.items()} == {"rain": ["chance"], "cake": ["recipe"]}


def test_the_digest_follows_the_apis(folder):
    first = pool_of_data(folder, seed=0).digest
    assert pool_of_data(folder, seed=0).digest == first
    apis = json.loads((folder / "apis.json").read_text())
    apis[0]["api_description"] = "other"
    (folder / "apis.json").write_text(json.dumps(apis))
    assert pool_of_data(folder, seed=0).digest != first


def tool(name, *, source, read_only=True, answer=None, **protocol):
    def call(arguments):
        if isinstance(answer, Exception):
            raise answer
        return arguments

    protocol = ToolProtocol(name=name, annotations=Annotations(read_only=read_only), **protocol)
    return Tool(protocol, call, source=source)


def test_a_toolbox_is_a_pool_without_what_may_write():
    schema = {"type": "object", "properties": {"film-id": {"type": "integer"}}, "required": ["film-id"]}
    box = Toolbox(
        [
            tool("film", source="movies", input_schema=schema),
            tool("sky", source="weather", answer=ToolError(429, "slower")),
            tool("order", source="weather", read_only=False),
        ]
    )
    pool = pool_of_toolbox(box)
    assert (list(pool), pool.notes) == (["film", "sky"], ("Left out, since they may write: 1 of 3 tools.",))
    assert pool.categories(pool) == ["movies", "weather"]
    assert pool["film"].call({"film-id": 3}) == pool["film"].call({"film_id": 3}) == {"film-id": 3}
    with pytest.raises(CallFailed, match="HTTP 429: slower") as failed:
        pool["sky"].call({})
    assert failed.value.outage


def test_one_category_makes_no_query():
    with pytest.raises(TooFewApis, match=r"the 1 that can be called without writing are of 1; give more sources"):
        pool_of_toolbox(Toolbox([tool("film", source="movies")]))
    with pytest.raises(TooFewApis, match="the 0 that can be called"):
        pool_of_toolbox(Toolbox())
