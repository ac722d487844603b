"""How events and calls of a run become rows of the store. Each function works within the caller's transaction."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from dataclasses import asdict, fields, replace
from typing import Any

from atc import events
from atc.types import Attempt
from protocols.jsontypes import Json
from protocols.protocol import dump
from sandbox.trace import ToolCall, trace_to_json

_CALL = """
INSERT INTO calls VALUES (:run, :execution, :index, :tool, :arguments, :line, :result, :error, :status, :outcome,
    :drift, :curl, :reused, :started, :seconds, :intent_at, :completed_at, :baseline, :note)
ON CONFLICT (run, execution, number) DO
"""
_OUTCOME = """UPDATE SET result = excluded.result, error = excluded.error, status = excluded.status,
    outcome = excluded.outcome, drift = excluded.drift, curl = excluded.curl, reused = excluded.reused,
    started = excluded.started, seconds = excluded.seconds, completed_at = excluded.completed_at,
    baseline = excluded.baseline, note = excluded.note, intent_at = coalesce(excluded.intent_at, intent_at)
"""
_ATTEMPT = """
INSERT OR REPLACE INTO attempts VALUES (:run, :number, :execution, :program, :findings, :mended, :trace, :fault,
    :doubts, :round)
"""


def write_event(db: sqlite3.Connection, run: str, event: events.Event) -> None:
    """Store what an event says. Calls come by `write_call`, which hears of each intent too."""
    match event:
        case events.ToolsChosen():
            db.execute("UPDATE runs SET tools = ? WHERE id = ?", (to_json(event.tools), run))
        case events.ModelAsked():
            _asked(db, run, event)
        case events.ModelReplied():
            _replied(db, run, event)
        case events.ProgramWritten():
            _written(db, run, event)
        case events.ToolsNamed():
            _named(db, run, event)
        case events.AttemptEnded():
            _ended(db, run, event)
        case events.Doubted():
            found = (to_json(event.doubts), run, event.attempt)
            db.execute("UPDATE attempts SET doubts = ? WHERE run = ? AND number = ?", found)
        case events.Noted():
            _noted(db, run, event)


def write_call(db: sqlite3.Connection, run: str, execution: int, call: ToolCall, *, complete: bool) -> None:
    """Store a call's intent, or its outcome."""
    db.execute(_CALL + _OUTCOME, _call_row(run, execution, call, complete=complete))


def _asked(db: sqlite3.Connection, run: str, event: events.ModelAsked) -> None:
    messages: Json = [asdict(message) for message in event.messages]
    if event.statement:
        messages = _grown(db, run, messages)
    db.execute(
        "INSERT INTO exchanges (run, number, purpose, messages) "
        "SELECT ?, coalesce(max(number) + 1, 0), ?, ? FROM exchanges WHERE run = ?",
        (run, plain(event.purpose), to_json(messages), run),
    )


def _grown(db: sqlite3.Connection, run: str, messages: list[Json]) -> Json:
    """The prompt for a program's further statement: the last whole one with another last turn, where it is that."""
    whole = "SELECT number, messages FROM exchanges WHERE run = ? AND messages LIKE '[%' ORDER BY number DESC LIMIT 1"
    found = db.execute(whole, (run,)).fetchone()
    if found is None or json.loads(found["messages"])[:-1] != messages[:-1]:
        return messages
    return {"like": found["number"], "last": messages[-1]}


def _replied(db: sqlite3.Connection, run: str, event: events.ModelReplied) -> None:
    reply = event.completion
    counts = (reply.input_tokens, reply.output_tokens, reply.seconds, reply.cached_tokens)
    db.execute(
        "UPDATE exchanges "
        "SET reply = ?, model = ?, input_tokens = ?, output_tokens = ?, seconds = ?, cached_tokens = ? "
        "WHERE run = ? AND number = (SELECT max(number) FROM exchanges WHERE run = ?)",
        (plain(reply.text), reply.model, *counts, run, run),
    )
    # A run that was begun without a named model is the model's that answers first.
    db.execute("UPDATE runs SET model = ? WHERE id = ? AND model = ''", (plain(reply.model), run))


def _noted(db: sqlite3.Connection, run: str, event: events.Noted) -> None:
    # A run that goes on is told again what it was told before.
    said = json.loads(db.execute("SELECT notes FROM runs WHERE id = ?", (run,)).fetchone()[0])
    if event.sentence not in said:
        db.execute("UPDATE runs SET notes = ? WHERE id = ?", (to_json([*said, plain(event.sentence)]), run))


def _written(db: sqlite3.Connection, run: str, event: events.ProgramWritten) -> None:
    db.execute(
        "INSERT OR REPLACE INTO attempts (run, number, program, findings) VALUES (?, ?, ?, ?)",
        (run, event.attempt, plain(event.program.source), to_json([asdict(f) for f in event.findings])),
    )


def _named(db: sqlite3.Connection, run: str, event: events.ToolsNamed) -> None:
    for alias, protocol in event.protocols.items():
        document = to_json(dump(protocol))
        digest = hashlib.sha256(document.encode()).hexdigest()
        db.execute("INSERT OR IGNORE INTO protocols VALUES (?, ?)", (digest, document))
        db.execute("INSERT OR REPLACE INTO tools VALUES (?, ?, ?)", (run, alias, digest))


def _ended(db: sqlite3.Connection, run: str, event: events.AttemptEnded) -> None:
    attempt = event.result
    trace = attempt.trace and to_json(trace_to_json(replace(attempt.trace, calls=())))
    execution = _execution(db, run, attempt)
    if attempt.execution is None:  # else the journal has told of every call, under the number that its program gave it
        for call in attempt.trace.calls if attempt.trace else ():
            db.execute(_CALL + "NOTHING", _call_row(run, execution, call, complete=True))
    row = {
        "run": run,
        "number": event.attempt,
        "execution": execution,
        "program": plain(attempt.program.source),
        "findings": to_json([asdict(finding) for finding in attempt.findings]),
        "mended": to_json([asdict(finding) for finding in attempt.mended]),
        "trace": trace,
        "fault": attempt.fault and to_json(asdict(attempt.fault)),
        "doubts": to_json(attempt.doubts),
        "round": attempt.round,
    }
    db.execute(_ATTEMPT, row)


def _execution(db: sqlite3.Connection, run: str, attempt: Attempt) -> int | None:
    """The execution whose calls are the attempt's: the last that the journal told of and no attempt has yet.

    Where it told of none (each call was refused before it), the next free number: the journal's own for this
    execution is at least that, so no later execution has it.
    """
    if attempt.trace is None or attempt.execution is not None:
        return attempt.execution
    if not attempt.trace.calls:
        return None
    last = db.execute("SELECT max(execution) FROM calls WHERE run = ?", (run,)).fetchone()[0]
    taken = db.execute("SELECT max(execution) FROM attempts WHERE run = ?", (run,)).fetchone()[0]
    if last is not None and (taken is None or last > taken):
        return int(last)
    return 0 if last is None else int(last) + 1


def _call_row(run: str, execution: int | None, call: ToolCall, *, complete: bool) -> dict[str, Any]:
    row: dict[str, Any] = {one.name: getattr(call, one.name) for one in fields(call)}  # not a copy of a large result
    row |= {"run": run, "execution": execution, "reused": int(call.reused)}
    row |= {name: to_json(row[name]) for name in ("arguments", "result", "drift", "baseline")}
    row |= {name: plain(row[name]) for name in ("tool", "error", "curl", "note") if row[name] is not None}
    now = time.time()
    return row | {"intent_at": None if complete else now, "completed_at": now if complete else None}


def to_json(value: Json) -> str:
    """`value` as compact JSON; what JSON cannot hold becomes its `repr`."""
    return json.dumps(value, default=repr, separators=(",", ":"))


def plain(text: str) -> str:
    """`text` as SQLite can store it: a lone surrogate (bytes of argv that are not UTF-8) becomes its escape."""
    return text.encode("utf-8", "backslashreplace").decode()
