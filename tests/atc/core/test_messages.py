"""Findings as values and as text, and the formatting of values and calls that all messages share."""

from atc.core.messages import describe_keys, describe_type, find_nearest, format_list, snippet


def test_the_nearest_name_is_found():
    assert find_nearest("citty", ["city", "country"]) == "city"
    assert find_nearest("zzz", ["city"]) is None
    assert find_nearest("cities", ["city", "zip"]) is None


def test_values_are_described_in_words():
    assert describe_type([1, 2, 3]) == "a list of 3"
    assert describe_type(None) == "None"
    assert describe_type("x") == "a string"
    assert describe_keys({"a": 1, "b": 2}) == "its keys are a, b"
    assert describe_keys(7) == "it is an integer"
    assert format_list(["a", "b", "c"], most=2) == "a, b and 1 more"
    assert snippet({"a": [1, 2]}, most=8) == '{"a": […'
