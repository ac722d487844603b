"""Pools: which values are kept, where each came from, and which are offered to which argument."""

from dataclasses import replace
from itertools import islice

import pytest

from probing.facts import ArgumentFacts
from probing.hint import Hint
from probing.pools import Pools
from probing.sample import Origin, Sample, Value
from protocols.protocol import HttpBinding, ToolProtocol

MADE_UP = Origin(kind="generated")


def tool(name, path=None, output=None, *arguments, method="GET"):
    url = path and f"https://a.example{path}"
    return ToolProtocol(
        name=name,
        input_schema={"type": "object", "properties": {a: {} for a in arguments}},
        output_schema=output,
        binding=HttpBinding(method=method, url=url) if url else None,
    )


def done(number, tool, response, **arguments):
    given = {name: Value(value, MADE_UP) for name, value in arguments.items()}
    return Sample(number=number, tool=tool, response=response, arguments=given)


def pooled(tools, *samples):
    pools = Pools(tools)
    for sample in samples:
        pools.add(sample)
    return pools


def found(pools, protocol, argument, count=10, **facts):
    known = ArgumentFacts(name=argument, **facts)
    return [value.value for value in islice(pools.find(protocol, known), count)]


AIRPORTS = {
    "airports": [
        {"code": "BOS", "name": "Logan Intl", "id": 31, "opened": "1923-09-08", "website": "https://bos.example/x"},
        {"code": "JFK", "name": "John F Kennedy Intl", "id": 77, "opened": "1948-07-01", "website": None},
    ],
    "total": 2,
}
SEARCH = tool("search_airports", "/airports", None, "query")


@pytest.mark.parametrize(
    ("consumer", "argument", "best"),
    [
        (tool("get_airport", "/airports/{code}", None, "code"), "code", "BOS"),
        (tool("get_airport", "/airports/{id}", None, "id"), "id", 31),
        (tool("weather", "/weather", None, "airport_code"), "airport_code", "BOS"),
        (tool("weather", "/weather", None, "airportCode"), "airportCode", "BOS"),
        (tool("weather", "/weather", None, "airport"), "airport", "BOS"),
        (tool("route", "/route", None, "origin_airport"), "origin_airport", "BOS"),
        (tool("route", "/route", None, "from_airport_code"), "from_airport_code", "BOS"),
        (tool("route", "/route", None, "homeAirportId"), "homeAirportId", 31),
        (tool("weather", "/weather", None, "date"), "date", "1923-09-08"),
        (tool("weather", "/weather", None, "end_date"), "end_date", "1923-09-09"),
        (tool("find", "/airports/find", None, "q"), "q", "Logan"),
    ],
)
def test_the_first_value_offered_is_of_the_right_place(consumer, argument, best):
    pools = pooled([SEARCH, consumer], done(1, "search_airports", AIRPORTS, query="a"))
    assert found(pools, consumer, argument)[0] == best


def test_a_thing_is_known_by_the_id_that_stands_under_it():
    repositories = tool("list_repos", "/repos")
    consumer = tool("get_repo", "/repos/{owner}/{repo}", None, "owner", "repo")
    rows = [
        {"name": "engine", "owner": {"login": "ada", "id": 1001}},
        {"name": "loom", "owner": {"login": "bo", "id": 7}},
    ]
    pools = pooled([repositories, consumer], done(1, "list_repos", rows))
    assert found(pools, consumer, "owner", 1, place="path") == ["ada"]
    assert found(pools, consumer, "repo", 1, place="path") == ["engine"]


def test_a_reply_that_names_the_thing_leads_to_its_values():
    consumer = tool("departures", "/departures", None, "origin")
    pools = pooled([SEARCH, consumer], done(1, "search_airports", AIRPORTS, query="a"))
    text = "origin must be a three-character airport code such as 'LAX'"
    hints = (Hint(kind="example", argument="origin", values=("LAX",), text=text),)
    assert found(pools, consumer, "origin", 2, hints=hints) == ["BOS", "JFK"]
    by_shape = (Hint(kind="example", argument="origin", values=("LAX",)),)
    assert found(pools, consumer, "origin", 2, hints=by_shape) == ["BOS", "JFK"]


def shops_and_stock():
    shops, consumer = tool("list_shops", "/shops"), tool("stock", "/stock", None, "shop")
    response = {"shops": [{"id": n, "code": f"S-{n}"} for n in range(100, 110)]}
    return consumer, pooled([shops, consumer], done(1, "list_shops", response))


def gone(*values):
    return tuple(Value(value, Origin(kind="response", tool="list_shops", path="shops[].id")) for value in values)


def test_a_place_whose_value_was_refused_is_left_and_one_whose_values_lead_nowhere_gives_way():
    consumer, pools = shops_and_stock()
    assert {type(value) for value in found(pools, consumer, "shop", 4)} == {int, str}
    assert {type(value) for value in found(pools, consumer, "shop", 20, refused=gone(100, 101))} == {str}
    assert isinstance(found(pools, consumer, "shop", 1, refused=gone(100))[0], str)
    later = found(pools, consumer, "shop", 20, not_found=gone(100, 101))
    assert isinstance(later[0], str)
    assert {type(value) for value in later} == {int, str}


def test_where_a_reply_tells_the_range_the_place_stays():
    consumer, pools = shops_and_stock()
    hints = (Hint(kind="range", argument="shop", minimum=105),)
    assert 106 in found(pools, consumer, "shop", 20, refused=gone(100), hints=hints)


def test_a_place_whose_value_was_accepted_is_stayed_with():
    shops, consumer = tool("list_shops", "/shops"), tool("stock", "/stock", None, "shop")
    response = {"shops": [{"id": f"i-{n}", "code": f"S{n}"} for n in range(100, 110)]}
    pools = pooled([shops, consumer], done(1, "list_shops", response))
    accepted = (Value("S100", Origin(kind="response", tool="list_shops", path="shops[].code")),)
    offered = found(pools, consumer, "shop", 3, accepted=accepted)
    assert all(value.startswith("S") for value in offered)


def test_ids_of_the_right_name_come_before_others_of_the_same_look():
    players, teams = tool("list_players", "/players"), tool("list_teams", "/teams")
    consumer = tool("batting", "/batting", None, "player_id", "team_id")
    pools = pooled(
        [players, teams, consumer],
        done(1, "list_players", {"players": [{"player_id": f"pl_{n}x"} for n in range(9)]}),
        done(2, "list_teams", {"teams": [{"team_id": f"tm_{n}x"} for n in range(9)]}),
    )
    lost = tuple(Value(f"pl_{n}x", Origin(kind="response")) for n in (0, 8))
    accepted = (Value("pl_4x", Origin(kind="response")),)
    offered = found(pools, consumer, "player_id", 7, not_found=lost, accepted=accepted)
    assert all(value.startswith("pl_") for value in offered)
    text = "'pl_0x' did not bat for 'tm_0x'; list_teams has the teams"
    hints = (Hint(kind="not_found", argument="player_id", text=text), Hint(kind="source", tool="list_teams", text=text))
    offered = found(pools, consumer, "player_id", 7, not_found=lost, hints=hints)
    assert all(value.startswith("pl_") for value in offered)


def test_what_only_its_type_fits_is_tried_twice_at_most():
    consumer, others = tool("get", "/things/{thing}", None, "thing"), tool("list_shops", "/shops")
    response = {"shops": [{"id": n, "place_id": n + 50, "owner_id": n + 90, "x_id": n} for n in range(100, 110)]}
    pools = pooled([others, consumer], done(1, "list_shops", response))
    assert len(found(pools, consumer, "thing", 20, place="path")) == 20
    assert found(pools, consumer, "thing", 20, place="path", refused=gone(100, 151)) == []


def test_values_of_a_long_list_are_spread():
    shops, consumer = tool("list_shops", "/shops"), tool("stock", "/stock", None, "shop_id")
    pools = pooled([shops, consumer], done(1, "list_shops", {"shops": [{"id": n} for n in range(100)]}))
    assert found(pools, consumer, "shop_id", 3) == [0, 99, 64]
    assert sorted(found(pools, consumer, "shop_id", 100)[:4]) != [0, 1, 2, 3]


def test_the_next_page_begins_where_the_last_one_said():
    orders = tool("list_orders", "/orders", None, "cursor")
    pools = pooled([orders], done(1, "list_orders", {"orders": [{"n": 1}], "next": "c2Vjb25k"}))
    assert found(pools, orders, "cursor", 1) == ["c2Vjb25k"]


def test_dates_of_one_day_at_two_places():
    one, two = tool("one", "/one"), tool("two", "/two", None, "since", "date")
    rows = [{"at": "2020-02-29T10:00:00Z"}, {"at": "2020-02-29T11:00:00Z"}]
    pools = pooled([one, two], done(1, "one", {"rows": rows, "day": "2020-02-29"}))
    assert set(found(pools, two, "date", 9)) == {"2020-02-29"}


def test_places_that_speak_of_the_same_come_first():
    films, awards = tool("list_films", "/films"), tool("list_own_awards", "/awards")
    consumer = tool("list_film_awards", "/films/{film_id}/awards", None, "film_id")
    pools = pooled(
        [films, awards, consumer],
        done(1, "list_films", {"films": [{"film_id": f"f-{n}1"} for n in range(5)]}),
        done(2, "list_own_awards", {"awards": [{"film_id": "f-991", "award": "Bear"}]}),
    )
    assert found(pools, consumer, "film_id", 1, place="path") == ["f-991"]


def test_an_accepted_argument_is_a_good_one_elsewhere():
    weather, forecast = tool("weather", "/weather", None, "city"), tool("forecast", "/forecast", None, "city")
    pools = pooled([weather, forecast], done(4, "weather", {"degrees": 3}, city="Turku"))
    best = next(pools.find(forecast, ArgumentFacts(name="city")))
    assert best.value == "Turku"
    assert (best.origin.tool, best.origin.path, best.origin.sample) == ("weather", "(city)", 4)


def test_what_gave_an_empty_answer_is_no_good_argument():
    weather, forecast = tool("weather", "/weather", None, "city"), tool("forecast", "/forecast", None, "city")
    pools = pooled([weather, forecast], done(4, "weather", {"days": []}, city="Nowhere"))
    assert found(pools, forecast, "city") == []


def test_nonsense_that_a_tool_repeats_or_ignores_is_not_passed_on():
    echo, other = tool("echo", "/echo", None, "text"), tool("other", "/other", None, "text", "said")
    pools = pooled([echo, other], done(1, "echo", {"said": "qzx~!7w", "length": 7}, text="qzx~!7w"))
    assert found(pools, other, "said") == []
    sample = done(2, "echo", {"said": "fine"}, text="zzz~")
    pools.add(replace(sample, purpose="refuse"))
    assert "zzz~" not in found(pools, other, "text")
    assert found(pools, other, "said") == ["fine"]


def test_pages_are_not_fed_from_responses():
    pools = pooled(
        [SEARCH], done(1, "search_airports", {"airports": [], "total": 2, "page": 7, "limit": 50}, query="a")
    )
    for name in ("page", "limit", "offset", "count"):
        assert found(pools, tool("x", "/x", None, name), name) == []


def test_secrets_go_to_arguments_that_are_secret_alone():
    login = tool("login", "/login", None, "user", method="POST")
    response = {"token": "a81bc81bdead4e5d", "session": {"password": "hunter2hunter2"}, "id": "u-44", "user_id": "u-44"}
    pools = pooled([login], done(1, "login", response, user="ada"))
    assert found(pools, tool("me", "/me", None, "access_token"), "access_token") == ["a81bc81bdead4e5d"]
    assert found(pools, tool("me", "/me", None, "jwt"), "jwt")[0] == "a81bc81bdead4e5d"
    for name in ("id", "user_id", "query", "note", "key_id", "code"):
        offered = found(pools, tool("x", "/x/{id}", None, name), name, 50, place="path")
        assert not {"a81bc81bdead4e5d", "hunter2hunter2"} & set(offered)


def test_what_a_document_marks_as_secret_is_kept_apart():
    schema = {"type": "object", "properties": {"room_code": {"type": "string", "x-atc-secret": True}}}
    rooms = tool("rooms", "/rooms", schema)
    pools = pooled([rooms], done(1, "rooms", {"room_code": "AX-12"}))
    assert found(pools, tool("enter", "/enter", None, "room_code"), "room_code") == []


def test_a_link_gives_the_id_that_it_ends_in():
    people = tool("people", "/people")
    consumer = tool("film", "/films/{id}", None, "id")
    response = {"name": "Luke", "films": ["https://a.example/api/films/4/", "https://a.example/api/films/5/"]}
    pools = pooled([people, consumer], done(1, "people", response))
    first = next(pools.find(consumer, ArgumentFacts(name="id", place="path")))
    assert (first.value, first.origin.kind, first.origin.path) == ("4", "generated", "films[]")


def test_keys_of_a_map_are_values():
    rates = tool("rates", "/rates")
    response = {"users": {"10231": {"name": "Ada", "age": 3}, "10232": {"name": "Bo", "age": 5}}}
    pools = pooled([rates], done(1, "rates", response))
    assert pools.where("10231") == [("rates", "users.{}")]
    assert pools.where("Bo") == [("rates", "users.*.name")]
    assert found(pools, tool("user", "/users/{id}", None, "id"), "id", place="path")[:2] == ["10231", "10232"]


def test_where_tells_places_and_knows_that_5_is_5():
    one, two = tool("one", "/one"), tool("two", "/two")
    pools = pooled([one, two], done(1, "one", {"rows": [{"n": 5}]}), done(2, "two", {"m": "5", "t": True}))
    assert pools.where(5) == pools.where("5") == [("one", "rows[].n"), ("two", "m")]
    assert pools.where(True) == [("two", "t")]
    assert pools.where("absent") == []


def test_a_sample_counts_once_and_a_failed_one_not_at_all():
    pools = pooled([SEARCH], *[done(1, "search_airports", AIRPORTS, query="a")] * 2)
    pools.add(Sample(number=2, tool="search_airports", outcome="refused", response={"code": "XXX"}))
    pools.add(done(3, "stranger", {"code": "YYY"}))
    assert pools.where("XXX") == pools.where("YYY") == []
    assert len(pools.place("search_airports", "airports[].code").values) == 2


def test_huge_and_deep_responses_are_taken_in_part():
    deep = leaf = {}
    for _ in range(1_000):
        leaf["next"] = leaf = {}
    leaf["code"] = "DEEP"
    wide = {"rows": [{"code": f"C-{n}", "note": "x" * 5_000} for n in range(50_000)], "deep": deep}
    pools = pooled([tool("wide", "/wide")], done(1, "wide", wide))
    assert pools.where("C-0") == [("wide", "rows[].code")]
    assert len(pools.place("wide", "rows[].code").values) <= 500
    assert pools.where("DEEP") == []


def test_the_path_of_an_origin_leads_to_the_value():
    pools = pooled([SEARCH], done(1, "search_airports", AIRPORTS, query="a"))
    for place in pools.places:
        for held in place.values.values():
            assert held.origin.kind == "response"
            assert (held.origin.tool, held.origin.path) in pools.where(held.value)


def test_what_many_places_know_comes_first():
    flights = tool("flights", "/flights")
    consumer = tool("get_airport", "/airports/{code}", None, "code")
    response = {"flights": [{"destination": "JFK"}]}
    pools = pooled(
        [SEARCH, flights, consumer], done(1, "search_airports", AIRPORTS, query="a"), done(2, "flights", response)
    )
    assert found(pools, consumer, "code", 1, place="path") == ["JFK"]


LOG = """Commit history:
Commit: 1f3c9a27d0b4
Author: Ann
Message: a change

\tmodified:   notes/tea.txt
see https://a.example/page.html and /srv/data/b.md, version 1.5.2
"""


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("commit_sha", "1f3c9a27d0b4"),
        ("revision", "1f3c9a27d0b4"),
        ("author", "Ann"),
        ("file", "notes/tea.txt"),
        ("path", "/srv/data/b.md"),
    ],
)
def test_what_stands_in_a_text_is_found(argument, value):
    log, show = tool("log"), tool("show", None, None, argument)
    pools = pooled([log, show], done(1, "log", LOG))
    assert found(pools, show, argument, count=1) == [value]
    origin = next(pools.find(show, ArgumentFacts(name=argument))).origin
    assert (origin.kind, origin.tool) == ("generated", "log")  # no program can follow it


def test_lists_take_what_stands_in_a_text():
    log = tool("log")
    add = replace(tool("add"), input_schema={"type": "object", "properties": {"files": {"type": "array", "items": {}}}})
    assert found(pooled([log, add], done(1, "log", LOG)), add, "files", count=1) == ["notes/tea.txt"]


def test_an_id_of_nobody_knows_what_takes_nothing_out_of_texts():
    log, other = tool("log"), tool("get_thing", None, None, "thing_id")
    assert "1f3c9a27d0b4" not in found(pooled([log, other], done(1, "log", LOG)), other, "thing_id")


def test_names_of_files_in_a_list_are_files():
    listing, cat = tool("ls"), tool("cat", None, None, "file_name")
    pools = pooled([listing, cat], done(1, "ls", {"entries": ["tea.txt", "docs", "./notes/milk.md"]}))
    assert found(pools, cat, "file_name", count=2) == ["tea.txt", "./notes/milk.md"]


def test_what_was_made_without_an_answer_can_be_asked_for():
    touch, cat = tool("touch_file", None, None, "file_name"), tool("cat", None, None, "file_name")
    pools = pooled([touch, cat], done(1, "touch_file", None, file_name="new.txt"))
    assert found(pools, cat, "file_name", count=1) == ["new.txt"]
