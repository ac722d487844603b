"""Where values come from: equal values in earlier responses."""

from __future__ import annotations

from typing import Any

import pytest

from atc.pipeline.attribute import find_origins
from sandbox.trace import ToolCall


def call(index: int, result: Any, *, error: str | None = None) -> ToolCall:
    return ToolCall(
        index=index, tool=f"tool_{index}", arguments={}, line=index + 1, result=result, error=error
    )


def found(value: Any, *results: Any) -> list[tuple[int, str]]:
    return [
        (o.call, o.path) for o in find_origins(value, [call(i, r) for i, r in enumerate(results)])
    ]


@pytest.mark.parametrize(
    ("value", "results", "expected"),
    [
        ("JFK", [{"results": [{"code": "JFK"}]}], [(0, "results[0].code")]),
        ("JFK", [{"a": "JFK"}, {"b": "JFK"}], [(1, "b"), (0, "a")]),
        (0.5, [{"share": 0.5}], [(0, "share")]),
        ("UA", [[{"carrier": "UA"}, {"carrier": "AA"}, {"carrier": "UA"}]], [(0, "[].carrier")]),
        ("UA", [{"from": "UA", "to": "UA"}], [(0, "from"), (0, "to")]),
        (1545, [{"flight": 1545}], [(0, "flight")]),
        ("1545", [{"flight": 1545}], []),
        (1545, [{"flight": 1545.0}], []),
        ("N1", ["N1"], [(0, "")]),
        ({"id": 5}, [{"row": {"id": 5}}], [(0, "row")]),
        ("x-1", [{"odd key": "x-1"}], [(0, "odd key")]),
    ],
)
def test_equal_values_of_equal_type(
    value: Any, results: list[Any], expected: list[tuple[int, str]]
) -> None:
    assert found(value, *results) == expected


@pytest.mark.parametrize("value", [None, True, 0, 9, -9, "a", "true", "asc", 1.0, [], {}])
def test_common_values_have_no_origin(value: Any) -> None:
    assert found(value, {"x": value, "y": [value]}) == []
