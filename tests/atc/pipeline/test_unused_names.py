"""Names of a task that a program does not use."""

import pytest

from atc.core.program import Program
from atc.pipeline.unused_names import find_unused_names
from protocols.protocol import Link
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall
from tests.labs.tools import tool

CODES = {
    "type": "array",
    "items": {"type": "object", "properties": {"code": {"type": "string"}}},
}
TOOLS = Toolbox(
    [
        tool("airlines", output=CODES),
        tool(
            "flights",
            parameters={"origin": "string", "airline": "string", "destination": "string"},
            optional=["airline", "destination"],
            description="Flights from EWR (Newark) or JFK.",
            links=(Link(argument="airline", tool="airlines", path="[].code", support="declared"),),
        ),
    ]
)


def names(task, source, result=None, **arguments):
    call = ToolCall(index=0, tool="flights", arguments=arguments, line=1, result=result)
    found = find_unused_names(task, Program(source), [call], TOOLS)
    return None if found is None else (found.names, found.arguments)


FROM_NEWARK = {"origin": "EWR"}


@pytest.mark.parametrize(
    ("task", "source", "arguments", "found"),
    [
        ("How many Delta flights left Newark?", "flights(origin='EWR')", FROM_NEWARK, "Delta"),
        (
            "How many Delta flights went to Atlanta?",
            "flights(destination='ATL')",
            {"destination": "ATL"},
            "Delta",
        ),
        ("Those in the zone America/Chicago?", "flights()", {}, "America/Chicago"),
    ],
)
def test_a_name_that_nothing_stands_for(task, source, arguments, found):
    unused = names(task, source, **arguments)
    assert unused is not None
    assert unused[0] == (found,)


@pytest.mark.parametrize(
    ("task", "source", "result", "arguments"),
    [
        ("How many Delta flights left?", "flights(airline='DL')", None, {"airline": "DL"}),
        ("How many Delta flights left?", "[f for f in x if f['a'] == 'DL']", None, {}),
        (
            "How many Delta flights left?",
            "flights(airline=a)",
            {"by": "Delta Air"},
            {"airline": "x"},
        ),
        ("How many flights left Newark?", "flights(origin='EWR')", None, FROM_NEWARK),
        ("How many flights were there on Monday?", "flights()", None, {}),
        ("Delta flies. How many flights?", "flights()", None, {}),  # a sentence begins
        ("How many flights to Boston's airport (BOS)?", "flights(destination='BOS')", None, {}),
        # Every argument that takes a code is passed, so that the name is a remark.
        ("How many Oscar flights left?", "flights(airline=a)", None, {"airline": "x"}),
    ],
)
def test_a_name_in_another_form(task, source, result, arguments):
    assert names(task, source, result, **arguments) is None
