"""HAR recordings: the calls of a page's program become tools; their values stay behind."""

import json

import pytest

from protocols.errors import SourceUnavailable
from protocols.sources import load_source, load_tools
from protocols.sources.har import read_har
from protocols.sources.operation import FORM_TYPES
from tests.labs.loopback import Reply, serving

API = "https://api.shop.example.com/v1"
TOKEN = "abcDEF123456789xyz"


def pairs(named):
    return [{"name": name, "value": value} for name, value in named]


def entry(
    method,
    url,
    body=None,
    status=200,
    *,
    mime="application/json; charset=utf-8",
    headers=(),
    sent=None,
    **more,
):
    """One entry, as browsers write it."""
    text = body if isinstance(body, str) else json.dumps(body)
    request = {
        "method": method,
        "url": url,
        "headers": pairs(headers),
        "cookies": pairs(more.pop("cookies", ())),
    }
    if sent is not None:
        media, value = sent
        request["postData"] = {
            "mimeType": media,
            "text": value if isinstance(value, str) else json.dumps(value),
        }
    answer = {"headers": pairs(more.pop("answered", ())), "cookies": [], "status": status}
    return {
        "time": 12.5,
        "request": request,
        "response": answer
        | {
            "content": {"mimeType": mime, "size": len(text), "text": text} | more.pop("content", {})
        },
        **more,
    }


def har(*entries):
    return {
        "log": {"version": "1.2", "creator": {"name": "WebInspector"}, "entries": list(entries)}
    }


def read(*entries, **more):
    return {one.name: one for one in read_har(har(*entries), where="page.har", **more)}


def test_calls_are_grouped_by_method_and_template():
    found = read(
        entry("GET", f"{API}/users/17/orders?page=1", {"orders": [1]}),
        entry("GET", f"{API}/users/23/orders?page=2&open=true&tag=a&tag=b", {"orders": []}),
        entry("DELETE", f"{API}/users/23", "", 204, mime=""),
    )
    assert list(found) == ["get_v1_users_orders_by_user_id", "delete_v1_users_by_user_id"]
    orders = found["get_v1_users_orders_by_user_id"]
    assert orders.binding.url == f"{API}/users/{{user_id}}/orders"
    assert orders.parameters == {
        "user_id": {"type": "integer"},
        "page": {"type": "integer"},
        "open": {"type": "boolean"},
        "tag": {"type": "array", "items": {"type": "string"}},
    }
    assert orders.required == {"user_id"}
    assert (orders.evidence.level, orders.evidence.observations) == ("observed", 2)
    assert orders.output_schema is None
    assert found["delete_v1_users_by_user_id"].writes


def test_bodies_are_arguments():
    found = read(
        entry(
            "POST",
            f"{API}/carts",
            {"id": 1},
            201,
            sent=("application/json", {"sku": "a", "count": 2, "gift": None}),
        ),
        entry(
            "POST",
            f"{API}/carts",
            {"id": 2},
            201,
            sent=("application/json", {"sku": "b", "count": 1.5}),
        ),
        entry(
            "POST",
            f"{API}/search",
            {"hits": []},
            sent=("application/x-www-form-urlencoded", "q=new+york&limit=5"),
        ),
        entry("PUT", f"{API}/order", {"ok": True}, sent=("application/json", [3, 1, 2])),
        entry(
            "PUT", f"{API}/users/7?id=8", {"ok": True}, sent=("application/json", {"user_id": 9})
        ),
        entry(
            "POST", f"{API}/files", {"ok": True}, sent=("multipart/form-data; boundary=x", "--x")
        ),
    )
    assert list(found) == [
        "post_v1_carts",
        "post_v1_search",
        "put_v1_order",
        "put_v1_users_by_user_id",
    ]
    assert {name: schema.get("type") for name, schema in found["post_v1_carts"].parameters.items()} == {
        "sku": "string", "count": "number", "gift": "null"}  # fmt: skip
    assert found["post_v1_search"].parameters == {
        "q": {"type": "string"},
        "limit": {"type": "integer"},
    }
    assert set(found["post_v1_search"].binding.locations.values()) == {"form"}
    assert found["put_v1_order"].parameters == {
        "body": {"type": "array", "items": {"type": "integer"}}
    }
    assert found["put_v1_order"].binding.body_argument == "body"
    user = found["put_v1_users_by_user_id"].binding
    assert user.locations == {"user_id": "path", "id": "query", "body_user_id": "body"}
    assert user.wire_names == {"body_user_id": "user_id"}


def test_forms_are_read_from_recorded_fields():
    fields = [{"name": "doc", "fileName": "a.txt"}, {"name": "note%5B%5D", "value": "hi"}]
    sent = [entry("POST", f"{API}/{kind}", {}, sent=(kind, "")) for kind in FORM_TYPES]
    for one in sent:
        one["request"]["postData"]["params"] = fields
    form, upload, patch = read(
        *sent, entry("PATCH", API, {}, sent=("application/merge-patch+json", {"a": 1}))
    ).values()
    for one in (upload, form):
        assert one.parameters == {
            "doc": {"type": "string", "format": "binary"},
            "note[]": {"type": "string"},
        }
    media = [one.binding.media for one in (upload, form, patch)]
    assert media == ["multipart/form-data", "", "application/merge-patch+json"]


def test_secrets_are_nowhere():
    secrets = "SECRETKEY1234 s3ss10nabcdef99 tokXYZ987654321 hunter22 csrf-77aa88bb99 dXNlcjpwbGFpbnBhc3M= plainpass"
    found = read(
        entry("GET", f"{API}/me?api_key=SECRETKEY1234", {"id": 1, "sid": "s3ss10nabcdef99", "say": f"Bearer {TOKEN}!"},
              headers=[("Authorization", f"Bearer {TOKEN}"), ("Cookie", "lang=en; sid=s3ss10nabcdef99")]),
        entry("GET", f"{API}/old", {"id": 1}, headers=[("authorization", "Basic dXNlcjpwbGFpbnBhc3M=")]),
        entry("POST", f"{API}/login", {"access_token": "tokXYZ987654321"},
              sent=("application/json", {"name": "bob", "password": "hunter22", "note": "csrf-77aa88bb99"}),
              answered=[("Set-Cookie", "x=csrf-77aa88bb99; HttpOnly")]),
        entry("GET", f"{API}/reset/s3ss10nabcdef99", {"error": "hunter22 is wrong, plainpass too"}),
        entry("GET", f"{API}/echo", {"ok": "tokXYZ987654321 is good"}),
    )  # fmt: skip
    everything = repr(found)
    assert [secret for secret in (TOKEN, *secrets.split()) if secret in everything] == []
    assert found["post_v1_login"].parameters["password"] == {"type": "string", "x-atc-secret": True}
    me = found["get_v1_me"]
    assert "api_key" not in me.parameters
    assert me.binding.credentials == ("api_shop_example_com",), (
        "a name; your settings have the value"
    )
    assert found["get_v1_echo"].binding.credentials == ()


def test_what_is_no_call_is_left_out():
    found = read(
        entry("GET", "https://www.shop.example.com/", "<html>", mime="text/html"),
        entry("OPTIONS", f"{API}/things", {}),
        entry("GET", f"{API}/moved", {}, 301),
        entry("GET", f"{API}/text", "12", mime="text/plain"),
        entry("GET", "ws://api.shop.example.com/socket", {}),
        entry("GET", f"{API}/things?q=a", {"things": []}, mime="application/vnd.api+json"),
        entry("GET", f"{API}/without", "", content={"size": 99}),  # saved without what came back
        {"request": None},
        None,
        {"request": {"method": "GET", "url": 5}, "response": {"status": 200}},
    )
    assert list(found) == ["get_v1_things", "get_v1_without"]


def test_the_host_can_be_chosen():
    entries = [
        entry("GET", "https://api.one.example/a", {"a": 1}),
        entry("GET", "https://api.one.example/b", {"a": 1}),
        entry("GET", "https://api.two.example/c", {"a": 1}),
    ]
    assert list(read(*entries)) == ["get_a", "get_b"], "the one called most"
    assert list(read(*entries, base_url="https://api.two.example")) == ["get_c"]
    moved = read(*entries, base_url="http://127.0.0.1:8000")
    assert moved["get_a"].binding.url == "http://127.0.0.1:8000/a"


def test_a_recording_is_a_source(tmp_path):
    with serving(lambda seen: Reply(body={"path": seen.path})) as server:
        file = tmp_path / "page.har"
        file.write_text(
            json.dumps(har(entry("GET", f"{server.url}/items/5", {"path": "/items/5"})))
        )
        loaded = load_source(str(file))
        assert server.seen == [], "reading sends nothing"
        assert loaded.kind == "har"
        (tool,) = loaded.tools.values()
        assert tool.call({"item_id": 6}) == {"path": "/items/6"}


def test_a_recording_without_calls(tmp_path):
    file = tmp_path / "page.har"
    file.write_text(json.dumps(har({"request": 5}, entry("GET", f"{API}/x", {"e": 1}, 404))))
    with pytest.raises(
        SourceUnavailable, match=r"records no API call: none of its \d requests was answered"
    ):
        load_tools(str(file))


@pytest.mark.parametrize(
    "segment",
    [
        "17", "3fa85f64-5717-4562-b3fc-2c963f66afa6", "507f1f77bcf86cd799439011", "dQw4w9WgXcQ", "tt0111161",
        "ann@example.org",
    ],
)  # fmt: skip
def test_what_looks_like_an_identifier_is_an_argument(segment):
    assert list(read(entry("GET", f"{API}/users/{segment}", {"id": 1}))) == [
        "get_v1_users_by_user_id"
    ]


@pytest.mark.parametrize("segment", ["me", "v2", "search", "a%20b", "oauth2"])
def test_other_parts_of_a_path_are_its_own(segment):
    (protocol,) = read(entry("GET", f"{API}/users/{segment}", {"id": 1})).values()
    assert protocol.binding.url == f"{API}/users/{segment}"
