"""Limits on the connections and sessions of each token over HTTP."""

from atc.serve.shares import header


def test_a_missing_header_is_empty():
    assert header({"headers": [(b"a", b"1")]}, b"a") == b"1"
    assert header({"headers": []}, b"a") == b""
