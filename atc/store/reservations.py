"""Reservations of tasks: of several runs of a task at the same time, one may send its writes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from typing import Protocol

from atc.store.run_rows import Database, change_run, read_run
from atc.store.stored import RunSummary, escape_surrogates

_LOCK = """
INSERT INTO keys VALUES ('reservations', '') ON CONFLICT (name) DO UPDATE SET key = ''
"""
"""Makes each other transaction that executes this wait for the end of this one."""
_SAME_TASK = """
SELECT id FROM runs WHERE replace(document, ?, '') <> document ORDER BY created DESC, id DESC
"""
"""Finds the documents that contain a text, in SQLite and in PostgreSQL alike."""


class OpenTransaction(Protocol):
    """Opens a transaction of a store, see `RunStore`."""

    def __call__(
        self, run: str | None = None, *, writing: bool = True
    ) -> AbstractContextManager[Database]:
        """Open a transaction. If it writes to a run that this process owns, `run` is its id."""


class Reservations:
    """The runs of each task, and which of them has reserved it for its writes.

    `summary` reads the summary of a run.
    """

    def __init__(
        self, transaction: OpenTransaction, summary: Callable[[Database, str], RunSummary]
    ) -> None:
        self._transaction = transaction
        self._summary = summary

    def runs_of(self, task: str) -> list[RunSummary]:
        """Return all runs of a task, newest first."""
        with self._transaction(writing=False) as db:
            return self._find_runs(db, escape_surrogates(task))

    def reserve(
        self, run: str, *, beside: Collection[tuple[str, float]], may_repeat: Collection[str]
    ) -> list[RunSummary]:
        """Reserve the task of a run for its writes. Called before a process sends the first one.

        Return the other runs that have reserved the task. If there are any, nothing was reserved.
        So of several processes that call this at the same time, exactly one succeeds.

        `beside` are reservations that do not matter, as pairs of `run_id` and `writes_begun`.
        `may_repeat` is stored, see `RunSummary.may_repeat`.
        """
        with self._transaction(run) as db:
            db.execute(_LOCK)
            known = read_run(db, run)
            accepted = {*known.may_repeat, *may_repeat}
            others = [
                other
                for other in self._find_runs(db, known.task)
                if other.writes_begun is not None
                and other.run_id not in {*accepted, run}
                and (other.run_id, other.writes_begun) not in beside
            ]
            if not others:
                names = tuple(sorted(accepted))
                change_run(db, run, writes_begun=time.time(), may_repeat=names)
        return others

    def _find_runs(self, db: Database, task: str) -> list[RunSummary]:
        rows = db.execute(_SAME_TASK, (f'"task":{json.dumps(task)},',)).fetchall()
        found = [self._summary(db, row["id"]) for row in rows]
        return [run for run in found if run.task == task]
