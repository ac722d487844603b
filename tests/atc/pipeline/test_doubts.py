"""What speaks against an answer that no fault stopped."""

import pytest

from atc.core.program import Program
from atc.pipeline.doubts import doubts
from protocols.protocol import ToolProtocol
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall, Trace

SCHEMA = {"type": "object", "properties": {"cursor": {"type": "string"}, "q": {"type": "string"}}}
TOOLS = Toolbox([Tool(protocol=ToolProtocol(name="find", input_schema=SCHEMA), call=print)])


def of(answer, *results, source="", error=None, task="?"):
    calls = tuple(
        ToolCall(index=n, tool="find", arguments={"q": "x"}, line=1, result=result, error=error)
        for n, result in enumerate(results)
    )
    return doubts(task, Program(source), Trace(calls=calls, stdout=answer), answer, TOOLS)


@pytest.mark.parametrize("answer", ["None", "nan", "[]"])
def test_an_answer_that_says_nothing(answer):
    assert "printed" in of(answer)[0]


@pytest.mark.parametrize(
    "task",
    [
        "Its title, or none?",
        "Which one is it, if any?",
        "Give the second name; an empty list if nobody has one.",
        "The date, or null.",
    ],
)
def test_nothing_stands_where_the_task_allows_for_it(task):
    assert of("None", task=task) == of("[]", task=task) == ()
    assert "printed" in of("None", task="How many of them have none of the above?")[0]


def test_a_sentence_of_the_program_itself():
    assert "text of its own" in of("No plane found\n", source="print('No plane found')")[0]
    for said in ("No plane found", "New York", "no"):  # out of a result; out of the task; one word
        assert of(said, source="print('New York', 'no')", task="Is it New York?") == ()


@pytest.mark.parametrize("answer", ["0", "-0.00 %", "[]"])
@pytest.mark.parametrize(
    ("source", "told"),
    [
        (
            "sum(r['state'] == 'delayed' for r in rows)",
            "'delayed', which no result holds, but one holds 'DELAYED'",
        ),
        ("[r for r in rows if 'Newark' in r['name']]", "'Newark', which no result holds."),
        ("[r for r in rows if r['state'].lower() == 'late']", "'late', which no result holds"),
    ],
)
def test_a_vain_comparison_raises_a_doubt(answer, source, told):
    rows = {
        "rows": [{"state": "DELAYED", "name": "Kennedy"}, {"state": "LANDED", "name": "La Guardia"}]
    }
    assert any(told in one for one in of(answer, rows, source=f"x = 1\nprint({source})"))


@pytest.mark.parametrize(
    ("answer", "results", "how", "told"),
    [
        ("[{'id': 3}, {'id': 4}]", [[{"id": n} for n in range(9)]], {}, "whole record"),
        ("7", [{"rows": [1, 2], "total": 9}], {}, "2 of 9"),
        ("7", [{"rows": [1], "next_cursor": "abc"}], {}, "pages(find, …)"),
        (
            "7",
            [],
            {"source": "print(find(q='JFK'), 'LGA')", "task": "From (JFK, LGA and EWR)?"},
            "EWR",
        ),
        ("7", [], {"source": "print(find())", "task": "Who built N14228?"}, "N14228"),
        ("No flights.", [None], {"error": "HTTP 404: none"}, "404"),
    ],
)
def test_what_else_is_doubted(answer, results, how, told):
    """A raw record, results that go on, a code of the task that nothing uses, calls that all failed."""
    assert told in of(answer, *results, **how)[0]


ROWS = [{"rows": [{"state": "DELAYED", "name": "Kennedy"}]}]


@pytest.mark.parametrize(
    ("answer", "results", "source", "task"),
    [
        ("0", [{"rows": [], "total": 0}], "", ""),
        ("{'Kennedy': 3}", ROWS, "", "How many of each?"),
        ("7", [], "print(find())", "How much is it in the universal trade currency (UTC)?"),
        ("0", ROWS, "print(sum(r['state'] == 'DELAYED' for r in rows))", ""),
        ("0", ROWS, "print(sum(r['state'].lower() == 'delayed' for r in rows))", ""),
        ("0", ROWS, "print(sum(r['seats'] > 3 for r in rows))", ""),
        ("7", ROWS, "print(sum(r['state'] == 'late' for r in rows))", "How many are late?"),
        (
            "9",
            [{"rows": [1, 2], "total": 9}],
            "print(find(q='x')['total'])",
            "",
        ),  # the tool counted
        ("7", [{"rows": [1], "next_cursor": None, "has_more": False}], "", ""),
        (
            "7",
            [],
            "print(find(q='JFK'))",
            "From Kennedy (JFK)? Answer in words (not digits), not LHR.",
        ),
        (
            "7",
            [],
            "print(find(q='N14228'))",
            "Who built N14228 by COVID-19 rules?",
        ),
    ],
)
def test_a_plain_answer_is_not_doubted(answer, results, source, task):
    assert of(answer, *results, source=source, task=task) == ()


@pytest.mark.parametrize(
    "what", ["coroutine object main", "generator object <genexpr>", "map object", "function f"]
)
def test_a_value_that_nobody_computed(what):
    assert "holds no value yet" in of(f"[1, <{what} at 0x7f3d11843d30>]", ["x"])[0]
