"""What comes back from a call."""

import gzip
import zlib

import pytest

from protocols.errors import ToolError
from protocols.invoke import Invoker
from tests.loopback import Reply, http_tool, serving


@pytest.fixture
def answered():
    """`answered(body, …)` gives the result of a call that a server answers so."""
    reply = Reply()
    with serving(lambda _: reply) as server, Invoker() as invoker:

        def result(body, kind="application/json", *, status=200, output=None, method="GET", **headers):
            reply.body, reply.status, reply.headers = body, status, {"Content-Type": kind, **headers}
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
        (b"\x89PNG\r\n\0\x1a\n", "image/png", None, "expected text or JSON, got image/png: 9 bytes that are not text"),
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
    "compress", [gzip.compress, zlib.compress, lambda b: gzip.compress(b[:5]) + gzip.compress(b[5:])]
)
def test_compressed_answers(answered, compress):
    name = "deflate" if compress is zlib.compress else "gzip"
    assert answered(compress(b'{"a": "' + b"x" * 300_000 + b'"}'), **{"Content-Encoding": name})["a"] == "x" * 300_000
