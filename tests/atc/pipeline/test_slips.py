"""Slips of a program that facts show."""

import ast

import pytest

from atc.pipeline.slips import find_unit_slip, is_share_for_percent

KEYS = ["wind_mph", "wind_kt", "distanceMiles", "air_time_minutes", "name"]


@pytest.mark.parametrize(
    ("task", "source", "slip"),
    [
        ("How many km is it?", "print(r['distanceMiles'])", "is in miles"),
        ("How many km is it?", "print(r['distanceMiles'] * f)", None),
        ("How many miles is it?", "print(r['distanceMiles'] * 1.609)", "already"),
        ("The wind in miles per hour?", "print(r['wind_mph'] * 1.15)", "already"),
        ("The wind in miles per hour?", "print(r['wind_kt'] * 1.15)", None),
        ("The wind in mph, and in knots?", "print(r['wind_mph'])", None),
        ("How many minutes?", "print(r['air_time_minutes'] / 60)", "already"),
        ("How many hours?", "print(r['air_time_minutes'] / 60)", None),
    ],
)
def test_a_unit_other_than_the_asked_one(task, source, slip):
    found = find_unit_slip(task, ast.parse(source), KEYS)
    assert (found is None) == (slip is None)
    assert slip is None or slip in str(found)


def test_a_share_where_percent_are_asked():
    task = "In how many percent of the games?"
    assert is_share_for_percent(task, "print(a / b)", "0.856")
    for source, answer in (
        ("print(100 * a / b)", "0.856"),
        ("print(a / b)", "85.6"),
        ("print(r['share'])", "0.856"),
    ):
        assert not is_share_for_percent(task, source, answer)
    assert not is_share_for_percent("What is the ratio?", "print(a / b)", "0.856")
