from __future__ import annotations

import math
import os
import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from atc.core import events
from atc.core.program import Program
from atc.core.types import Attempt, Fact, Fault, Finding, Solution, Usage
from atc.store import RunRefused, RunStore, Store, StoreUnavailable, UnknownRun
from atc.store.lease import this_process
from protocols.model import Completion, Message
from protocols.protocol import Annotations, ToolProtocol
from sandbox.trace import Failure, Frame, ToolCall, Trace
from tests.labs.paths import ROOT
from tests.labs.patience import PATIENCE
from tests.labs.stores import both_stores, open_store

CALL = ToolCall(
    index=0,
    tool="find",
    arguments={"name": "a", "n": 1.5},
    line=3,
    result={"rows": [1, None]},
    headers={"x-total": "3"},
)
REFUSED = ToolCall(
    index=1, tool="find", arguments={}, line=4, error="name is missing", outcome="refused"
)


def drive(store: RunStore, run: str) -> Solution:
    """A run of three attempts: findings, a failed execution, an answer that reuses its call."""
    observe = store.observer(run)
    observe(events.ToolsChosen(("find", "get"), 27))
    observe(events.ModelAsked("write", [Message("system", "s"), Message("user", "u")]))
    observe(
        events.ModelReplied(
            "write", Completion(text="code", model="m", input_tokens=7, output_tokens=3)
        )
    )
    wrong = Attempt(
        Program("fnd()"),
        (Finding(code="x", message="m", line=1),),
        None,
        Fault(kind="syntax", message="f"),
    )
    observe(events.ProgramWritten(0, wrong.program, wrong.findings))
    observe(events.AttemptEnded(0, wrong))
    failure = Failure(
        kind="exception", type="KeyError", message="'x'", frames=(Frame(line=1), Frame(line=2))
    )
    trace = Trace(
        calls=(CALL, REFUSED), stdout="out", value={"a": [1]}, failure=failure, backend="zygote"
    )
    facts = (Fact(kind="keys", text="a", names=("k",)), Fact(kind="keys", text="b"))
    fault = Fault(
        kind="misread_result", message="f", call=0, tool="find", path="rows", evidence=facts
    )
    failed = Attempt(Program("find()"), (), trace, fault, round=1, execution=0)
    observe(events.ProgramWritten(1, failed.program, ()))
    observe(events.ToolCalled(0, replace(CALL, result=None, outcome="unknown"), complete=False))
    observe(events.ToolCalled(0, CALL))
    observe(events.ToolCalled(0, REFUSED))
    observe(events.AttemptEnded(1, failed))
    again = replace(CALL, reused=True)
    answered = Attempt(
        Program("print(find())"),
        (),
        Trace(calls=(again,), stdout="5", backend="zygote"),
        None,
        round=1,
    )
    answered = replace(answered, doubts=("it is short",), mended=wrong.findings, execution=1)
    observe(events.ProgramWritten(2, answered.program, ()))
    observe(events.ToolCalled(1, again))
    observe(events.AttemptEnded(2, answered))
    usage = Usage(model_calls=1, input_tokens=7, output_tokens=3, model_seconds=0.5)
    return Solution(
        task="t",
        attempts=(wrong, failed, answered),
        status="solved",
        answer="5",
        usage=usage,
        run_id=run,
    )


@both_stores
def test_everything_comes_back(store: RunStore) -> None:
    run = store.create("t")
    solution = drive(store, run)
    store.finish(run, solution)
    stored = store.load(run)
    assert stored.attempts == solution.attempts
    assert stored.summary.usage == solution.usage
    assert stored.summary.tools == ("find", "get")
    assert (stored.summary.status, stored.summary.answer, stored.summary.model) == (
        "solved",
        "5",
        "m",
    )
    assert (stored.summary.attempt_count, stored.summary.call_count) == (3, solution.call_count)
    assert [(c.execution, c.call.index, c.complete) for c in stored.calls] == [
        (0, 0, True),
        (0, 1, True),
        (1, 0, True),
    ]
    (exchange,) = stored.exchanges
    assert exchange.messages == (Message("system", "s"), Message("user", "u"))
    assert (exchange.reply.text, exchange.purpose, exchange.reply.input_tokens) == (
        "code",
        "write",
        7,
    )
    assert stored.summary.ended is not None


@both_stores
def test_a_run_is_stored_from_its_start(store: RunStore) -> None:
    run = store.create(
        "How many?", model="local", strategy="auto", sandbox="zygote", config={"samples": 4}
    )
    new = store.load(run)
    assert (new.summary.task, new.summary.status, new.summary.ended) == (
        "How many?",
        "running",
        None,
    )
    assert (new.summary.model, new.summary.config, new.attempts) == ("local", {"samples": 4}, ())
    drive(store, run)
    store.observer(run)(events.ModelAsked("repair", [Message("user", "u")]))
    stored = store.load(run)
    assert stored.summary.usage == Usage(model_calls=1, input_tokens=7, output_tokens=3)
    assert stored.exchanges[-1].reply is None


@both_stores
def test_runs_are_found_by_prefix_suffix_and_last(store: RunStore) -> None:
    with pytest.raises(UnknownRun, match="no run 'last'; 'atc runs list' shows all"):
        store.load("last")
    first, second = store.create("one"), store.create("two")
    assert first[:8].isdigit()
    assert [run.run_id for run in store.list()] == [second, first]
    assert [run.run_id for run in store.list(1)] == [second]
    assert store.load("last").summary.run_id == second
    assert store.load(first).summary.task == "one"
    assert store.load(first[-4:]).summary.run_id == first
    assert store.load(second[:-1]).summary.run_id == second
    with pytest.raises(UnknownRun, match=r"could be any of .*give more of its id"):
        store.load(first[:4])
    with pytest.raises(UnknownRun, match=f"did you mean .*{first}"):
        store.load("x" + first)
    with pytest.raises(UnknownRun):
        store.load("")


@both_stores
def test_an_ended_run_can_be_taken_or_deleted(store: RunStore, place: str) -> None:
    run, other = store.create("t"), store.create("u")
    drive(store, run)
    with open_store(place) as second:
        assert second.changes() == (before := second.changes())
        with pytest.raises(RunRefused, match=r"is being worked on by process \d+.*; wait for it"):
            second.take(run)
        store.finish(
            run, replace(Solution(task="t", attempts=(), status="solved", answer="5"), run_id=run)
        )
        assert second.changes() != before
        with pytest.raises(RunRefused, match="is solved: there is nothing to resume"):
            second.take(run)
        assert (
            next(attempt.program.source for attempt in second.take(run, ended=True).attempts)
            == "fnd()"
        )
        assert store.load(run).summary.status == "running"
        second.finish(run, status="interrupted")
        assert second.key() == store.key()
    with pytest.raises(RunRefused, match=r"is being worked on by process \d+.*; end it first"):
        store.delete([run, other])
    store.finish(other, status="error", error="x")
    assert store.delete([run, other]) == 2
    assert store.list() == []


@both_stores
def test_calls_of_unknown_outcome_are_listed(store: RunStore) -> None:
    lost, told = store.create("t"), store.create("u")
    store.observer(lost)(events.ToolCalled(0, replace(CALL, outcome="unknown", error="\x00")))
    store.observer(told)(events.ToolCalled(0, CALL))
    assert store.find_unconfirmed_writes("find") == {
        lost: (CALL.arguments,),
        told: (CALL.arguments,),
    }
    store.finish(told, status="error")
    assert store.find_unconfirmed_writes("find") == {lost: (CALL.arguments,)}
    assert store.find_unconfirmed_writes("get") == {}


DIES = """
import sys; from pathlib import Path
from atc.store import Store
if sys.argv[1].startswith("postgresql:"):
    from atc.store.postgres import PostgresStore
    store = PostgresStore(sys.argv[1], lease_seconds=0.5)
else:
    store = Store(Path(sys.argv[1]))
print(store.create("t"), flush=True)
import os; os._exit(9)
"""


@both_stores
def test_a_run_whose_process_is_gone_was_interrupted(store: RunStore, place: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", DIES, place],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    run = done.stdout.strip()
    while place.startswith("postgresql:") and store.load(run).summary.status == "running":
        continue  # until its lease is over
    assert store.load(run).summary.status == "interrupted"
    assert store.list()[0].status == "interrupted"


def test_reused_process_numbers_are_told_apart() -> None:
    mine = this_process()
    assert mine.life() == "living"
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with child:
        assert replace(mine, pid=child.pid).life() == "ended"
    assert replace(mine, pid=child.pid).life() == "ended"
    assert replace(mine, boot="another").life() == "unknown"
    assert replace(mine, pids="pid:[1]").life() == "unknown"


def test_only_the_user_may_read_it(store: Store) -> None:
    store.create("t")
    assert stat.S_IMODE(store.path.parent.stat().st_mode) == 0o700
    for file in store.path.parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


@both_stores
def test_threads_and_connections_write_at_once(store: RunStore, place: str) -> None:
    def write(target: RunStore) -> None:
        for _ in range(5):
            target.observer(target.create("t"))(events.ToolCalled(0, CALL))

    with open_store(place) as other, ThreadPoolExecutor(4) as pool:
        list(pool.map(write, (store, store, other, other)))
    assert len(store.list(None)) == 20
    assert all(run.call_count == 1 for run in store.list(None))


@both_stores
def test_text_that_is_not_unicode_is_kept_readable(store: RunStore) -> None:
    run = store.create("caf\udce9 \x00 \x1b[31m")
    store.observer(run)(events.ProgramWritten(0, Program("'\ud800'"), ()))
    assert store.load(run).summary.task == "caf\\udce9 \x00 \x1b[31m"
    assert store.load(run).attempts[0].program.source == "'\\ud800'"


def unusable(path: Path) -> str:
    with pytest.raises(StoreUnavailable) as caught:
        Store(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_files_that_are_no_store(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite3"
    path.write_bytes(b"this is not a database" * 100)
    assert (
        "file is not a database; see that it may be written and has space, move it away"
        in unusable(path)
    )
    path.unlink()
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE mine (a)")
    other.close()
    assert "another program (" in unusable(path)
    path.unlink()
    assert "unable to open database file; see that it may be written" in unusable(tmp_path)
    (tmp_path / "file").write_text("x")
    assert "set ATC_STATE_DIR" in unusable(tmp_path / "file" / "runs.sqlite3")


@pytest.mark.parametrize("version", [4, 99])
def test_a_store_of_another_version_is_left_alone(tmp_path: Path, version: int) -> None:
    path = tmp_path / "runs.sqlite3"
    Store(path).close()
    with closing(sqlite3.connect(path)) as other:
        other.execute(f"PRAGMA user_version = {version}")
    before = path.read_bytes()
    assert f"another version of atc (format {version}, this one reads 8) wrote it" in unusable(path)
    assert path.read_bytes() == before


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.sqlite3") as store:
        run = store.create("kept")
        store._db.execute("PRAGMA max_page_count = 10")  # SQLite's own way to meet a full disk
        with pytest.raises(
            StoreUnavailable, match="disk is full; see that it may be written and has space"
        ):
            store.create("x" * 100_000)
        assert [summary.run_id for summary in store.list()] == [run]


@both_stores
def test_the_last_write_is_found(store: RunStore) -> None:
    """A call counts unless it only reads or had no effect; one without an end may still write."""
    reads = ToolProtocol(name="find", annotations=Annotations(read_only=True))
    run = store.create("t")
    observe = store.observer(run)
    observe(events.ToolsNamed({"find": reads}))

    def send(index: int, tool: str, **how) -> None:
        call = ToolCall(index=index, tool=tool, arguments={}, line=1, outcome="unknown")
        observe(events.ToolCalled(0, call, complete=False))
        if how:
            observe(events.ToolCalled(0, replace(call, **how)))

    def last(**how) -> float:
        return store.last_write(**{"beside": "", "since": 0.0} | how)

    send(0, "find", outcome="done", seconds=9.0)
    send(1, "order", outcome="refused", error="no")
    assert last() == -math.inf
    send(2, "order", outcome="done", seconds=3.0)
    sent = store.load(run).calls[2].intended
    assert last() == pytest.approx(sent + 3, abs=2)
    assert last(beside=run) == last(since=sent + 5) == -math.inf
    send(3, "order")
    assert last() == math.inf
