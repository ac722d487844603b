"""Reads and writes the rows of one run, in a transaction of any SQL database."""

from __future__ import annotations

import hashlib
import json
import math
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from atc.core import events
from atc.core.program import Program
from atc.core.types import Attempt
from atc.store.stored import (
    Exchange,
    RunSummary,
    UnknownRun,
    as_json,
    escape_surrogates,
    from_json,
)
from protocols.naming import closest_spellings
from protocols.protocol import dump, load
from sandbox.earlier_reads import end_of_write
from sandbox.journal_entries import RecordedCall
from sandbox.trace import ToolCall

Row = Mapping[str, Any]
_ATTEMPT_ROW = """
INSERT INTO attempts VALUES (?, ?, ?, ?)
ON CONFLICT (run, number) DO UPDATE SET execution = excluded.execution, document = excluded.document
"""
_EXCHANGE = "INSERT INTO exchanges SELECT ?, count(*), ? FROM exchanges WHERE run = ?"
_TOOL_ROW = (
    "INSERT INTO tools VALUES (?, ?, ?) ON CONFLICT (run, alias) DO UPDATE SET digest ="
    " excluded.digest"
)

_SENT = """
SELECT run, json_extract(document, '$.tool') AS tool,
    json_extract(document, '$.outcome') AS outcome, json_extract(document, '$.seconds') AS seconds,
    complete, intended
FROM calls WHERE reused = 0 AND run <> ? AND intended > ?
"""
_PROTOCOL = "SELECT document FROM tools JOIN protocols USING (digest) WHERE run = ? AND alias = ?"


class Database(Protocol):
    """An open transaction of SQLite or PostgreSQL.

    Statements must be valid in both, and have `?` for each parameter.
    """

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Any:
        """Execute one SQL statement. Return a cursor whose rows are keyed by column name."""


def read_run(db: Database, run: str) -> RunSummary:
    """Return the summary of a run in the form in which it is stored.

    Its id and its counts of attempts and calls are not stored, so these fields have their defaults.
    """
    return from_json(
        RunSummary,
        db.execute("SELECT document FROM runs WHERE id = ?", (run,)).fetchone()["document"],
    )


def change_run(db: Database, run: str, **changes: Any) -> None:
    """Change fields of a run's summary."""
    changed = replace(read_run(db, run), **changes)
    db.execute("UPDATE runs SET document = ? WHERE id = ?", (as_json(RunSummary, changed), run))


def resolve(db: Database, name: str) -> str:
    """Return the id of the run with this name.

    The name is the id, a unique beginning or end of it, or `last` for the latest run.

    Raises:
        UnknownRun: there is no such run, or more than one.
    """
    if db.execute("SELECT id FROM runs WHERE id = ?", (name,)).fetchone() is not None:
        return name
    latest = [
        str(row["id"])
        for row in db.execute("SELECT id FROM runs ORDER BY created DESC, id DESC").fetchall()
    ]
    if name == "last" and latest:
        return latest[0]
    found = [run for run in latest if name and (run.startswith(name) or run.endswith(f"-{name}"))]
    if len(found) == 1:
        return found[0]
    if found:
        raise UnknownRun(
            f"run {name!r} could be any of {', '.join(found[:3])}; give more of its id."
        )
    near = ", ".join(closest_spellings(name, latest[:1000], most=3))
    raise UnknownRun(
        f"no run {name!r}; " + (f"did you mean {near}?" if near else "'atc runs list' shows all.")
    )


def write_event(
    db: Database, run: str, event: events.Event, *, now: Callable[[Database], float]
) -> None:
    """Store an event of a run. Tool calls are stored elsewhere, by `RunStore`.

    `now` returns the Unix time by the clock of the store.
    """
    match event:
        case events.ToolsChosen(tools=tools):
            change_run(db, run, tools=tuple(tools))
        case events.ModelAsked():
            asked = Exchange(purpose=event.purpose, messages=tuple(event.messages), asked=now(db))
            db.execute(_EXCHANGE, (run, as_json(Exchange, asked), run))
        case events.ModelReplied():
            last = rows_of(db, "exchanges", run, order="number DESC LIMIT 1")[0]
            heard = replace(event.completion, text=escape_surrogates(event.completion.text))
            text = as_json(Exchange, replace(from_json(Exchange, last["document"]), reply=heard))
            db.execute(
                "UPDATE exchanges SET document = ? WHERE run = ? AND number = ?",
                (text, run, last["number"]),
            )
            # A run without a configured model gets the first model that replies.
            if not read_run(db, run).model:
                change_run(db, run, model=heard.model)
        case events.ToolsNamed():
            for alias, protocol in event.protocols.items():
                document = json.dumps(dump(protocol), separators=(",", ":"))
                digest = hashlib.sha256(document.encode()).hexdigest()
                db.execute(
                    "INSERT INTO protocols VALUES (?, ?) ON CONFLICT (digest) DO NOTHING",
                    (digest, document),
                )
                db.execute(_TOOL_ROW, (run, alias, digest))
        case events.ProgramWritten():
            _write_attempt(
                db, run, event.attempt, Attempt(event.program, event.findings, None, None)
            )
        case events.AttemptEnded():
            # The calls were stored one by one.
            trace = event.result.trace and replace(event.result.trace, calls=())
            _write_attempt(db, run, event.attempt, replace(event.result, trace=trace))
        case events.ConsentWaived():
            change_run(db, run, consent="none")
        case events.NoteAdded(sentence=sentence):
            said = read_run(db, run).notes
            # A resumed run may add the same note again.
            change_run(db, run, notes=tuple(dict.fromkeys((*said, sentence))))


def rows_of(db: Database, table: str, run: str, *, order: str = "number") -> list[Row]:
    """Return the rows of a table that belong to a run, sorted by the SQL expression `order`."""
    query = f"SELECT * FROM {table} WHERE run = ? ORDER BY {order}"  # noqa: S608 - constants
    found: list[Row] = db.execute(query, (run,)).fetchall()
    return found


def _write_attempt(db: Database, run: str, number: int, attempt: Attempt) -> None:
    """Store an attempt of a run. It replaces the stored attempt with the same number, if any."""
    written = replace(attempt, program=Program(escape_surrogates(attempt.program.source)))
    db.execute(_ATTEMPT_ROW, (run, number, attempt.execution, as_json(Attempt, written)))


def find_last_write(db: Database, *, beside: str, since: float) -> float:
    """Return the time at which the last write of any run except `beside` was over.

    Only calls that were sent after `since` count. All times are those of the store's clock. The
    result is infinity if the end of a write is not known, and minus infinity without a write.
    """
    writes: dict[tuple[str, str], bool] = {}
    last = -math.inf
    for row in db.execute(_SENT, (beside, since)).fetchall():
        named = (row["run"], row["tool"])
        if named not in writes:
            found = db.execute(_PROTOCOL, named).fetchone()
            writes[named] = found is None or load(json.loads(found["document"])).writes
        if writes[named]:
            call = ToolCall(
                index=0,
                tool=row["tool"],
                arguments={},
                line=0,
                outcome=row["outcome"],
                seconds=float(row["seconds"]),
            )
            complete = bool(row["complete"])
            sent = RecordedCall(execution=0, call=call, complete=complete, intended=row["intended"])
            last = max(last, end_of_write(sent))
    return last


def new_id(now: float) -> str:
    """Return a new run id, which sorts by time (UTC): `20261121-010203-k3f9`."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now))
    # Without characters that are easily confused.
    legible = "23456789abcdefghjkmnpqrstuvwxyz"
    return f"{stamp}-{''.join(secrets.choice(legible) for _ in range(4))}"
