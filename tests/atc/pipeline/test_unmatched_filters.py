"""Filters with a text that nothing contains."""

import pytest

from atc.core.program import Program
from atc.pipeline.unmatched_filters import find_unmatched_filters
from protocols.protocol import ToolProtocol
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall

CODES = {"type": "object", "properties": {"code": {"type": "string", "enum": ["XX"]}}}
TOOLS = Toolbox([Tool(protocol=ToolProtocol(name="find", input_schema=CODES), call=print)])
ROWS = [{"code": "UA", "date": "2013-07-04", "state": "DELAYED"}, {"code": "B6", "state": "ON"}]


def texts(source, task="How many?"):
    call = ToolCall(index=0, tool="find", arguments={}, line=1, result=ROWS)
    return [one.text for one in find_unmatched_filters(task, Program(source), [call], TOOLS)]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("print(sum(r['code'] == 'VA' for r in find()))", ["VA"]),
        ("for r in find():\n    if r.get('code') != 'VA':\n        print(r)", ["VA"]),
        (
            "print([r for r in find() if r['state'].lower() in ('late', 'tardy')])",
            ["late", "tardy"],
        ),
    ],
)
def test_a_guessed_filter(source, found):
    assert texts(source) == found


@pytest.mark.parametrize(
    "source",
    [
        "print(sum(r['code'] == 'UA' for r in find()))",  # in a response
        "print(sum(r['code'] == 'XX' for r in find()))",  # in a document
        "print(sum(r['state'].lower() == 'delayed' for r in find()))",
        "print(sum(r['state'] in ('LATE', 'DELAYED') for r in find()))",  # one of them is there
        "print(sum(r['date'] == '2013-07-05' for r in find()))",  # may be computed
        "print(sum(r['other'] == 'VA' for r in rows))",  # no field of a response
        "print('here' if find()[0]['code'] == 'VA' else 'there')",  # it chooses, both ways are meant
        "for r in find():\n    r['code'] = 'VA'\n    if r['code'] == 'VA':\n        print(r)",
    ],
)
def test_a_filter_with_a_ground(source):
    assert texts(source) == []


def test_a_text_of_the_task_is_no_guess():
    source = "print(sum(r['code'] == 'VA' for r in find()))"
    assert texts(source, task="How many of VA?") == []
