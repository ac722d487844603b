"""The store of runs in one SQLite file: its tables, and how a run becomes rows and rows a run.

What is only ever read as a whole is one JSON column, written and read by pydantic.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Self, Unpack

from pydantic import TypeAdapter, ValidationError

from atc import events
from atc.store.stored import (
    Exchange,
    RunEnded,
    RunStart,
    RunSummary,
    RunTaken,
    StoredCall,
    StoredRun,
    StoreUnavailable,
    UnknownRun,
    new_run_id,
    process_mark,
    used_so_far,
)
from atc.types import Attempt, Program, Solution, Usage
from protocols.ask import Completion
from protocols.files import NotPrivate, keep_private
from protocols.jsontypes import Json
from protocols.protocol import dump
from protocols.protocol import load as protocol_of
from sandbox.journal import Sink
from sandbox.trace import Pins, ToolCall

FORMAT = 8
_APPLICATION = 0x61746372  # "atcr": tells our files from other programs'
_BUSY_SECONDS = 10.0

_SCHEMA = """
CREATE TABLE runs (id TEXT PRIMARY KEY, created REAL NOT NULL, document TEXT NOT NULL) STRICT;
CREATE TABLE attempts (
    run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, number INTEGER NOT NULL, execution INTEGER,
    document TEXT NOT NULL, PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE calls (
    run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, execution INTEGER NOT NULL, number INTEGER NOT NULL,
    intended REAL, complete INTEGER NOT NULL, reused INTEGER NOT NULL, document TEXT NOT NULL,
    PRIMARY KEY (run, execution, number)
) STRICT;
CREATE TABLE exchanges (
    run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, number INTEGER NOT NULL, document TEXT NOT NULL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE protocols (digest TEXT PRIMARY KEY, document TEXT NOT NULL) STRICT;
CREATE TABLE tools (
    run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, alias TEXT NOT NULL,
    digest TEXT NOT NULL REFERENCES protocols(digest), PRIMARY KEY (run, alias)
) STRICT, WITHOUT ROWID;
CREATE INDEX tools_by_digest ON tools (digest);
CREATE INDEX calls_in_doubt ON calls (json_extract(document, '$.tool'))
    WHERE json_extract(document, '$.outcome') = 'unknown';
CREATE INDEX runs_open ON runs (id) WHERE json_extract(document, '$.status') IN ('interrupted', 'running')
"""
"""A protocol is kept once, however many runs name it."""

_SUMMARY = """
SELECT id, document,
    (SELECT count(*) FROM attempts WHERE run = runs.id) AS attempts,
    (SELECT count(*) FROM calls WHERE run = runs.id AND NOT reused) AS calls
FROM runs
"""
_CALL = """
INSERT INTO calls VALUES (:run, :execution, :number, :intended, :complete, :reused, :document)
ON CONFLICT (run, execution, number) DO UPDATE SET intended = coalesce(excluded.intended, intended),
    complete = excluded.complete, reused = excluded.reused, document = excluded.document
"""
_TOOLS = "SELECT alias, document FROM tools JOIN protocols USING (digest) WHERE run = ? ORDER BY alias"
_IN_DOUBT = """
SELECT run, calls.document FROM calls JOIN runs ON runs.id = run
WHERE json_extract(calls.document, '$.tool') = ? AND json_extract(calls.document, '$.outcome') = 'unknown'
    AND json_extract(runs.document, '$.status') != 'solved'
UNION ALL SELECT run, calls.document FROM runs JOIN calls ON runs.id = run
WHERE json_extract(runs.document, '$.status') IN ('interrupted', 'running')
    AND json_extract(calls.document, '$.tool') = ? AND json_extract(calls.document, '$.outcome') = 'done'
"""

_EXPLANATIONS = {
    "SQLITE_FULL": "the disk is full; free some space",
    "SQLITE_NOTADB": "it is not a database; move it away and a new one is made",
    "SQLITE_CORRUPT": "it is damaged; move it away and a new one is made",
    "SQLITE_READONLY": "it cannot be written; check its permissions, or set ATC_STATE_DIR",
    "SQLITE_CANTOPEN": "it cannot be opened; check the folder's permissions, or set ATC_STATE_DIR",
    "SQLITE_BUSY": "another process has kept it locked for 10 seconds; try again when it has ended",
    "SQLITE_IOERR": "the disk failed while it was read or written; check the disk",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """What is kept of a run besides its parts. `pid` and `process` say whose it is while it is running."""

    task: str
    created: float
    pid: int
    process: str | None
    ended: float | None = None
    status: str = "running"
    model: str = ""
    strategy: str = ""
    sandbox: str = ""
    config: Mapping[str, Json] = field(default_factory=dict)
    tools: Sequence[str] = ()
    answer: str | None = None
    error: str | None = None
    usage: Usage | None = None
    pins: Pins | None = None
    notes: tuple[str, ...] = ()
    identities: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_worked_on(self) -> bool:
        """Whether a living process holds the run."""
        return self.status == "running" and process_mark(self.pid) == self.process

    def summary(self, row: sqlite3.Row) -> RunSummary:
        """Its line in a list, with the counts of `row`."""
        status = "interrupted" if self.status == "running" and not self.is_worked_on else self.status
        same = ("task", "created", "ended", "model", "strategy", "sandbox", "answer", "error")
        return RunSummary(
            id=row["id"],
            status=status,
            attempts=row["attempts"],
            calls=row["calls"],
            **{name: getattr(self, name) for name in same},
        )


_RUN, _ATTEMPT, _EXCHANGE, _TOOL_CALL = map(TypeAdapter[Any], (_Run, Attempt, Exchange, ToolCall))


class Store:
    """The `RunStore` of one SQLite file, made (for this user alone) where there is none yet."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._db = _connect(path)

    def close(self) -> None:
        """Close the file. The store cannot be used afterwards."""
        with self._lock:
            self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def create(self, task: str, **about: Unpack[RunStart]) -> str:
        """See `RunStore.create`."""
        now, pid = time.time(), os.getpid()
        run = _Run(task=_plain(task), created=now, pid=pid, process=process_mark(pid), **about)
        with self._transaction("BEGIN IMMEDIATE") as db:
            while True:
                name = new_run_id(now)
                try:
                    db.execute("INSERT INTO runs VALUES (?, ?, ?)", (name, now, _text(_RUN, run)))
                except sqlite3.IntegrityError:
                    continue  # four characters do repeat, within one second, once in a million
                return name

    def observer(self, run: str) -> events.Observer:
        """See `RunStore.observer`."""

        def observe(event: events.Event) -> None:
            if isinstance(event, events.CallStarted | events.CallEnded):
                return  # the journal's sink stores these
            with self._transaction("BEGIN IMMEDIATE") as db:
                _write_event(db, run, event)

        return observe

    def journal_sink(self, run: str) -> Sink:
        """See `RunStore.journal_sink`."""

        def sink(execution: int, call: ToolCall, complete: bool) -> None:
            row = {
                "run": run,
                "execution": execution,
                "number": call.index,
                "intended": None if complete else time.time(),
                "complete": int(complete),
                "reused": int(call.reused),
                "document": _text(_TOOL_CALL, call),
            }
            with self._transaction("BEGIN IMMEDIATE") as db:
                db.execute(_CALL, row)

        return sink

    def finish(
        self, run: str, solution: Solution | None = None, *, status: str | None = None, error: str | None = None
    ) -> None:
        """See `RunStore.finish`."""
        if error is None and solution is not None and solution.limit is not None and solution.answer is None:
            error = f"the run's budget was spent: {solution.limit}"
        changes: dict[str, Any] = {"ended": time.time(), "status": status or "error", "error": error and _plain(error)}
        if solution is not None:
            answer = solution.answer and _plain(solution.answer)
            changes |= {"status": status or solution.status, "answer": answer, "usage": solution.usage}
        with self._transaction("BEGIN IMMEDIATE") as db:
            _change(db, run, **changes)

    def list(self, limit: int | None = 20) -> list[RunSummary]:
        """See `RunStore.list`."""
        with self._transaction("BEGIN") as db:
            rows = db.execute(f"{_SUMMARY} ORDER BY created DESC, id DESC LIMIT ?", (-1 if limit is None else limit,))
            return [_read(_RUN, row["document"]).summary(row) for row in rows.fetchall()]

    def changes(self) -> int:
        """A number that is another one whenever somebody else has written to the file."""
        with self._lock, _explained(self.path):
            return int(self._db.execute("PRAGMA data_version").fetchone()[0])

    def in_doubt(self, tool: str) -> dict[str, tuple[dict[str, Json], ...]]:
        """See `RunStore.in_doubt`."""
        with self._transaction("BEGIN") as db:
            rows = db.execute(_IN_DOUBT, (tool, tool)).fetchall()
        found: dict[str, tuple[dict[str, Json], ...]] = {}
        for row in rows:
            arguments = json.loads(row["document"])["arguments"]
            found[row["run"]] = (*found.get(row["run"], ()), arguments)
        return found

    def load(self, name: str) -> StoredRun:
        """See `RunStore.load`."""
        with self._transaction("BEGIN") as db:
            run = _resolve(db, name)
            row = db.execute(f"{_SUMMARY} WHERE id = ?", (run,)).fetchone()
            calls = [_call(one) for one in _rows(db, "calls", run, order="execution, number")]
            attempts = [_attempt(one, calls) for one in _rows(db, "attempts", run)]
            exchanges = [_read(_EXCHANGE, one["document"]) for one in _rows(db, "exchanges", run)]
            tools = {one["alias"]: one["document"] for one in db.execute(_TOOLS, (run,))}
        found: _Run = _read(_RUN, row["document"])
        return StoredRun(
            summary=found.summary(row),
            config=found.config,
            tools=tuple(found.tools),
            attempts=tuple(attempts),
            calls=tuple(calls),
            exchanges=tuple(exchanges),
            usage=found.usage or used_so_far(exchanges),
            pins=found.pins,
            protocols={alias: protocol_of(json.loads(document)) for alias, document in tools.items()},
            notes=found.notes,
            identities=found.identities,
        )

    def take(self, name: str, *, ended: bool = False) -> StoredRun:
        """See `RunStore.take`."""
        with self._transaction("BEGIN IMMEDIATE") as db:
            run = _resolve(db, name)
            found = _run(db, run)
            if found.is_worked_on:
                raise RunTaken(f"run {run} is being worked on by process {found.pid}; wait for it, or end it first.")
            # A failed run keeps an error only where its budget ended it: with a larger one there is more to be done.
            over = found.status == "solved" or (found.status == "failed" and found.error is None)
            if over and not ended:
                how = {"solved": "is solved", "failed": "has failed"}[found.status]
                raise RunEnded(f"run {run} {how}: there is nothing to resume; 'atc runs show {run}' shows it.")
            pid = os.getpid()
            _change(db, run, status="running", ended=None, error=None, pid=pid, process=process_mark(pid))
        return self.load(run)

    def delete(self, names: Sequence[str]) -> int:
        """See `RunStore.delete`."""
        with self._transaction("BEGIN IMMEDIATE") as db:
            runs = list(dict.fromkeys(_resolve(db, name) for name in names))
            for run in runs:
                if (found := _run(db, run)).is_worked_on:
                    raise RunTaken(f"run {run} is being worked on by process {found.pid}; end it first.")
            db.executemany("DELETE FROM runs WHERE id = ?", [(run,) for run in runs])
            db.execute("DELETE FROM protocols WHERE digest NOT IN (SELECT digest FROM tools)")
        with self._lock, _explained(self.path):
            self._db.execute("VACUUM")
            busy = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        if busy:
            raise StoreUnavailable(
                f"the store of runs {str(self.path)!r}: the runs are deleted, but another process still reads the file,"
                " so their bytes are still in it; purge again when that one has ended."
            )
        return len(runs)

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._lock, _explained(self.path):
            self._db.execute(begin)
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise


def _rows(db: sqlite3.Connection, table: str, run: str, *, order: str = "number") -> list[sqlite3.Row]:
    query = f"SELECT * FROM {table} WHERE run = ? ORDER BY {order}"  # noqa: S608 - all of it stands in this file
    return db.execute(query, (run,)).fetchall()


def _run(db: sqlite3.Connection, run: str) -> _Run:
    row = db.execute("SELECT document FROM runs WHERE id = ?", (run,)).fetchone()
    found: _Run = _read(_RUN, row["document"])
    return found


def _change(db: sqlite3.Connection, run: str, **changes: Any) -> None:
    changed = replace(_run(db, run), **changes)
    db.execute("UPDATE runs SET document = ? WHERE id = ?", (_text(_RUN, changed), run))


def _resolve(db: sqlite3.Connection, name: str) -> str:
    latest = [str(row["id"]) for row in db.execute("SELECT id FROM runs ORDER BY created DESC, id DESC")]
    if name == "last" and latest:
        return latest[0]
    found = [run for run in latest if run == name] or [
        run for run in latest if name and (run.startswith(name) or run.endswith(f"-{name}"))
    ]
    if len(found) == 1:
        return found[0]
    raise UnknownRun(name, found[:3] or get_close_matches(name, latest[:1000], n=3), ambiguous=bool(found))


def _write_event(db: sqlite3.Connection, run: str, event: events.Event) -> None:
    """Store what an event says. Calls come by the journal's sink, which hears of each intent too."""
    match event:
        case events.ToolsChosen(tools=tools):
            _change(db, run, tools=tuple(tools))
        case events.ModelAsked():
            asked = Exchange(purpose=event.purpose, messages=tuple(event.messages))
            number = "SELECT ?, coalesce(max(number) + 1, 0), ? FROM exchanges WHERE run = ?"
            db.execute(f"INSERT INTO exchanges {number}", (run, _text(_EXCHANGE, asked), run))
        case events.ModelReplied():
            _write_reply(db, run, event.completion)
        case events.ToolsNamed():
            for alias, protocol in event.protocols.items():
                document = json.dumps(dump(protocol), separators=(",", ":"))
                digest = hashlib.sha256(document.encode()).hexdigest()
                db.execute("INSERT OR IGNORE INTO protocols VALUES (?, ?)", (digest, document))
                db.execute("INSERT OR REPLACE INTO tools VALUES (?, ?, ?)", (run, alias, digest))
        case events.ProgramWritten():
            _write_attempt(db, run, event.attempt, Attempt(event.program, event.findings, None, None), None)
        case events.AttemptEnded():
            attempt = event.result
            trace = attempt.trace and replace(attempt.trace, calls=())  # the journal has told of these
            kept = replace(attempt, trace=trace, execution=None)
            _write_attempt(db, run, event.attempt, kept, attempt.execution)
        case events.Doubted():
            for row in _rows(db, "attempts", run):
                if row["number"] == event.attempt:
                    doubted = replace(_read(_ATTEMPT, row["document"]), doubts=event.doubts)
                    _write_attempt(db, run, event.attempt, doubted, row["execution"])
        case events.Noted(sentence=sentence):
            said = _run(db, run).notes
            _change(db, run, notes=tuple(dict.fromkeys((*said, sentence))))  # a run that goes on is told again


def _write_reply(db: sqlite3.Connection, run: str, reply: Completion) -> None:
    last = _rows(db, "exchanges", run, order="number DESC LIMIT 1")[0]
    heard = replace(reply, text=_plain(reply.text))
    text = _text(_EXCHANGE, replace(_read(_EXCHANGE, last["document"]), reply=heard))
    db.execute("UPDATE exchanges SET document = ? WHERE run = ? AND number = ?", (text, run, last["number"]))
    if not _run(db, run).model:  # a run without a named model is the model's that answers first
        _change(db, run, model=reply.model)


def _write_attempt(db: sqlite3.Connection, run: str, number: int, attempt: Attempt, execution: int | None) -> None:
    written = replace(attempt, program=Program(_plain(attempt.program.source)))
    row = (run, number, execution, _text(_ATTEMPT, written))
    db.execute("INSERT OR REPLACE INTO attempts VALUES (?, ?, ?, ?)", row)


def _attempt(row: sqlite3.Row, calls: Sequence[StoredCall]) -> Attempt:
    """The attempt of a row with the calls of its execution."""
    attempt: Attempt = _read(_ATTEMPT, row["document"])
    if attempt.trace is None:
        return attempt
    own = tuple(stored.call for stored in calls if stored.execution == row["execution"])
    return replace(attempt, trace=replace(attempt.trace, calls=own))


def _call(row: sqlite3.Row) -> StoredCall:
    call = _read(_TOOL_CALL, row["document"])
    return StoredCall(execution=row["execution"], call=call, complete=bool(row["complete"]), intended=row["intended"])


def _text(adapter: TypeAdapter[Any], value: Any) -> str:
    """`value` as compact JSON; what JSON cannot hold becomes its `repr`."""
    return json.dumps(adapter.dump_python(value), default=repr, separators=(",", ":"))


def _plain(text: str) -> str:
    """`text` with a lone surrogate (bytes of argv that are not UTF-8) as its escape, so that it can be shown."""
    return text.encode("utf-8", "backslashreplace").decode()


def _read(adapter: TypeAdapter[Any], text: str) -> Any:
    try:
        return adapter.validate_python(json.loads(text))
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(map(str, problem["loc"]))
        raise StoreUnavailable(
            f"the store of runs holds what this atc cannot read: {place}: {problem['msg']}."
        ) from error


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turns what SQLite and the file system say about `path` into `StoreUnavailable`."""
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
        known = [text for code, text in _EXPLANATIONS.items() if name == code or name.startswith(code + "_")]
        raise StoreUnavailable(f"the store of runs {str(path)!r}: {known[0] if known else error}.") from error
    except OSError as error:
        advice = "make it writable, or set ATC_STATE_DIR to a folder that is."
        raise StoreUnavailable(f"the store of runs {str(path)!r}: {error.strerror or error}; {advice}") from error


def _connect(path: Path) -> sqlite3.Connection:
    """A connection to the store, made (for this user alone) where there is none yet. Every commit is on disk.

    Raises:
        StoreUnavailable: the file cannot be used, or is not ours, or another version's.
    """
    with _explained(path):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _keep_private(path)
        database = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            _set_up(database, path)
        except BaseException:
            database.close()
            raise
    database.row_factory = sqlite3.Row
    return database


def _keep_private(path: Path) -> None:
    """Nobody else may read what runs have said: older versions, a copy or a restored backup may have left it open."""
    try:
        for name in ("", "-wal", "-shm", "-journal"):
            keep_private(path.with_name(path.name + name))
    except NotPrivate as error:
        raise StoreUnavailable(f"the store of runs: {error} Or set ATC_STATE_DIR to a folder of your own.") from error
    if not path.is_file():
        # SQLite gives its side files the permissions of the file, so it is made before SQLite can make it.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600))
    folder = path.parent.stat()
    # A folder of another name that holds anything else is the user's, and as open as the user wants it.
    ours = path.parent.name == "atc" or all(
        file.name.startswith((f"{path.stem}.", "bench")) for file in path.parent.iterdir()
    )
    if ours and folder.st_uid == os.geteuid() and folder.st_mode & 0o077:
        path.parent.chmod(0o700)


def _set_up(database: sqlite3.Connection, path: Path) -> None:
    """Make our tables where they are not there."""
    _use_wal(database)
    database.execute("PRAGMA synchronous = FULL")
    database.execute("PRAGMA secure_delete = ON")
    if _format(database, path) != FORMAT:
        # Somebody else may make them meanwhile, so it is looked at again where nobody else can write.
        database.execute("BEGIN EXCLUSIVE")
        try:
            for statement in _SCHEMA.split(";") if _format(database, path) != FORMAT else ():
                database.execute(statement)
            database.execute(f"PRAGMA application_id = {_APPLICATION}")
            database.execute(f"PRAGMA user_version = {FORMAT}")
            database.execute("COMMIT")
        except BaseException:
            database.execute("ROLLBACK")
            raise
    database.execute("PRAGMA foreign_keys = ON")


def _use_wal(database: sqlite3.Connection) -> None:
    # Changing the mode does not wait for other connections as other statements do.
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _format(database: sqlite3.Connection, path: Path) -> int:
    """The format of the tables in the file; 0 for an empty one."""
    application, version, tables = (
        database.execute(query).fetchone()[0]
        for query in ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_schema")
    )
    if not tables:
        return 0
    if application != _APPLICATION:
        raise StoreUnavailable(
            f"the store of runs {str(path)!r}: it is another program's database; set ATC_STATE_DIR to another folder."
        )
    if version != FORMAT:
        raise StoreUnavailable(
            f"the store of runs {str(path)!r}: another version of atc wrote it (format {version}, this one reads"
            f" {FORMAT}); use that version, move the file away, or set ATC_STATE_DIR to another folder."
        )
    return int(version)
