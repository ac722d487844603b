"""Fake tools with hidden rules: they hold their rules, and only protocols that state a rule are said to."""

from __future__ import annotations

import json
from dataclasses import replace
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

pytest.importorskip("uvicorn", reason="needs the extra 'toolflow'")

from protocols.protocol import ErrorOutcome, Link
from toolflow_bench.probing.planted import RULES
from toolflow_bench.probing.planted.fake import fake_app
from toolflow_bench.services.serve import serve

TEXT = {"type": "string"}
CLOCK = "^([01][0-9]|2[0-3]):[0-5][0-9]$"
AT_LEAST_ONE = [{"required": [name]} for name in ("name", "birth_date", "insurance_no")]
ADDRESS = {"type": "object", "properties": {"city": TEXT, "zip": TEXT}, "required": ["city", "zip"]}
RATES = {"type": "object", "additionalProperties": {"type": "object", "additionalProperties": {"type": "number"}}}
ITEM = {
    "oneOf": [
        {"properties": {"kind": {"const": "note"}, "text": TEXT}, "required": ["kind", "text"]},
        {"properties": {"kind": {"const": "photo"}, "url": TEXT}, "required": ["kind", "url"]},
    ]
}


def argument(**schemas):
    return lambda protocol: replace(
        protocol,
        input_schema={**protocol.input_schema, "properties": {**protocol.input_schema["properties"], **schemas}},
    )


def whole(**keywords):
    return lambda protocol: replace(protocol, input_schema={**protocol.input_schema, **keywords})


def answers(**properties):
    return lambda protocol: replace(protocol, output_schema={"type": "object", "properties": properties})


def link(name, tool, path):
    return lambda protocol: replace(protocol, links=(Link(argument=name, tool=tool, path=path, support="observed"),))


def fails(status, description):
    return lambda protocol: replace(protocol, errors=(ErrorOutcome(status=status, description=description),))


IDEAL = {
    "iso_date": argument(since={"type": "string", "format": "date"}),
    "enum": argument(sort={"enum": ["new", "top", "rising"]}),
    "enum_german": argument(art={"enum": ["kurz", "lang", "voll"]}),
    "page_of_50": argument(per_page={"type": "integer", "minimum": 1, "maximum": 50}),
    "pattern": argument(tracking={"type": "string", "pattern": "^PX-[0-9]{6}$"}),
    "minimum": argument(amount={"type": "number", "minimum": 5}),
    "max_length": argument(text={"type": "string", "maxLength": 12}),
    "min_length": argument(prefix={"type": "string", "minLength": 3}),
    "case": argument(currency={"type": "string", "pattern": "^[A-Z]{3}$"}),
    "number_as_text": argument(amount={"type": "string", "pattern": "^[0-9]+\\.[0-9]{2}$"}),
    "zero_or_one": argument(available={"enum": [0, 1]}),
    "integer": argument(level={"type": "integer"}),
    "uuid": argument(job_id={"type": "string", "format": "uuid"}),
    "email": argument(email={"type": "string", "format": "email"}),
    "multiple": argument(minutes={"type": "integer", "multipleOf": 15}),
    "date_time": argument(at={"type": "string", "format": "date-time"}),
    "clock": argument(time={"type": "string", "pattern": CLOCK}),
    "max_items": argument(recipients={"type": "array", "maxItems": 3}),
    "default": argument(limit={"default": 25}),
    "exclusive": whole(**{"not": {"required": ["sku", "barcode"]}}),
    "both_or_none": whole(dependentRequired={"lat": ["lon"], "lon": ["lat"]}),
    "one_of_three": whole(anyOf=AT_LEAST_ONE),
    "range_order": fails("400", "to must not be before from"),
    "conditional": whole(
        **{
            "if": {"properties": {"method": {"const": "card"}}, "required": ["method"]},
            "then": {"required": ["card_number"]},
        }
    ),
    "required_body": whole(required=["subject"]),
    "nested_body": argument(address=ADDRESS),
    "positional": whole(required=["x", "y"]),
    "unnamed": argument(quantity={}),
    "header": fails("400", "Missing required header: X-Store-Id"),
    "unit": argument(distance={"type": "integer", "minimum": 100, "maximum": 5000, "description": "In metres."}),
    "comma_list": argument(symbols={"type": "array", "items": TEXT}),
    "deprecated": argument(q={"description": "Deprecated: query."}),
    "token": link("session_token", "create_session", "session_token"),
    "id_of_search": link("company_id", "search_companies", "companies[].company_id"),
    "lock": fails("423", "Call lock_document first."),
    "map": answers(base=TEXT, rates=RATES),
    "union": answers(items={"type": "array", "items": ITEM}),
    "rare_null": answers(device=TEXT, last_seen={"type": ["string", "null"]}),
    "cursor": link("cursor", "list_messages", "next"),
}


def bare(planted):
    return {tool.name: tool.protocol("http://127.0.0.1:1") for tool in planted.tools}


def test_there_are_at_least_25_different_rules():
    assert len(RULES) >= 25
    assert len({planted.name for planted in RULES}) == len(RULES)
    assert IDEAL.keys() == {planted.name for planted in RULES}


@pytest.mark.parametrize("planted", RULES, ids=lambda planted: planted.name)
def test_a_rule_is_stated_by_a_protocol_that_states_it_alone(planted):
    protocols = bare(planted)
    assert not planted.stated(protocols)
    first = planted.tools[0] if planted.name != "token" else planted.tools[1]
    assert planted.stated({**protocols, first.name: IDEAL[planted.name](protocols[first.name])})


def test_a_schema_that_refuses_too_much_states_no_rule():
    [sort] = [planted for planted in RULES if planted.name == "enum"]
    protocols = bare(sort)
    assert not sort.stated({"list_posts": argument(sort={"enum": ["new", "top"]})(protocols["list_posts"])})
    assert not sort.stated({"list_posts": argument(sort={"type": "string"})(protocols["list_posts"])})


def ask(url, method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = Request(url + path, data=data, method=method)
    try:
        with urlopen(request, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as error:
        with error:
            return error.code, error.read().decode()


HELD = [
    ("page_of_50", "GET", "/photos?per_page=50", None, 200),
    ("page_of_50", "GET", "/photos?per_page=51", None, 400),
    ("iso_date", "GET", "/shipments?since=2024-02-30", None, 400),
    ("iso_date", "GET", "/shipments?since=2024-02-28", None, 200),
    ("pattern", "GET", "/parcels/PX-123456", None, 200),
    ("case", "GET", "/rates/gbp", None, 404),
    ("case", "GET", "/rates/GBP", None, 200),
    ("uuid", "GET", "/jobs/0d0f8a52-6f0c-4d8b-9c55-0f4f2c1f7a01", None, 200),
    ("email", "POST", "/invitations", {"email": "a@example.org"}, 201),
    ("email", "POST", "/invitations", {"email": "a"}, 400),
    ("date_time", "GET", "/readings?at=2024-01-01T00:00:00Z", None, 200),
    ("nested_body", "POST", "/customers", {"name": "a", "address": {"city": "b"}}, 400),
    ("exclusive", "GET", "/prices?sku=1&barcode=1", None, 400),
    ("one_of_three", "GET", "/Patient", None, 400),
    ("positional", "POST", "/compute", {"x": 1}, 500),
    ("header", "GET", "/menu", None, 400),
    ("cursor", "GET", "/messages?cursor=c2VjMg", None, 200),
    ("cursor", "GET", "/nothing", None, 404),
]


@pytest.mark.parametrize(("name", "method", "path", "body", "status"), HELD)
def test_a_fake_holds_its_rule(name, method, path, body, status):
    [planted] = [planted for planted in RULES if planted.name == name]
    with serve(fake_app(planted)) as served:
        assert ask(served.url, method, path, body)[0] == status
        assert sum(served.app.state.calls.values()) == 1


def test_a_token_comes_from_a_session_and_a_write_needs_its_lock():
    by_name = {planted.name: planted for planted in RULES}
    with serve(fake_app(by_name["token"])) as served:
        assert ask(served.url, "GET", "/ledger?session_token=x") == (401, '{"code": "AUTH_004"}')
        token = json.loads(ask(served.url, "POST", "/sessions", {})[1])["session_token"]
        assert ask(served.url, "GET", f"/ledger?session_token={token}")[0] == 200
        assert served.app.state.calls == {"get_ledger": 2, "create_session": 1}
    with serve(fake_app(by_name["lock"])) as served:
        assert ask(served.url, "PUT", "/documents/d-71", {"text": "x"})[0] == 423
        assert ask(served.url, "POST", "/documents/d-71/lock", {})[0] == 200
        assert ask(served.url, "PUT", "/documents/d-71", {"text": "x"})[0] == 200
