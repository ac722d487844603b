"""The description of a saved tool is its run's task, with parameters in place of values."""

from __future__ import annotations

import pytest

from atc.archive.saved_descriptions import replace_values

FLIGHTS = "How many flights left <origin> on <date>?"


@pytest.mark.parametrize(
    ("task", "parameters", "described"),
    [
        ("How many flights left JFK?", {}, "How many flights left JFK?"),
        (
            "How many flights left JFK on 4 July 2013?",
            {"origin": "JFK", "date": "2013-07-04"},
            FLIGHTS,
        ),
        (
            "How many flights left JFK on July 4th, 2013?",
            {"date": "2013-07-04", "origin": "JFK"},
            FLIGHTS,
        ),
        ("Orders of bonn above ten?", {"city": "Bonn", "n": 10}, "Orders of <city> above <n>?"),
        ("Orders above 1,000 or 2?", {"n": 1000, "m": 2}, "Orders above <n> or <m>?"),
        ("Tell us of US.", {"code": "US"}, "Tell us of <code>."),
        ("Swap a and b.", {"a": "b", "b": "a"}, "Swap <b> and <a>."),
    ],
)
def test_values_become_parameters(task, parameters, described):
    assert replace_values(task, parameters) == described


@pytest.mark.parametrize(
    ("task", "parameters", "described"),
    [
        (
            "What is above 10.5?",
            {"least": 10},
            "Like this task, but for any <least>: What is above 10.5?",
        ),
        (
            "Write to bob@example.org.",
            {"who": "bob", "text": ""},
            "Like this task, but for any <who> and <text>: Write to bob@example.org.",
        ),
    ],
)
def test_a_value_elsewhere_is_only_one_case(task, parameters, described):
    assert replace_values(task, parameters) == described
