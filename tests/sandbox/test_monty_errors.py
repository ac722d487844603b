"""What a program on monty gets for a call."""

from __future__ import annotations

from sandbox.monty_errors import limit_of, refused_arguments, value_reply


def test_values_and_errors_for_monty():
    assert value_reply({"a": "x\ud800"}) == {"return_value": {"a": "x?"}}
    assert "find() was given arguments" in str(refused_arguments("find"))
    assert limit_of("MemoryError", "") == "memory_bytes"
    assert limit_of("TimeoutError", "by the program") == ""
