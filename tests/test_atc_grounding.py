"""Values that a program made up."""

import pytest

from atc.grounding import made_up
from atc.types import Program
from protocols.protocol import Link, ToolProtocol
from protocols.toolbox import Tool, Toolbox


def tool(name, *, links=(), **parameters):
    schema = {"type": "object", "properties": parameters, "required": list(parameters)}
    return Tool(protocol=ToolProtocol(name=name, input_schema=schema, links=tuple(links)), call=print)


TOOLS = Toolbox(
    [
        tool("list_orders", day={"type": "string"}),
        tool(
            "get_order",
            links=[Link(argument="order_id", tool="list_orders", path="orders[].order_id")],
            order_id={"type": "string"},
        ),
        tool(
            "get_flight",
            links=[Link(argument="number", tool="list_orders", path="orders[].number")],
            number={"type": "integer"},
        ),
        tool(
            "list_near",
            links=[Link(argument="radius_km", tool="list_orders", path="orders[].radius_km")],
            radius_km={"type": "integer"},
        ),
        tool("wait", seconds={"type": "integer"}),
    ]
)


@pytest.mark.parametrize(
    "call",
    ["get_order(order_id='A12X')", "get_flight(number=1234)", "print([get_order(order_id='x9') for _ in range(3)])"],
)
def test_an_id_that_nobody_gave_is_found(call):
    findings = made_up(Program(call), "Where is my order?", TOOLS)
    assert [finding.code for finding in findings] == ["made-up-value"]
    assert "list_orders(…)" in findings[0].message


@pytest.mark.parametrize(
    ("call", "task"),
    [
        ("get_order(order_id='A12X')", "Where is order a12x?"),  # the task gives it
        ("get_flight(number=1234)", "Is flight 1234 late?"),
        ("get_flight(number=7)", "Is the first flight late?"),  # small: may be a count
        ("get_order(order_id='BOS')", "Boston"),  # a code that the model may know
        ("get_order(order_id='2013-05-06')", "6 May 2013"),  # a date, spelled otherwise
        ("list_near(radius_km=300)", "Which shop is nearest?"),  # a measure, not an id
        ("wait(seconds=1000)", "Wait."),  # no tool yields it
        ("x = 'A12X'\nget_order(order_id=x)", "?"),  # no literal
        ("get_order(order_id='A12X'", "?"),  # no program
    ],
)
def test_what_may_be_known_is_not(call, task):
    assert made_up(Program(call), task, TOOLS) == ()
