"""Attribution of runs that a sandbox really made: which call, which place, what kind, and what the model is told."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import Any

import pytest
from pydantic import TypeAdapter

from atc.core.program import Program
from atc.core.types import Fault, Finding
from atc.pipeline.attribute import attribute
from atc.pipeline.check import check
from protocols.errors import Outcome, ToolError
from protocols.protocol import ToolProtocol
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.trace import Failure, Frame, ToolCall, Trace
from tests.labs.flights_traces import TOOLS, trace_of
from tests.labs.paths import DATA

FIRST = 'flights = list_flights(origin="JFK", date="2013-01-01")["flights"]'
PAGED = """rows = []
page = 1
while page:
    r = list_flights(origin="JFK", date="2013-01-01", page=page)
    rows.extend(r["flights"])
    page = r["next_page"]"""


@dataclass(frozen=True)
class Case:
    """A program, and what its fault must say. `call` None: no call is to blame; `words` stand in the fault's text."""

    name: str
    source: str
    kind: str
    call: int | None
    path: str
    words: tuple[str, ...] = ()


def cases() -> list[Case]:
    text = (DATA / "attribution_cases.txt").read_text("utf-8")
    found: list[Case] = []
    for block in text.split("\n== ")[1:]:
        name, verdict, *lines = block.splitlines()
        kind, call, path = (part.strip() for part in verdict.removeprefix("-> ").split("|"))
        words = tuple(line.removeprefix("?? ") for line in lines if line.startswith("?? "))
        openings = {"{FIRST}": FIRST, "{PAGED}": PAGED}
        program = (
            "\n".join(
                openings.get(line, line) for line in lines if not line.startswith("?? ")
            ).strip()
            + "\n"
        )
        found.append(Case(name, program, kind, None if call == "-" else int(call), path, words))
    return found


def told(fault: Fault) -> str:
    return "\n".join((fault.message, *(fact.text for fact in fault.evidence)))


def fault_of(
    program: str, trace: Trace | None, tools: Toolbox = TOOLS, findings: tuple[Finding, ...] = ()
) -> Fault:
    fault = attribute(Program(program), findings, trace, tools)
    assert fault is not None
    return fault


def blamed(source: str, **how: Any) -> Fault:
    return fault_of(source, trace_of(source, **how))


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_the_producing_call_is_blamed(case: Case) -> None:
    trace = trace_of(case.source)
    fault = fault_of(case.source, trace)
    assert (fault.kind, fault.call) == (case.kind, case.call), told(fault)
    if case.call is not None:
        assert fault.tool == trace.calls[case.call].tool
    if case.path != "*":
        assert (fault.path or "-") == (case.path or "-"), told(fault)
    for word in case.words:
        assert word in told(fault)
    stored = TypeAdapter(Trace).validate_python(json.loads(json.dumps(asdict(trace))))
    assert fault_of(case.source, stored) == fault, "it is a function of what was recorded"
    for sentence in (fault.message, *(fact.text for fact in fault.evidence)):
        assert sentence.endswith(".")
        assert not sentence.endswith("..")
        assert "\n" not in sentence
        assert len(sentence) < 700
    assert len(set(fault.evidence)) == len(fault.evidence)


def test_an_error_of_awaiting_blames_no_call() -> None:
    source = 'p = get_plane(tail_number="N14228")\nprint(p + 1)'
    trace = trace_of(source)
    assert trace.failure is not None
    assert fault_of(source, trace).call == 0
    failure = replace(trace.failure, message="'dict' object can't be awaited")
    fault = fault_of(source, replace(trace, failure=failure))
    assert (fault.kind, fault.call) == ("error", None)


def test_a_line_suffices_without_columns() -> None:
    named = {
        "key",
        "key of a loop's element",
        "None field in arithmetic",
        "empty list indexed",
        "wrong id passed on",
    }
    for case in [case for case in cases() if case.name in named]:
        trace = trace_of(case.source)
        assert trace.failure is not None
        frames = tuple(
            Frame(line=frame.line, function=frame.function) for frame in trace.failure.frames
        )
        fault = fault_of(
            case.source, replace(trace, failure=replace(trace.failure, frames=frames, hints=()))
        )
        assert (fault.kind, fault.call, fault.path) == (case.kind, case.call, case.path), told(
            fault
        )


def test_facts_are_data() -> None:
    fault = blamed('for c in get_comments(post_id=1):\n    print(c["score"] + 1)')
    by_kind = {fact.kind: fact for fact in fault.evidence}
    assert (by_kind["keys"].call, by_kind["keys"].path) == (0, "comments[5]")
    assert by_kind["keys"].names == ("id", "postId", "who", "text")
    passed = blamed(f'{FIRST}\nprint(get_plane(tail_number=flights[1]["flight_id"]))')
    places = {fact.kind: (fact.call, fact.path) for fact in passed.evidence}
    assert places["origin"] == (0, "flights[1].flight_id")
    assert places["field"] == (0, "flights[1].tail_number")


def test_an_answer_is_no_fault() -> None:
    caught = 'try:\n    get_plane(tail_number="N1")\nexcept ToolError as error:\n    print("none", error.status)'
    for source in ("print(1)", '1 + 1\n"an answer"', "0", "[]", caught):
        assert attribute(Program(source), (), trace_of(source), TOOLS) is None
    assert blamed('print("  ")').kind == "no_answer"


@pytest.mark.parametrize(
    ("source", "kind", "tool", "path"),
    [
        (
            'print([a["id"] for a in search_airports(query="x")])',
            "misread_result",
            "search_airports",
            "results[].id",
        ),
        (
            'p = get_plane(tail_number="N1")\nprint(p["seats"] / p)',
            "misread_result",
            "get_plane",
            "",
        ),
        (
            'print(get_weather(airport="jfk", date="2013-01-01"))',
            "bad_arguments",
            "get_weather",
            "airport",
        ),
    ],
)
def test_a_finding_names_tool_and_path_before_calls(
    source: str, kind: str, tool: str, path: str
) -> None:
    fault = fault_of(source, None, findings=check(Program(source), TOOLS))
    assert (fault.kind, fault.tool, fault.path, fault.call) == (kind, tool, path, None), told(fault)


def test_the_first_finding_becomes_the_fault() -> None:
    first = Finding(
        code="missing-key", message="this is wrong.", line=3, tool="get_plane", suggestion="model"
    )
    fault = fault_of(
        "x", None, findings=(first, Finding(code="undefined-name", message="and this.", line=4))
    )
    assert (fault.kind, fault.tool, fault.line, fault.call) == (
        "misread_result",
        "get_plane",
        3,
        None,
    )
    assert told(fault) == "line 3: this is wrong. (perhaps model)\nline 4: and this."


@pytest.mark.parametrize(
    ("status", "outcome", "tool", "kind", "word"),
    [
        (503, "unknown", "get_plane", "tool_failed", "transient"),
        (None, "not_run", "get_plane", "tool_failed", "transient"),
        (401, "refused", "get_plane", "tool_failed", "credentials"),
        (409, "refused", "get_plane", "tool_failed", "another tool"),
        (404, "refused", "get_plane", "bad_arguments", "'tail_number'"),
        (500, "unknown", "book_seat", "unknown_outcome", "took effect"),
    ],
)
def test_failures_of_tools(
    status: int | None, outcome: Outcome, tool: str, kind: str, word: str
) -> None:
    calls = {
        "get_plane": 'get_plane(tail_number="N14228")',
        "book_seat": 'book_seat(flight_id="UA-1", seat="1A")',
    }

    def fail(_tool: str, _index: int, _result: Any) -> Any:
        raise ToolError(status, "it went wrong", outcome=outcome)

    fault = blamed(f"x = 1\nprint({calls[tool]})", change=fail)
    assert (fault.kind, fault.call, fault.tool, fault.line) == (kind, 0, tool, 2)
    assert word in told(fault)
    assert ("HTTP" in fault.message) == (status is not None)


def test_endings_that_no_exception_has_a_part_in() -> None:
    call = ToolCall(
        index=0, tool="book_seat", arguments={"seat": "1A"}, line=1, error="lost", outcome="unknown"
    )
    for failed, type_, kind in (
        ("syntax", "Stopped", "syntax"),
        ("policy", "Stopped", "policy"),
        ("paused", "Paused", "policy"),
        ("paused", "UnknownOutcome", "unknown_outcome"),
        ("limit", "wall_seconds", "limit"),
    ):
        failure = Failure(
            kind=failed, type=type_, message="not like this", frames=(Frame(line=1),), call=0
        )  # type: ignore[arg-type]
        fault = fault_of("book_seat()", Trace(calls=(call,), failure=failure))
        assert (fault.kind, fault.call, fault.tool, fault.line) == (kind, 0, "book_seat", 1)
        assert "not like this" in fault.message
        assert ("Nobody knows" in told(fault) or "Find out" in told(fault)) == (
            kind in ("limit", "unknown_outcome")
        )


def gone(tool: str, index: int, result: Any) -> Any:
    for flight in result["flights"] if tool == "list_flights" else ():
        del flight["tail_number"]
    return result


def nulled(tool: str, index: int, result: Any) -> Any:
    return {**result, "model": 3, "seats": None} if tool == "get_plane" else result


def wrapped(tool: str, index: int, result: Any) -> Any:
    return {"results": {"items": result["results"]}} if tool == "search_airports" else result


@pytest.mark.parametrize(
    ("source", "change", "kind", "path"),
    [
        (f'{FIRST}\nprint(flights[0]["tail_number"])', gone, "drift", "flights[0].tail_number"),
        (f'{FIRST}\nprint(flights[0]["tail"])', gone, "misread_result", "flights[0].tail"),
        (
            f'{FIRST}\nget_plane(tail_number=flights[0].get("tail_number"))',
            gone,
            "drift",
            "flights[0].tail_number",
        ),
        ('print(get_plane(tail_number="N14228")["seats"] + 1)', nulled, "drift", "seats"),
        (
            'print(next(a for a in search_airports(query="N") if a["code"] == "JFK"))',
            wrapped,
            "drift",
            "results",
        ),
        ('print([a.get("code") for a in search_airports(query="N")])', wrapped, "drift", "results"),
    ],
)
def test_a_departure_from_the_schema_is_drift(
    source: str, change: Any, kind: str, path: str
) -> None:
    fault = blamed(source, change=change)
    assert (fault.kind, fault.call, fault.path) == (kind, 0, path), told(fault)
    assert "model: 3" not in told(fault)  # what departs elsewhere is not about this
    assert "not .key" not in told(fault)


@pytest.mark.parametrize(
    "source", ["", "def broken(:", "\0", "(" * 500, "x = 1 / (" + "+".join(["y"] * 3000) + ")"]
)
def test_any_program_and_failure_give_a_fault(source: str) -> None:
    for kind in ("exception", "limit", "policy", "syntax", "paused"):
        for frames in ((), (Frame(line=1),), (Frame(line=99, column=3, end_line=1, end_column=2),)):
            for error in ("KeyError", "TypeError", "ToolError", "ZeroDivisionError", "Custom"):
                failure = Failure(kind=kind, type=error, message="'x'", frames=frames, call=7)  # type: ignore[arg-type]
                assert fault_of(source, Trace(failure=failure), Toolbox()).message


def test_a_large_response_is_searched_within_bounds() -> None:
    rows = [{"id": f"row-{i}", "value": i, "tags": ["a", "b"]} for i in range(5_000)]
    tools = Toolbox([Tool(protocol=ToolProtocol(name="rows"), call=lambda _: rows)])
    calls = tuple(
        ToolCall(index=i, tool="rows", arguments={}, line=1, result=rows) for i in range(5)
    )
    failure = Failure(
        kind="exception", type="KeyError", message="'values'", frames=(Frame(line=2),)
    )
    fault = fault_of(
        'for r in rows():\n    print(r["values"])', Trace(calls=calls, failure=failure), tools
    )
    assert (fault.kind, fault.path) == ("misread_result", "[0].values")
    assert len(told(fault)) < 3000
