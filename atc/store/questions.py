"""What persons were asked about: calls that one declined, or that a gateway left open. No setting sends these.

A call is known by what it calls and its arguments, whatever the source, the order of keys or the spelling of numbers.
Only a keyed digest of that is kept, and it outlives the run: to delete a run is not to allow its calls.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias
from unicodedata import normalize

from protocols.protocol import HttpBinding, McpBinding, PythonBinding
from protocols.schema import Json, JsonObject
from protocols.toolbox import Tool
from sandbox.contract import contract
from sandbox.journal import canonical

State: TypeAlias = Literal["open", "declined", "allowed"]
"""`allowed`: a person let a call through that a gateway's client still waits for."""
TABLE = """
CREATE TABLE {} questions (
    digest text NOT NULL, run text NOT NULL, client text NOT NULL, question text NOT NULL, state text NOT NULL,
    PRIMARY KEY (digest, run)
)
"""
_OPEN = """
INSERT INTO questions VALUES (?, ?, ?, ?, 'open')
ON CONFLICT (digest, run) DO UPDATE SET client = excluded.client, question = excluded.question, state = 'open'
"""
_DECLINE = """
INSERT INTO questions VALUES (?, ?, '', '', 'declined')
ON CONFLICT (digest, run) DO UPDATE SET question = '', state = 'declined'
"""


class Database(Protocol):
    """An open transaction, see `atc.store.sql`."""

    def execute(self, sql: str, parameters: Any = (), /) -> Any:
        """Carry out one statement."""


Transaction: TypeAlias = Callable[..., AbstractContextManager[Database]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What became of one question about a call, in one run. `run` is empty where that was deleted, or there was none.

    `client` is the gateway's client whose program it was, `question` the id of the question that is open.
    """

    run: str
    client: str
    question: str
    state: State


class Questions:
    """The questions of one store of runs. Safe to share between threads and processes."""

    def __init__(self, transaction: Transaction, key: Callable[[], bytes]) -> None:
        self._transaction, self._key = transaction, key

    def about(self, tool: Tool, arguments: JsonObject) -> list[Asked]:
        """What was asked about this call; `arguments` by original name."""
        digest = self._digest(tool, arguments)
        with self._transaction(writing=False) as db:
            query = "SELECT run, client, question, state FROM questions WHERE digest = ? ORDER BY run DESC"
            rows = db.execute(query, (digest,)).fetchall()
        return [Asked(**{name: row[name] for name in ("run", "client", "question", "state")}) for row in rows]

    def open(self, tool: Tool, arguments: JsonObject, run: str, *, client: str, question: str) -> None:
        """A person is about to be asked about this call."""
        self._change(_OPEN, (self._digest(tool, arguments), run, client, question))

    def decline(self, tool: Tool, arguments: JsonObject, run: str) -> None:
        """A person has said no to this call."""
        self._change(_DECLINE, (self._digest(tool, arguments), run))

    def allow(self, tool: Tool, arguments: JsonObject, run: str, *, waits: bool) -> None:
        """A person has said yes: this call may be sent once, in this run. `waits`: a client still has no answer."""
        row = (self._digest(tool, arguments), run)
        if waits:
            told = "UPDATE questions SET question = '', state = 'allowed' WHERE digest = ? AND run = ? AND client <> ''"
            self._change(told, row)
        self._change("DELETE FROM questions WHERE digest = ? AND run IN (?, '') AND state <> 'allowed'", row)

    def answered(self, tool: Tool, arguments: JsonObject, run: str) -> None:
        """The client that waited for this call has its answer."""
        row = (self._digest(tool, arguments), run)
        self._change("DELETE FROM questions WHERE digest = ? AND run = ? AND state = 'allowed'", row)

    def void(self, run: str, *, but: Collection[str] = ()) -> None:
        """No answer that comes later is for a question of this run, but for those of these ids."""
        kept = "".join(" AND question <> ?" for _ in but)
        self._change(f"UPDATE questions SET question = '' WHERE run = ? AND question <> ''{kept}", (run, *but))  # noqa: S608 - marks alone

    def left_open(self, run: str) -> bool:
        """Whether a client of a gateway has no answer to a question of this run."""
        with self._transaction(writing=False) as db:
            query = "SELECT 1 FROM questions WHERE run = ? AND state = 'open' LIMIT 1"
            return db.execute(query, (run,)).fetchone() is not None

    def _change(self, statement: str, row: tuple[str, ...]) -> None:
        with self._transaction() as db:
            db.execute(statement, row)

    def _digest(self, tool: Tool, arguments: JsonObject) -> str:
        return hmac.digest(self._key(), known_by(tool, arguments).encode("utf-8", "surrogatepass"), "sha256").hex()


def forget_run(db: Database, run: str) -> None:
    """A run is deleted: the calls that wait for a person go on waiting, without its name."""
    left = "SELECT digest, '', '', '', state FROM questions WHERE run = ? AND state <> 'allowed'"
    db.execute(f"INSERT INTO questions {left} ON CONFLICT (digest, run) DO NOTHING", (run,))
    db.execute("DELETE FROM questions WHERE run = ?", (run,))


def known_by(tool: Tool, arguments: JsonObject) -> str:
    """What a call is known by: the operation without its source and host, and what is sent, in one spelling."""
    match tool.protocol.binding:
        case HttpBinding(method=method, url=url):
            operation = f"{method} /{url.partition('://')[2].partition('/')[2]}"
        case McpBinding(tool=name):
            operation = name
        case PythonBinding(function=name):
            operation = name
        case _:
            operation = tool.protocol.name
    given = {**tool.original(contract(tool.protocol).defaults), **arguments}
    return canonical(operation, {name: _one_spelling(value) for name, value in given.items() if value is not None})


def _one_spelling(value: Json) -> Json:
    """The value with composed letters, and whole numbers as integers."""
    match value:
        case str():
            return normalize("NFC", value)
        case float() if value.is_integer():
            return int(value)
        case list():
            return [_one_spelling(one) for one in value]
        case dict():
            return {normalize("NFC", name): _one_spelling(one) for name, one in value.items()}
    return value
