"""The base class of the stores of runs, with everything that all SQL databases have in common.

A subclass connects to a database and determines which process owns a run.
"""

from __future__ import annotations

import json
import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any, ClassVar, Self

from atc.core import events
from atc.core.types import Attempt, Solution
from atc.store.files import KEEP_DAYS, StoredFiles, drop_old_files
from atc.store.questions import Questions, forget_run
from atc.store.reservations import Reservations
from atc.store.run_rows import (
    Database,
    Row,
    change_run,
    find_last_write,
    new_id,
    read_run,
    resolve,
    rows_of,
    write_event,
)
from atc.store.stored import (
    Exchange,
    RunRefused,
    RunSummary,
    RunTaken,
    StoredRun,
    as_json,
    escape_surrogates,
    from_json,
    used_so_far,
)
from protocols.protocol import load as load_protocol
from protocols.schema import Json
from sandbox.journal_entries import RecordedCall
from sandbox.trace import ToolCall

TABLES = Path(__file__).with_name("tables.sql").read_text()
_SUMMARY = """
SELECT id AS run_id, document,
    (SELECT count(*) FROM attempts WHERE run = runs.id) AS attempt_count,
    (SELECT count(*) FROM calls WHERE run = runs.id AND reused = 0) AS call_count
FROM runs
"""
_CALL = """
INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (run, execution, number) DO UPDATE
    SET intended = coalesce(excluded.intended, calls.intended),
    complete = excluded.complete, reused = excluded.reused, document = excluded.document
"""
_TOOLS = (
    "SELECT alias, document FROM tools JOIN protocols USING (digest) WHERE run = ? ORDER BY alias"
)
_UNCONFIRMED = """
SELECT run, calls.document FROM calls JOIN runs ON runs.id = run
WHERE json_extract(calls.document, '$.tool') = ?
    AND json_extract(calls.document, '$.outcome') = 'unknown'
    AND json_extract(runs.document, '$.status') != 'solved'
UNION ALL SELECT run, calls.document FROM runs JOIN calls ON runs.id = run
WHERE json_extract(runs.document, '$.status') IN ('interrupted', 'running')
    AND json_extract(calls.document, '$.tool') = ?
    AND json_extract(calls.document, '$.outcome') = 'done'
UNION ALL SELECT calls.run, calls.document FROM questions JOIN calls ON calls.run = questions.run
WHERE questions.state IN ('open', 'released')
    AND json_extract(calls.document, '$.tool') = ?
    AND json_extract(calls.document, '$.outcome') = 'done'
"""


class RunStore(ABC):
    """The database in which runs are recorded.

    A run is recorded from its first moment, so that nothing is lost if its process is killed.

    Safe to share between threads, and several processes may open the same store. Every change is
    durable when the method returns. As a context manager, the store is closed at the end.

    Raises:
        StoreUnavailable: raised by every method if the underlying database cannot be used.
    """

    shared: ClassVar[bool] = False
    """True if other users or machines can write to the store. Its content is then untrusted."""
    keep_days: float = KEEP_DAYS
    """Days after the beginning of a run at which its files are deleted."""

    @abstractmethod
    def close(self) -> None:
        """Close the database, after which the store cannot be used."""

    @abstractmethod
    def changes(self) -> int:
        """Return a number that changes whenever another process has written to the store."""

    @abstractmethod
    def confirm_owned(self, run: str) -> None:
        """Check that the run still belongs to this process. Called right before a call is sent.

        Raises:
            RunRefused: another process has taken the run, because this one was suspended or
                disconnected for too long.
        """

    @abstractmethod
    def _transaction(
        self, run: str | None = None, *, writing: bool = True
    ) -> AbstractContextManager[Database]:
        """Open a transaction that sees one consistent state of all tables.

        Its writes are durable when the block has ended. If the block writes to a run that this
        process must own, `run` is the id of this run. `writing` is False if the block only reads.

        Raises:
            RunRefused: another process has taken over `run`.
        """

    @abstractmethod
    def _owner(self, db: Database, run: str, *, lock: bool = False) -> str | None:
        """Return the process that took `run` last, formatted for messages.

        Return None if the process does not own the run any more, for example because it has ended.
        If `lock` is True, no other process can take the run before the transaction ends.
        """

    @abstractmethod
    def _own(self, db: Database, run: str) -> None:
        """Make this process the owner of `run`."""

    def _now(self, db: Database) -> float:  # noqa: ARG002 - used where the database has the clock
        """Return the Unix time by a clock that all processes that use the store share."""
        return time.time()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def create(self, task: str, **about: Any) -> str:
        """Record a run that starts now in this process, and return its id.

        `about` sets further fields of the run's `RunSummary`.
        """
        now = time.time()
        document = as_json(
            RunSummary, RunSummary(task=escape_surrogates(task), created=now, **about)
        )
        added = "INSERT INTO runs VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING RETURNING id"
        with self._transaction() as db:
            name = new_id(now)
            while db.execute(added, (name, now, document)).fetchone() is None:
                # Four random characters repeat within one second once in a million.
                name = new_id(now)
            self._own(db, name)
            drop_old_files(db, self.keep_days)
        return name

    def files(self, run: str) -> StoredFiles:
        """Return the files of a run."""
        return StoredFiles(self._transaction, run)

    def observer(self, run: str) -> events.Observer:
        """Return an observer that stores a run's tools, prompts, replies, attempts and calls.

        Before a call is sent, the intent to send it is stored, so that a crash leaves a record.
        """
        return partial(self._observe, run)

    def _observe(self, run: str, event: events.Event) -> None:
        """Store one event of a run."""
        with self._transaction(run) as db:
            if isinstance(event, events.ToolCalled):
                intended = None if event.complete else self._now(db)
                call = (int(event.complete), int(event.call.reused), as_json(ToolCall, event.call))
                db.execute(_CALL, (run, event.execution, event.call.index, intended, *call))
            else:
                write_event(db, run, event, now=self._now)

    def finish(
        self,
        run: str,
        solution: Solution | None = None,
        *,
        status: str | None = None,
        error: str | None = None,
    ) -> None:
        """Record how a run ended: with a solution, or with a status and an error message.

        `status` is `interrupted` or `error` if there is no solution. If a budget ended the run,
        the error message says so.
        """
        if (
            error is None
            and solution is not None
            and solution.limit is not None
            and (solution.answer is None or solution.status == "unsure")
        ):
            error = f"the run's budget was spent: {solution.limit}"
        told = error and escape_surrogates(error)
        changes: dict[str, Any] = {"ended": time.time(), "status": status or "error", "error": told}
        if solution is not None:
            answer = solution.answer and escape_surrogates(solution.answer)
            changes |= {
                "status": status or solution.status,
                "answer": answer,
                "usage": solution.usage,
            }
        with self._transaction(run) as db:
            change_run(db, run, **changes)

    def list(self, limit: int | None = 20) -> list[RunSummary]:
        """Return the latest `limit` runs, newest first; all runs if `limit` is None."""
        with self._transaction(writing=False) as db:
            most = "" if limit is None else f" LIMIT {limit:d}"
            found = db.execute(f"{_SUMMARY} ORDER BY created DESC, id DESC{most}").fetchall()
            return [self._summary(db, row) for row in found]

    def key(self) -> bytes:
        """Return a random secret of 32 bytes.

        It is created once, and is the same for all processes that use this store.
        """
        with self._transaction() as db:
            row = ("gateway", secrets.token_hex(32))
            db.execute("INSERT INTO keys VALUES (?, ?) ON CONFLICT (name) DO NOTHING", row)
            return bytes.fromhex(
                db.execute("SELECT key FROM keys WHERE name = 'gateway'").fetchone()["key"]
            )

    @cached_property
    def questions(self) -> Questions:
        """The questions that persons were asked about calls."""
        return Questions(self._transaction, cache(self.key))

    @cached_property
    def reservations(self) -> Reservations:
        """The runs of each task, and which of them has reserved it for its writes."""
        return Reservations(self._transaction, self._find_summary)

    def find_unconfirmed_writes(self, tool: str) -> dict[str, tuple[dict[str, Json], ...]]:
        """Return the arguments of those calls of `tool` whose outcome their caller may not know.

        The result is keyed by run id. It contains calls whose outcome is unknown, and all calls of
        runs that are running, were interrupted, or have a question without an answer. The outcome
        of some of these calls may have become known later in their run; `load` shows this.
        """
        with self._transaction(writing=False) as db:
            found: dict[str, tuple[dict[str, Json], ...]] = {}
            for row in db.execute(_UNCONFIRMED, (tool, tool, tool)).fetchall():
                found[row["run"]] = (
                    *found.get(row["run"], ()),
                    json.loads(row["document"])["arguments"],
                )
            return found

    def last_write(self, *, beside: str, since: float) -> float:
        """Return the Unix time at which the last write of any run except `beside` was over.

        Only calls that were sent after the Unix time `since` count, see `find_last_write`.
        """
        with self._transaction(writing=False) as db:
            ahead = round(time.time() - self._now(db))
            return find_last_write(db, beside=beside, since=since - ahead) + ahead

    def load(self, name: str) -> StoredRun:
        """Return a stored run with everything that was recorded about it.

        `name` is its id, a unique beginning or end of the id, or `last` for the latest run.

        Raises:
            UnknownRun: there is no such run, or more than one.
        """
        with self._transaction(writing=False) as db:
            return self._load(db, resolve(db, name))

    def _load(self, db: Database, run: str) -> StoredRun:
        summary = self._find_summary(db, run)
        # By how much this machine's clock is ahead of the store's.
        ahead = round(time.time() - self._now(db))
        calls = tuple(
            RecordedCall(
                execution=one["execution"],
                call=from_json(ToolCall, one["document"]),
                complete=bool(one["complete"]),
                intended=None if one["intended"] is None else one["intended"] + ahead,
            )
            for one in rows_of(db, "calls", run, order="execution, number")
        )
        attempts = []
        for one in rows_of(db, "attempts", run):
            attempt = replace(from_json(Attempt, one["document"]), execution=one["execution"])
            made = tuple(stored.call for stored in calls if stored.execution == attempt.execution)
            attempts.append(
                replace(attempt, trace=attempt.trace and replace(attempt.trace, calls=made))
            )
        exchanges = []
        for one in rows_of(db, "exchanges", run):
            exchange = from_json(Exchange, one["document"])
            asked = None if exchange.asked is None else exchange.asked + ahead
            exchanges.append(replace(exchange, asked=asked))
        tools = {one["alias"]: one["document"] for one in db.execute(_TOOLS, (run,)).fetchall()}
        # The run has not ended.
        if not summary.usage.model_calls:
            summary = replace(summary, usage=used_so_far(exchanges))
        return StoredRun(
            summary=summary,
            attempts=tuple(attempts),
            calls=calls,
            exchanges=tuple(exchanges),
            protocols={
                alias: load_protocol(json.loads(document)) for alias, document in tools.items()
            },
        )

    def take(self, name: str, *, ended: bool = False) -> StoredRun:
        """Make this process the owner of a run, to resume it, and return the run.

        No other process can take the run while this process is alive. If `ended` is True, a run
        that was solved or has failed can be taken, too, to continue it with another program.

        Raises:
            UnknownRun: there is no such run, or more than one.
            RunRefused: another process that is alive works on the run, or there is nothing to
                resume, because the run was solved or failed before its budget was spent.
        """
        with self._transaction() as db:
            run = resolve(db, name)
            self._require_free(db, run, "wait for it, or end it first")
            found = read_run(db, run)
            # A failed or unsure run has an error only if its budget ended it. With a larger budget
            # it can continue.
            has_ended = found.status in ("failed", "unsure") and found.error is None
            if (found.status == "solved" or has_ended) and not ended:
                how = {"solved": "is solved", "failed": "has failed", "unsure": "has an answer"}[
                    found.status
                ]
                raise RunRefused(
                    f"run {run} {how}: there is nothing to resume; 'atc runs show {run}' shows it."
                )
            change_run(db, run, status="running", ended=None, error=None)
            self._own(db, run)
        return self.load(run)

    def delete(self, names: Sequence[str]) -> int:
        """Delete runs with all their data, and return their number. Their bytes are erased, too.

        Digests of calls that a person declined or has not decided about are kept, see `Questions`.
        If `names` is empty, only data that an earlier deletion could not erase is removed.

        Raises:
            UnknownRun: one of the runs does not exist. Nothing was deleted.
            RunRefused: a process that is alive works on one of them. Nothing was deleted.
        """
        with self._transaction() as db:
            runs = list(dict.fromkeys(resolve(db, name) for name in names))
            # Always in the same order, so that two deleting processes do not deadlock.
            for run in sorted(runs):
                self._require_free(db, run, "end it first")
                db.execute("DELETE FROM runs WHERE id = ?", (run,))
                forget_run(db, run)
            db.execute("DELETE FROM protocols WHERE digest NOT IN (SELECT digest FROM tools)")
        return len(runs)

    def _find_summary(self, db: Database, run: str) -> RunSummary:
        return self._summary(db, db.execute(f"{_SUMMARY} WHERE id = ?", (run,)).fetchone())

    def _summary(self, db: Database, row: Row) -> RunSummary:
        """Return the summary in a row that the query `_SUMMARY` returned.

        A run with the status `running` whose owner has ended gets the status `interrupted`.
        """
        run = from_json(RunSummary, row["document"])
        lost = run.status == "running" and self._owner(db, row["run_id"]) is None
        counted = {name: row[name] for name in ("run_id", "attempt_count", "call_count")}
        return replace(run, status="interrupted" if lost else run.status, **counted)

    def _require_free(self, db: Database, run: str, advice: str) -> None:
        """Raise RunTaken if a process that is alive works on the run.

        If no error is raised, no process can take the run before the transaction ends.
        """
        owner = self._owner(db, run, lock=True)
        if owner is not None and read_run(db, run).status == "running":
            raise RunTaken(f"run {run} is being worked on by {owner}; {advice}.")
