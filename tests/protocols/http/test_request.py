"""Where arguments of a call go, and what comes back."""

import gzip
import json
import zlib
from datetime import UTC, datetime
from email import message_from_bytes
from urllib.parse import parse_qsl

import pytest

from protocols.client import Invoker
from protocols.errors import InvalidProtocol, ToolError
from tests.labs.loopback import Reply, http_tool, serving


@pytest.fixture
def call():
    """`call(arguments, path, …)` gives what the server saw of the call."""
    with serving() as server, Invoker() as invoker:

        def made(arguments, path="/x", method="GET", key=None, **binding):
            bound = invoker.bind(http_tool(server.url + path, method, **binding))
            bound(arguments, idempotency_key=key)
            return server.last

        yield made


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ("é ü", "/a/%C3%A9%20%C3%BC/z"),
        (True, "/a/true/z"),
        (["x", "y?z#"], "/a/x,y%3Fz%23/z"),
    ],
)
def test_a_path_argument_stays_one_segment(call, value, path):
    assert call({"id": value}, "/a/{id}/z", locations={"id": "path"}).target == path


@pytest.mark.parametrize(
    "value",
    [
        *(
            ".",
            "..",
            "",
            None,
            "a\r\nb",
            "a\0b",
            "\ud800",
            [],
            ["a", ""],
            1e999,
            "a/b",
            ["x", "y/z"],
        ),
        *(
            "..;x",
            "%2e%2e",
            "%252e.",
            "a%2Fb",
            "a%5Cb",
            "a\\b",
            "a\uff0fb",
            "%u002e%u002e",
            "a%c0%afb",
        ),
    ],
)
def test_misleading_path_arguments_are_refused(call, value):
    with pytest.raises(ToolError, match="lookup: ") as caught:
        call({"id": value}, "/a/{id}/z", locations={"id": "path"})
    assert (caught.value.outcome, caught.value.status) == ("not_run", None)


@pytest.mark.parametrize(
    "url",
    [
        "http://{host}/x",
        "http://api.org{path}",
        "http://user:word@api.org/",
        "http://api.org:0/x",
        "http://evil.org／.api.org/",
        "http://api.org\r\nX: y/",
    ],
)
def test_odd_hosts_cannot_be_bound(url):
    with pytest.raises(InvalidProtocol) as caught:
        Invoker().bind(http_tool(url))
    assert caught.value.path == "binding.http.url"


def test_query_arguments(call):
    arguments = {
        "text": "a&b=c +/é\n",
        "many": [1, "two", None],
        "flag": False,
        "none": None,
        "no": [],
        "f": 1.5,
    }
    places = dict.fromkeys(arguments, "query")
    seen = call({**arguments, "t": "&y=2"}, "/x?fixed=1&at={t}", locations=places)
    assert seen.query[:3] == [("fixed", "1"), ("at", "&y=2"), ("text", "a&b=c +/é\n")]
    assert seen.query[3:] == [("many", "1"), ("many", "two"), ("flag", "false"), ("f", "1.5")]


def test_what_the_address_asks_may_be_declared_too(call):
    properties = {"kind": {}, "n": {}}
    assert call({"n": 1}, "/x?kind=a", properties=properties).query == [("kind", "a"), ("n", "1")]
    with pytest.raises(ToolError, match="in the place of the tool's address"):
        call({"kind": "b"}, "/x?kind=a", properties=properties)


def test_arrays_and_objects_have_plain_forms(call):
    properties = {
        "ids": {"type": "array", "x-atc-join": "|"},
        "filter": {"type": "object"},
        "q": {"x-atc-join": "{}"},
    }
    seen = call(
        {"ids": [1, 2], "filter": {"a": 1, "b": "x"}, "q": {"n": [1]}}, properties=properties
    )
    assert seen.query == [("ids", "1|2"), ("a", "1"), ("b", "x"), ("q", '{"n":[1]}')]
    text = {"id": {"type": "string", "properties": {"id": {}}}}  # as Intercom's document has it
    assert call({"id": "x"}, properties=text).query == [("id", "x")]
    whole = {
        "how": {"type": "object", "x-atc-join": "{}", "properties": {"type": {}}},
        "type": {"type": "string"},
    }
    seen = call({"type": "x", "how": {"type": 1}}, properties=whole)  # as Dropbox Sign's has it
    assert seen.query == [("type", "x"), ("how", '{"type":1}')]


def test_arrays_and_objects_may_use_brackets(call):
    deep = {"type": "object", "x-atc-join": "[]"}
    given = {
        "created": {"gte": 5},
        "expand": ["a", "b"],
        "items": [{"price": "p", "tags": ["x"]}],
        "limit": 3,
    }
    wanted = [("created[gte]", "5"), ("expand[]", "a"), ("expand[]", "b"), ("items[0][price]", "p"),
              ("items[0][tags][]", "x"), ("limit", "3")]  # fmt: skip
    assert call(given, properties=dict.fromkeys(given, deep)).query == wanted
    form = call(
        given,
        method="POST",
        properties=dict.fromkeys(given, deep),
        locations=dict.fromkeys(given, "form"),
    )
    assert parse_qsl(form.body.decode()) == wanted
    with pytest.raises(ToolError, match="in the place of argument 'created'"):
        call({"made": {"gte": 6}, "created": {"gte": 5}}, properties=dict.fromkeys(["made", "created"], deep),
             wire_names={"made": "created"})  # fmt: skip


def test_headers_and_cookies(call):
    headers = {"trace": " a,b ", "n": 7, "é": "naïve", "accept": "text/csv"}
    cookies = {"sid": "a b;c=d", "tok": "x%20=", "void": None}
    seen = call(
        headers | cookies,
        locations=dict.fromkeys(headers, "header") | dict.fromkeys(cookies, "cookie"),
        wire_names={"trace": "X-Trace", "n": "X-N", "é": "X-E"},
    )
    assert (seen.headers["x-trace"], seen.headers["x-n"], seen.headers["accept"]) == (
        "a,b",
        "7",
        "text/csv",
    )
    assert seen.headers["x-e"].encode("latin-1").decode() == "naïve"
    assert seen.headers["cookie"] == "sid=a%20b%3Bc=d; tok=x%20="


@pytest.mark.parametrize("place", ["header", "cookie"])
@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "a\0b", "\x1b[2J", ["ok", "a\rb"]])
def test_control_characters_are_refused_in_headers_and_cookies(call, place, value):
    with pytest.raises(ToolError, match="control character") as caught:
        call({"x": value}, locations={"x": place})
    assert caught.value.outcome == "not_run"


@pytest.mark.parametrize(
    "header", ["Host", "host", "Content-Length", "Transfer-Encoding", "Proxy-Authorization"]
)
def test_arguments_cannot_change_the_request_itself(call, header):
    with pytest.raises(ToolError, match="cannot be set by an argument"):
        call({"x": "evil.org"}, locations={"x": "header"}, wire_names={"x": header})


@pytest.mark.parametrize(
    ("accept", "sent"),
    [
        ((), "application/json, */*;q=0.5"),
        (
            ("application/vnd.a+json", "a/b"),
            "application/vnd.a+json, a/b, application/json;q=0.9, */*;q=0.5",
        ),
    ],
)
def test_declared_media_types_are_accepted_first(call, accept, sent):
    assert call({}, accept=accept).headers["accept"] == sent


def test_json_bodies(call):
    fields = {"title": "naïve", "count": 0, "none": None, "nested": {"a": [1, {"b": True}]}}
    seen = call(
        {**fields, "q": 1}, method="POST", locations=dict.fromkeys(fields, "body") | {"q": "query"}
    )
    assert json.loads(seen.body) == fields
    assert (seen.headers["content-type"], seen.query) == ("application/json", [("q", "1")])
    assert json.loads(call({"items": [1, 2]}, method="PUT", body_argument="items").body) == [1, 2]
    seen = call({"a": 1}, method="PATCH", media="application/merge-patch+json")
    assert (seen.headers["content-type"], seen.body) == ("application/merge-patch+json", b'{"a":1}')
    assert call({}, method="PUT", body_argument="items").body == b""
    assert call({}, method="POST", locations={"note": "body"}).body == b"{}"
    assert call({}, method="POST").headers["content-length"] == "0"
    assert json.loads(call({"undeclared": 1}, method="POST").body) == {"undeclared": 1}


def test_forms(call):
    values = {"a": "x&y=z é", "many": [1, 2], "flag": True, "none": None}
    seen = call(values, method="POST", locations=dict.fromkeys(values, "form"))
    assert seen.body == b"a=x%26y%3Dz%20%C3%A9&many=1&many=2&flag=true"
    assert seen.headers["content-type"] == "application/x-www-form-urlencoded"
    file = {"anyOf": [{"type": "string", "format": "binary"}, {"type": "null"}]}
    files = {
        "doc": file,
        "more": {"type": "array", "items": file},
        "n": {},
        "meta": {"x-atc-join": "{}"},
    }
    form = {"method": "POST", "properties": files, "locations": dict.fromkeys(files, "form")}
    seen = call({"doc": "a,b\n", "more": ["c"], "n": 1, "meta": {"a": 1}}, **form)
    sent = message_from_bytes(
        b"Content-Type: " + seen.headers["content-type"].encode() + b"\n\n" + seen.body
    )
    parts = {
        part.get_param("name", header="content-disposition"): part for part in sent.get_payload()
    }
    sent = {
        name: (part.get_payload(), part.get_filename(), part["Content-Type"])
        for name, part in parts.items()
    }
    kind = "application/octet-stream"
    assert sent == {"doc": ("a,b\n", "doc", kind), "more": ("c", "more", kind), "n": ("1", None, None),
                    "meta": ('{"a":1}', None, "application/json")}  # fmt: skip
    form = {"method": "POST", "locations": {"n": "form"}, "media": "multipart/form-data"}
    assert call({"n": 1}, **form).headers["content-type"].startswith("multipart/form-data")


@pytest.mark.parametrize(
    "value", [float("inf"), {1, 2}, object(), datetime(2026, 1, 1, tzinfo=UTC)]
)
def test_what_is_not_json_is_not_sent(call, value):
    for place in ("body", "query"):
        with pytest.raises(ToolError, match="are not JSON") as caught:
            call({"x": value}, method="POST", locations={"x": place})
        assert caught.value.outcome == "not_run"


def test_idempotency_keys_are_sent_where_set(call):
    named = {"method": "POST", "idempotency_header": "Idempotency-Key"}
    assert "idempotency-key" not in call({}, **named).headers
    assert call({}, key="run-1/3", **named).headers["idempotency-key"] == "run-1/3"
    assert "run-1/3" not in call({}, method="POST", key="run-1/3").everything


# What comes back from a call.


@pytest.fixture
def answered():
    """`answered(body, …)` gives the result of a call that a server answers so."""
    reply = Reply()
    with serving(lambda _: reply) as server, Invoker() as invoker:

        def result(
            body, kind="application/json", *, status=200, output=None, method="GET", **headers
        ):
            reply.body, reply.status, reply.headers = (
                body,
                status,
                {"Content-Type": kind, **headers},
            )
            return invoker.bind(http_tool(server.url, method, output=output))({})

        yield result


OBJECT = {"type": "object"}
TEXT = {"type": "string"}


@pytest.mark.parametrize(
    ("body", "kind", "output", "result"),
    [
        (b'{"a": [1, 2.5, null]}', "application/json", None, {"a": [1, 2.5, None]}),
        (b'\xef\xbb\xbf{"a": 1}', "application/json; charset=utf-8", OBJECT, {"a": 1}),
        ('{"a": "é"}'.encode("utf-16"), "application/json", OBJECT, {"a": "é"}),
        ('{"a": "é"}'.encode("latin-1"), "application/json; charset=ISO-8859-1", OBJECT, {"a": "é"}),
        (b"[1]", "text/plain", None, [1]),
        (b"hello", "text/plain", None, "hello"),
        (b"12", "text/plain", TEXT, "12"),
        (b"3.10", "text/plain; charset=utf-8", None, "3.10"),
        (b'"quoted"', "text/html", {}, '"quoted"'),
        (b"null", "application/octet-stream", None, "null"),
        (b"true", "application/vnd.api+json", None, True),
        (b"42", "text/plain", {"type": "integer"}, 42),
        (b"007", "text/plain", {"type": "integer"}, "007"),
        (b"3.10", "text/plain", {"type": ["integer", "null"]}, "3.10"),
        (b"[1]", "text/csv", {"type": ["string", "null"]}, "[1]"),
        (b'{"a": 1}', "text/plain", {"anyOf": [OBJECT, TEXT]}, {"a": 1}),
        (b"done", "application/json", TEXT, "done"),
        (b"caf\xe9", "text/plain", None, "caf�"),
        (b"<p>hi", "text/html", {"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/t"}], "$defs": {"t": TEXT}}, "<p>hi"),
        (b"OK", "text/plain", {"type": "null"}, "OK"),
        (b"", "application/json", OBJECT, None),
        (b'["\\ud83d\\ude00", "\\ud83d!", {"\\udc00": 1}]', "application/json", None, ["😀", "�!", {"�": 1}]),
    ],
)  # fmt: skip
def test_results(answered, body, kind, output, result):
    assert answered(body, kind, output=output) == result


def test_an_empty_answer_is_none(answered):
    assert answered(b"", status=204) is None
    assert answered({"a": 1}, method="HEAD") is None


@pytest.mark.parametrize(
    ("body", "kind", "output", "message"),
    [
        (b"<html><b>Log  in</b>", "text/html", OBJECT, "expected JSON, got text/html: '<html><b>Log in</b>'"),
        (b'{"a": NaN}', "application/json", None, "NaN is no JSON number"),
        (b'{"a": ' + b"9" * 5000 + b"}", "application/json", OBJECT, "expected valid JSON"),
        (b'{"a": "\xff"}', "application/json", OBJECT, "invalid utf-8 at byte 7"),
        (b"[" * 100_000, "application/json", None, "nested too deeply"),
        (b"[" * 500 + b"]" * 500, "application/json", None, "nested deeper than 200 levels"),
    ],
)  # fmt: skip
def test_a_body_that_is_not_what_was_declared(answered, body, kind, output, message):
    with pytest.raises(ToolError) as caught:
        answered(body, kind, output=output)
    assert message in caught.value.body
    assert (caught.value.status, caught.value.outcome) == (200, "refused")
    assert caught.value.__cause__ is None
    with pytest.raises(ToolError) as caught:
        answered(body, kind, output=output, method="POST")
    assert caught.value.outcome == "unknown"


@pytest.mark.parametrize(
    "compress",
    [gzip.compress, zlib.compress, lambda b: gzip.compress(b[:5]) + gzip.compress(b[5:])],
)
def test_compressed_answers(answered, compress):
    name = "deflate" if compress is zlib.compress else "gzip"
    assert (
        answered(compress(b'{"a": "' + b"x" * 300_000 + b'"}'), **{"Content-Encoding": name})["a"]
        == "x" * 300_000
    )
