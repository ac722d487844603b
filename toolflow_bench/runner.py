"""Asks the questions of a suite, several at once if desired, and grades the answers.

A suite is a set of questions. A run can be stopped at any time and continued later.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol, Self

from atc.core.parallel import Pool, Threads
from atc.core.types import Solution
from atc.models.prices import Price
from protocols.errors import AtcError
from toolflow_bench import paths
from toolflow_bench.final_state import Snapshot, is_all_but
from toolflow_bench.grade import Verdict, grade
from toolflow_bench.metrics import Row, failure_class
from toolflow_bench.rows import Header, RowFile
from toolflow_bench.task import GradedQuestion, Task

Grade = Callable[[str | None, Snapshot | None], Verdict]
"""A function that grades an answer and the state that the run left.

The answer is None if the run gave none; the state is None if the suite has none.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One question of a suite, with what is needed to answer and grade it.

    `gold` has the tools of the gold path, that is, of the expected calls in order. `candidates` are
    the tools to offer to the model; if it is empty, all tools are offered. `program` is the gold
    program, if known. If `grade` is None, `toolflow_bench.grade` grades the answer.
    """

    question: GradedQuestion
    gold: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    split: str = ""
    services: tuple[str, ...] = ()
    program: str = ""
    depth: int = 0
    writes: bool = False
    grade: Grade | None = None

    @classmethod
    def of(cls, task: Task) -> Self:
        """Return a ToolFlow task as an item, that is, a question for the runner."""
        names = ("candidates", "split", "services", "program", "depth", "writes")
        return cls(
            question=task, gold=task.operations, **{name: getattr(task, name) for name in names}
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredItem:
    """The result of asking a question (item), before it is graded.

    `candidates` are the tools that were available, `writing` those of them that write.
    """

    solution: Solution
    state: Snapshot | None = None
    candidates: tuple[str, ...] = ()
    writing: frozenset[str] = frozenset()


class Worker(Protocol):
    """A callable that answers questions (items). Only one thread at a time calls it."""

    def __call__(
        self, item: Item, /, *, seed: int, repeat: int, max_seconds: float | None
    ) -> AnsweredItem:
        """Answer one question (item).

        Raises:
            AtcError: an outage, which says nothing about the model.
        """


OpenWorker = Callable[[], AbstractContextManager[Worker]]
"""A function that opens a worker. It is called once for each item that is answered in parallel.

In one process, the thread that runs the suite opens all workers. A cluster receives the function
itself, which must then be picklable.
"""

OnRow = Callable[[Row, int, int], None]
"""A function that is called with each new row, the number of finished rows and the total.

It is never called by two threads at once.
"""


def run_suite(
    items: Sequence[Item],
    open_worker: OpenWorker,
    *,
    header: Header,
    out: Path,
    pool: Pool = Threads(),  # noqa: B008 - frozen
    repeats: int = 1,
    timeout_seconds: float | None = None,
    price: Price | None = None,
    on_row: OnRow | None = None,
) -> list[Row]:
    """Ask each question (item) `repeats` times and return the results (rows) in order.

    Each row is written to `out` as soon as it is known. Items with a graded row in `out` are not
    asked again; outages and crashes are. `pool` decides how many items are asked at once, and
    where. The time-out is passed to the worker as `max_seconds`; the worker must obey it.

    Raises:
        InvalidRunFile: `out` belongs to another run, or cannot be written.
        AtcError: a worker could not be opened.
        KeyboardInterrupt: the user stopped the run; finished rows are in `out`.
    """
    turns = {(item.question.id, repeat): item for repeat in range(repeats) for item in items}

    @contextmanager
    def open_asker() -> Iterator[Callable[[tuple[Item, int]], Row]]:
        with open_worker() as worker:
            yield lambda turn: ask_item(
                turn[0],
                worker,
                seed=header.seed,
                repeat=turn[1],
                timeout_seconds=timeout_seconds,
                price=price,
            )

    with RowFile(out, header) as file:
        known = {key for key, row in file.rows.items() if row.graded}
        todo = [(item, key[1]) for key, item in turns.items() if key not in known]
        # After Ctrl-C, unfinished items are not awaited. A continued run asks them again.
        with closing(pool(open_asker, todo)) as rows:
            for finished, row in enumerate(rows, start=len(turns) - len(todo) + 1):
                file.append(row)
                if on_row is not None:
                    on_row(row, finished, len(turns))
        return [file.rows[key] for key in turns]


def ask_item(
    item: Item,
    worker: Worker,
    *,
    seed: int,
    repeat: int,
    timeout_seconds: float | None,
    price: Price | None = None,
) -> Row:
    """Ask one question (item), grade the answer, and return the result as a row of the run's file.

    This function never raises an `Exception`: an outage or a crash is recorded in the row.
    """
    begun = time.monotonic()
    blank = Row(
        id=item.question.id,
        question=item.question.question,
        expected=item.question.answer,
        needs=item.question.calls,
        repeat=repeat,
        seed=seed,
        **{
            name: getattr(item, name)
            for name in ("split", "services", "gold", "depth", "candidates")
        },
    )
    try:
        answered = worker(item, seed=seed, repeat=repeat, max_seconds=timeout_seconds)
        return _row(blank, item, answered, seconds=time.monotonic() - begun, price=price)
    except AtcError as error:
        return replace(blank, status="outage", error=str(error), seconds=time.monotonic() - begun)
    except Exception as error:  # noqa: BLE001
        # A bug of ours must neither end hours of work nor count as the model's failure.
        message = f"{type(error).__name__}: {error}"
        return replace(blank, status="crash", error=message, seconds=time.monotonic() - begun)


def _row(
    blank: Row, item: Item, answered: AnsweredItem, *, seconds: float, price: Price | None
) -> Row:
    solution = answered.solution
    solved = solution.status == "solved"
    judge: Grade = item.grade or (lambda answer, state: grade(answer, item.question, state=state))
    verdict = judge(solution.answer if solved else None, answered.state)
    usage = solution.usage
    gold = item.gold
    made = _calls_of(solution)
    names = ("input_tokens", "cached_tokens", "output_tokens", "model_calls", "model_seconds")
    row = replace(
        blank,
        answer=solution.answer,
        correct=verdict.correct,
        reason=verdict.reason if solved else f"{solution.status}: {verdict.reason}",
        status=solution.status,
        seconds=seconds,
        candidates=answered.candidates or item.candidates,
        state=answered.state if item.writes or answered.state else None,
        **{name: getattr(usage, name) for name in names},
        calls=solution.call_count,
        repairs=solution.repairs,
        run=solution.run_id,
        tools=solution.tools,
        programs=tuple(attempt.program.source for attempt in solution.attempts),
        made=made,
        findings=_findings_of(solution),
        faults=_faults_of(solution),
        notes=solution.notes,
        limit=solution.limit,
        cost=price.of(usage.input_tokens, usage.output_tokens) if price is not None else None,
        path=paths.path_rate(gold, made),
        precision=paths.precision(gold, made),
        cp=paths.correct_path(gold, made),
        repeated_writes=paths.repeated_writes(made, answered.writing),
        orphaned_writes=paths.orphaned_writes(
            made, answered.writing, last=len(solution.attempts) - 1
        ),
    )
    stopped = _has_only_unknown_writes(item.question, answered)
    return replace(row, failure=failure_class(row, only_unknown_write=stopped))


def _has_only_unknown_writes(question: GradedQuestion, answered: AnsweredItem) -> bool:
    """Return True if a run that stopped at a write of unknown outcome is right in all else.

    The state may contain or lack the records of the writes with an unknown outcome.
    """
    wanted: Snapshot | None = question.answer if question.type == "state" else question.state
    unknown = len(answered.solution.unknown_writes)
    return (
        answered.solution.status == "paused"
        and unknown > 0
        and wanted is not None
        and is_all_but(answered.state or {}, wanted, unknown, tolerance=question.tolerance)
    )


def _calls_of(solution: Solution) -> tuple[dict[str, Any], ...]:
    """Return every call of every attempt in order, without the responses."""
    names = ("tool", "arguments", "line", "outcome", "status", "error", "seconds", "reused")
    return tuple(
        _pick_fields(call, names, attempt=number)
        | {"arguments": dict(call.arguments), "seconds": round(call.seconds, 6)}
        for number, attempt in enumerate(solution.attempts)
        if attempt.trace is not None
        for call in attempt.trace.calls
    )


def _findings_of(solution: Solution) -> tuple[dict[str, Any], ...]:
    """Return the findings of the static check in all attempts, also those that were fixed."""
    names = ("code", "message", "line", "tool", "certain")
    rows: list[dict[str, Any]] = []
    for number, attempt in enumerate(solution.attempts):
        fixed = [_pick_fields(one, names, attempt=number) for one in attempt.mended]
        left = [_pick_fields(one, names, attempt=number) for one in attempt.findings]
        rows += [row | {"mended": True} for row in fixed]
        rows += [row | {"mended": False} for row in left]
    return tuple(rows)


def _faults_of(solution: Solution) -> tuple[dict[str, Any], ...]:
    """Return the fault of each attempt that gave no answer."""
    names = ("kind", "message", "tool", "path", "line")
    rows: list[dict[str, Any]] = []
    for number, attempt in enumerate(solution.attempts):
        if attempt.fault is not None:
            evidence = [fact.text for fact in attempt.fault.evidence]
            rows.append(_pick_fields(attempt.fault, names, attempt=number) | {"evidence": evidence})
    return tuple(rows)


def _pick_fields(thing: object, names: Sequence[str], *, attempt: int) -> dict[str, Any]:
    return {"attempt": attempt, **{name: getattr(thing, name) for name in names}}


def question_digest(questions: Sequence[GradedQuestion]) -> str:
    """Return a short digest that changes when a question or its answer changes.

    Gold programs and queries are left out, because not every installation has them.
    """
    known = [asdict(question) for question in questions]
    for document in known:
        document.pop("program", None)
        document.pop("query", None)
    plain = json.dumps(known, sort_keys=True, default=repr)
    return hashlib.sha256(plain.encode()).hexdigest()[:16]
