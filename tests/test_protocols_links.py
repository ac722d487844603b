"""Guessed links: few, right, the same in any order, and quick for many tools."""

import random

import pytest

from protocols.links import LINKS_PER_ARGUMENT, guess_links, response_paths
from protocols.protocol import Annotations, HttpBinding, Link, ToolProtocol

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}


def rows(name="rows", /, **fields):
    """A response: a list of objects under `name`."""
    item = {"type": "object", "properties": fields}
    return {"type": "object", "properties": {name: {"type": "array", "items": item}}}


def tool(name, path=None, output=None, required=(), /, method="GET", **arguments):
    url = path and f"https://a.example{path}"
    places = {n: "path" if f"{{{n}}}" in (path or "") else "query" for n in arguments}
    return ToolProtocol(
        name=name,
        input_schema={"type": "object", "properties": arguments, "required": list(required)},
        output_schema=output,
        annotations=Annotations(read_only=method == "GET"),
        binding=HttpBinding(method=method, url=url, locations=places) if url else None,
    )


def guesses(*tools):
    return {
        (protocol.name, link.argument, link.tool, link.path)
        for protocol in guess_links(tools)
        for link in protocol.links
        if link.support == "guessed"
    }


SEARCH = tool("search_airports", "/airports", rows("airports", code=TEXT, name=TEXT, id=NUMBER), q=TEXT)


@pytest.mark.parametrize(
    ("consumer", "argument", "path"),
    [
        (tool("get_airport", "/airports/{code}", code=TEXT), "code", "airports[].code"),
        (tool("get_airport", "/airports/{id}", id=NUMBER), "id", "airports[].id"),
        (tool("weather", "/weather", airport_code=TEXT), "airport_code", "airports[].code"),
        (tool("weather", "/weather", airportCode=TEXT), "airportCode", "airports[].code"),
        (tool("weather", "/weather", **{"airport-code": TEXT}), "airport-code", "airports[].code"),
        (tool("compare", "/c", airport_codes={"type": "array", "items": TEXT}), "airport_codes", "airports[].code"),
        (tool("read", None, airport_id={"anyOf": [NUMBER, {"type": "null"}]}), "airport_id", "airports[].id"),
    ],
)
def test_an_id_comes_from_where_it_is_listed(consumer, argument, path):
    assert guesses(SEARCH, consumer) == {(consumer.name, argument, "search_airports", path)}


@pytest.mark.parametrize(
    "consumer",
    [
        tool("list_airlines", "/airlines", page=NUMBER, limit=NUMBER, q=TEXT, name=TEXT, format=TEXT),
        tool("get_airline", "/airlines/{code}", code=TEXT),
        tool("get_country", "/x", code=TEXT),
        tool("flag", "/f", airport_id={"type": "boolean"}),
        tool("typed", "/f", airport_code=NUMBER),
        tool("chosen", "/f", airport_code={"type": "string", "enum": ["JFK"]}),
        tool("formatted", "/f", airport_id={"type": "string", "format": "uuid"}),
    ],
)
def test_nothing_is_guessed_where_names_or_types_do_not_say_it(consumer):
    assert guesses(SEARCH, consumer) == set()


def test_a_response_without_names_is_of_what_the_path_is_of():
    bare = tool("flights", "/flights", {"type": "array", "items": {"properties": {"id": NUMBER}}})
    wrapped = tool("all_flights", "/v2/flights", rows("data", id=NUMBER))
    consumer = tool("book", "/bookings", flight_id=NUMBER, method="POST")
    assert guesses(bare, wrapped, consumer) == {
        ("book", "flight_id", "flights", "[].id"),
        ("book", "flight_id", "all_flights", "data[].id"),
    }


def test_a_particular_name_is_enough_for_what_is_required():
    planes = tool("departures", "/departures", rows(carrier=TEXT, tailnum=TEXT, city=TEXT))
    needs = tool("airline", "/airlines/{carrier}", None, ["carrier"], carrier=TEXT)
    filters = tool("hotels", "/hotels", city=TEXT)
    plane = tool("plane", "/planes/{tailnum}", tailnum=TEXT)
    assert guesses(planes, needs, filters, plane) == {
        ("airline", "carrier", "departures", "rows[].carrier"),
        ("plane", "tailnum", "departures", "rows[].tailnum"),
    }


def test_a_tool_that_needs_the_same_id_is_no_source_of_it():
    one = tool("get_user", "/users/{user_id}", {"properties": {"user_id": TEXT}}, ["user_id"], user_id=TEXT)
    other = tool("get_posts", "/posts/{user_id}", {"properties": {"user_id": TEXT}}, ["user_id"], user_id=TEXT)
    assert guesses(one, other) == set()


def test_what_is_declared_or_observed_stays_alone():
    link = Link(argument="code", tool="elsewhere", path="x", support="observed")
    plain = tool("get_airport", "/airports/{code}", code=TEXT)
    known = ToolProtocol(name="a", input_schema=plain.input_schema, binding=plain.binding, links=(link,))
    assert guess_links([SEARCH, known])[1] is known


def test_the_simplest_producers_come_first_and_few():
    lists = [tool(f"list_{n}", "/users", rows("users", id=TEXT)) for n in "abc"]
    finder = tool("z_find_users", "/users/find", rows("users", id=TEXT), query=TEXT)
    creator = tool("a_create", "/users", {"properties": {"user": {"properties": {"id": TEXT}}}}, method="POST")
    user = tool("get_user", "/users/{id}", id=TEXT)
    links = guess_links([creator, *lists, finder, user])[-1].links
    assert [link.tool for link in links] == ["z_find_users", "list_a", "list_b"]
    assert len(links) == LINKS_PER_ARGUMENT


def test_the_order_of_tools_does_not_matter():
    tools = [
        SEARCH,
        tool("get_airport", "/airports/{code}", code=TEXT),
        *(tool(f"list_{n}", f"/v{n}/airports", rows("airports", code=TEXT)) for n in range(6)),
    ]
    expected = {protocol.name: protocol for protocol in guess_links(tools)}
    shuffled = list(tools)
    random.Random(1).shuffle(shuffled)
    assert {protocol.name: protocol for protocol in guess_links(shuffled)} == expected


def test_many_tools_give_few_links():
    tools = [
        tool(f"tool_{n}", f"/t{n}", rows(user_id=TEXT, **{f"f{m}_id": TEXT for m in range(10)}), user_id=TEXT)
        for n in range(1000)
    ]
    linked = guess_links(tools)
    assert sum(len(protocol.links) for protocol in linked) == 1000 * LINKS_PER_ARGUMENT


def test_response_paths_of_a_recursive_schema_with_alternatives():
    schema = {
        "$ref": "#/$defs/Node",
        "$defs": {
            "Node": {
                "type": "object",
                "properties": {
                    "id": TEXT,
                    "kids": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
                    "either": {"oneOf": [{"properties": {"a": NUMBER}}, {"type": "array", "items": NUMBER}]},
                    "open": True,
                },
            }
        },
    }
    paths = [path for path, _ in response_paths(schema)]
    assert paths == ["", "id", "kids", "either", "either.a", "either", "either[]"]
    assert list(response_paths(None)) == []
