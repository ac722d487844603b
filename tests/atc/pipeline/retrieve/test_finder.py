"""What holds for every method of search: names first, producers behind."""

import pytest

from atc.pipeline.retrieve.base import Hit
from atc.pipeline.retrieve.finder import READ, Finder, named_in_docs
from atc.pipeline.retrieve.planned import in_turns, with_producers
from protocols.protocol import Link
from protocols.toolbox import Toolbox
from tests.labs import tools as tool_lab
from tests.labs.rankers import Fixed


def tool(name, *, needs=(), optional=(), links=()):
    arguments = dict.fromkeys((*needs, *optional), "string")
    return tool_lab.tool(name, None, arguments, optional=optional, links=tuple(links))


BOX = Toolbox(
    [
        tool("search_airports"),
        tool(
            "list_departures",
            needs=["origin"],
            links=[Link(argument="origin", tool="search_airports", path="airports[].code")],
        ),
        tool(
            "get_plane",
            needs=["tail"],
            links=[
                Link(
                    argument="tail",
                    tool="list_departures",
                    path="flights[].tail",
                    support="declared",
                )
            ],
        ),
        tool(
            "get_weather",
            optional=["airport"],
            links=[Link(argument="airport", tool="search_airports", path="airports[].code")],
        ),
        tool("search"),
        tool("forecast"),
    ]
)


def finder(*names, **settings):
    return Finder(toolbox=BOX, method=Fixed(*names), **settings)


def names(found):
    return [hit.tool for hit in found.hits]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("use get_plane for it", "get_plane"),
        (" search ", "search"),
        ("search for the weather", "get_weather"),
        ("Get_Plane", "get_weather"),
    ],
)
def test_a_named_tool_comes_first(query, first):
    found = finder("get_weather", "list_departures", closure=False).search(query, k=3)
    assert names(found)[0] == first
    assert len(set(names(found))) == len(names(found)) <= 3


def test_producers_are_found_within_k():
    found = finder("get_plane", "forecast").search("seats", k=4)
    assert [(hit.tool, hit.why) for hit in found.hits] == [
        ("get_plane", ""),
        ("list_departures", "producer of get_plane(tail)"),
        ("search_airports", "producer of list_departures(origin)"),
        ("forecast", ""),
    ]
    assert names(finder("get_plane", "forecast").search("seats", k=2)) == [
        "get_plane",
        "list_departures",
    ]
    assert names(finder("get_plane", "forecast", closure=False).search("seats", k=4)) == [
        "get_plane",
        "forecast",
    ]


def test_a_circle_of_producers_ends():
    a = tool("a", needs=["x"], links=[Link(argument="x", tool="b", path="x")])
    b = tool("b", needs=["y"], links=[Link(argument="y", tool="a", path="y")])
    assert [hit.tool for hit in with_producers([Hit("a", 1.0)], Toolbox([a, b]), k=8)] == ["a", "b"]


def test_several_searches_are_merged_in_turns():
    searches = [
        [Hit("get_plane", 9.0), Hit("search", 8.0)],
        [Hit("forecast", 0.2), Hit("get_plane", 0.1), Hit("elsewhere", 0.0)],
    ]
    assert [hit.tool for hit in in_turns(searches, Toolbox(), k=9)] == [
        "get_plane",
        "forecast",
        "search",
        "elsewhere",
    ]
    found = in_turns(searches, BOX, k=4)
    assert [hit.tool for hit in found] == ["get_plane", "forecast", "list_departures", "search"]
    assert found[2].why == "producer of get_plane(tail)"


def test_documentation_names_further_tools():
    """By alias or original name; ordinary words, and tools that were found, are left out."""
    search_by_name = {"type": "string", "description": "From searchCities, or get_town_1."}
    box = Toolbox(
        [
            tool_lab.tool("get_town", None, description="A town; list_towns and forecast exist."),
            tool_lab.tool("list_towns", None, {"city": search_by_name}),
            tool_lab.tool("searchCities", None),
            tool_lab.tool("forecast", None),
            *(tool_lab.tool(f"other_{n}", None) for n in range(READ)),
            tool_lab.tool("last_town", None, description="As get_weather does."),
            tool_lab.tool("get_weather", None),
        ]
    )
    assert named_in_docs(["get_town"], box) == ["list_towns"]
    assert named_in_docs(["get_town", "list_towns"], box) == [box.find("searchCities").alias]
    others = [f"other_{n}" for n in range(READ)]
    assert named_in_docs([*others, "last_town"], box) == []
