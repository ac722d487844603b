"""Shortens values and printed text for prompts."""

from protocols.truncate import abridge_output, abridge_value, clip_text, sample_value


def test_long_values_become_samples():
    assert abridge_value([1, 2], most=100) == "[1, 2]"
    assert len(abridge_value(list(range(10_000)), most=200)) < 400
    assert sample_value({"a": 1}, most=50) == "{'a': 1}"
    assert clip_text("abcdef", 3) == "abc… (3 characters more)"
    assert abridge_output("short", most=100) == "short"
