"""Templates of pages."""

from atc.core.pages.templates import format_json


def test_values_become_json_and_texts_stay():
    assert format_json("x") == "x"
    assert format_json({"a": [1, None]}) == '{"a": [1, null]}'
