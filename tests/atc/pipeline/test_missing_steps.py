"""Steps that a task asks for in words."""

import pytest

from atc.core.program import Program
from atc.pipeline.missing_steps import find_missing_steps
from protocols.protocol import ToolProtocol
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall

TOOLS = Toolbox(
    [
        Tool(protocol=ToolProtocol(name="flights", description="Flights by time."), call=print),
        Tool(protocol=ToolProtocol(name="list_planes", description="Planes."), call=print),
        Tool(protocol=ToolProtocol(name="score", description="Nothing."), call=print),
    ]
)
ROWS = {"flights": [{"tail": "N1", "carrier": "UA"}, {"tail": "N1", "carrier": "B6"}]}
RESULTS = {"flights": ROWS, "list_planes": {"planes": [{"id": 1}, {"id": 2}]}, "score": {"n": 1}}


def words(task, source, answer="2"):
    names = [name for name in RESULTS if f"{name}(" in source]
    calls = [
        ToolCall(index=n, tool=name, arguments={}, line=1, result=RESULTS[name])
        for n, name in enumerate(names)
    ]
    return [one.word for one in find_missing_steps(task, Program(source), calls, answer, TOOLS)]


@pytest.mark.parametrize(
    ("task", "source", "word"),
    [
        ("How many different planes flew?", "print(len(flights()))", "different planes"),
        ("Which unique carriers flew?", "print([f['c'] for f in flights()])", "unique carriers"),
        ("What was the average delay?", "print(sum(f['d'] for f in flights()))", "average"),
        ("How late were they on average?", "print(flights()[0]['d'])", "on average"),
        ("Which has the most flights?", "print(flights()['flights'][0])", "most"),
        ("Which is the busiest?", "print(flights()['flights'][0])", "busiest"),
        ("What is the highest?", "print(score()['n'])", "highest"),
        ("How many flights did each have?", "print(score()['n'])", "did each"),
    ],
)
def test_a_step_that_nothing_takes(task, source, word):
    assert words(task, source) == [word]


@pytest.mark.parametrize(
    ("task", "source"),
    [
        ("How many different planes flew?", "print(len({f['tail'] for f in flights()}))"),
        (
            "How many different planes flew?",
            "s = []\nfor f in flights():\n    if f not in s:\n        s.append(f)",
        ),
        ("How many different planes are there?", "print(len(list_planes()))"),  # it lists them
        ("Is it different from the others?", "print(flights())"),
        ("What was the average delay?", "d = flights()\nprint(sum(d) / len(d))"),
        ("What was the average delay?", "import statistics\nprint(statistics.fmean(flights()))"),
        ("What was the average delay?", "print(flights()['delay_avg'])"),
        ("By late I mean after ten; how many were?", "print(len(flights()))"),
        ("Which has the most flights?", "print(max(flights(), key=len))"),
        ("Which has the most flights?", "print(flights(order='count')[0])"),
        ("Which is the longest?", "print(flights()['flights'][0])"),  # the document has an order
        ("Which has at most two?", "print(flights()['flights'][0])"),
        ("Who was Most Valuable Player?", "print(flights()['flights'][0])"),
        ("How many did each have?", "print([flights() for _ in 'ab'])"),
        ("How many did each have?", "print(flights(), list_planes())"),
    ],
)
def test_a_step_in_any_form_counts(task, source):
    assert words(task, source) == []


def test_a_list_answers_for_each():
    assert words("How many did each have?", "print(score())", answer="[1, 2]") == []
