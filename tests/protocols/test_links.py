"""Guessed links: few, right, the same in any order, and quick for many tools."""

import random

import pytest

from protocols.links import LINKS_PER_ARGUMENT, guess_links
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


SEARCH = tool(
    "search_airports", "/airports", rows("airports", code=TEXT, name=TEXT, id=NUMBER), q=TEXT
)


@pytest.mark.parametrize(
    ("consumer", "argument", "path"),
    [
        (tool("get_airport", "/airports/{code}", code=TEXT), "code", "airports[].code"),
        (tool("weather", "/weather", airport_code=TEXT), "airport_code", "airports[].code"),
        (
            tool("compare", "/c", airport_codes={"type": "array", "items": TEXT}),
            "airport_codes",
            "airports[].code",
        ),
        (
            tool("read", None, airport_id={"anyOf": [NUMBER, {"type": "null"}]}),
            "airport_id",
            "airports[].id",
        ),
    ],
)
def test_an_id_comes_from_where_it_is_listed(consumer, argument, path):
    assert guesses(SEARCH, consumer) == {(consumer.name, argument, "search_airports", path)}


@pytest.mark.parametrize(
    "consumer",
    [
        tool(
            "list_airlines", "/airlines", page=NUMBER, limit=NUMBER, q=TEXT, name=TEXT, format=TEXT
        ),
        tool("get_airline", "/airlines/{code}", code=TEXT),
        tool("compare", "/compare", airport_code=True),  # a schema, too
        tool("flag", "/f", airport_id={"type": "boolean"}),
        tool("typed", "/f", airport_code=NUMBER),
        tool("formatted", "/f", airport_id={"type": "string", "format": "uuid"}),
    ],
)
def test_unclear_names_and_types_guess_nothing(consumer):
    assert guesses(SEARCH, consumer) == set()


def test_nameless_responses_belong_to_their_path():
    bare = tool("flights", "/flights", {"type": "array", "items": {"properties": {"id": NUMBER}}})
    wrapped = tool("all_flights", "/v2/flights", rows("data", id=NUMBER))
    consumer = tool("book", "/bookings", flight_id=NUMBER, method="POST")
    assert guesses(bare, wrapped, consumer) == {
        ("book", "flight_id", "flights", "[].id"),
        ("book", "flight_id", "all_flights", "data[].id"),
    }


def test_particular_names_suffice_for_required_arguments():
    planes = tool("departures", "/departures", rows(carrier=TEXT, tailnum=TEXT, city=TEXT))
    needs = tool("airline", "/airlines/{carrier}", None, ["carrier"], carrier=TEXT)
    filters = tool("hotels", "/hotels", city=TEXT)
    plane = tool("plane", "/planes/{tailnum}", tailnum=TEXT)
    assert guesses(planes, needs, filters, plane) == {
        ("airline", "carrier", "departures", "rows[].carrier"),
        ("plane", "tailnum", "departures", "rows[].tailnum"),
    }


def test_tools_needing_the_id_are_no_source():
    one = tool(
        "get_user", "/users/{user_id}", {"properties": {"user_id": TEXT}}, ["user_id"], user_id=TEXT
    )
    other = tool(
        "get_posts",
        "/posts/{user_id}",
        {"properties": {"user_id": TEXT}},
        ["user_id"],
        user_id=TEXT,
    )
    assert guesses(one, other) == set()


def test_what_is_declared_or_observed_stays_alone():
    link = Link(argument="code", tool="elsewhere", path="x", support="observed")
    plain = tool("get_airport", "/airports/{code}", code=TEXT)
    known = ToolProtocol(
        name="a", input_schema=plain.input_schema, binding=plain.binding, links=(link,)
    )
    assert guess_links([SEARCH, known])[1] is known


def test_the_simplest_producers_come_first_and_few():
    lists = [tool(f"list_{n}", "/users", rows("users", id=TEXT)) for n in "abc"]
    finder = tool("z_find_users", "/users/find", rows("users", id=TEXT), query=TEXT)
    creator = tool(
        "a_create", "/users", {"properties": {"user": {"properties": {"id": TEXT}}}}, method="POST"
    )
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


def test_own_lists_precede_references():
    ratings = tool("a_ratings", "/ratings", rows("ratings", film_id=NUMBER))
    watched = tool("b_watched", "/watched", rows("items", film_id=NUMBER))
    cinemas = tool("c_cinemas", "/cinemas", rows("cinemas", film_id=NUMBER))
    films = tool("z_films", "/films", rows("films", film_id=NUMBER), ["year"], year=NUMBER)
    user = tool("get_film", "/films/{film_id}", film_id=NUMBER)
    found = [link.tool for link in guess_links([ratings, watched, cinemas, films, user])[-1].links]
    assert found == ["z_films", "a_ratings", "b_watched"]


@pytest.mark.parametrize(
    ("path", "listed"), [("/airports/search", "results"), ("/v2/airports/search", "data")]
)
def test_what_picks_from_a_collection_is_no_noun(path, listed):
    picked = tool("pick", path, rows(listed, id=NUMBER))
    one = tool("get_airport", "/airports/{id}", id=NUMBER)
    assert guesses(picked, one) == {("get_airport", "id", "pick", f"{listed}[].id")}


def test_words_of_choice_are_no_nouns():
    named = tool(
        "by_name",
        "/flows/name/{name}",
        {"type": "object", "properties": {"id": TEXT}},
        ["name"],
        name=TEXT,
    )
    one = tool("get_flow", "/flows/{id}", None, ["id"], id=TEXT)
    assert guesses(named, one) == {("get_flow", "id", "by_name", "id")}


def test_roles_before_nouns_keep_the_noun():
    cities = tool("cities", "/cities", rows("cities", city_id=NUMBER))
    trip = tool("plan", "/trips", new_start_city_id=NUMBER, capital_id=NUMBER, method="POST")
    starts = tool(
        "trip", "/trips/last", {"properties": {"trip": {"properties": {"start_city_id": NUMBER}}}}
    )
    assert [
        (link.argument, link.tool) for link in guess_links([cities, starts, trip])[-1].links
    ] == [
        ("new_start_city_id", "trip"),
        ("new_start_city_id", "cities"),
    ]


def test_the_paths_noun_identifies():
    airports = tool("airports", "/airports", rows("airports", code=TEXT, name=TEXT, id=NUMBER))
    one = tool("get_airport", "/airports/{airport}", None, ["airport"], airport=TEXT)
    asked = tool("weather", "/weather", None, ["airport"], airport=TEXT)
    assert guesses(airports, one, asked) == {
        ("get_airport", "airport", "airports", "airports[].code")
    }


def test_of_two_fields_that_identify_none_is_chosen():
    airports = tool("airports", "/airports", rows("airports", iata=TEXT, icao=TEXT))
    one = tool("get_airport", "/airports/{airport}", None, ["airport"], airport=TEXT)
    assert guesses(airports, one) == set()


def test_chosen_numbers_come_from_nowhere():
    alerts = tool("alerts", "/alerts", rows(radius_km=NUMBER, latitude=NUMBER, season=NUMBER))
    near = tool("near", "/near", None, ["radius_km", "latitude"], radius_km=NUMBER, latitude=NUMBER)
    season = tool("season", "/seasons/{season}", None, ["season"], season=NUMBER)
    assert guesses(alerts, near, season) == {
        ("near", "latitude", "alerts", "rows[].latitude"),
        ("season", "season", "alerts", "rows[].season"),
    }


def test_a_nouns_number_is_its_id():
    team = {"type": "object", "properties": {"id": NUMBER, "name": TEXT, "founded": NUMBER}}
    teams = tool("teams", "/teams", rows("response", team=team), search=TEXT)
    players = tool("players", "/players", None, [], team=NUMBER, founded=NUMBER)
    written = tool("fans", "/fans", None, [], team=TEXT)
    assert guesses(teams, players, written) == {("players", "team", "teams", "response[].team.id")}


def test_textless_or_earlier_values_are_no_source():
    changed = tool(
        "change_note",
        "/notes/{note_id}",
        {"properties": {"note_id": TEXT}},
        method="PATCH",
        title=TEXT,
    )
    made = tool("add_note", "/notes", {"properties": {"note_id": TEXT}}, method="POST", title=TEXT)
    one = tool("get_note", "/notes/{note_id}", None, ["note_id"], note_id=TEXT)
    assert guesses(changed, made, one) == {("get_note", "note_id", "add_note", "note_id")}
    tree = tool(
        "directory_tree", None, {"type": "object", "properties": {"content": TEXT}}, path=TEXT
    )
    write = tool(
        "write_file", None, None, ["path", "content"], method="POST", path=TEXT, content=TEXT
    )
    assert guesses(tree, write) == set()


IDS = {"type": "array", "items": TEXT}


@pytest.mark.parametrize(
    ("source", "arguments", "linked"),
    [
        ("list_items", {"item_ids": IDS, "new_item_ids": IDS}, {"item_ids"}),
        ("list_items", {"from_item_id": TEXT, "target_item_id": TEXT}, {"from_item_id"}),
        ("list_items", {"order_id": TEXT, "new_item_id": TEXT}, {"new_item_id"}),
        ("list_orders", {"order_id": TEXT, "new_item_id": TEXT}, set()),
        ("list_maps", {"new_item_id": TEXT}, set()),
    ],
)
def test_another_thing_has_no_single_source(source, arguments, linked):
    output = rows("items", item_id=TEXT)
    if source == "list_maps":  # no program can name a field below a key that is data
        output = {"properties": {"items": output, "all": {"additionalProperties": output}}}
    taker = tool("swap", None, None, method="POST", **arguments)
    found = guesses(tool(source, None, output), taker)
    assert {argument for name, argument, *_ in found if name == "swap"} == linked
