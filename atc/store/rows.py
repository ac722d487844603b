"""How a run becomes rows of any SQL database, and rows a run.

What is only ever read as a whole is one JSON column, written and read by pydantic.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cache
from typing import Any, Protocol

from pydantic import TypeAdapter, ValidationError

from atc import events
from atc.store.stored import Exchange, RunSummary, StoredCall, StoredRun, StoreUnavailable, UnknownRun, used_so_far
from atc.types import Attempt, Program, Usage
from protocols.ask import Completion
from protocols.jsontypes import Json
from protocols.protocol import dump
from protocols.protocol import load as protocol_of
from sandbox.trace import Pins, ToolCall

Row = Mapping[str, Any]

_SUMMARY = """
SELECT id, document,
    (SELECT count(*) FROM attempts WHERE run = runs.id) AS attempts,
    (SELECT count(*) FROM calls WHERE run = runs.id AND reused = 0) AS calls
FROM runs
"""
_CALL = """
INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (run, execution, number) DO UPDATE SET intended = coalesce(excluded.intended, calls.intended),
    complete = excluded.complete, reused = excluded.reused, document = excluded.document
"""
_ATTEMPT_ROW = """
INSERT INTO attempts VALUES (?, ?, ?, ?)
ON CONFLICT (run, number) DO UPDATE SET execution = excluded.execution, document = excluded.document
"""
_TOOL_ROW = "INSERT INTO tools VALUES (?, ?, ?) ON CONFLICT (run, alias) DO UPDATE SET digest = excluded.digest"
_TOOLS = "SELECT alias, document FROM tools JOIN protocols USING (digest) WHERE run = ? ORDER BY alias"
_IN_DOUBT = """
SELECT run, calls.document FROM calls JOIN runs ON runs.id = run
WHERE json_extract(calls.document, '$.tool') = ? AND json_extract(calls.document, '$.outcome') = 'unknown'
    AND json_extract(runs.document, '$.status') != 'solved'
UNION ALL SELECT run, calls.document FROM runs JOIN calls ON runs.id = run
WHERE json_extract(runs.document, '$.status') IN ('interrupted', 'running')
    AND json_extract(calls.document, '$.tool') = ? AND json_extract(calls.document, '$.outcome') = 'done'
"""


class Database(Protocol):
    """An open transaction. Its SQL is what SQLite and PostgreSQL have in common, with `?` for each parameter."""

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Any:
        """Carry out one statement; the result has `fetchone` and `fetchall`, and rows are by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What is kept of a run besides its parts."""

    task: str
    created: float
    pid: int = 0
    """Of the process that began it or went on with it, where the store is a file of this machine."""
    process: str | None = None
    """What tells that process from an earlier one of its number."""
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

    def summary(self, row: Row, *, owned: bool) -> RunSummary:
        """Its line in a list, with the counts of `row`. `owned`: a living process works on it."""
        same = ("task", "created", "ended", "model", "strategy", "sandbox", "answer", "error")
        return RunSummary(
            id=row["id"],
            status="interrupted" if self.status == "running" and not owned else self.status,
            attempts=row["attempts"],
            calls=row["calls"],
            **{name: getattr(self, name) for name in same},
        )


def insert_run(db: Database, name: str, run: Run) -> bool:
    """Add a run; False where there is one of this name."""
    row = (name, run.created, _text(Run, run))
    added = "INSERT INTO runs VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING RETURNING id"
    return db.execute(added, row).fetchone() is not None


def read_run(db: Database, run: str) -> Run:
    """A run without its parts."""
    row = db.execute("SELECT document FROM runs WHERE id = ?", (run,)).fetchone()
    found: Run = _read(Run, row["document"])
    return found


def change_run(db: Database, run: str, **changes: Any) -> None:
    """Change what is kept of a run besides its parts."""
    changed = replace(read_run(db, run), **changes)
    db.execute("UPDATE runs SET document = ? WHERE id = ?", (_text(Run, changed), run))


def latest_runs(db: Database, limit: int | None) -> list[tuple[Row, Run]]:
    """The newest runs, each with the row of its counts."""
    most, parameters = ("", ()) if limit is None else (" LIMIT ?", (limit,))
    rows = db.execute(f"{_SUMMARY} ORDER BY created DESC, id DESC{most}", parameters).fetchall()
    return [(row, _read(Run, row["document"])) for row in rows]


def resolve(db: Database, name: str) -> str:
    """The id of the run of this name.

    Raises:
        UnknownRun: there is none, or more than one.
    """
    if db.execute("SELECT id FROM runs WHERE id = ?", (name,)).fetchone() is not None:
        return name
    latest = [str(row["id"]) for row in db.execute("SELECT id FROM runs ORDER BY created DESC, id DESC").fetchall()]
    if name == "last" and latest:
        return latest[0]
    found = [run for run in latest if name and (run.startswith(name) or run.endswith(f"-{name}"))]
    if len(found) == 1:
        return found[0]
    if found:
        raise UnknownRun(f"run {name!r} could be any of {', '.join(found[:3])}; give more of its id.")
    near = ", ".join(get_close_matches(name, latest[:1000], n=3))
    raise UnknownRun(f"no run {name!r}; " + (f"did you mean {near}?" if near else "'atc runs list' shows all."))


def load_run(db: Database, run: str, *, owned: bool, ahead: float) -> StoredRun:
    """A run with all its parts. `owned`: a living process works on it.

    `ahead` are the seconds that this machine's clock shows more than the one by which intents were recorded.
    """
    row = db.execute(f"{_SUMMARY} WHERE id = ?", (run,)).fetchone()
    calls = [_call(one, ahead) for one in _rows(db, "calls", run, order="execution, number")]
    attempts = [_attempt(one, calls) for one in _rows(db, "attempts", run)]
    exchanges = [_read(Exchange, one["document"]) for one in _rows(db, "exchanges", run)]
    tools = {one["alias"]: one["document"] for one in db.execute(_TOOLS, (run,)).fetchall()}
    found: Run = _read(Run, row["document"])
    return StoredRun(
        summary=found.summary(row, owned=owned),
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


def calls_in_doubt(db: Database, tool: str) -> dict[str, tuple[dict[str, Json], ...]]:
    """See `RunStore.in_doubt`."""
    found: dict[str, tuple[dict[str, Json], ...]] = {}
    for row in db.execute(_IN_DOUBT, (tool, tool)).fetchall():
        arguments = json.loads(row["document"])["arguments"]
        found[row["run"]] = (*found.get(row["run"], ()), arguments)
    return found


def delete_runs(db: Database, runs: Sequence[str]) -> None:
    """Forget runs with their parts, and protocols that none names any more."""
    for run in runs:
        db.execute("DELETE FROM runs WHERE id = ?", (run,))
    db.execute("DELETE FROM protocols WHERE digest NOT IN (SELECT digest FROM tools)")


def write_call(
    db: Database, run: str, execution: int, call: ToolCall, *, complete: bool, intended: float | None
) -> None:
    """Store an intent or an outcome; an outcome keeps the time of its intent."""
    document = _text(ToolCall, call)
    db.execute(_CALL, (run, execution, call.index, intended, int(complete), int(call.reused), document))


def write_event(db: Database, run: str, event: events.Event) -> None:
    """Store what an event says. Calls come by the journal's sink, which hears of each intent too."""
    match event:
        case events.ToolsChosen(tools=tools):
            change_run(db, run, tools=tuple(tools))
        case events.ModelAsked():
            asked = Exchange(purpose=event.purpose, messages=tuple(event.messages))
            last = db.execute("SELECT max(number) AS number FROM exchanges WHERE run = ?", (run,)).fetchone()["number"]
            number = 0 if last is None else last + 1
            db.execute("INSERT INTO exchanges VALUES (?, ?, ?)", (run, number, _text(Exchange, asked)))
        case events.ModelReplied():
            _write_reply(db, run, event.completion)
        case events.ToolsNamed():
            for alias, protocol in event.protocols.items():
                document = json.dumps(dump(protocol), separators=(",", ":"))
                digest = hashlib.sha256(document.encode()).hexdigest()
                db.execute("INSERT INTO protocols VALUES (?, ?) ON CONFLICT (digest) DO NOTHING", (digest, document))
                db.execute(_TOOL_ROW, (run, alias, digest))
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
                    doubted = replace(_read(Attempt, row["document"]), doubts=event.doubts)
                    _write_attempt(db, run, event.attempt, doubted, row["execution"])
        case events.Noted(sentence=sentence):
            said = read_run(db, run).notes
            change_run(db, run, notes=tuple(dict.fromkeys((*said, sentence))))  # a run that goes on is told again


def plain(text: str) -> str:
    """`text` with a lone surrogate (bytes of argv that are not UTF-8) as its escape, so that it can be shown."""
    return text.encode("utf-8", "backslashreplace").decode()


def _rows(db: Database, table: str, run: str, *, order: str = "number") -> list[Row]:
    query = f"SELECT * FROM {table} WHERE run = ? ORDER BY {order}"  # noqa: S608 - all of it stands in this file
    found: list[Row] = db.execute(query, (run,)).fetchall()
    return found


def _write_reply(db: Database, run: str, reply: Completion) -> None:
    last = _rows(db, "exchanges", run, order="number DESC LIMIT 1")[0]
    heard = replace(reply, text=plain(reply.text))
    text = _text(Exchange, replace(_read(Exchange, last["document"]), reply=heard))
    db.execute("UPDATE exchanges SET document = ? WHERE run = ? AND number = ?", (text, run, last["number"]))
    if not read_run(db, run).model:  # a run without a named model is the model's that answers first
        change_run(db, run, model=reply.model)


def _write_attempt(db: Database, run: str, number: int, attempt: Attempt, execution: int | None) -> None:
    written = replace(attempt, program=Program(plain(attempt.program.source)))
    db.execute(_ATTEMPT_ROW, (run, number, execution, _text(Attempt, written)))


def _attempt(row: Row, calls: Sequence[StoredCall]) -> Attempt:
    """The attempt of a row with the calls of its execution."""
    attempt: Attempt = _read(Attempt, row["document"])
    if attempt.trace is None:
        return attempt
    own = tuple(stored.call for stored in calls if stored.execution == row["execution"])
    return replace(attempt, trace=replace(attempt.trace, calls=own))


def _call(row: Row, ahead: float) -> StoredCall:
    intended = None if row["intended"] is None else row["intended"] + ahead
    call = _read(ToolCall, row["document"])
    return StoredCall(execution=row["execution"], call=call, complete=bool(row["complete"]), intended=intended)


@cache
def _adapter(kind: type) -> TypeAdapter[Any]:
    """Made when it is first needed: most commands start without touching the store, and building one takes long."""
    return TypeAdapter(kind)


def _text(kind: type, value: Any) -> str:
    """`value` as compact JSON; what JSON cannot hold becomes its `repr`."""
    return json.dumps(_adapter(kind).dump_python(value), default=repr, separators=(",", ":"))


def _read(kind: type, text: str) -> Any:
    try:
        return _adapter(kind).validate_python(json.loads(text))
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(map(str, problem["loc"]))
        raise StoreUnavailable(
            f"the store of runs holds what this atc cannot read: {place}: {problem['msg']}."
        ) from error
