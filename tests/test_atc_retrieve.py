"""BM25 and dependency closure."""

import pytest

from atc.retrieve.bm25 import Bm25
from atc.retrieve.closure import with_producers
from protocols.protocol import Link, ToolProtocol
from protocols.toolbox import Tool, Toolbox


def tool(name, description="", *, needs=(), links=()):
    return Tool(
        protocol=ToolProtocol(
            name=name,
            description=description,
            input_schema={
                "type": "object",
                "properties": {n: {"type": "string"} for n in needs},
                "required": list(needs),
            },
            links=tuple(links),
        ),
        call=lambda arguments: None,
    )


BOX = Toolbox(
    [
        tool("search_airports", "Find airports by name."),
        tool(
            "list_departures",
            "Flights that leave an airport.",
            needs=["origin"],
            links=[Link(argument="origin", tool="search_airports", path="airports[].code")],
        ),
        tool(
            "get_plane",
            "Model and seats of a plane.",
            needs=["tail"],
            links=[Link(argument="tail", tool="list_departures", path="flights[].tail", support="declared")],
        ),
        tool(
            "get_weather",
            "Temperature and wind.",
            needs=["airport"],
            links=[Link(argument="airport", tool="search_airports", path="airports[].code")],
        ),
        tool("cityWeatherForecast", "Tomorrow."),
    ]
)


@pytest.fixture(scope="module")
def index():
    return Bm25.build(BOX)


def names(retrieval):
    return [hit.tool for hit in retrieval.hits]


def test_words_match_by_stem_and_inside_names(index):
    assert names(index.search("how windy, what temperatures", k=2))[0] == "get_weather"
    assert "cityWeatherForecast" in names(index.search("weather in the city", k=2))


def test_an_exact_name_always_wins(index):
    assert names(index.search("use get_plane: airports airports airports flights leave", k=2))[0] == "get_plane"


@pytest.mark.parametrize("query", ["", "the of and", "zzz qqq", "天气 погода", "x" * 100_000])
def test_nothing_is_returned_where_nothing_fits(index, query):
    assert names(index.search(query, k=5)) == []


def test_an_empty_toolbox_has_no_hits():
    assert names(Bm25.build(Toolbox()).search("weather", k=5)) == []


def test_equal_scores_come_in_name_order():
    box = Toolbox([tool("b", "same words"), tool("a", "same words"), tool("c", "same words")])
    assert names(Bm25.build(box).search("same words", k=3)) == ["a", "b", "c"]


def test_producers_come_along_chains_whole_and_within_k():
    assert with_producers(["get_plane"], BOX, k=8) == ("get_plane", "list_departures", "search_airports")
    assert with_producers(["get_plane", "get_weather"], BOX, k=2) == ("get_plane", "list_departures")
    assert with_producers(["get_weather", "cityWeatherForecast"], BOX, k=8) == (
        "get_weather",
        "search_airports",
        "cityWeatherForecast",
    )


def test_a_circle_of_producers_ends():
    a = tool("a", needs=["x"], links=[Link(argument="x", tool="b", path="x")])
    b = tool("b", needs=["y"], links=[Link(argument="y", tool="a", path="y")])
    assert with_producers(["a"], Toolbox([a, b]), k=8) == ("a", "b")
