"""The `RunStore` over any SQL database; a subclass connects, and says which process owns a run."""

from __future__ import annotations

import os
import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Self, Unpack

from atc import events
from atc.store import rows
from atc.store.rows import Database, Run
from atc.store.stored import RunEnded, RunStart, RunSummary, RunTaken, StoredRun, new_run_id, process_mark
from atc.types import Solution
from protocols.jsontypes import Json
from sandbox.journal import Sink
from sandbox.trace import ToolCall

_SAME_SECONDS = 0.5
"""Clocks that differ by less are one: asking takes time, too."""


class SqlStore(ABC):
    """See `RunStore`. Every transaction is one of the two that a subclass opens."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the database. The store cannot be used afterwards."""

    @abstractmethod
    def changes(self) -> int:
        """See `RunStore.changes`."""

    @abstractmethod
    def confirm_owned(self, run: str) -> None:
        """See `RunStore.confirm_owned`."""

    @abstractmethod
    def _reading(self) -> AbstractContextManager[Database]:
        """A transaction that sees one state of all tables."""

    @abstractmethod
    def _writing(self, run: str | None = None) -> AbstractContextManager[Database]:
        """A transaction that is durable when the block has ended.

        Raises:
            RunTaken: `run` was taken over by another process.
        """

    @abstractmethod
    def _owner(self, db: Database, run: str, *, lock: bool = False) -> str | None:
        """The living process that took `run` last, in words; None where there is none.

        With `lock`, no other process can take it before the transaction ends.
        """

    @abstractmethod
    def _now(self, db: Database) -> float:
        """The Unix time, by a clock that is the same for all processes over the store."""

    @abstractmethod
    def _own(self, db: Database, run: str) -> None:
        """Make `run` this process's."""

    @abstractmethod
    def _erase(self) -> None:
        """Take what was deleted out of the database's files, where that is ours to do."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def create(self, task: str, **about: Unpack[RunStart]) -> str:
        """See `RunStore.create`."""
        now, pid = time.time(), os.getpid()
        run = Run(task=rows.plain(task), created=now, pid=pid, process=process_mark(pid), **about)
        with self._writing() as db:
            name = new_run_id(now)
            while not rows.insert_run(db, name, run):  # four characters do repeat, within one second, once in a million
                name = new_run_id(now)
            self._own(db, name)
        return name

    def observer(self, run: str) -> events.Observer:
        """See `RunStore.observer`."""

        def observe(event: events.Event) -> None:
            if isinstance(event, events.CallStarted | events.CallEnded):
                return  # the journal's sink stores these
            with self._writing(run) as db:
                rows.write_event(db, run, event)

        return observe

    def journal_sink(self, run: str) -> Sink:
        """See `RunStore.journal_sink`."""

        def sink(execution: int, call: ToolCall, complete: bool) -> None:
            with self._writing(run) as db:
                intended = None if complete else self._now(db)
                rows.write_call(db, run, execution, call, complete=complete, intended=intended)

        return sink

    def finish(
        self, run: str, solution: Solution | None = None, *, status: str | None = None, error: str | None = None
    ) -> None:
        """See `RunStore.finish`."""
        if error is None and solution is not None and solution.limit is not None and solution.answer is None:
            error = f"the run's budget was spent: {solution.limit}"
        told = error and rows.plain(error)
        changes: dict[str, Any] = {"ended": time.time(), "status": status or "error", "error": told}
        if solution is not None:
            answer = solution.answer and rows.plain(solution.answer)
            changes |= {"status": status or solution.status, "answer": answer, "usage": solution.usage}
        with self._writing(run) as db:
            rows.change_run(db, run, **changes)

    def list(self, limit: int | None = 20) -> list[RunSummary]:
        """See `RunStore.list`."""
        with self._reading() as db:
            found = rows.latest_runs(db, limit)
            return [run.summary(row, owned=self._is_owned(db, row["id"], run)) for row, run in found]

    def key(self) -> bytes:
        """See `RunStore.key`."""
        with self._writing() as db:
            row = ("gateway", secrets.token_hex(32))
            db.execute("INSERT INTO keys VALUES (?, ?) ON CONFLICT (name) DO NOTHING", row)
            return bytes.fromhex(db.execute("SELECT key FROM keys WHERE name = 'gateway'").fetchone()["key"])

    def in_doubt(self, tool: str) -> dict[str, tuple[dict[str, Json], ...]]:
        """See `RunStore.in_doubt`."""
        with self._reading() as db:
            return rows.calls_in_doubt(db, tool)

    def load(self, name: str) -> StoredRun:
        """See `RunStore.load`."""
        with self._reading() as db:
            run = rows.resolve(db, name)
            owned = self._is_owned(db, run, rows.read_run(db, run))
            ahead = time.time() - self._now(db)
            return rows.load_run(db, run, owned=owned, ahead=ahead if abs(ahead) >= _SAME_SECONDS else 0.0)

    def take(self, name: str, *, ended: bool = False) -> StoredRun:
        """See `RunStore.take`."""
        with self._writing() as db:
            run = rows.resolve(db, name)
            self._require_free(db, run, "wait for it, or end it first")
            found = rows.read_run(db, run)
            # A failed run keeps an error only where its budget ended it: with a larger one there is more to be done.
            over = found.status == "solved" or (found.status == "failed" and found.error is None)
            if over and not ended:
                how = {"solved": "is solved", "failed": "has failed"}[found.status]
                raise RunEnded(f"run {run} {how}: there is nothing to resume; 'atc runs show {run}' shows it.")
            pid = os.getpid()
            rows.change_run(db, run, status="running", ended=None, error=None, pid=pid, process=process_mark(pid))
            self._own(db, run)
        return self.load(run)

    def delete(self, names: Sequence[str]) -> int:
        """See `RunStore.delete`."""
        with self._writing() as db:
            runs = list(dict.fromkeys(rows.resolve(db, name) for name in names))
            for run in sorted(runs):  # always in one order, so that two who delete do not wait for each other
                self._require_free(db, run, "end it first")
            rows.delete_runs(db, runs)
        self._erase()
        return len(runs)

    def _is_owned(self, db: Database, run: str, found: Run) -> bool:
        return found.status == "running" and self._owner(db, run) is not None

    def _require_free(self, db: Database, run: str, advice: str) -> None:
        """Refuse a run that a living process works on; a free one stays so until the transaction ends."""
        owner = self._owner(db, run, lock=True)
        if owner is not None and rows.read_run(db, run).status == "running":
            raise RunTaken(f"run {run} is being worked on by {owner}; {advice}.")
