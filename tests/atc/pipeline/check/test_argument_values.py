"""Values of arguments that are sent as text, and of arguments in a JSON body."""

from __future__ import annotations

from typing import Any

import pytest

from atc.core.program import Program
from atc.pipeline.check import check
from protocols.protocol import HttpBinding, Location, ToolProtocol
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from tests.labs.check_corpus import obj

ANSWER = obj(
    ts={"type": "string", "pattern": r"^\d{10}\.\d{6}$"},
    code={"type": "string", "pattern": "^[A-Z]{3}$"},
    day={"type": "string", "format": "date"},
    next={"type": "string", "examples": ["https://a.example/?page=2"]},
    id={"type": "string"},
    count={"type": "integer"},
)


def codes(value: str, schema: dict[str, Any], place: Location = "query") -> list[str]:
    """The findings in a program that passes `value`, an expression over `r`, a response."""
    binding = HttpBinding(method="POST", url="https://a.example", locations={"x": place})
    taker = ToolProtocol(
        name="take", input_schema=obj(x=schema) | {"type": "object"}, binding=binding
    )
    giver = ToolProtocol(name="give", output_schema=ANSWER)
    tools = Toolbox(
        [Tool(protocol=one, call=lambda arguments: None, source="") for one in (taker, giver)]
    )
    source = f"r = give()\nprint(take(x={value}))\n"
    return [finding.code for finding in check(Program(source), tools) if finding.certain]


@pytest.mark.parametrize(
    "value",
    [
        *('"1714521600.000000"', '"5"', 'r["ts"]', 'r["id"]', 'str(r["count"])'),
        'r["id"].split("/")[-1]',
    ],
)
def test_text_of_digits_passes_for_numbers(value: str) -> None:
    assert codes(value, {"type": "number"}) == []
    assert codes(value, {"type": "number"}, "body") != []


@pytest.mark.parametrize("value", ['"one"', 'r["code"]', 'r["day"]', 'r["next"]', '["5"]'])
def test_other_text_is_no_number(value: str) -> None:
    assert len(codes(value, {"type": "number"})) == 1


@pytest.mark.parametrize("value", ["54.32", "5", 'r["count"]'])
def test_a_number_passes_for_a_text(value: str) -> None:
    assert codes(value, {"type": "string"}) == []
    assert len(codes(value, {"type": "string"}, "body")) == 1


@pytest.mark.parametrize(
    "schema",
    [
        *({"enum": ["up", "down"]}, {"pattern": "^[A-Z]+$"}, {"format": "date"}),
        {"enum": ["1", "2"], "minLength": 2},
    ],
)
def test_rules_hold_on_the_text_sent(schema: dict[str, Any]) -> None:
    assert len(codes("5", {"type": "string", **schema})) == 1
    assert len(codes('r["count"]', {"type": "string", **schema})) == 1
    assert codes('r["count"]', {"type": "string", "enum": ["1", "2"]}) == []


def test_each_of_several_formats_passes() -> None:
    moment = {"type": "string", "anyOf": [{"format": "date"}, {"format": "date-time"}]}
    for value in ('"2024-05-01"', '"2024-05-01T08:30:00Z"', '"2024-05-01T08:30"'):
        assert codes(value, moment) == []
    assert codes('"yesterday"', moment) == ["bad-literal"]


@pytest.mark.parametrize("value", ['["done"]', '["done"] + ["done"]', '"done"', '{"a": "open"}'])
def test_lists_and_single_values_are_both_checked(value: str) -> None:
    one = {"type": "string", "enum": ["open"]}
    schema = {"anyOf": [one, {"type": "array", "items": one}]}
    assert len(codes(value, schema)) == 1
    assert codes(value.replace("done", "open"), schema) == (
        [] if "{" not in value else ["bad-literal"]
    )
