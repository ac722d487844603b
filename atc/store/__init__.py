"""The store of runs: one SQLite file, written from a run's first moment, so that nothing is lost when it is killed."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from difflib import get_close_matches
from pathlib import Path
from typing import Self

from atc import events
from atc.store.database import StoreUnavailable, connect, explained
from atc.store.record import plain, to_json, write_call, write_event
from atc.store.refusals import RunEnded, RunTaken, UnknownRun
from atc.store.stored import (
    RunSummary,
    StoredRun,
    attempt_of,
    call_of,
    exchanges_of,
    new_run_id,
    process_mark,
    summary_of,
    used_so_far,
)
from atc.types import Solution, Usage
from protocols.jsontypes import Json
from protocols.protocol import load as protocol_of
from sandbox.journal import Sink
from sandbox.trace import Pins, ToolCall

_SUMMARY = """
SELECT runs.*,
    (SELECT count(*) FROM attempts WHERE run = runs.id) AS attempts,
    (SELECT count(*) FROM calls WHERE run = runs.id AND NOT reused) AS calls
FROM runs
"""
_CALLS = "SELECT * FROM calls WHERE run = ? ORDER BY execution, number"
_ATTEMPTS = "SELECT * FROM attempts WHERE run = ? ORDER BY number"
_TOOLS = "SELECT alias, document FROM tools JOIN protocols USING (digest) WHERE run = ? ORDER BY alias"
_EXCHANGES = "SELECT * FROM exchanges WHERE run = ? ORDER BY number"

__all__ = ["RunEnded", "RunTaken", "Store", "StoreUnavailable", "UnknownRun"]


class Store:
    """All runs in one file. Safe to share between threads; several processes may have it open.

    Raises:
        StoreUnavailable: by every method, when the file cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._db = connect(path)

    def close(self) -> None:
        """Close the file. The store cannot be used afterwards."""
        with self._lock:
            self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def create(
        self,
        task: str,
        *,
        model: str = "",
        strategy: str = "",
        sandbox: str = "",
        config: Mapping[str, Json] | None = None,
        tools: Sequence[str] = (),
        pins: Pins | None = None,
        identities: Mapping[str, str] | None = None,
    ) -> str:
        """Record a run that begins now, in this process, and give its id. `config` must hold no secret.

        `identities` are those of all tools by alias.
        """
        pid = os.getpid()
        fixed = (plain(model), plain(strategy), plain(sandbox), to_json(config or {}), to_json(list(tools)))
        known = to_json(dict(identities or {}))
        with self._write() as db:
            while True:
                now = time.time()
                run = new_run_id(now)
                try:
                    db.execute(
                        "INSERT INTO runs "
                        "VALUES (?, ?, ?, NULL, 'running', ?, ?, ?, ?, ?, NULL, NULL, NULL, ?, ?, ?, '[]', ?)",
                        (run, plain(task), now, *fixed, pid, process_mark(pid), pins and to_json(asdict(pins)), known),
                    )
                except sqlite3.IntegrityError:
                    continue  # four characters do repeat, within one second, once in a million
                return run

    def observer(self, run: str) -> events.Observer:
        """Takes a run's events and stores its tools, prompts, replies and attempts."""

        def observe(event: events.Event) -> None:
            if isinstance(event, events.CallStarted | events.CallEnded):
                return  # the journal's sink stores these
            with self._write() as db:
                write_event(db, run, event)

        return observe

    def journal_sink(self, run: str) -> Sink:
        """Stores each intent before its call is sent, on disk when this returns, and each outcome after it."""

        def sink(execution: int, call: ToolCall, complete: bool) -> None:
            with self._write() as db:
                write_call(db, run, execution, call, complete=complete)

        return sink

    def finish(
        self,
        run: str,
        solution: Solution | None = None,
        *,
        status: str | None = None,
        error: str | None = None,
    ) -> None:
        """Record how a run ended: with a solution, or with `status` (interrupted, error) and the error's sentence.

        That a budget ended it is kept as a sentence, too.
        """
        if error is None and solution is not None and solution.limit is not None and solution.answer is None:
            error = f"the run's budget was spent: {solution.limit}"
        ended = status or (solution.status if solution else "error")
        usage = to_json(asdict(solution.usage)) if solution else None
        answer = plain(solution.answer) if solution and solution.answer is not None else None
        with self._write() as db:
            db.execute(
                "UPDATE runs SET ended = ?, status = ?, answer = ?, error = ?, usage = coalesce(?, usage) WHERE id = ?",
                (time.time(), ended, answer, None if error is None else plain(error), usage, run),
            )

    def list(self, limit: int | None = 20) -> list[RunSummary]:
        """The latest runs, newest first; `limit` None gives all."""
        with self._read() as db:
            rows = db.execute(f"{_SUMMARY} ORDER BY created DESC, id DESC LIMIT ?", (-1 if limit is None else limit,))
            return [summary_of(row) for row in rows.fetchall()]

    def in_doubt(self, tool: str) -> dict[str, tuple[dict[str, Json], ...]]:
        """Arguments of calls of `tool` by the runs that made them and whose callers may not know what became of them.

        Those are calls without an outcome, and all of a run that was interrupted. Some may have been settled later on
        in their run, or be under way: `load` tells.
        """
        with self._read() as db:
            rows = db.execute(
                "SELECT run, arguments FROM calls JOIN runs ON runs.id = run"
                " WHERE tool = ? AND outcome = 'unknown' AND runs.status != 'solved' "
                "UNION ALL SELECT run, arguments FROM runs JOIN calls ON runs.id = run"
                " WHERE runs.status IN ('interrupted', 'running') AND tool = ? AND outcome = 'done'",
                (tool, tool),
            ).fetchall()
        found: dict[str, tuple[dict[str, Json], ...]] = {}
        for row in rows:
            found[row["run"]] = (*found.get(row["run"], ()), json.loads(row["arguments"]))
        return found

    def load(self, name: str) -> StoredRun:
        """The run of this id, of the only id that begins or ends so, or the latest for `last`.

        Raises:
            UnknownRun: there is none, or more than one.
        """
        with self._read() as db:
            run = _resolve(db, name)
            row = db.execute(f"{_SUMMARY} WHERE id = ?", (run,)).fetchone()
            calls = [call_of(found) for found in db.execute(_CALLS, (run,))]
            by_execution: dict[int | None, tuple[ToolCall, ...]] = {}
            for stored in calls:
                by_execution[stored.execution] = (*by_execution.get(stored.execution, ()), stored.call)
            attempts = [attempt_of(a, by_execution.get(a["execution"], ())) for a in db.execute(_ATTEMPTS, (run,))]
            exchanges = list(exchanges_of(db.execute(_EXCHANGES, (run,))))
            tools = {found["alias"]: found["document"] for found in db.execute(_TOOLS, (run,))}
        return StoredRun(
            summary=summary_of(row),
            config=json.loads(row["config"]),
            tools=tuple(json.loads(row["tools"])),
            attempts=tuple(attempts),
            calls=tuple(calls),
            exchanges=tuple(exchanges),
            usage=Usage(**json.loads(row["usage"])) if row["usage"] else used_so_far(exchanges),
            pins=Pins(**json.loads(row["pins"])) if row["pins"] else None,
            protocols={alias: protocol_of(json.loads(document)) for alias, document in tools.items()},
            notes=tuple(json.loads(row["notes"])),
            identities=json.loads(row["identities"]),
        )

    def take(self, name: str, *, ended: bool = False) -> StoredRun:
        """The run of this name, now this process's to go on with: no other process can take it while this one lives.

        With `ended`, one that was solved or has failed can be taken, too: another program is to continue it.

        Raises:
            UnknownRun: there is none, or more than one.
            RunTaken: a living process works on it.
            RunEnded: it was solved, or failed with budget left: there is nothing to go on with.
        """
        with self._write() as db:
            run = _resolve(db, name)
            row = _state(db, run)
            if _is_worked_on(row):
                raise RunTaken(f"run {run} is being worked on by process {row['pid']}; wait for it, or end it first.")
            # A failed run keeps an error only where its budget ended it: with a larger one there is more to be done.
            over = row["status"] == "solved" or (row["status"] == "failed" and row["error"] is None)
            if over and not ended:
                how = {"solved": "is solved", "failed": "has failed"}[row["status"]]
                raise RunEnded(f"run {run} {how}: there is nothing to resume; 'atc runs show {run}' shows it.")
            pid = os.getpid()
            db.execute(
                "UPDATE runs SET status = 'running', ended = NULL, error = NULL, pid = ?, process = ? WHERE id = ?",
                (pid, process_mark(pid), run),
            )
        return self.load(run)

    def delete(self, names: Sequence[str]) -> int:
        """Forget runs with all that they hold, down to the bytes in the file. Gives how many there were.

        With no names, what an earlier call could not take out of the file is taken out.

        Raises:
            UnknownRun: one of them is not there; nothing was deleted.
            RunTaken: a living process works on one of them; nothing was deleted.
        """
        with self._write() as db:
            runs = list(dict.fromkeys(_resolve(db, name) for name in names))
            for run in runs:
                if _is_worked_on(row := _state(db, run)):
                    raise RunTaken(f"run {run} is being worked on by process {row['pid']}; end it first.")
            db.executemany("DELETE FROM runs WHERE id = ?", [(run,) for run in runs])
            db.execute("DELETE FROM protocols WHERE digest NOT IN (SELECT digest FROM tools)")
        with self._lock, explained(self.path):
            self._db.execute("VACUUM")
            busy = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        if busy:
            raise StoreUnavailable(
                f"the store of runs {str(self.path)!r}: the runs are deleted, but another process still reads the file,"
                " so their bytes are still in it; purge again when that one has ended."
            )
        return len(runs)

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        with self._transaction("BEGIN IMMEDIATE") as db:
            yield db

    @contextmanager
    def _read(self) -> Iterator[sqlite3.Connection]:
        with self._transaction("BEGIN") as db:
            yield db

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._lock, explained(self.path):
            self._db.execute(begin)
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise


def _state(db: sqlite3.Connection, run: str) -> sqlite3.Row:
    row: sqlite3.Row = db.execute("SELECT status, error, pid, process FROM runs WHERE id = ?", (run,)).fetchone()
    return row


def _is_worked_on(row: sqlite3.Row) -> bool:
    """Whether a living process holds the run's lease."""
    return bool(row["status"] == "running" and process_mark(row["pid"]) == row["process"])


def _resolve(db: sqlite3.Connection, name: str) -> str:
    latest = [row["id"] for row in db.execute("SELECT id FROM runs ORDER BY created DESC, id DESC")]
    if name == "last" and latest:
        return str(latest[0])
    found = [run for run in latest if run == name] or [
        run for run in latest if name and (run.startswith(name) or run.endswith(f"-{name}"))
    ]
    if len(found) == 1:
        return str(found[0])
    raise UnknownRun(name, found[:3] or get_close_matches(name, latest[:1000], n=3), ambiguous=bool(found))
