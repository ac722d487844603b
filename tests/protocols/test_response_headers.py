"""Which headers of a response are kept beside its value."""

from __future__ import annotations

from protocols.client import Credential, Invoker, InvokeSettings
from protocols.response_headers import MOST_BYTES, MOST_HEADERS, kept_headers
from protocols.tool import Tool
from tests.labs.loopback import Reply, http_tool, serving

SECRET = "sk-4fQ9-hunter2-xyz"


def test_a_call_over_http_keeps_its_headers():
    """Those of the result, without cookies and caching, and with the secrets of the host masked."""
    said = {
        "Location": "/users/77",
        "X-Total-Count": "42",
        "ETag": '"v1"',
        "Link": f"</users?page=2&key={SECRET}>; rel=next",
        "Set-Cookie": "session=abc",
        "Cache-Control": "no-store",
        "Access-Control-Allow-Origin": "*",
    }
    with serving(lambda _: Reply(201, {"id": 77}, said)) as service:
        known = {"login": Credential(value=SECRET, hosts=(service.netloc,), query="key")}
        protocol = http_tool(service.url)
        with Invoker(InvokeSettings(credentials=known)) as invoker:
            response = Tool(protocol, invoker.bind(protocol)).send({})
    assert (response.value, response.status) == ({"id": 77}, 201)
    assert response.headers == {
        "location": "/users/77",
        "x-total-count": "42",
        "etag": '"v1"',
        "link": "</users?page=2&key=***>; rel=next",
    }


def test_headers_over_the_limits_are_left_out():
    many = {f"x-{number}": "1" for number in range(2 * MOST_HEADERS)}
    assert list(kept_headers(many)) == list(many)[:MOST_HEADERS]
    assert kept_headers({"x-a": "1", "x-long": "y" * MOST_BYTES, "x-b": "2"}) == {
        "x-a": "1",
        "x-b": "2",
    }
