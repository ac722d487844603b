"""Schemas inferred from responses: what is merged, formats, enums, maps, kinds, trees, counts."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from probing.infer import Inference, infer
from protocols.links import response_paths
from protocols.schema import validator, wrapper_key


def fields_of(*responses: Any, **options: Any) -> dict[str, int]:
    inference = Inference(**options)
    for response in responses:
        inference.add(response)
    return inference.fields()


def of(*values: Any, name: str = "field") -> dict[str, Any]:
    """The schema of a field that held these values, one in a reply."""
    return infer({name: value, "other": 1} for value in values)["properties"][name]


def map_of(*objects: dict[str, Any]) -> Any:
    """What is said of the values of objects that are a map, None where they are records."""
    return infer({"inside": one, "other": 1} for one in objects)["properties"]["inside"].get("additionalProperties")


# --- merging


def test_all_samples_and_all_elements_are_merged() -> None:
    schema = infer([{"a": [{"x": 1}, {"x": 2.5, "y": None}]}, {"a": [{"x": 1, "y": "s"}], "b": True}])
    assert schema == {
        "type": "object",
        "properties": {
            "a": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"x": {"type": "number"}, "y": {"type": ["string", "null"]}},
                    "required": ["x"],
                },
            },
            "b": {"type": "boolean"},
        },
        "required": ["a"],
    }


@pytest.mark.parametrize(
    ("values", "schema"),
    [
        ([1, 2], {"type": "integer"}),
        ([1, 2.5], {"type": "number"}),
        ([1.0], {"type": "number"}),
        ([True, 1], {"type": ["integer", "boolean"]}),
        ([None], {"examples": [None]}),
        ([[None]], {"type": "array", "items": {"examples": [None]}}),
        ([None, {"a": 1}], {"type": ["object", "null"], "properties": {"a": {"type": "integer"}}, "required": ["a"]}),
        ([[]], {"type": "array"}),
        ([[13.4, 52.5], [2, 48]], {"type": "array", "items": {"type": "number"}}),
        ([[], "none"], {"type": ["array", "string"]}),
        ([{}], {"type": "object"}),
        ([10**400], {"type": "integer"}),
    ],
)
def test_types(values: list[Any], schema: dict[str, Any]) -> None:
    assert of(*values) == schema


def test_a_reply_that_is_always_null_is_null() -> None:
    assert infer([None, None]) == {"type": "null"}


def test_objects_stay_open_so_that_a_new_field_is_no_fault() -> None:
    assert validator(infer([{"a": 1}])).is_valid({"a": 2, "new": "x"})


def test_a_response_with_one_field_is_unwrapped_as_if_declared() -> None:
    assert wrapper_key(infer([{"flights": [{"id": 1}]}, {"flights": []}])) == "flights"


# --- formats


@pytest.mark.parametrize(
    ("format_", "values"),
    [
        ("date", ["2024-02-29", "2023-01-01", "1999-12-31"]),
        ("date-time", ["2024-01-01T10:00:00Z", "2024-01-01T10:00:00.5+02:00", "2024-01-02T10:00:00Z"]),
        ("time", ["10:00:00Z", "11:30:00+01:00", "12:00:00Z"]),
        ("uri", ["https://a.example/x", "http://b.example", "ftp://c.example/y"]),
        ("email", ["a@b.example", "c.d@e.example", "f@g.example"]),
        ("uuid", [f"123e4567-e89b-12d3-a456-42661417400{n}" for n in range(3)]),
        ("ipv4", ["10.0.0.1", "192.168.2.7", "127.0.0.1"]),
        (None, ["2024-02-30", "2023-01-01", "1999-12-31"]),
        (None, ["2024-01-01T10:00:00", "2024-01-02T10:00:00", "2024-01-03T10:00:00"]),
        (None, ["spotify:track:1", "spotify:track:2", "spotify:track:3"]),
        (None, ["https://a.example/ü", "https://a.example/1", "https://a.example/2"]),
        (None, ["2024-02-28", "2023-01-01", ""]),
        (None, ["2024-02-28", "2023-01-01"]),
        (None, ["2024-02-28"] * 5),
        (None, ["\ud800", "2024-02-28", "2024-02-27"]),
    ],
)
def test_formats_need_every_value_and_enough_of_them(format_: str | None, values: list[str]) -> None:
    found = of(*values)
    assert found.get("format") == format_
    assert found["type"] == "string"


def test_versions_are_no_addresses() -> None:
    assert "format" not in of("1.2.3.4", "1.2.3.5", "1.2.4.0", name="firmware_version")


def test_a_format_may_be_null() -> None:
    dates = of("2024-02-28", None, "2023-01-01", "2022-01-01")
    assert dates == {"type": ["string", "null"], "format": "date"}


# --- enums


def statuses(*words: str, replies: int = 5, each: int = 3, name: str = "status") -> dict[str, Any]:
    """The schema of a field in `replies` lists, each of which holds every word `each` times."""
    found = infer([[{name: word, "n": 1} for word in words for _ in range(each)] for _ in range(replies)])
    return found["items"]["properties"][name]


def test_an_enum_is_stated_where_few_words_keep_coming_back() -> None:
    assert statuses("late", "on time", "cancelled") == {"type": "string", "enum": ["cancelled", "late", "on time"]}
    assert statuses("red", "green", name="colour", replies=6, each=10)["enum"] == ["green", "red"]


@pytest.mark.parametrize(
    "found",
    [
        statuses("late", "on time", replies=1, each=100),
        statuses("late", "on time", replies=2, each=100),
        statuses("late"),
        statuses("late", "on time", replies=4, each=1),
        statuses(*[f"word{n}" for n in range(13)], replies=9),
        statuses("late", "on time", name="flight_id"),
        statuses("Berlin", "Paris", name="city", each=50),
        statuses("Berlin", "Paris", name="destination", each=50),
        statuses("UA", "DL", name="carrier", each=50),
        statuses("NY", "CA", name="state", each=50),
        statuses("red", "green", name="colour", replies=4, each=20),
        statuses("see the note, and more", "this is, well, text", name="status"),
    ],
)
def test_a_doubtful_enum_is_not_stated(found: dict[str, Any]) -> None:
    assert found == {"type": "string"}


def test_values_that_came_in_one_reply_only_are_no_enum() -> None:
    # Each search gives its own airport a hundred times: many values, and yet three of thousands of airports.
    replies = [[{"type": word}] * 100 for word in ("alpha", "beta", "gamma")]
    assert infer(replies)["items"]["properties"]["type"] == {"type": "string"}


def test_an_enum_may_be_null() -> None:
    replies = [[{"status": word} for word in ("on", "off", None) for _ in range(5)] for _ in range(4)]
    assert infer(replies)["items"]["properties"]["status"] == {"type": ["string", "null"], "enum": ["off", "on", None]}


# --- maps

POINT = {"lat": 1.5, "lon": 2.5}


@pytest.mark.parametrize(
    "objects",
    [
        [{"2024-01-01": 1, "2024-01-02": 2}],
        [{"17": "x"}, {"4": "y", "9": "z"}],
        [{"123e4567-e89b-12d3-a456-426614174000": POINT}],
        [{"a.example.com": POINT, "b.example.org": POINT}],
        [{"/dev/sda1": 3, "/dev/sdb1": 4}],
        [{"README.md": 10, "main.py": 20}],
        [{"4uLU6hMCjMI75M1A2tKuQC": 1}],
        [{"EUR": 1.1, "USD": 1.2, "GBP": 1.3, "JPY": 0.7, "CHF": 1.0}],
        [{"EUR/USD": 1.1, "GBP/USD": 1.2, "JPY/USD": 1.3, "CHF/USD": 0.7, "CAD/USD": 1.0}],
        [{"nolan": 3}, {"spielberg": 4}, {"tarantino": 5}],
        [{"berlin": POINT}, {"paris": POINT}],
        [{"New York": 1, "São Paulo": 2, "Zürich": 3, "Den Haag": 4}],
        [{f"city{n}": POINT for n in range(12)}],
        [{f"k{n}": n for n in range(150)}],
        [{"eth0": POINT, "eth1": POINT, "eth2": POINT, "lo": POINT}],
        [{f"w{n}_{m}": "text" for m in range(3)} for n in "abcdef"],
    ],
)
def test_objects_keyed_by_data_are_maps(objects: list[dict[str, Any]]) -> None:
    assert isinstance(map_of(*objects), dict)


@pytest.mark.parametrize(
    "objects",
    [
        [{"name": "x", "city": "y", "email": "z"}],
        [{"name": "x", "city": "y"}, {"name": "x", "email": "z"}, {"name": "x", "phone": "z"}],
        [{"min": 1, "max": 2, "avg": 3, "sum": 4}],
        [{"AB": 4, "R": 1, "H": 2, "HR": 0, "RBI": 1, "BB": 0}] * 3,
        [{"home": {"name": "x", "score": 1}, "away": {"name": "y", "score": 2}}],
        [{"small": POINT, "medium": POINT, "large": POINT, "thumb": POINT}],
        [{"min1": 0.5, "min5": 0.4, "min15": 0.3}],
        [{"min1": POINT, "min5": POINT, "min15": POINT, "cores": POINT}],
        [{"line1": "x", "line2": "y", "line3": "z"}],
        [
            {
                f"{word}_{more}": POINT
                for word in ("read", "write", "wait")
                for more in ("count", "rate", "time", "total")
            }
        ],
        [{f"field_{n}": n for n in range(40)}] * 4,
        [{"movie": {"title": "x", "year": 1}}, {"person": {"name": "y", "born": 2}}],
        [{"Meta Data": {"symbol": "X"}, "Time Series (Daily)": {"2024-01-01": {"open": 1}}}],
        [{"1. open": "1", "2. high": "2", "3. low": "1", "4. close": "2"}],
        [{"r": 1, "g": 2, "b": 3}],
        [{"celsius": 3}, {"fahrenheit": 37}],
        [{"symbol": "x", "numberOf13Fshares": 1, "lastNumberOf13Fshares": 2, "change": 3}],
        [{"Avg. estimate": 1, "High estimate": 2, "Low estimate": 0, "No. of analysts": 3}] * 3,
        [{"created_at": "x", "updated_at": "y"}, {"created_at": "x"}],
    ],
)
def test_records_are_no_maps(objects: list[dict[str, Any]]) -> None:
    assert map_of(*objects) is None


def test_names_of_a_map_are_stated_where_they_are_certain() -> None:
    dates = infer([{"rates": {f"2024-01-0{n}": {"EUR": 1.5} for n in (1, 2, 3)}, "base": "USD"}])
    assert dates["properties"]["rates"]["propertyNames"] == {"format": "date"}
    words = infer([{"rates": {f"city{n}": POINT for n in range(20)}, "base": "USD"}])
    assert "propertyNames" not in words["properties"]["rates"]


def test_data_may_stand_beside_names_of_fields() -> None:
    schema = infer([{"total": 2, "2024-01-01": {"n": 1}, "2024-01-02": {"n": 2}}, {"total": 1, "2024-02-01": {"n": 1}}])
    assert schema["properties"].keys() == {"total"}
    assert schema["required"] == ["total"]
    assert schema["additionalProperties"]["required"] == ["n"]


def test_a_map_has_a_star_in_its_paths() -> None:
    assert fields_of({"rates": {"2024-01-01": {"EUR": 1}}}, {"rates": {}}) == {
        "rates": 2,
        "rates.*": 1,
        "rates.*.EUR": 1,
    }


# --- kinds


def kinds(schema: dict[str, Any], key: str = "type") -> list[Any]:
    return [branch["properties"][key].get("const") for branch in schema["oneOf"] if branch["type"] == "object"]


def test_kinds_of_objects_are_told_apart_by_the_field_that_names_them() -> None:
    items = infer([[{"type": "circle", "radius": 1}, {"type": "square", "side": 2}]])["items"]
    assert kinds(items) == ["circle", "square", None]
    judge = validator(items)
    assert judge.is_valid({"type": "circle", "radius": 3})
    assert not judge.is_valid({"type": "circle", "side": 3})
    assert judge.is_valid({"type": "line", "length": 3}), "two shapes in one reply are not all that there are"


def test_replies_of_different_kinds_are_objects_at_the_top() -> None:
    schema = infer([{"type": "circle", "radius": 1}, {"type": "square", "side": 2}])
    assert schema["type"] == "object"
    assert kinds(schema) == ["circle", "square", None]


def test_kinds_are_closed_where_enough_was_seen() -> None:
    shapes = [{"type": "circle", "radius": 1}, {"type": "square", "side": 2}] * 3
    items = infer([shapes] * 4)["items"]
    assert kinds(items) == ["circle", "square"]
    assert not validator(items).is_valid({"type": "line", "length": 3})


@pytest.mark.parametrize("key", ["kind", "@type", "object", "event", "__typename", "media_type", "resourceType"])
def test_the_names_that_kinds_go_by(key: str) -> None:
    items = infer([[{key: "movie", "title": "x", "runtime": 1}, {key: "person", "born": "y"}, None]])["items"]
    assert kinds(items, key) == ["movie", "person", None]
    assert items["oneOf"][-1] == {"type": "null"}


def test_another_field_tells_kinds_apart_only_where_it_explains_all_gaps() -> None:
    paid = {"id": 1, "settled": True, "paid_at": "x", "method": "card"}
    due = {"id": 2, "settled": False, "due_at": "y", "reminders": 1}
    assert len(infer([[paid, due] * 3])["items"]["oneOf"]) == 2
    assert "oneOf" not in infer([[paid, due]])["items"]
    mixed = [paid, due, paid | {"due_at": "z", "reminders": 2}, due | {"paid_at": "x", "method": "y"}]
    assert "oneOf" not in infer([mixed * 3])["items"]


def test_one_optional_field_among_many_is_no_other_kind() -> None:
    common = {f"field_{n}": n for n in range(12)}
    trips = [{"type": "single", **common}, {"type": "return", **common, "back": 1}]
    assert "oneOf" not in infer([trips])["items"]


def test_ids_and_names_tell_no_kinds() -> None:
    people = [{"id": f"p{n}", "name": f"n{n}", **({"phone": "x", "fax": "y"} if n % 2 else {})} for n in range(30)]
    assert "oneOf" not in infer([people])["items"]


# --- trees


def node(depth: int, **more: Any) -> dict[str, Any]:
    return {"name": "n", "size": depth, "children": [node(depth - 1) for _ in range(2)] if depth else [], **more}


def test_trees_recur_and_any_depth_conforms() -> None:
    schema = infer([node(2)])
    assert schema["type"] == "object"
    assert schema["$defs"]["node"]["properties"]["children"]["items"] == {"$ref": "#/$defs/node"}
    judge = validator(schema)
    assert judge.is_valid(node(6))
    bad = node(5)
    bad["children"][0]["children"][0]["children"][0]["size"] = "large"
    assert not judge.is_valid(bad)


def test_trees_inside_a_response() -> None:
    comments = [{"id": 1, "text": "x", "replies": [{"id": 2, "text": "y", "replies": [{"id": 3, "text": "z"}]}]}]
    schema = infer([{"comments": comments, "total": 3}])
    assert schema["properties"]["comments"]["items"] == {"$ref": "#/$defs/comments"}
    assert schema["$defs"]["comments"]["required"] == ["id", "text"]
    assert [path for path, _ in response_paths(schema)][:3] == ["", "comments", "comments[]"]


def test_recursion_through_other_objects_and_maps() -> None:
    def listing(depth: int) -> dict[str, Any]:
        inner = {"children": [listing(depth - 1)] if depth else [], "before": None}
        return {"kind": "Listing", "data": inner, "count": depth}

    assert json.dumps(infer([listing(5)])).count('"kind"') == 2  # a property and its name among the required

    def folder(depth: int) -> dict[str, Any]:
        return {"owner": "x", "entries": {f"{n}.txt": folder(depth - 1) for n in range(2)} if depth else {}}

    schema = infer([folder(3)])
    assert schema["$defs"]["node"]["properties"]["entries"]["additionalProperties"] == {"$ref": "#/$defs/node"}
    assert validator(schema).is_valid(folder(6))


def test_a_parent_that_may_be_null_recurs() -> None:
    schema = infer([{"id": 1, "name": "a", "parent": {"id": 2, "name": "b", "parent": None}}])
    parent = schema["$defs"]["node"]["properties"]["parent"]
    assert parent == {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}


def test_pages_inside_pages_are_no_tree() -> None:
    def page(*records: Any) -> dict[str, Any]:
        return {"total": len(records), "items": list(records)}

    artists = page({"name": "a", "uri": "u", "genres": ["x"], "images": page({"url": "i", "width": 1})})
    assert "$defs" not in infer([artists])
    assert "$defs" not in infer([{"data": {"user": {"id": 1, "timeline": {"timeline": {"entries": [1]}}}}}])


def test_an_object_with_the_same_names_inside_is_no_tree() -> None:
    user = {"id": 1, "name": "x", "org": {"id": 2, "name": "y"}}
    assert "$defs" not in infer([user])
    error = {"error": {"code": 4, "error": "not found"}}
    assert "$defs" not in infer([error])


# --- counts and speed


def test_fields_count_replies_not_elements() -> None:
    replies = [{"a": [{"x": 1}, {"x": 2}]}, {"a": []}, {"a": [{"x": None, "y": 1}]}]
    assert fields_of(*replies) == {"a": 3, "a[]": 2, "a[].x": 2, "a[].y": 1}
    inference = Inference()
    for reply in replies:
        inference.add(reply)
    assert inference.observations == 3


def test_fields_of_a_tree_count_what_is_further_down() -> None:
    assert fields_of({"id": 1, "x": 1, "up": {"id": 2, "x": 1, "up": {"id": 2, "y": 1}}})["y"] == 1


def test_a_response_of_twenty_thousand_elements_is_quick() -> None:
    rows = [
        {
            "id": n,
            "code": f"c{n % 99}",
            "at": {"lat": n / 7, "lon": 1.5},
            "on": f"2024-01-{n % 28 + 1:02}",
            "tags": ["x"],
        }
        for n in range(20_000)
    ]
    began = time.process_time()
    schema = infer([{"rows": rows}])
    assert time.process_time() - began < 5  # 0.3 s on an idle machine
    assert schema["properties"]["rows"]["items"]["properties"]["on"] == {"type": "string", "format": "date"}


def inferred(*samples: tuple[Any, set[str]]) -> dict[str, Any]:
    inference = Inference()
    for response, sent in samples:
        inference.add(response, sent)
    return inference.schema()


def test_a_key_that_was_asked_for_is_data() -> None:
    schema = inferred(({"cpu": 1.5}, {"cpu"}), ({"mem": 2.5}, {"mem"}))
    assert "properties" not in schema
    assert schema["additionalProperties"] == {"type": "number"}


def test_a_field_that_other_replies_have_unasked_is_a_field() -> None:
    schema = inferred(({"name": "Ada"}, {"name"}), ({"name": "Bob", "age": 3}, set()))
    assert set(schema["properties"]) == {"name", "age"}


def test_keys_asked_for_are_data_wherever_they_stand() -> None:
    schema = inferred(({"base": "USD", "rates": {"EUR": 0.9}}, {"EUR", "USD"}))
    assert set(schema["properties"]) == {"base", "rates"}
    assert "properties" not in schema["properties"]["rates"]
