"""Asks a suite's questions one by one (or several at once), grades the answers, and can be stopped at any time."""

from __future__ import annotations

import hashlib
import json
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Protocol

from atc.types import Solution
from protocols.errors import AtcError
from toolflow_bench.grade import grade
from toolflow_bench.metrics import Row
from toolflow_bench.rows import Header, RowFile
from toolflow_bench.task import Question


class Solve(Protocol):
    """A way to answer questions."""

    def __call__(self, question: str, /, *, seed: int, max_seconds: float | None) -> Solution:
        """Answer one question. Raises an `AtcError` for an outage, which is no verdict on the model."""


OnRow = Callable[[Row, int, int], None]
"""Told of each new row, with how many of how many questions are done. Called from one thread at a time."""


def run_suite(
    questions: Sequence[Question],
    solve: Solve,
    *,
    header: Header,
    out: Path,
    restart: bool = False,
    jobs: int = 1,
    timeout_seconds: float | None = None,
    on_row: OnRow | None = None,
) -> list[Row]:
    """Ask `questions` and give a row each, in their order; `out` has them too, each as soon as it is known.

    Questions that `out` has a row of are not asked again, except after an outage or a crash. `jobs` questions are
    asked at once, each in a thread. A time-out is the agent's to keep: it is told `max_seconds`.

    Raises:
        InvalidRunFile: `out` holds another run, or cannot be written.
        KeyboardInterrupt: as it comes; what was answered is in `out`.
    """
    with RowFile(out, header, restart=restart) as file:
        wanted = {question.id for question in questions}
        done = {row.id for row in file.rows.values() if row.graded} & wanted
        todo = [question for question in questions if question.id not in done]
        finished = len(done)
        for row in _rows(todo, solve, jobs=jobs, seed=header.seed, timeout_seconds=timeout_seconds):
            file.append(row)
            finished += 1
            if on_row is not None:
                on_row(row, finished, len(questions))
        return [file.rows[question.id] for question in questions]


def ask_question(question: Question, solve: Solve, *, seed: int, timeout_seconds: float | None) -> Row:
    """The row of one question. Never raises an `Exception`: what failed on our side is in the row."""
    begun = time.monotonic()
    common = {
        "id": question.id,
        "question": question.question,
        "expected": question.answer,
        "needs": question.calls,
    }
    try:
        solution = solve(question.question, seed=seed, max_seconds=timeout_seconds)
    except AtcError as error:
        return Row(**common, status="outage", error=str(error), seconds=time.monotonic() - begun)
    except Exception as error:  # noqa: BLE001 - a bug of ours must neither end hours of work nor count as the model's
        told = f"{type(error).__name__}: {error}"
        return Row(**common, status="crash", error=told, seconds=time.monotonic() - begun)
    verdict = grade(solution.answer if solution.status == "solved" else None, question)
    return Row(
        **common,
        answer=solution.answer,
        correct=verdict.correct,
        reason=verdict.reason if solution.status == "solved" else f"{solution.status}: {verdict.reason}",
        status=solution.status,
        calls=solution.calls,
        input_tokens=solution.usage.input_tokens,
        output_tokens=solution.usage.output_tokens,
        model_calls=solution.usage.model_calls,
        seconds=time.monotonic() - begun,
        model_seconds=solution.usage.model_seconds,
        repairs=solution.repairs,
        attempts=len(solution.attempts),
        run=solution.run,
    )


def digest(questions: Sequence[Question]) -> str:
    """A short text that changes when a question or its answer does."""
    plain = json.dumps([asdict(question) for question in questions], sort_keys=True, default=repr)
    return hashlib.sha256(plain.encode()).hexdigest()[:16]


def _rows(
    todo: Sequence[Question], solve: Solve, *, jobs: int, seed: int, timeout_seconds: float | None
) -> Iterator[Row]:
    """A row for each question, as they come."""

    def ask(question: Question) -> Row:
        return ask_question(question, solve, seed=seed, timeout_seconds=timeout_seconds)

    if jobs <= 1 or len(todo) <= 1:
        yield from map(ask, todo)
        return
    waiting: queue.SimpleQueue[Question] = queue.SimpleQueue()
    answered: queue.SimpleQueue[Row] = queue.SimpleQueue()
    for question in todo:
        waiting.put(question)

    def work() -> None:
        while True:
            try:
                question = waiting.get_nowait()
            except queue.Empty:
                return
            answered.put(ask(question))

    # Daemons: after Ctrl-C the process ends at once, and the questions under way are asked again on resume.
    for number in range(min(jobs, len(todo))):
        threading.Thread(target=work, name=f"bench-{number}", daemon=True).start()
    try:
        for _ in todo:
            yield answered.get()
    finally:
        while not waiting.empty():
            waiting.get_nowait()
