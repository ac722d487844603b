"""Ids in an answer that the task wants by another field."""

import pytest

from atc.core.program import Program
from atc.pipeline.autofix.lookups import look_up_answer
from protocols.protocol import Link
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall, Trace
from tests.labs.tools import TEXT, record, tool


def link(argument, tool, path):
    return Link(argument=argument, tool=tool, path=path, support="declared")


TOOLS = Toolbox(
    [
        tool("list_flights"),
        tool("list_fleet"),
        tool(
            "list_planes",  # of an airline: its `planes` are no name that a task may ask for
            None,
            {"airline": "string"},
            {**record(planes={"type": "array", "items": TEXT}, total="integer"), "required": []},
            links=(link("airline", "list_fleet", "airlines[]"),),
        ),
        tool(
            "get_airline",
            None,
            {"airline": "string"},
            record(code="string", name="string"),
            links=(
                link("airline", "list_flights", "flights[].airline"),
                link("airline", "list_fleet", "airlines[]"),
            ),
        ),
        tool(
            "get_plane",
            None,
            {"tail_number": "string"},
            record(tail_number="string", model="string"),
            links=(link("tail_number", "list_flights", "flights[].tail_number"),),
        ),
    ]
)
FLIGHTS = {
    "flights": [{"airline": "B6", "tail_number": "N1AB"}, {"airline": "UA", "tail_number": "N2CD"}]
}
TRACE = Trace(
    calls=(
        ToolCall(index=0, tool="list_flights", arguments={}, line=1, result=FLIGHTS),
        ToolCall(
            index=1, tool="list_fleet", arguments={}, line=1, result={"airlines": ["9E", "F9"]}
        ),
    )
)


def looked_up(task, source, answer):
    program = look_up_answer(task, Program(source), TRACE, answer, TOOLS)
    return program and program.source


@pytest.mark.parametrize(
    ("task", "source", "answer", "better"),
    [
        (
            "Which airline was first? Give its name.",
            "x = f()\nprint(x)",
            "B6",
            'x = f()\nprint(get_airline(airline=x)["name"])',
        ),
        (
            "Which airlines flew? Give their names.",
            "print([a for a in f()])",
            "['B6', 'UA', 'B6']",
            'print([get_airline(airline=item)["name"] for item in [a for a in f()]])',
        ),
        (
            "What are the names of the airlines that this plane flew for, and other planes?",
            "print(f())",
            "['9E', 'F9']",
            'print([get_airline(airline=item)["name"] for item in f()])',
        ),
        (
            "Which model flew first?",
            "print(f())",
            "N1AB",
            'print(get_plane(tail_number=f())["model"])',
        ),
    ],
)
def test_an_id_becomes_the_field_the_task_names(task, source, answer, better):
    assert looked_up(task, source, answer) == better


@pytest.mark.parametrize(
    ("task", "answer"),
    [
        ("Which airline was first?", "B6"),  # nobody asked for a name
        (
            "Name the tail number of the first plane, of whatever model.",
            "N1AB",
        ),  # the id itself was asked for
        ("Give the airline's name.", "JetBlue"),  # no id
        ("Give the names.", "['B6', 'nowhere']"),  # not all of them
    ],
)
def test_any_other_answer_stays(task, answer):
    assert looked_up(task, "print(x)", answer) is None


def test_two_prints_or_a_sentence_leave_a_choice():
    assert looked_up("Give the name.", "print(a)\nprint(b)", "B6\nUA") is None
    assert looked_up("Give the name.", "print(f'It is {a}')", "B6") is None
