"""The gateway over streamable HTTP."""

from atc.serve.http import is_loopback


def test_only_loopback_is_on_this_machine():
    assert is_loopback("127.0.0.1")
    assert is_loopback("localhost")
    assert not is_loopback("0.0.0.0")
    assert not is_loopback("example.org")
    assert is_loopback("::1")
