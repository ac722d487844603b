"""Values that a program made up."""

import pytest

from atc.core.program import Program
from atc.pipeline.invented_values import find_invented_values
from protocols.protocol import Link
from protocols.toolbox import Toolbox
from tests.labs.tools import tool


def of_orders(name, argument, kind, *, field=None):
    """A tool whose argument takes a field of the orders."""
    link = Link(argument=argument, tool="list_orders", path=f"orders[].{field or argument}")
    return tool(name, None, {argument: kind}, links=(link,))


TOOLS = Toolbox(
    [
        tool("list_orders", None, {"day": "string"}),
        of_orders("get_order", "order_id", "string"),
        of_orders("get_flight", "number", "integer"),
        of_orders("list_near", "radius_km", "integer"),
        tool("wait", None, {"seconds": "integer"}),
    ]
)


@pytest.mark.parametrize("call", ["get_order(order_id='A12X')", "get_flight(number=1234)"])
def test_an_id_that_nobody_gave_is_found(call):
    findings = find_invented_values(Program(call), "Where is my order?", TOOLS)
    assert [finding.code for finding in findings] == ["made-up-value"]
    assert "list_orders(…)" in findings[0].message


def test_a_value_of_earlier_outputs_is_not_invented():
    for output in ({"rows": [{"order": "A12X"}]}, "the order is a12x."):
        assert (
            find_invented_values(Program("get_order(order_id='A12X')"), "?", TOOLS, [output]) == ()
        )
    found = find_invented_values(Program("get_flight(number=1234)"), "?", TOOLS, [{"n": 12345}])
    assert len(found) == 1


@pytest.mark.parametrize(
    ("call", "task"),
    [
        ("get_order(order_id='A12X')", "Where is order a12x?"),  # the task gives it
        ("get_flight(number=7)", "Is the first flight late?"),  # small: may be a count
        ("get_order(order_id='BOS')", "Boston"),  # a code that the model may know
        ("get_order(order_id='B6')", "JetBlue"),
        ("get_order(order_id='2013-05-06')", "6 May 2013"),  # a date, spelled otherwise
        ("list_near(radius_km=300)", "Which shop is nearest?"),  # a measure, not an id
        ("wait(seconds=1000)", "Wait."),  # no tool yields it
        ("x = 'A12X'\nget_order(order_id=x)", "?"),  # no literal
    ],
)
def test_what_may_be_known_is_not(call, task):
    assert find_invented_values(Program(call), task, TOOLS) == ()
