"""Arguments for which a number and its text are the same."""

import pytest

from protocols.protocol import HttpBinding, ToolProtocol
from protocols.text_arguments import (
    as_numbers,
    as_texts,
    find_text_form,
    is_sent_as_text,
)


def test_only_json_distinguishes_numbers_from_texts():
    schemas = {"a": {}, "b": {}, "c": {"x-atc-join": "{}"}, "d": {}, "whole": {}}
    binding = HttpBinding(
        method="POST",
        url="https://api.example/{a}",
        locations={"b": "body", "c": "query", "d": "form"},
        body_argument="whole",
    )
    tool = ToolProtocol(name="t", input_schema={"properties": schemas}, binding=binding)
    assert [name for name in schemas if is_sent_as_text(tool, name)] == ["a", "d"]
    assert not is_sent_as_text(ToolProtocol(name="t", input_schema={"properties": schemas}), "a")


@pytest.mark.parametrize("text", ["", "five", "1e5", "0x10", "1.", " 1", "٣", "nan", "1" * 50])
def test_only_plain_digits_are_numbers(text):
    assert as_numbers(text) == text


def test_readings_reach_items_and_fields():
    assert as_numbers({"gte": "5", "in": ["-1.5", "x", None]}) == {
        "gte": 5,
        "in": [-1.5, "x", None],
    }
    assert as_texts({"gte": 5, "in": [-1.5, "x", True]}) == {"gte": "5", "in": ["-1.5", "x", True]}


def test_numbers_without_a_text_stay():
    for value in (10**5000, float("inf"), -float("inf")):
        assert as_texts(value) == value
    deep = 5
    for _ in range(3000):
        deep = [deep]
    assert as_texts(deep) is not None


@pytest.mark.parametrize(
    ("schema", "form"),
    [
        ({"format": "uri"}, "uri"),
        ({"format": "snowflake"}, None),
        ({"examples": ["https://a.example/2"]}, "text"),
        ({"examples": ["1714521600.000000"]}, None),
        ({"examples": [7]}, None),
        ({}, None),
    ],
)
def test_formats_and_examples_show_a_text(schema, form):
    assert find_text_form(schema) == form
