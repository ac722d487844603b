"""The tables of every store, and how the parts of a run become their rows.

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
from atc.store.stored import Exchange, StoreUnavailable, UnknownRun
from atc.types import Attempt, Program, Usage
from protocols.ask import Completion
from protocols.jsontypes import Json
from protocols.protocol import dump
from sandbox.trace import Pins

Row = Mapping[str, Any]

TABLES = """
CREATE TABLE runs (id text PRIMARY KEY, created double precision NOT NULL, document text NOT NULL);
CREATE TABLE attempts (
    run text NOT NULL REFERENCES runs ON DELETE CASCADE, number integer NOT NULL, execution integer,
    document text NOT NULL, PRIMARY KEY (run, number)
);
CREATE TABLE calls (
    run text NOT NULL REFERENCES runs ON DELETE CASCADE, execution integer NOT NULL, number integer NOT NULL,
    intended double precision, complete integer NOT NULL, reused integer NOT NULL, document text NOT NULL,
    PRIMARY KEY (run, execution, number)
);
CREATE TABLE exchanges (
    run text NOT NULL REFERENCES runs ON DELETE CASCADE, number integer NOT NULL, document text NOT NULL,
    PRIMARY KEY (run, number)
);
CREATE TABLE protocols (digest text PRIMARY KEY, document text NOT NULL);
CREATE TABLE tools (
    run text NOT NULL REFERENCES runs ON DELETE CASCADE, alias text NOT NULL,
    digest text NOT NULL REFERENCES protocols, PRIMARY KEY (run, alias)
);
CREATE TABLE keys (name text PRIMARY KEY, key text NOT NULL);
CREATE INDEX tools_by_digest ON tools (digest);
CREATE INDEX calls_in_doubt ON calls (json_extract(document, '$.tool'))
    WHERE json_extract(document, '$.outcome') = 'unknown';
CREATE INDEX runs_open ON runs (id) WHERE json_extract(document, '$.status') IN ('interrupted', 'running');
"""
"""The tables of every store. A protocol is kept once, however many runs name it."""
_ATTEMPT_ROW = """
INSERT INTO attempts VALUES (?, ?, ?, ?)
ON CONFLICT (run, number) DO UPDATE SET execution = excluded.execution, document = excluded.document
"""
_TOOL_ROW = "INSERT INTO tools VALUES (?, ?, ?) ON CONFLICT (run, alias) DO UPDATE SET digest = excluded.digest"


class Database(Protocol):
    """An open transaction. Its SQL is what SQLite and PostgreSQL have in common, with `?` for each parameter."""

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Any:
        """Carry out one statement; the result has `fetchone` and `fetchall`, and rows are by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What is kept of a run besides its parts."""

    task: str
    created: float
    pid: int = 0  # of the process that began it or went on with it, where the store is a file of this machine
    process: str | None = None  # what tells that process from an earlier one of its number
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


def read_run(db: Database, run: str) -> Run:
    """A run without its parts."""
    row = db.execute("SELECT document FROM runs WHERE id = ?", (run,)).fetchone()
    found: Run = from_json(Run, row["document"])
    return found


def change_run(db: Database, run: str, **changes: Any) -> None:
    """Change what is kept of a run besides its parts."""
    changed = replace(read_run(db, run), **changes)
    db.execute("UPDATE runs SET document = ? WHERE id = ?", (as_json(Run, changed), run))


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


def write_event(db: Database, run: str, event: events.Event) -> None:
    """Store what an event says. Calls come by the journal's sink, which hears of each intent too."""
    match event:
        case events.ToolsChosen(tools=tools):
            change_run(db, run, tools=tuple(tools))
        case events.ModelAsked():
            asked = Exchange(purpose=event.purpose, messages=tuple(event.messages))
            last = db.execute("SELECT max(number) AS number FROM exchanges WHERE run = ?", (run,)).fetchone()["number"]
            number = 0 if last is None else last + 1
            db.execute("INSERT INTO exchanges VALUES (?, ?, ?)", (run, number, as_json(Exchange, asked)))
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
            for row in rows_of(db, "attempts", run):
                if row["number"] == event.attempt:
                    doubted = replace(from_json(Attempt, row["document"]), doubts=event.doubts)
                    _write_attempt(db, run, event.attempt, doubted, row["execution"])
        case events.Noted(sentence=sentence):
            said = read_run(db, run).notes
            change_run(db, run, notes=tuple(dict.fromkeys((*said, sentence))))  # a run that goes on is told again


def plain(text: str) -> str:
    """`text` with a lone surrogate (bytes of argv that are not UTF-8) as its escape, so that it can be shown."""
    return text.encode("utf-8", "backslashreplace").decode()


def rows_of(db: Database, table: str, run: str, *, order: str = "number") -> list[Row]:
    """What a table holds of a run."""
    query = f"SELECT * FROM {table} WHERE run = ? ORDER BY {order}"  # noqa: S608 - all of it stands in this file
    found: list[Row] = db.execute(query, (run,)).fetchall()
    return found


def _write_reply(db: Database, run: str, reply: Completion) -> None:
    last = rows_of(db, "exchanges", run, order="number DESC LIMIT 1")[0]
    heard = replace(reply, text=plain(reply.text))
    text = as_json(Exchange, replace(from_json(Exchange, last["document"]), reply=heard))
    db.execute("UPDATE exchanges SET document = ? WHERE run = ? AND number = ?", (text, run, last["number"]))
    if not read_run(db, run).model:  # a run without a named model is the model's that answers first
        change_run(db, run, model=reply.model)


def _write_attempt(db: Database, run: str, number: int, attempt: Attempt, execution: int | None) -> None:
    written = replace(attempt, program=Program(plain(attempt.program.source)))
    db.execute(_ATTEMPT_ROW, (run, number, execution, as_json(Attempt, written)))


@cache
def _adapter(kind: type) -> TypeAdapter[Any]:
    """Made when it is first needed: most commands start without touching the store, and building one takes long."""
    return TypeAdapter(kind)


def as_json(kind: type, value: Any) -> str:
    """`value` as compact JSON; what JSON cannot hold becomes its `repr`."""
    return json.dumps(_adapter(kind).dump_python(value), default=repr, separators=(",", ":"))


def from_json(kind: type, text: str) -> Any:
    """A value of `kind` that `as_json` wrote.

    Raises:
        StoreUnavailable: another version of atc wrote it.
    """
    try:
        return _adapter(kind).validate_python(json.loads(text))
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(map(str, problem["loc"]))
        raise StoreUnavailable(
            f"the store of runs holds what this atc cannot read: {place}: {problem['msg']}."
        ) from error
