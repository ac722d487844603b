"""Attribution on traces that really happened: which call, which place, what kind, and what the model is told."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from atc.attribute import attribute
from atc.check import check
from atc.types import Fault, Finding, Program
from protocols.errors import Outcome, ToolError
from protocols.protocol import ToolProtocol
from protocols.toolbox import Tool, Toolbox
from sandbox.trace import Failure, Frame, ToolCall, Trace
from tests.attribute_lab import TOOLS, trace_of

OPENINGS = {
    "{FIRST}": 'flights = list_flights(origin="JFK", date="2013-01-01")["flights"]',
    "{PAGED}": """rows = []
page = 1
while page:
    r = list_flights(origin="JFK", date="2013-01-01", page=page)
    rows.extend(r["flights"])
    page = r["next_page"]""",
}


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
    text = Path(__file__).with_name("data").joinpath("attribution_cases.txt").read_text("utf-8")
    found: list[Case] = []
    for block in text.split("\n== ")[1:]:
        name, verdict, *lines = [line for line in block.splitlines() if not line.startswith("# ")]
        kind, call, path = (part.strip() for part in verdict.removeprefix("-> ").split("|"))
        words = tuple(line.removeprefix("?? ") for line in lines if line.startswith("?? "))
        program = "\n".join(OPENINGS.get(line, line) for line in lines if not line.startswith("?? ")).strip() + "\n"
        found.append(Case(name, program, kind, None if call == "-" else int(call), path, words))
    return found


def told(fault: Fault) -> str:
    return "\n".join((fault.message, *fault.evidence))


def blamed(source: str, **how: Any) -> Fault:
    fault = attribute(Program(source), (), trace_of(source, **how), how.get("tools", TOOLS))
    assert fault is not None
    return fault


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_the_producing_call_is_blamed(case: Case) -> None:
    trace = trace_of(case.source)
    fault = attribute(Program(case.source), (), trace, TOOLS)
    assert fault is not None
    assert (fault.kind, fault.call) == (case.kind, case.call), told(fault)
    if case.call is not None:
        assert fault.tool == trace.calls[case.call].tool
    if case.path != "*":
        assert (fault.path or "-") == (case.path or "-"), told(fault)
    for word in case.words:
        assert word in told(fault)
    assert attribute(Program(case.source), (), trace, TOOLS) == fault


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_each_fact_is_one_sentence_on_one_line(case: Case) -> None:
    fault = blamed(case.source)
    for sentence in (fault.message, *fault.evidence):
        assert sentence.endswith(".")
        assert not sentence.endswith("..")
        assert "\n" not in sentence
        assert len(sentence) < 700
    assert len(set(fault.evidence)) == len(fault.evidence)


def test_there_are_enough_cases() -> None:
    names = [case.name for case in cases()]
    assert len(names) == len(set(names)) >= 140


# --- runs that are no fault -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        "print(1)",
        '1 + 1\n"an answer"',
        "0",
        "[]",
        'try:\n    get_plane(tail_number="N1")\nexcept ToolError as error:\n    print("no such plane", error.status)',
    ],
)
def test_an_answer_is_no_fault(source: str) -> None:
    assert attribute(Program(source), (), trace_of(source), TOOLS) is None


def test_blank_output_is_no_answer() -> None:
    assert blamed('print("  ")').kind == "no_answer"


# --- findings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("syntax", "syntax"),
        ("syntax-error", "syntax"),
        ("unknown-tool", "unknown_tool"),
        ("unknown_tool", "unknown_tool"),
        ("unknown-argument", "bad_arguments"),
        ("missing-argument", "bad_arguments"),
        ("argument-type", "bad_arguments"),
        ("positional-arguments", "bad_arguments"),
        ("unknown-key", "misread_result"),
        ("wrong-shape", "misread_result"),
        ("maybe-none", "misread_result"),
        ("undefined-name", "error"),
    ],
)
def test_the_first_finding_becomes_the_fault(code: str, kind: str) -> None:
    first = Finding(code=code, message="this is wrong.", line=3, tool="get_plane", suggestion="model")
    second = Finding(code="undefined-name", message="and this.", line=4)
    fault = attribute(Program("x"), (first, second), None, TOOLS)
    assert fault is not None
    assert (fault.kind, fault.tool, fault.line, fault.call) == (kind, "get_plane", 3, None)
    assert fault.message == "line 3: this is wrong. (perhaps model)"
    assert fault.evidence == ("line 4: and this.",)


# --- endings that the program's exceptions have no part in ------------------------------------------------------------


@pytest.mark.parametrize(("failed", "kind"), [("syntax", "syntax"), ("policy", "policy"), ("paused", "policy")])
def test_a_stopped_program(failed: Any, kind: str) -> None:
    call = ToolCall(index=0, tool="book_seat", arguments={}, line=1, outcome="not_run")
    failure = Failure(kind=failed, type="Stopped", message="not like this", frames=(Frame(line=1),), call=0)
    fault = attribute(Program("book_seat()"), (), Trace(calls=(call,), failure=failure), TOOLS)
    assert fault is not None
    assert (fault.kind, fault.call, fault.tool, fault.line) == (kind, 0, "book_seat", 1)
    assert "not like this" in fault.message


def test_a_time_limit_names_the_slowest_call() -> None:
    def call(index: int, seconds: float) -> ToolCall:
        return ToolCall(index=index, tool="get_plane", arguments={"tail_number": f"N{index}"}, line=2, seconds=seconds)

    failure = Failure(kind="limit", type="wall_seconds", message="wall_seconds: it ran for more than 2 s")
    trace = Trace(calls=(call(0, 0.5), call(1, 1.25)), failure=failure)
    fault = attribute(Program("pass"), (), trace, TOOLS)
    assert fault is not None
    assert (fault.kind, fault.tool, fault.call) == ("limit", "get_plane", 1)
    assert fault.message == "the limit wall_seconds was reached: it ran for more than 2 s."
    assert "Waiting for tools took 1.8 s of the run." in fault.evidence
    assert 'The slowest call was get_plane(tail_number="N1"): 1.2 s.' in fault.evidence


def test_a_limit_without_calls_blames_none() -> None:
    source = "n = 0\nwhile n < 1:\n    n -= 1\n"
    failure = Failure(kind="limit", type="cpu_seconds", message="", frames=(Frame(line=3),))
    fault = attribute(Program(source), (), Trace(failure=failure), TOOLS)
    assert fault is not None
    assert (fault.kind, fault.call) == ("limit", None)
    assert "The loop `while n < 1:` on line 2 did not end." in fault.evidence


def test_a_write_that_was_under_way_is_told() -> None:
    call = ToolCall(index=0, tool="book_seat", arguments={"seat": "1A"}, line=1, error="no answer", outcome="unknown")
    trace = Trace(calls=(call,), failure=Failure(kind="limit", type="wall_seconds", message=""))
    fault = attribute(Program("book_seat(seat='1A')"), (), trace, TOOLS)
    assert fault is not None
    assert 'Nobody knows whether book_seat(seat="1A") took effect' in told(fault)


# --- tools that fail --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "outcome", "tool", "kind", "word"),
    [
        (500, "unknown", "get_plane", "tool_failed", "transient"),
        (503, "unknown", "get_plane", "tool_failed", "transient"),
        (429, "refused", "get_plane", "tool_failed", "transient"),
        (None, "unknown", "get_plane", "tool_failed", "transient"),
        (None, "not_run", "get_plane", "tool_failed", "transient"),
        (401, "refused", "get_plane", "tool_failed", "credentials"),
        (403, "refused", "get_plane", "tool_failed", "credentials"),
        (409, "refused", "get_plane", "tool_failed", "another tool"),
        (400, "refused", "get_plane", "bad_arguments", "'tail_number'"),
        (404, "refused", "get_plane", "bad_arguments", "'tail_number'"),
        (422, "refused", "get_plane", "bad_arguments", "'tail_number'"),
        (500, "unknown", "book_seat", "unknown_outcome", "took effect"),
        (None, "unknown", "book_seat", "unknown_outcome", "took effect"),
        (None, "not_run", "book_seat", "tool_failed", "transient"),
    ],
)
def test_failures_of_tools(status: int | None, outcome: Outcome, tool: str, kind: str, word: str) -> None:
    calls = {"get_plane": 'get_plane(tail_number="N14228")', "book_seat": 'book_seat(flight_id="UA-1", seat="1A")'}

    def fail(_tool: str, _index: int, _result: Any) -> Any:
        raise ToolError(status, "it went wrong", outcome=outcome)

    fault = blamed(f"x = 1\nprint({calls[tool]})", change=fail)
    assert (fault.kind, fault.call, fault.tool, fault.line) == (kind, 0, tool, 2)
    assert word in told(fault)
    assert ("HTTP" in fault.message) == (status is not None)


def test_the_error_that_ended_the_run_is_the_one_the_host_names() -> None:
    def call(index: int) -> ToolCall:
        return ToolCall(
            index=index, tool="get_plane", arguments={"tail_number": f"N{index}"}, line=1, error="no", status=404
        )

    failure = Failure(kind="exception", type="ToolError", message="no", frames=(Frame(line=1),), call=0)
    fault = attribute(Program("get_plane()"), (), Trace(calls=(call(0), call(1)), failure=failure), TOOLS)
    assert fault is not None
    assert fault.call == 0
    unnamed = Trace(calls=(call(0), call(1)), failure=replace(failure, call=None))
    fault = attribute(Program("get_plane()"), (), unnamed, TOOLS)
    assert fault is not None
    assert fault.call == 1


def test_python_refuses_positional_arguments_before_the_host_does() -> None:
    failure = Failure(
        kind="exception",
        type="TypeError",
        message="get_plane() takes keyword arguments only: write get_plane(tail_number='N1')",
        frames=(Frame(line=1),),
    )
    fault = attribute(Program('get_plane("N1")'), (), Trace(failure=failure), TOOLS)
    assert fault is not None
    assert (fault.kind, fault.tool, fault.call) == ("bad_arguments", "get_plane", None)
    assert "tail_number (required)" in told(fault)


# --- drift ------------------------------------------------------------------------------------------------------------


def renamed(tool: str, index: int, result: Any) -> Any:
    for flight in result["flights"] if tool == "list_flights" else ():
        flight["departure_delay"] = flight.pop("dep_delay")
    return result


def nulled(tool: str, index: int, result: Any) -> Any:
    return {**result, "seats": None} if tool == "get_plane" else result


def test_a_promised_key_that_is_gone_is_drift() -> None:
    fault = blamed(OPENINGS["{FIRST}"] + '\nprint(flights[0]["dep_delay"])', change=renamed)
    assert (fault.kind, fault.call, fault.path) == ("drift", 0, "flights[0].dep_delay")
    assert '"dep_delay" is a required property' in told(fault)


def test_a_null_where_the_schema_has_none_is_drift() -> None:
    fault = blamed('print(get_plane(tail_number="N14228")["seats"] + 1)', change=nulled)
    assert (fault.kind, fault.call, fault.path) == ("drift", 0, "seats")


def test_a_drifted_field_that_is_passed_on_is_drift() -> None:
    def gone(tool: str, index: int, result: Any) -> Any:
        for flight in result["flights"] if tool == "list_flights" else ():
            del flight["tail_number"]
        return result

    source = OPENINGS["{FIRST}"] + '\nprint(get_plane(tail_number=flights[0].get("tail_number")))'
    fault = blamed(source, change=gone)
    assert (fault.kind, fault.call, fault.path) == ("drift", 0, "flights[0].tail_number")


def test_a_misread_key_of_a_drifted_response_is_still_misread() -> None:
    fault = blamed(OPENINGS["{FIRST}"] + '\nprint(flights[0]["delay"])', change=renamed)
    assert (fault.kind, fault.path) == ("misread_result", "flights[0].delay")


# --- what is told -----------------------------------------------------------------------------------------------------


def test_other_calls_that_fit_as_well_are_named() -> None:
    def odd(tool: str, index: int, result: Any) -> Any:
        return {**result, "year": None} if tool == "get_plane" else result

    source = (
        'a = get_plane(tail_number="N14228")\nb = get_plane(tail_number="N619AA")\n'
        'years = [a["year"], b["year"]]\nprint(sum(years))'
    )
    fault = blamed(source, change=odd)
    assert fault.call == 1
    assert 'It could also be `["year"]` of the result of get_plane (call 0).' in fault.evidence


def test_calls_that_no_fact_tells_apart_are_candidates() -> None:
    source = (
        'planes = [get_plane(tail_number=t) for t in ("N14228", "N619AA", "N804JB")]\n'
        'one = next(p for p in planes if p["seats"] > 150)\nprint(one["sits"])'
    )
    fault = blamed(source)
    assert fault.candidates[0] == fault.call
    assert set(fault.candidates) == {0, 1, 2}
    assert any(said.startswith("It could also be") for said in fault.evidence)


def test_a_call_that_facts_settle_has_no_candidates() -> None:
    assert blamed('print(get_plane(tail_number="N14228")["sits"])').candidates == ()


def listed_as_object(tool: str, index: int, result: Any) -> Any:
    return {"results": {"items": result["results"]}} if tool == "search_airports" else result


def unwrapped_otherwise(tool: str, index: int, result: Any) -> Any:
    return {"airports": result["results"]} if tool == "search_airports" else result


@pytest.mark.parametrize("change", [listed_as_object, unwrapped_otherwise])
@pytest.mark.parametrize(
    "use",
    [
        'print(next(a for a in found if a["code"] == "JFK"))',
        'for a in found:\n    print(a["code"])',
        'print(get_weather(airport=[a for a in found][0], date="2013-01-01"))',
        'names = {"JFK": 1}\nprint([names[a] for a in found])',
    ],
)
def test_a_list_that_became_an_object_is_drift(use: str, change: Any) -> None:
    fault = blamed(f'found = search_airports(query="Kennedy")\n{use}', change=change)
    assert (fault.kind, fault.call, fault.path) == ("drift", 0, "results"), told(fault)


def test_a_field_that_is_tested_and_departs_from_its_schema_is_drift() -> None:
    def wrapped(tool: str, index: int, result: Any) -> Any:
        return {"results": [{**a, "code": {"value": a["code"]}} for a in result["results"]]}

    fault = blamed('print(next(a for a in search_airports(query="Kennedy") if a["code"] == "JFK"))', change=wrapped)
    assert (fault.kind, fault.call, fault.path) == ("drift", 0, "results[].code"), told(fault)


def test_a_write_whose_outcome_nobody_knows_is_an_unknown_outcome() -> None:
    source = 'book_seat(flight_id="UA-1545", seat="1A")'
    trace = trace_of(source)
    call = replace(trace.calls[0], result=None, error="the connection broke", outcome="unknown")
    failure = Failure(kind="paused", type="UnknownOutcome", message="it may have taken effect.", call=0)
    fault = attribute(Program(source), (), replace(trace, calls=(call,), failure=failure), TOOLS)
    assert fault is not None
    assert (fault.kind, fault.call, fault.tool) == ("unknown_outcome", 0, "book_seat")
    refused = replace(failure, type="Paused")
    fault = attribute(Program(source), (), replace(trace, calls=(call,), failure=refused), TOOLS)
    assert fault is not None
    assert fault.kind == "policy"


@pytest.mark.parametrize(
    ("source", "kind", "tool", "path"),
    [
        ('print(get_plane(tail_number="N1")["sets"])', "misread_result", "get_plane", "sets"),
        ('p = get_plane(tail_number="N1")\nprint(p.get("sets"))', "misread_result", "get_plane", "sets"),
        (
            'for a in search_airports(query="x"):\n    print(a["id"])',
            "misread_result",
            "search_airports",
            "results[].id",
        ),
        ('print(search_airports(query="x")["results"])', "misread_result", "search_airports", "results"),
        ('p = get_plane(tail_number="N1")\nprint(p["seats"] / p)', "misread_result", "get_plane", ""),
        ('for x in get_plane(tail_number="N1")["seats"]:\n    print(x)', "misread_result", "get_plane", "seats"),
        ('print(get_weather(airport="jfk", date="2013-01-01"))', "bad_arguments", "get_weather", "airport"),
        (
            'p = get_plane(tail_number="N1")\nprint(get_airline(carrier=p["seats"]))',
            "bad_arguments",
            "get_airline",
            "carrier",
        ),
        ('print(get_plane(tail="N1"))', "bad_arguments", "get_plane", "tail"),
    ],
)
def test_a_finding_names_tool_and_path_before_any_call(source: str, kind: str, tool: str, path: str) -> None:
    program = Program(source)
    fault = attribute(program, check(program, TOOLS), None, TOOLS)
    assert fault is not None
    assert (fault.kind, fault.tool, fault.path, fault.call) == (kind, tool, path, None), told(fault)


def test_a_result_that_was_too_large_is_told() -> None:
    source = OPENINGS["{FIRST}"] + "\nprint(len(flights))"
    trace = trace_of(source)
    big = {**trace.calls[0].result, "padding": "x" * 1_200_000}
    failure = Failure(kind="exception", type="KeyError", message="'flights'", frames=(Frame(line=1),))
    trace = replace(trace, calls=(replace(trace.calls[0], result=big),), failure=failure, stdout="")
    fault = attribute(Program(source), (), trace, TOOLS)
    assert fault is not None
    assert (fault.kind, fault.call) == ("misread_result", 0)
    assert "only a preview was given" in fault.message


def test_reused_calls_are_blamed_like_others() -> None:
    source = 'p = get_plane(tail_number="N14228")\nprint(p["maker"])'
    trace = trace_of(source)
    reused = replace(trace, calls=tuple(replace(call, reused=True) for call in trace.calls))
    assert attribute(Program(source), (), reused, TOOLS) == attribute(Program(source), (), trace, TOOLS)


# --- whatever a trace holds, there is a fault -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        "",
        "def broken(:",
        "x" * 50,
        "\0",
        "(" * 500,
        "x = " + "+".join(["y"] * 3000),
        "lambda: (yield)",
        "x = 1 / (" + "+".join(["y"] * 3000) + ")",
    ],
    ids=["empty", "no program", "one name", "null byte", "brackets", "long sum", "odd", "long divisor"],
)
@pytest.mark.parametrize("kind", ["exception", "limit", "policy", "syntax", "paused"])
def test_any_program_and_failure_give_a_fault(source: str, kind: Any) -> None:
    for frames in ((), (Frame(line=1),), (Frame(line=99, function="<listcomp>"),)):
        for error in ("KeyError", "TypeError", "ToolError", "StopIteration", "ZeroDivisionError", "Custom"):
            failure = Failure(kind=kind, type=error, message="'x'", frames=frames, call=7)
            fault = attribute(Program(source), (), Trace(failure=failure), Toolbox())
            assert fault is not None
            assert fault.message


@pytest.mark.parametrize("result", [None, 0, "", "text", [], {}, [[]], {"a": {"b": []}}, [None], True])
@pytest.mark.parametrize(
    "error", ["KeyError", "TypeError", "IndexError", "AttributeError", "ValueError", "ZeroDivisionError"]
)
def test_any_response_without_a_schema_gives_a_fault(result: Any, error: str) -> None:
    messages = {
        "KeyError": "'a'",
        "TypeError": "'NoneType' object is not subscriptable",
        "AttributeError": "'list' object has no attribute 'a'",
        "ValueError": "not enough values to unpack (expected 2, got 0)",
    }
    source = 'r = tool(a=1)\nx, y = r["a"].a / r[0]["b"]'
    tools = Toolbox([Tool(protocol=ToolProtocol(name="tool"), call=lambda arguments: result)])
    call = ToolCall(index=0, tool="tool", arguments={"a": 1}, line=1, result=result)
    failure = Failure(kind="exception", type=error, message=messages.get(error, ""), frames=(Frame(line=2),))
    fault = attribute(Program(source), (), Trace(calls=(call,), failure=failure), tools)
    assert fault is not None
    assert fault.line == 2


def test_a_large_response_is_searched_within_bounds() -> None:
    rows = [{"id": f"row-{i}", "value": i, "tags": ["a", "b"]} for i in range(60_000)]
    tools = Toolbox([Tool(protocol=ToolProtocol(name="rows"), call=lambda _: rows)])
    source = 'for r in rows():\n    print(r["values"])'
    calls = tuple(ToolCall(index=i, tool="rows", arguments={}, line=1, result=rows) for i in range(40))
    failure = Failure(kind="exception", type="KeyError", message="'values'", frames=(Frame(line=2),))
    fault = attribute(Program(source), (), Trace(calls=calls, failure=failure), tools)
    assert fault is not None
    assert (fault.kind, fault.path) == ("misread_result", "[0].values")
    assert len(json.dumps(fault.evidence)) < 3000
