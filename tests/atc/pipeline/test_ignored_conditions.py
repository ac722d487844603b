"""Conditions of a task that a program leaves out, as facts show."""

import ast

import pytest

from atc.pipeline.ignored_conditions import (
    ProgramText,
    find_ignored_fields,
    find_unused_codes,
    find_unused_numbers,
)
from protocols.protocol import ToolProtocol
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall
from tests.labs.tools import tool

TEXT = {"type": "object", "properties": {"airport": {"type": "string"}}}
FLIGHTS = ToolProtocol(name="flights", description="Flights, by IATA code.", input_schema=TEXT)
TOOLS = Toolbox([Tool(protocol=FLIGHTS, call=print)])

DATED = Toolbox([tool("flights", parameters={"date": "string"})])


def text(source, result=None, **arguments):
    call = ToolCall(index=0, tool="flights", arguments=arguments, line=1, result=result)
    return ProgramText(source, ast.parse(source), [call])


@pytest.mark.parametrize(
    ("task", "unused"),
    [
        ("Flights from Kennedy (JFK)", ["JFK"]),
        ("Flights of N14228", ["N14228"]),
        ("The code of the airport (IATA)", []),  # the documentation names this format
        ("The budget (USD)", []),  # a unit, since no name stands before it
        ("Flights in March 2026 (UTC)", []),
    ],
)
def test_a_code_that_names_something_is_missed(task, unused):
    assert find_unused_codes(task, text("flights()"), TOOLS) == unused
    assert find_unused_codes(task, text(f"x = {task!r}"), TOOLS) == []


@pytest.mark.parametrize(
    ("origins", "unused"), [(["JFK", "JFK"], []), (["JFK", "EWR"], ["JFK"]), ([], ["JFK"])]
)
def test_a_code_that_all_records_have_is_implied(origins, unused):
    used = text("flights()", [{"origin": origin} for origin in origins])
    assert find_unused_codes("Flights from Kennedy (JFK)", used, TOOLS) == unused


@pytest.mark.parametrize(
    ("description", "unused"),
    [("JFK is Kennedy.", ["JFK", "EWR"]), ("JFK is Kennedy, EWR Newark.", ["JFK"])],
)
def test_a_code_that_an_argument_lists_is_missed(description, unused):
    origin = {"type": "string", "enum": ["LGA", "JFK", "EWR"], "default": "EWR"}
    listing = tool("flights", parameters={"origin": origin | {"description": description}})
    task = "Destinations from LaGuardia (LGA), but not from Kennedy (JFK) or Newark (EWR)"
    used = text("flights(origin='LGA')")
    assert find_unused_codes(task, used, Toolbox([listing])) == unused


@pytest.mark.parametrize(
    ("task", "used", "unused"),
    [
        ("flights of more than 2,500 km", "km > 2500", ["2,500"]),
        ("grossed over 1.5 billion dollars", "gross > 1_500_000_000", ["1.5 billion"]),
        ("in the season of 1998", "season=1998", ["1998"]),
        ("rounded to 0.1, of the 3 best until 31 December", "x", []),
        ("on 2013-07-04", "date(2013, 7, 4)", ["2013-07-04"]),
        ("at 10:30, written as '737-824 1998'", "x", []),
        ("rate them (1 to 10)", "x", []),
        ("within 100 miles", "radius_km=161", ["100"]),
        ("built before 2000", "max_year=1999", ["2000"]),
    ],
)
def test_a_number_of_the_task_is_missed(task, used, unused):
    assert find_unused_numbers(task, text("flights()", date="d"), DATED) == unused
    assert find_unused_numbers(task, text(f"flights()  # {used}"), DATED) == []


def test_a_year_that_came_is_no_condition():
    task = "How long is The Matrix (1999)?"
    assert find_unused_numbers(task, text("flights()", {"year": 1999}), TOOLS) == []
    assert find_unused_numbers(task, text("flights()", {"year": 2003}), TOOLS) == ["1999"]


def test_a_year_needs_a_tool_with_times():
    task = "Which airlines flew to Boston in 2013?"
    assert find_unused_numbers(task, text("flights()", ["UA"]), TOOLS) == []
    assert find_unused_numbers(task, text("flights()", ["UA"]), DATED) == ["2013"]


def test_a_field_with_the_tasks_value_is_missed():
    rows = [{"state": "Ohio", "id": "1"}, {"state": "Texas", "id": "2"}]
    task = "How many are in Ohio?"
    (found,) = find_ignored_fields(task, text("print(len(flights()))", rows))
    assert (found.tool, found.key, found.value) == ("flights", "state", "Ohio")
    for source in ("[r for r in flights() if r['state'] == s]", "flights(where='ohio')"):
        assert find_ignored_fields(task, text(source, rows)) == []
    assert find_ignored_fields(task, text("flights()", rows[:1])) == []
