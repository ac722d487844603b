from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from atc.core.parallel import Threads
from atc.core.program import Program
from atc.core.types import Attempt, Fact, Fault, Finding, Solution, Usage
from atc.models.prices import Price
from protocols.errors import ModelUnavailable
from sandbox.trace import ToolCall, Trace
from tests.labs.paths import ROOT
from tests.labs.patience import PATIENCE
from toolflow_bench.rows import Header, InvalidRunFile, read_rows
from toolflow_bench.runner import AnsweredItem, Item, OpenWorker, question_digest, run_suite
from toolflow_bench.task import GradedQuestion

QUESTIONS = [
    GradedQuestion(
        id=f"q{number}",
        question=f"What is twice {number}?",
        answer=2 * number,
        type="number",
        calls=number,
    )
    for number in range(1, 7)
]
ITEMS = [Item(question=question) for question in QUESTIONS]
HEADER = Header(
    suite="twice",
    model="scripted",
    seed=0,
    data=question_digest(QUESTIONS),
    version="0",
    settings={"samples": 4, "tools": ()},
)
PROGRAM = Program("print(2)")


def solution(question: str, answer: str) -> Solution:
    calls = (
        ToolCall(index=0, tool="twice", arguments={}, line=1),
        ToolCall(index=1, tool="t", arguments={}, line=1),
    )
    first = Attempt(PROGRAM, (), Trace(calls=calls), None)
    again = Attempt(PROGRAM, (), Trace(calls=(replace(calls[0], reused=True),)), None, round=1)
    usage = Usage(model_calls=2, input_tokens=100, output_tokens=10, model_seconds=0.5)
    return Solution(
        task=question,
        attempts=(first, again),
        status="solved",
        answer=answer,
        usage=usage,
        run_id="r1",
    )


def alone(solve: Callable[..., Solution]) -> OpenWorker:
    """Workers that all answer by `solve`, which takes the question's text and returns a solution."""

    def work(item: Item, /, *, seed: int, repeat: int, max_seconds: float | None) -> AnsweredItem:
        return AnsweredItem(
            solution=solve(item.question.question, seed=seed, max_seconds=max_seconds)
        )

    return lambda: nullcontext(work)


class Twice:
    """Answers right, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, question: str, /, *, seed: int, max_seconds: float | None) -> Solution:
        self.asked.append(question)
        return solution(question, str(2 * int(question.rstrip("?").split()[-1])))


def test_a_row_says_how_its_question_went(tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    limits: list[tuple[int, float | None]] = []

    def solve(question: str, /, *, seed: int, max_seconds: float | None) -> Solution:
        limits.append((seed, max_seconds))
        return (
            solution(question, "2")
            if "1" in question
            else replace(solution(question, "4"), status="paused")
        )

    rows = run_suite(
        ITEMS[:2],
        alone(solve),
        header=replace(HEADER, seed=7),
        out=tmp_path / "deep" / "rows.jsonl",
        timeout_seconds=9.0,
        on_row=lambda row, done, total: seen.append((row.id, done, total)),
    )
    right, paused = rows
    assert (right.correct, right.status, right.answer, right.expected, right.needs) == (
        True,
        "solved",
        "2",
        2,
        1,
    )
    assert (right.calls, right.repairs, len(right.programs), right.run) == (2, 1, 2, "r1")
    assert (right.model_calls, right.input_tokens, right.output_tokens, right.model_seconds) == (
        2,
        100,
        10,
        0.5,
    )
    assert (paused.correct, paused.status, paused.reason) == (False, "paused", "paused: no answer")
    assert seen == [("q1", 1, 2), ("q2", 2, 2)]
    assert limits == [(7, 9.0), (7, 9.0)]
    assert read_rows(tmp_path / "deep" / "rows.jsonl")[1] == rows


@pytest.mark.parametrize(
    ("state", "failure"),
    [
        ({}, "unknown_write"),
        ({"notes": {"notes": [{"text": "one"}]}}, ""),
        ({"notes": {"notes": [{"text": "two"}]}}, "tool"),
    ],
)
def test_an_unknown_write_stands_apart(tmp_path: Path, state: dict, failure: str) -> None:
    wanted = {"notes": {"notes": [{"text": "one"}]}}
    question = GradedQuestion(id="w", question="Note one.", answer=wanted, type="state")
    lost = ToolCall(index=0, tool="note", arguments={}, line=1, error="lost", outcome="unknown")
    stopped = replace(solution("Note one.", ""), status="paused", unknown_writes=(lost,))
    stopped = replace(stopped, answer=None)

    def work(item: Item, /, *, seed: int, repeat: int, max_seconds: float | None) -> AnsweredItem:
        return AnsweredItem(solution=stopped, state=state)

    out = tmp_path / "rows.jsonl"
    item = Item(question=question, writes=True)
    [row] = run_suite([item], lambda: nullcontext(work), header=HEADER, out=out)
    assert (row.failure, row.correct) == (failure, not failure)


def test_outages_are_kept_apart_and_asked_again(tmp_path: Path) -> None:
    out = tmp_path / "r.jsonl"
    twice = Twice()

    def shaky(question: str, /, *, seed: int, max_seconds: float | None) -> Solution:
        if "2" in question:
            raise ModelUnavailable("the endpoint is down; start it.")
        if "3" in question:
            raise ZeroDivisionError("ours")
        return twice(question, seed=seed, max_seconds=max_seconds)

    rows = run_suite(ITEMS[:4], alone(shaky), header=HEADER, out=out)
    assert [row.status for row in rows] == ["solved", "outage", "crash", "solved"]
    assert [row.error for row in rows[1:3]] == [
        "the endpoint is down; start it.",
        "ZeroDivisionError: ours",
    ]
    assert not any(row.graded for row in rows[1:3])
    later = Twice()
    rows = run_suite(ITEMS[:4], alone(later), header=HEADER, out=out)
    assert len(later.asked) == 2
    assert all(row.correct for row in rows)
    assert len(out.read_text().splitlines()) == 1 + 4 + 2


def test_several_at_once_give_the_same_rows(tmp_path: Path) -> None:
    together = threading.Barrier(3, timeout=PATIENCE)
    twice = Twice()

    def solve(question: str, /, *, seed: int, max_seconds: float | None) -> Solution:
        together.wait()  # returns only while three questions are under way
        return twice(question, seed=seed, max_seconds=max_seconds)

    rows = run_suite(ITEMS, alone(solve), header=HEADER, out=tmp_path / "r.jsonl", pool=Threads(3))
    assert [row.id for row in rows] == [question.id for question in QUESTIONS]
    assert all(row.correct for row in rows)


def test_another_run_is_not_continued(tmp_path: Path) -> None:
    out = tmp_path / "r.jsonl"
    run_suite(ITEMS, alone(Twice()), header=HEADER, out=out)
    other = replace(HEADER, model="gpt", settings={"samples": 1, "tools": ()})
    with pytest.raises(InvalidRunFile) as caught:
        run_suite(ITEMS, alone(Twice()), header=other, out=out)
    said = str(caught.value)
    assert "model was 'scripted', is 'gpt'; samples was 4, is 1" in said
    assert "; give another --out, or remove it to begin anew." in said
    assert read_rows(out)[0].model == "scripted"


def test_a_file_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "diary.txt"
    for content in ("dear diary\n", "dear diary", '{"a": 1}\n'):
        out.write_text(content)
        with pytest.raises(InvalidRunFile, match="not a benchmark's file"):
            run_suite(ITEMS, alone(Twice()), header=HEADER, out=out)
        assert out.read_text() == content


def test_files_that_cannot_be_used(tmp_path: Path) -> None:
    out = tmp_path / "r.jsonl"
    out.write_text(json.dumps({"format": 99, "header": {}}) + "\n")
    with pytest.raises(
        InvalidRunFile,
        match="written by another version of atc, in format 99; this one reads 2; give another --out",
    ):
        run_suite(ITEMS, alone(Twice()), header=HEADER, out=out)
    with pytest.raises(InvalidRunFile, match="no regular file; give another --out"):
        run_suite(ITEMS, alone(Twice()), header=HEADER, out=Path("/dev/null"))
    out.unlink()
    run_suite(ITEMS[:1], alone(Twice()), header=HEADER, out=out)
    lines = out.read_text().splitlines()
    out.write_text("\n".join([*lines, "nonsense", lines[1]]) + "\n")
    with pytest.raises(InvalidRunFile, match="line 3 is no row"):
        run_suite(ITEMS, alone(Twice()), header=HEADER, out=out)


def test_a_file_has_one_writer(tmp_path: Path) -> None:
    out = tmp_path / "r.jsonl"

    def solve(question: str, /, *, seed: int, max_seconds: float | None) -> Solution:
        with pytest.raises(InvalidRunFile, match="another process is writing"):
            run_suite(ITEMS, alone(Twice()), header=HEADER, out=out)
        return solution(question, "2")

    (row,) = run_suite(ITEMS[:1], alone(solve), header=HEADER, out=out)
    assert row.correct, row.error


def in_a_process(source: str, out: Path) -> subprocess.CompletedProcess[bytes]:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", source, str(out)]
    return subprocess.run(command, env=env, capture_output=True, timeout=PATIENCE, check=False)


INTERRUPTED = """
import os, signal, sys, time
from pathlib import Path
from sandbox import workers
from tests.toolflow_bench.test_runner import HEADER, ITEMS, Threads, Twice, alone, run_suite
twice, workers.EXIT_SECONDS = Twice(), 0.1
def solve(question, *, seed, max_seconds):
    if "3" in question:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)
    return twice(question, seed=seed, max_seconds=max_seconds)
run_suite(ITEMS, alone(solve), header=HEADER, out=Path(sys.argv[1]), pool=Threads(2))
"""


def test_ctrl_c_leaves_a_file_to_continue(tmp_path: Path) -> None:
    out = tmp_path / "r.jsonl"
    ended = in_a_process(INTERRUPTED, out)
    assert ended.returncode == -signal.SIGINT, ended.stderr.decode()
    assert b"KeyboardInterrupt" in ended.stderr
    assert "q3" not in {row.id for row in read_rows(out)[1]}


def test_repeats_are_rows_of_their_own(tmp_path: Path) -> None:
    out = tmp_path / "r.jsonl"
    asked: list[tuple[str, int, int]] = []

    def work(item: Item, /, *, seed: int, repeat: int, max_seconds: float | None) -> AnsweredItem:
        asked.append((item.question.id, seed, repeat))
        return AnsweredItem(solution=solution(item.question.question, str(repeat)))

    run_suite(ITEMS[:2], lambda: nullcontext(work), header=HEADER, out=out)
    rows = run_suite(ITEMS[:2], lambda: nullcontext(work), header=HEADER, out=out, repeats=3)
    assert asked == [
        ("q1", 0, 0),
        ("q2", 0, 0),
        ("q1", 0, 1),
        ("q2", 0, 1),
        ("q1", 0, 2),
        ("q2", 0, 2),
    ]
    assert [row.key for row in rows] == [
        ("q1", 0),
        ("q2", 0),
        ("q1", 1),
        ("q2", 1),
        ("q1", 2),
        ("q2", 2),
    ]
    assert [row.correct for row in rows] == [False, False, False, False, True, False]
    assert read_rows(out)[1] == rows


def test_a_row_has_what_reproduces_it(tmp_path: Path) -> None:
    read = ToolCall(index=0, tool="find", arguments={"name": "x"}, line=1, seconds=0.25)
    write = ToolCall(index=1, tool="book", arguments={"seats": 1}, line=2, seconds=0.5)
    refused = ToolCall(
        index=2, tool="pay", arguments={}, line=3, outcome="refused", status=422, error="no card"
    )
    said = Fact(kind="call", text="HTTP 422.")
    fault = Fault(
        kind="bad_arguments",
        message="line 3: no card.",
        call=2,
        tool="pay",
        line=3,
        evidence=(said,),
    )
    mended = (Finding(code="missing-key", message="no 'nam'.", line=1),)
    attempts = (
        Attempt(Program("first"), (), Trace(calls=(read, write, refused)), fault, mended=mended),
        Attempt(
            Program("second"),
            (),
            Trace(calls=(replace(read, reused=True, seconds=0.0),)),
            None,
            round=1,
        ),
    )
    usage = Usage(model_calls=2, input_tokens=2_000_000, output_tokens=500_000)
    solved = Solution(
        task="?",
        attempts=attempts,
        status="solved",
        answer="9",
        usage=usage,
        tools=("find", "book"),
    )

    state = {"shop": {"bookings": [{"seats": 1}]}}
    answered = AnsweredItem(
        solution=solved, state=state, candidates=("pay", "find"), writing=frozenset({"book", "pay"})
    )
    gold = ("find", "find", "book", "send")
    item = replace(ITEMS[0], gold=gold, split="short", services=("shop",), writes=True)
    work = nullcontext(lambda item, **_: answered)
    (row,) = run_suite(
        [item], lambda: work, header=HEADER, out=tmp_path / "r.jsonl", price=Price(1.0, 4.0)
    )
    assert (row.gold, row.candidates, row.tools) == (gold, ("pay", "find"), ("find", "book"))
    assert (row.split, row.services, row.programs) == ("short", ("shop",), ("first", "second"))
    assert [
        (call["attempt"], call["tool"], call["outcome"], call["reused"]) for call in row.made
    ] == [
        (0, "find", "done", False),
        (0, "book", "done", False),
        (0, "pay", "refused", False),
        (1, "find", "done", True),
    ]
    assert (row.made[2]["status"], row.made[2]["error"], row.made[2]["arguments"]) == (
        422,
        "no card",
        {},
    )
    assert (row.calls, row.made[0]["seconds"], row.cost) == (3, 0.25, 4.0)
    assert (row.path, row.precision, row.cp) == (2 / 3, 2 / 3, False)
    assert (row.repeated_writes, row.orphaned_writes) == (0, 1)
    assert [(fault["attempt"], fault["kind"], fault["tool"]) for fault in row.faults] == [
        (0, "bad_arguments", "pay")
    ]
    assert [(found["code"], found["mended"]) for found in row.findings] == [("missing-key", True)]
    assert row.state == state
    assert (row.correct, row.failure) == (
        False,
        "retrieval",
    )  # `send` was neither offered nor called
    assert read_rows(tmp_path / "r.jsonl")[1] == [row]


KILLED = """
import os, signal, sys
from pathlib import Path
from tests.toolflow_bench.test_runner import HEADER, ITEMS, Threads, Twice, alone, run_suite
def killed(row, done, total):
    if done == 3:
        with Path(sys.argv[1]).open("ab") as file:
            file.write(b'{"row": {"id": "q4", "questi')  # as if the kernel had taken half a line
        os.kill(os.getpid(), signal.SIGKILL)
run_suite(ITEMS, alone(Twice()), header=HEADER, out=Path(sys.argv[1]), pool=Threads(2), on_row=killed)
"""


def test_a_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    out = tmp_path / "r.jsonl"
    ended = in_a_process(KILLED, out)
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()
    kept = out.read_bytes()
    assert not kept.endswith(b"\n")
    before = read_rows(out)[1]
    assert len(before) == 3
    solve = Twice()
    rows = run_suite(ITEMS, alone(solve), header=HEADER, out=out, pool=Threads(2))
    assert sorted(solve.asked) == sorted(
        question.question for question in QUESTIONS if question.id not in {row.id for row in before}
    )
    assert [row.id for row in rows] == [question.id for question in QUESTIONS]
    assert all(row.correct for row in rows)
    assert out.read_bytes().startswith(kept[: kept.rfind(b"\n") + 1])
    assert {row.id: row for row in rows}.items() >= {row.id: row for row in before}.items()
