"""Values made up: of the type wanted, within the limits, the same each time, and safe on hostile patterns."""

import re
import time
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probing.facts import ArgumentFacts
from probing.generate import IMPROBABLE, bogus, typed
from probing.generate.pattern import matching
from probing.hint import Hint
from probing.sample import Origin, Value
from protocols.schema import validator


def argument(name, place="query", *hints, **declared):
    return ArgumentFacts(name=name, place=place, declared=declared, hints=hints)


def values(arg, count=8, **options):
    return [made.value for made in islice(typed(arg, **options), count)]


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("page", 1),
        ("limit", 5),
        ("per_page", 5),
        ("offset", 0),
        ("lat", 40.7),
        ("longitude", -74.0),
        ("startDate", "2024-01-15"),
        ("end_date", "2024-01-16"),
        ("created_at", "2024-01-15T00:00:00Z"),
        ("year", 2020),
        ("email", "user@example.com"),
        ("callback_url", "https://example.com/"),
        ("country_code", "US"),
        ("target_currency", "USD"),
        ("lang", "en"),
        ("includeDeleted", True),
        ("verbose", True),
        ("q", "a"),
        ("colour", "red"),
        ("tz", "UTC"),
        ("radius_km", 100),
        ("max_price_usd", 10_000),
        ("check_in", "2024-01-15"),
        ("check_out", "2024-01-16"),
        ("flurb", 1),
    ],
)
def test_a_name_says_what_to_try(name, first):
    assert values(argument(name))[0] == first


def test_what_says_nothing_is_tried_as_a_number_a_word_and_a_switch():
    assert values(argument("flurb")) == [1, "test", True]


@pytest.mark.parametrize(
    "declared",
    [
        {"type": "integer", "minimum": 3, "maximum": 4},
        {"type": "integer", "exclusiveMinimum": 7},
        {"type": "number", "minimum": -2.5, "maximum": -1.5},
        {"type": "integer", "minimum": 10**20},
        {"type": "integer", "minimum": 20, "multipleOf": 15},
        {"type": "number", "multipleOf": 0.25, "minimum": 0.3, "maximum": 0.6},
        {"type": "string", "minLength": 30},
        {"type": "string", "maxLength": 2, "minLength": 2},
        {"type": "string", "format": "uuid"},
        {"type": "string", "format": "date-time"},
        {"type": "string", "format": "email"},
        {"type": "string", "pattern": "^[A-Z]{3}-\\d{4}$"},
        {"type": "string", "enum": ["red", "blue"]},
        {"type": "array", "items": {"type": "integer", "minimum": 5}, "minItems": 3},
        {"type": "boolean"},
        {"anyOf": [{"type": "null"}, {"type": "integer", "minimum": 8}]},
        {
            "type": "object",
            "properties": {"name": {"type": "string"}, "at": {"type": "string", "format": "date"}},
            "required": ["at"],
        },
    ],
)
def test_what_is_made_up_conforms(declared):
    fits = validator(declared)
    made = values(argument("thing", "body", **declared))
    assert made
    assert fits.is_valid(made[0]), made


def test_replies_narrow_what_is_made_up():
    told = argument(
        "hour",
        "query",
        Hint(kind="type", argument="hour", types=("integer",)),
        Hint(kind="range", argument="hour", minimum=0, maximum=4),
    )
    assert set(values(told)) <= {0, 1, 2, 4}
    assert values(argument("kind", "query", Hint(kind="enum", argument="kind", values=("x", "y"))))[:2] == ["x", "y"]
    assert re.fullmatch(r"[a-f]{6}", values(argument("id", "path", Hint(kind="pattern", pattern="^[a-f]{6}$")))[0])


def test_of_what_a_pattern_allows_the_usual_comes_first():
    told = argument("alarm", "query", Hint(kind="pattern", pattern=r"^\d{2}:\d{2}$"))
    assert values(told)[0] == "12:00"


def test_a_schema_that_never_ends_costs_little():
    node = {"type": "object", "required": [f"f{n}" for n in range(60)]}
    root = {"$defs": {"Node": {**node, "properties": {f"f{n}": {"$ref": "#/$defs/Node"} for n in range(60)}}}}
    began = time.process_time()
    assert values(ArgumentFacts(name="tree", place="body", declared={"$ref": "#/$defs/Node"}), root=root)
    assert time.process_time() - began < 2


def test_references_are_followed():
    root = {"$defs": {"Size": {"type": "integer", "minimum": 40}}}
    assert values(ArgumentFacts(name="size", declared={"$ref": "#/$defs/Size"}), root=root)[0] >= 40


@given(st.text(max_size=12), st.sampled_from(["path", "query", "body", "value"]), st.integers(0, 3))
def test_the_same_facts_give_the_same_values(name, place, seed):
    assert values(argument(name, place), 30, seed=seed) == values(argument(name, place), 30, seed=seed)


PATTERNS = [
    r"^[A-Z]{3}$",
    r"^\d{4}-(0[1-9]|1[0-2])$",
    r"^(?=.*[A-Z])(?=.*\d).{8,}$",
    r"^N[0-9]{1,5}[A-Z]{0,2}$",
    r"^[^,;]+$",
    r"^\w+@\w+\.(com|org)$",
    r"^(ab|cd)\1$",
    r"abc",
    r"^(a+)+$",
    r"^$",
    r"^.{40}$",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_is_met(pattern):
    made = list(matching(pattern))
    assert made
    assert all(re.search(pattern, text) for text in made)
    assert made == list(matching(pattern))


@pytest.mark.parametrize(
    "pattern",
    [
        "(" * 2000,
        "(" * 240 + "a" + ")" * 240,
        "^(((a{1000}){1000}){1000})$",
        "^(a{0,60000}){60000}$",
        "[",
        "a{99999999999999999999}",
        "^a{400}$",
        "(?=a)b",
        "^(a+)+$" * 70,
        "(?P<x>a)(?P<x>b)",
    ],
)
def test_a_hostile_pattern_costs_little_and_gives_no_wrong_text(pattern):
    began = time.process_time()
    for text in matching(pattern):
        assert len(text) <= 400
    assert time.process_time() - began < 2


@settings(max_examples=150, deadline=None)
@given(st.text("ab01.[]{}()*+?|^$\\dwsSDW,-", max_size=14))
def test_whatever_the_pattern_says_all_texts_match(pattern):
    for text in islice(matching(pattern), 3):
        assert validator({"pattern": pattern}).is_valid(text)


@pytest.mark.parametrize(
    ("arg", "expected"),
    [
        (argument("code"), IMPROBABLE),
        (argument("n", "body", type="integer"), 987_654_321),
        (argument("limit", "query", type="integer"), 100_000),
        (argument("n", "body", type="integer", maximum=9), -987_654_321),
        (argument("n", "body", type="integer", minimum=0), 987_654_321),
        (argument("n", "body", type="integer", minimum=0, maximum=9), None),
        (argument("s", "body", type="string"), IMPROBABLE),
        (argument("s", type="string", enum=["a"]), None),
        (argument("b", type="boolean"), None),
        (argument("d", type="string", format="date"), None),
        (argument("c", "query", Hint(kind="enum", argument="c", values=(1,))), None),
        (argument("l", "body", type="array"), IMPROBABLE),
    ],
)
def test_a_wrong_value_tells_what_is_not_known_yet(arg, expected):
    made = bogus(arg)
    assert (made and made.value) == expected


def test_a_wrong_value_that_was_tried_is_not_sent_again():
    tried = (Value(IMPROBABLE, Origin(kind="generated")),)
    long = bogus(ArgumentFacts(name="x", place="query", accepted=tried))
    assert len(long.value) == 300
    assert bogus(ArgumentFacts(name="x", place="query", accepted=(*tried, long))) is None
    counted = ArgumentFacts(name="size", accepted=(Value(5, Origin(kind="generated")),), refused=tried)
    assert bogus(counted).value == 100_000
    other = bogus(ArgumentFacts(name="x", place="body", refused=tried))
    assert isinstance(other.value, dict)
