"""Observed links: those that values show, none by coincidence, and the calls that would tell more."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probing.links import link_tests, observed_links
from probing.pools import Pools
from probing.shape import text_of
from tests.links_lab import Refused, Service, pick, protocol

CODES = ["BOS", "JFK", "LAX", "SFO", "ATL", "DEN"]
CARRIERS = ["UA", "DL", "B6"]


def airline_service():
    flights = {f"{c}-{a}-{n}7": (c, a, CODES[(n + 1) % 6]) for n, c in enumerate(CARRIERS) for a in CODES[:3]}

    def rows(found):
        return {
            "flights": [
                {"flight_id": k, "carrier": c, "origin": o, "destination": d, "seats": 100 + n, "year": 2013}
                for n, (k, (c, o, d)) in enumerate(found)
            ],
            "count": len(found),
        }

    def search_airports(query):
        return {"airports": [{"code": c, "name": f"{c.title()} Field", "runways": n} for n, c in enumerate(CODES)]}

    def get_airport(code):
        return {"code": pick(dict.fromkeys(CODES, 1), code, "code") and code, "elevation": 2013}

    def departures(origin, carrier=None):
        if origin not in CODES:
            raise Refused("origin")
        return rows([(k, f) for k, f in flights.items() if f[1] == origin and carrier in (None, f[0])])

    def list_carriers():
        return {"carriers": [{"carrier": c, "name": c.lower(), "founded": 1990 + n} for n, c in enumerate(CARRIERS)]}

    def get_flight(flight_id):
        return {**rows([(flight_id, pick(flights, flight_id, "flight_id"))])["flights"][0], "delay": 2}

    def statistics(year):
        if not isinstance(year, int):
            raise Refused("year")
        return {"year": year, "flights": 100 + year % 7}

    return Service(
        search_airports=("/airports", search_airports),
        get_airport=("/airports/{code}", get_airport),
        departures=("/departures", departures),
        list_carriers=("/carriers", list_carriers),
        get_flight=("/flights/{flight_id}", get_flight),
        statistics=("/statistics", statistics),
    )


def probed_airline():
    service = airline_service()
    service.call("search_airports", query="a")
    service.call("list_carriers")
    service.from_path("get_airport", "code", "search_airports airports[].code")
    service.from_path("departures", "origin", "search_airports airports[].code")
    service.from_path("departures", "origin", "search_airports airports[].code")
    service.from_path("get_flight", "flight_id", "departures flights[].flight_id")
    service.call("statistics", year=2013)
    return service


TRUE_LINKS = {
    ("get_airport", "code", "search_airports", "airports[].code"),
    ("get_airport", "code", "departures", "flights[].destination"),
    ("get_airport", "code", "get_flight", "origin"),
    ("get_airport", "code", "get_flight", "destination"),
    ("departures", "origin", "search_airports", "airports[].code"),
    ("departures", "origin", "get_flight", "origin"),
    ("departures", "origin", "get_flight", "destination"),
    ("departures", "carrier", "list_carriers", "carriers[].carrier"),
    ("departures", "carrier", "get_flight", "carrier"),
    ("get_flight", "flight_id", "departures", "flights[].flight_id"),
}


def test_the_links_of_a_service_are_found_and_no_others():
    service = probed_airline()
    service.test_links(rounds=3)
    found = service.found()
    assert len(found & TRUE_LINKS) / len(found) >= 0.9, found - TRUE_LINKS
    assert len(found & TRUE_LINKS) / len(TRUE_LINKS) >= 0.8, TRUE_LINKS - found


def test_a_value_that_a_response_merely_echoes_is_no_source():
    service = probed_airline()
    service.test_links()
    assert not [link for link in service.found() if link[2] == "get_airport"]
    assert ("get_flight", "flight_id", "get_flight", "flight_id") not in service.found()


def test_a_count_that_equals_a_year_is_a_coincidence():
    service = probed_airline()
    service.test_links()
    assert service.found("statistics") == set()


def two_kinds(**more):
    """Users and teams, both numbered from 1."""
    users, teams = {n: f"user {n}" for n in range(1, 6)}, {n: f"team {n}" for n in range(1, 9)}

    def list_users():
        return {"users": [{"id": n, "name": name} for n, name in users.items()]}

    def list_teams():
        return {"teams": [{"id": n, "name": name} for n, name in teams.items()]}

    def get_user(user_id):
        return {"user": {"name": pick(users, user_id, "user_id")}}

    def get_team(id):  # noqa: A002
        return {"name": pick(teams, id, "id")}

    return Service(
        list_users=("/users", list_users),
        list_teams=("/teams", list_teams),
        get_user=("/users/{user_id}", get_user),
        get_team=("/teams/{id}", get_team),
        **more,
    )


def test_small_numbers_are_linked_by_name_alone():
    service = two_kinds()
    service.call("list_users")
    service.call("list_teams")
    for n in (1, 2, 3):
        service.call("get_user", user_id=n)
        service.call("get_team", id=n)
    service.test_links()
    assert service.found() == {
        ("get_user", "user_id", "list_users", "users[].id"),
        ("get_team", "id", "list_teams", "teams[].id"),
    }


def test_a_source_whose_values_are_refused_is_none():
    service = Service(
        orders=("/orders", lambda: {"orders": [{"customer_id": f"c-{n}"} for n in range(4)]}),
        customer=("/customers/{customer_id}", lambda customer_id: _only_new(customer_id)),
    )
    service.call("orders")
    service.call("customer", customer_id="new-7")
    for _ in range(2):
        service.from_path("customer", "customer_id", "orders orders[].customer_id")
    assert service.found() == set()


def _only_new(customer_id):
    if not customer_id.startswith("new-"):
        raise Refused("customer_id")
    return {"name": "Ada"}


def test_an_argument_that_takes_anything_is_linked_to_nothing_by_values():
    service = Service(
        tickets=("/tickets", lambda: {"tickets": [{"ref": f"T-{n}41"} for n in range(5)]}),
        echo=("/echo", lambda value: {"said": value, "length": len(value)}),
        log=("/log", lambda message: {"ok": True, "message": message}),
    )
    service.call("tickets")
    service.call("echo", value="hello")
    service.from_path("echo", "value", "tickets tickets[].ref")
    service.call("log", message="hi")
    service.test_links()
    assert service.found() == set()


@pytest.mark.parametrize("taken", [1, 2])
def test_values_without_a_name_in_common_must_be_repeated_or_contrasted(taken):
    parts = [f"PX-{n}93-K" for n in range(6)]
    service = Service(
        catalogue=("/catalogue", lambda: {"entries": [{"sku": p, "price": n} for n, p in enumerate(parts)]}),
        stock=("/stock", lambda thing: {"stock": len(pick(dict.fromkeys(parts, "x"), thing, "thing"))}),
    )
    service.call("catalogue")
    for _ in range(taken):
        service.from_path("stock", "thing", "catalogue catalogue[].sku".replace("catalogue[]", "entries[]"))
    link = ("stock", "thing", "catalogue", "entries[].sku")
    assert (link in service.found()) == (taken == 2)
    service.call("stock", thing="PX-999-K")
    assert link in service.found()


def test_counts_and_what_became_of_values_from_elsewhere():
    service = two_kinds()
    service.call("list_users")
    for n in (1, 2):
        service.call("get_user", user_id=n)
    [link] = service.links
    assert (link.accepted, link.refused, link.elsewhere) == (2, 0, "untried")
    assert link.link.support == "observed"
    service.call("get_user", user_id=9)
    [link] = service.links
    assert (link.accepted, link.elsewhere) == (2, "refused")


def test_lists_of_ids_count_by_their_elements():
    known = {f"n-{n}0" for n in range(5)}
    service = Service(
        nodes=("/nodes", lambda: {"nodes": [{"node_id": n} for n in sorted(known)]}),
        compare=("/compare", lambda node_ids: {"nodes": [1 for n in node_ids if n in known]}),
    )
    service.call("nodes")
    service.call("compare", node_ids=["n-00", "n-10"])
    assert service.found() == {("compare", "node_ids", "nodes", "nodes[].node_id")}


def test_what_another_tool_of_the_same_argument_shows_is_guessed_and_said_to_be():
    service = two_kinds(get_salary=("/salaries", lambda user_id: pick({}, user_id, "user_id")))
    service.call("list_users")
    service.call("get_user", user_id=1)
    service.call("get_salary", user_id=1)
    support = {one.consumer: one.link.support for one in service.links if one.link.argument == "user_id"}
    assert support["get_user"] == "observed"
    assert support.get("get_salary") in (None, "guessed")


def test_ids_of_nothing_in_particular_are_not_of_one_thing():
    service = Service(
        alpha=("/", lambda: [{"id": n} for n in range(1, 5)]),
        beta=("/", lambda id: pick({1: {"x": 1}, 2: {"x": 2}}, id, "id")),  # noqa: A006
    )
    service.call("alpha")
    service.call("beta", id=1)
    service.call("beta", id=2)
    assert service.found() == set()


def test_a_token_is_linked_to_what_gives_it_and_to_nothing_else():
    token = "d81bc81bdead4e5e"
    service = Service(
        login=("/login", lambda user: {"session": {"access_token": token}, "user_id": "u-1"}),
        items=("/items", lambda token: pick({"d81bc81bdead4e5e": {"items": [1]}}, token, "token")),
        note=("/note", lambda note: {"note": 1}),
    )
    service.call("login", user="ada")
    service.call("note", note="x")
    service.test_links()
    assert service.found() == {("items", "token", "login", "session.access_token")}
    assert token not in [v.value for s in service.samples if s.tool == "note" for v in s.arguments.values()]


def test_secrets_pages_and_searches_are_not_linked():
    service = Service(
        login=("/login", lambda user: {"token": "d81bc81bdead4e5e", "page": 3, "query": "hello there"}),
        items=("/items", lambda q, page=1: {"items": [{"x": q}], "page": page}),
    )
    service.call("login", user="ada")
    service.call("items", q="hello there", page=3)
    assert service.found() == set()


def test_tests_use_values_that_were_not_sent_and_repeat_no_call():
    service = probed_airline()
    sent = {(s.tool, repr(sorted(s.plain.items()))) for s in service.samples}
    tests = list(link_tests(service.facts, service.pools))
    assert tests
    keys = [(t.tool, repr(sorted((n, v.value) for n, v in t.arguments.items()))) for t in tests]
    assert len(set(keys)) == len(keys)
    assert not sent & set(keys)


def test_a_test_tries_the_likely_source_first_then_a_value_from_elsewhere():
    service = two_kinds()
    service.call("list_users")
    service.call("list_teams")
    first = next(test for test in link_tests(service.facts, service.pools) if test.tool == "get_user")
    value = first.arguments["user_id"]
    assert (value.origin.tool, value.origin.path) == ("list_users", "users[].id")
    service.call("get_user", **first.arguments)
    counter = next(test for test in link_tests(service.facts, service.pools) if test.tool == "get_user")
    assert counter.arguments["user_id"].value not in {1, 2, 3, 4, 5}


def test_an_argument_never_given_is_tried_with_what_its_tool_answers():
    service = probed_airline()
    service.call("departures", origin="LAX", carrier="B6")
    service.functions["routes"] = lambda origin, carrier=None: service.functions["departures"](origin, carrier)
    service.protocols["routes"] = protocol("routes", "/routes", service.functions["routes"])
    service.pools = Pools(service.protocols.values())
    for sample in service.samples:
        service.pools.add(sample)
    service.call("routes", origin="JFK")
    tests = link_tests(service.facts, service.pools, tools=["routes"])
    test = next(test for test in tests if "carrier" in test.arguments)
    assert test.arguments["carrier"].value in CARRIERS
    assert service.call("routes", **test.arguments).response["flights"]


def test_a_tool_whose_other_arguments_are_not_known_is_left():
    service = Service(
        users=("/users", lambda: {"users": [{"id": 1}]}),
        pay=("/pay", lambda user_id, amount: {"paid": amount}),
    )
    service.call("users")
    assert list(link_tests(service.facts, service.pools)) == []


def test_the_same_samples_give_the_same_links_in_any_order_of_tools():
    service = probed_airline()
    service.test_links()
    names = list(service.facts)
    random.Random(3).shuffle(names)
    facts = service.facts
    shuffled = observed_links({name: facts[name] for name in names}, service.pools)
    key = lambda one: (one.consumer, one.link.argument, one.link.tool, one.link.path)  # noqa: E731
    assert sorted(shuffled, key=key) == sorted(service.links, key=key)
    assert service.links == service.links


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_every_link_leads_to_values_that_the_service_gave(seed):
    rng = random.Random(seed)
    service = airline_service()
    for _ in range(12):
        name = rng.choice(list(service.protocols))
        arguments = {
            n: rng.choice([*CODES, *CARRIERS, 2013, "UA-BOS-07", "x"]) for n in service.protocols[name].parameters
        }
        service.call(name, **arguments)
    held = {(s.tool, text_of(v)) for s in service.samples if s.done for v in _leaves(s.response)}
    for one in service.links:
        place = service.pools.place(one.link.tool, one.link.path)
        assert place.values
        assert all((one.link.tool, text) in held for text in place.values)
        assert one.link.tool != one.consumer
        if one.link.support == "observed":
            assert one.accepted


def _leaves(node):
    if isinstance(node, dict):
        return [leaf for part in node.values() for leaf in _leaves(part)]
    return [leaf for part in node for leaf in _leaves(part)] if isinstance(node, list) else [node]


def shop():
    """Another kind of service: small numbers for ids of three kinds, wrapped answers, ids within records."""
    skus = [f"SKU-{n * 37:04d}" for n in range(1, 6)]
    names = ["Ada", "Bo", "Cy", "Di", "Ed", "Flo", "Gil"]
    products = {sku: {"sku": sku, "price": 9.5 * n, "category": {"id": n % 3 + 1}} for n, sku in enumerate(skus)}
    orders = {
        n: {"id": n, "customer": {"id": n % 7 + 1}, "lines": [{"product": {"sku": skus[n % 5]}, "count": n}]}
        for n in range(1, 12)
    }

    def of_customer(customer_id):
        pick(dict(enumerate(names, 1)), customer_id, "customer_id")
        return {"data": [order for order in orders.values() if order["customer"]["id"] == customer_id]}

    return Service(
        list_customers=("/customers", lambda: {"data": [{"id": n, "name": name} for n, name in enumerate(names, 1)]}),
        list_orders=("/orders", lambda limit=4: {"data": list(orders.values())[:limit], "limit": limit}),
        list_products=("/products", lambda: {"data": list(products.values())}),
        customer_orders=("/customers/{customer_id}/orders", of_customer),
        get_order=("/orders/{id}", lambda id: {"data": pick(orders, id, "id")}),  # noqa: A006
        get_product=("/products/{sku}", lambda sku: {"data": pick(products, sku, "sku")}),
        related=("/related", lambda product: {"data": [pick({s: {"sku": skus[0]} for s in skus}, product, "product")]}),
    )


def test_numbers_of_three_kinds_are_told_apart():
    service = shop()
    for name in ("list_customers", "list_orders", "list_products"):
        service.call(name)
    for n in (1, 2, 3):
        service.call("list_orders", limit=n)
        service.call("customer_orders", customer_id=n)
        service.call("get_order", id=n)
    for _ in (1, 2):
        service.from_path("get_product", "sku", "list_products data[].sku")
        service.from_path("related", "product", "list_products data[].sku")
    service.test_links()
    customers = {
        ("list_customers", "data[].id"),
        ("list_orders", "data[].customer.id"),
        ("get_order", "data.customer.id"),
    }
    skus = {("list_products", "data[].sku"), ("list_orders", "data[].lines[].product.sku")}
    skus |= {("customer_orders", "data[].lines[].product.sku"), ("get_order", "data.lines[].product.sku")}
    true = {("customer_orders", "customer_id", *place) for place in customers}
    true |= {("get_product", "sku", *place) for place in {*skus, ("related", "data[].sku")}}
    true |= {("related", "product", *place) for place in skus}
    true |= {("get_order", "id", "list_orders", "data[].id"), ("get_order", "id", "customer_orders", "data[].id")}
    assert service.found() <= true, service.found() - true
    assert len(service.found()) >= 0.8 * len(true), true - service.found()
