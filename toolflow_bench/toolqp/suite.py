"""Trajectories of a whole data set: resumable by query, several at once, with figures of what came of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from atc.retrieve.side_by_side import SideBySide
from atc.retrieve.tally import Tally
from protocols.ask import Ask
from protocols.errors import AtcError
from protocols.files import write_whole
from protocols.jsontypes import JsonObject
from toolflow_bench.retrieval.data import RetrievalQuery
from toolflow_bench.toolqp.settings import ROUNDS
from toolflow_bench.toolqp.trajectory import Dropped, Maker, Trajectory
from toolflow_bench.toolqp.work import WorkFile

OnRow = Callable[[int, int], None]
"""Told how many requests of how many are done. Called from one thread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What came of the requests: `valid` counts the steps that were valid in round 1, 2, …, `dropped` by reason."""

    requests: int
    trajectories: int
    steps: int
    queries: int
    """Turns that search, failed attempts included."""
    valid: Mapping[str, int]
    failed_kept: int
    """Steps whose failed attempts were kept, of those that had any: `failed`."""
    failed: int
    dropped: Mapping[str, int]
    model_calls: int
    input_tokens: int
    output_tokens: int

    def as_json(self) -> JsonObject:
        """Figures by name."""
        return json.loads(json.dumps(asdict(self)))  # type: ignore[no-any-return]


def work_path(out: Path) -> Path:
    """Where what is done is kept, beside the file of conversations."""
    return out.with_name(f"{out.stem}.work.jsonl")


def make_all(
    maker: Maker,
    queries: Sequence[RetrievalQuery],
    *,
    ask: Ask,
    out: Path,
    header: JsonObject,
    plans: Mapping[str, str] | None = None,
    jobs: int = 1,
    on_row: OnRow | None = None,
) -> Figures:
    """Conversations of `queries` in `out` (JSON Lines, in the queries' order), however often it is interrupted.

    What an earlier run under an equal `header` has done, dropped requests included, is not done again.

    Raises:
        InvalidWorkFile: the work cannot be kept or continued.
        ModelUnavailable: the teacher did not answer; what is done stands in `out`, and another run goes on.
    """
    with WorkFile(work_path(out), header) as work:
        todo = [query for query in queries if query.id not in work.rows]
        done = len(queries) - len(todo)
        try:
            for row in _rows(maker, todo, plans or {}, ask, jobs):
                work.append(row)
                done += 1
                if on_row is not None:
                    on_row(done, len(queries))
        finally:
            rows = [work.rows[query.id] for query in queries if query.id in work.rows]
            write_whole(out, "".join(map(_line, rows)))
        return figures(rows)


def _rows(
    maker: Maker, queries: Sequence[RetrievalQuery], plans: Mapping[str, str], ask: Ask, jobs: int
) -> Iterable[dict[str, Any]]:
    """The row of each request as it is done; an outage ends it when those in work are done."""

    def make(query: RetrievalQuery) -> dict[str, Any]:
        tally = Tally(ask)
        made = maker.make(query, plans.get(query.id, ""), tally)
        return {"id": query.id, **_told(maker, made), "usage": asdict(tally.usage)}

    if jobs == 1:
        yield from map(make, queries)
        return
    outage: AtcError | None = None
    with SideBySide(jobs) as pool:
        futures = [pool.submit(make, query) for query in queries]
        try:
            for future in as_completed(futures):
                if future.cancelled():
                    continue
                try:
                    row = future.result()
                except AtcError as error:
                    outage = outage or error
                    _cancel(futures)
                else:
                    yield row
        finally:
            _cancel(futures)
    if outage is not None:
        raise outage


def _cancel(futures: Iterable[Future[Any]]) -> None:
    for future in futures:
        future.cancel()


def _told(maker: Maker, made: Trajectory | Dropped) -> dict[str, Any]:
    """What is kept of a trajectory: the conversation, and what a reward or an analysis asks for."""
    if isinstance(made, Dropped):
        return {"dropped": made.reason, "detail": made.detail}
    return {
        "messages": [asdict(message) for message in maker.messages(made)],
        "query": made.query.text,
        "plan": made.plan,
        "gold": list(made.query.gold),
        "steps": [
            {
                "goal": step.task.goal,
                "tools": list(step.task.tools),
                "round": step.attempts[-1].round,
                "attempts": [[attempt.query, attempt.rank] for attempt in step.attempts],
                "kept": step.kept,
            }
            for step in made.steps
        ],
    }


def _line(row: JsonObject) -> str:
    """The line of a row in the file of conversations: nothing of what was dropped."""
    if "messages" not in row:
        return ""
    kept = {key: value for key, value in row.items() if key != "usage"}
    return json.dumps(kept, ensure_ascii=False) + "\n"


def figures(rows: Sequence[Mapping[str, Any]]) -> Figures:
    """The figures of rows of a work file."""
    steps = [step for row in rows for step in row.get("steps", ())]
    failed = [step for step in steps if len(step["attempts"]) > 1]
    rounds = Counter(step["round"] for step in steps)
    used = [row["usage"] for row in rows]
    return Figures(
        requests=len(rows),
        trajectories=sum("messages" in row for row in rows),
        steps=len(steps),
        queries=sum(len(step["attempts"]) if step["kept"] else 1 for step in steps),
        valid={str(number): rounds[number] for number in range(1, ROUNDS + 1)},
        failed=len(failed),
        failed_kept=sum(step["kept"] for step in failed),
        dropped=dict(sorted(Counter(row["dropped"] for row in rows if "dropped" in row).items())),
        model_calls=sum(one["model_calls"] for one in used),
        input_tokens=sum(one["input_tokens"] for one in used),
        output_tokens=sum(one["output_tokens"] for one in used),
    )


def lines(figures: Figures) -> list[str]:
    """The figures for people."""
    rounds = ", ".join(f"{count} in round {number}" for number, count in figures.valid.items())
    made = f"{figures.trajectories} of {figures.requests} requests"
    shown = [
        f"made     {made}, {figures.queries} queries for {figures.steps} sub-tasks",
        f"valid    {rounds}",
        f"failed   {figures.failed} sub-tasks had failed attempts, kept for {figures.failed_kept}",
        f"took     {figures.model_calls:,} replies, {figures.input_tokens:,} tokens in, {figures.output_tokens:,} out",
    ]
    if figures.dropped:
        shown.append("dropped  " + ", ".join(f"{count} ({reason})" for reason, count in figures.dropped.items()))
    return shown
