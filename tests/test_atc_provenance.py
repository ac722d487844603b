"""Where values come from: equal values in earlier responses."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atc.attribute import origins
from atc.paths import EACH, KEY, at, general, places, telling, text
from sandbox.trace import ToolCall


def call(index: int, result: Any, *, error: str | None = None) -> ToolCall:
    return ToolCall(index=index, tool=f"tool_{index}", arguments={}, line=index + 1, result=result, error=error)


def found(value: Any, *results: Any) -> list[tuple[int, str]]:
    return [(o.call, o.path) for o in origins(value, [call(i, r) for i, r in enumerate(results)])]


@pytest.mark.parametrize(
    ("value", "results", "expected"),
    [
        ("JFK", [{"results": [{"code": "JFK"}]}], [(0, "results[0].code")]),
        ("JFK", [{"a": "JFK"}, {"b": "JFK"}], [(1, "b"), (0, "a")]),
        ("UA", [[{"carrier": "UA"}, {"carrier": "AA"}, {"carrier": "UA"}]], [(0, "[].carrier")]),
        ("UA", [[{"carrier": "AA"}, {"carrier": "UA"}]], [(0, "[1].carrier")]),
        ("UA", [{"from": "UA", "to": "UA"}], [(0, "from"), (0, "to")]),
        (1545, [{"flight": 1545}], [(0, "flight")]),
        (1545, [{"flight": "1545"}], []),
        ("1545", [{"flight": 1545}], []),
        (1545, [{"flight": 1545.0}], []),
        (39.5, [{"temp": 39.5}], [(0, "temp")]),
        ("N1", [["N0", "N1"]], [(0, "[1]")]),
        ("N1", ["N1"], [(0, "")]),
        ({"id": 5}, [{"row": {"id": 5}}], [(0, "row")]),
        ("x-1", [{"odd key": "x-1"}], [(0, "['odd key']")]),
        ("nowhere", [{"a": "elsewhere"}], []),
        ("JFK", [], []),
    ],
)
def test_equal_values_of_equal_type(value: Any, results: list[Any], expected: list[tuple[int, str]]) -> None:
    assert found(value, *results) == expected


@pytest.mark.parametrize("value", [None, True, False, 0, 1, 9, -9, "", "a", "true", "OK", "asc", 0.0, 1.0, [], {}])
def test_common_values_have_no_origin(value: Any) -> None:
    assert not telling(value)
    assert found(value, {"x": value, "y": [value]}) == []


@pytest.mark.parametrize("value", ["JFK", 10, -10, 0.5, 123.0, ["a"], {"a": 1}])
def test_telling_values(value: Any) -> None:
    assert telling(value)


def test_the_steps_lead_to_the_value() -> None:
    result = {"flights": [{"tail": "N1"}, {"tail": "N2"}, {"tail": "N2"}]}
    (origin,) = origins("N2", [call(0, result)])
    assert origin.path == "flights[].tail"
    assert at(result, origin.steps) == "N2"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@given(JSON, JSON)
def test_every_origin_holds_the_value(value: Any, result: Any) -> None:
    for origin in origins(value, [call(0, result), call(1, [value])]):
        holder = result if origin.call == 0 else [value]
        held = at(holder, origin.steps)
        assert type(held) is type(value)
        assert held == value


@given(JSON)
def test_a_telling_value_that_was_answered_is_found(value: Any) -> None:
    assert bool(origins(value, [call(0, {"x": [value]})])) == telling(value)


def test_places_follow_a_path() -> None:
    value = {"rows": [{"a": 1}, {"b": 2}, {"a": None}], "by": {"x": {"a": 5}}}

    def seen(*path: Any) -> list[tuple[str, Any]]:
        return [(text(p.path), p.seen if p.missing is None else ("no", p.missing)) for p in places(value, path)]

    assert seen("rows", EACH, "a") == [("rows[0].a", 1), ("rows[1]", ("no", "a")), ("rows[2].a", None)]
    assert seen("rows", -1, "a") == [("rows[2].a", None)]
    assert seen("rows", 7) == [("rows", ("no", 7))]
    assert seen("by", EACH, "a") == [("by.x.a", 5)]
    assert seen("by", KEY) == [("by.keys()", "x")]
    assert seen() == [("", value)]
    assert list(places({"rows": []}, ("rows", EACH, "a"))) == []
    assert general(("rows", 3, "a")) == ("rows", EACH, "a")
    assert json.dumps(value)
