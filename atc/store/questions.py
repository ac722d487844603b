"""Stores the questions that persons were asked about calls, and their answers.

A call is "held" if a person declined it, or if a gateway asked a person about it and has no answer
yet. No setting allows a held call to be sent. A call is identified by what it requests from which
service, see `atc.store.same_call`. Only keyed digests of calls are stored. They are kept when the
run is deleted, so deleting a run does not allow its calls.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Collection, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

from atc.store.same_call import spellings
from protocols.schema import JsonObject
from protocols.tool import Tool

QuestionState: TypeAlias = Literal["open", "declined", "allowed", "released"]
"""State of a question about a call of one run.

`open`: nobody has answered yet. `declined`: a person said no. `allowed`: a person said yes, and a
client of a gateway still waits for the call's result. `released`: the question was open when a
person allowed the same call in another run. Only `open` and `declined` hold a call.
"""
TABLE = """
CREATE TABLE {} questions (
    digest text NOT NULL, run text NOT NULL, client text NOT NULL, question text NOT NULL,
    state text NOT NULL,
    PRIMARY KEY (digest, run)
)
"""
_HELD = "state IN ('open', 'declined')"
_ALL_HELD = f"SELECT DISTINCT digest FROM questions WHERE {_HELD}"  # noqa: S608 - a constant
_ABOUT = "SELECT DISTINCT run, client, question, state FROM questions WHERE digest IN"
_SET = "UPDATE questions SET question = '',"
_INVALIDATE = "UPDATE questions SET question = '' WHERE run = ? AND question <> ''"
_KEEP_HELD = f"""
INSERT INTO questions
    SELECT digest, '', '', '', state FROM questions WHERE run = ? AND {_HELD}
ON CONFLICT (digest, run) DO NOTHING
"""  # noqa: S608 - a constant
_OPEN = """
INSERT INTO questions VALUES (?, ?, ?, ?, 'open')
ON CONFLICT (digest, run) DO UPDATE
    SET client = excluded.client, question = excluded.question, state = 'open'
"""
_DECLINE = """
INSERT INTO questions VALUES (?, ?, '', '', 'declined')
ON CONFLICT (digest, run) DO UPDATE SET question = '', state = 'declined'
"""


class QuestionsDatabase(Protocol):
    """An open transaction of a database, in which statements can be executed."""

    def execute(self, sql: str, parameters: Any = (), /) -> Any:
        """Execute one SQL statement, whose parameters are written as `?`. Return a cursor."""


Transaction: TypeAlias = Callable[..., AbstractContextManager[QuestionsDatabase]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PastQuestion:
    """The state of one question about a call, in one run.

    `run` is empty if the run was deleted, or if the call belonged to no stored run. `client` is the
    client of a gateway that sent the program; empty if there was no gateway. `question` is the id
    of the question, empty if it can no longer be answered.
    """

    run: str
    client: str
    question: str
    state: QuestionState


class Questions:
    """The questions of one store of runs. Safe to share between threads and processes."""

    def __init__(self, transaction: Transaction, key: Callable[[], bytes]) -> None:
        self._transaction = transaction
        self._key = key

    def load_held(self) -> HeldDigests:
        """Return the digests of all calls that no setting allows, only a person (held calls).

        They are the calls that a person declined, or about which a person has not decided yet.
        """
        with self._transaction(writing=False) as db:
            rows = db.execute(_ALL_HELD).fetchall()
        return HeldDigests(self._key() if rows else b"", frozenset(row["digest"] for row in rows))

    def about(self, tool: Tool, arguments: JsonObject) -> list[PastQuestion]:
        """Return the questions about this call, in all runs.

        `arguments` are keyed by their original names, which the tool's document uses.
        """
        digests = _digests(self._key(), tool, arguments, loose=True)
        marks = ", ".join("?" for _ in digests)
        query = f"{_ABOUT} ({marks}) ORDER BY run DESC"
        with self._transaction(writing=False) as db:
            rows = db.execute(query, digests).fetchall()
        return [
            PastQuestion(
                run=row["run"], client=row["client"], question=row["question"], state=row["state"]
            )
            for row in rows
        ]

    def open(
        self, tool: Tool, arguments: JsonObject, run: str, *, client: str, question: str
    ) -> None:
        """Record that a person is about to be asked about this call."""
        digests = _digests(self._key(), tool, arguments)
        self._change((_OPEN, (digest, run, client, question)) for digest in digests)

    def decline(self, tool: Tool, arguments: JsonObject, run: str) -> None:
        """Record that a person declined this call.

        The same is recorded for calls that may be the same as this one, see `same_call.spellings`.
        """
        digests = _digests(self._key(), tool, arguments, loose=True)
        self._change((_DECLINE, (digest, run)) for digest in digests)

    def allow(
        self, tool: Tool, arguments: JsonObject, run: str, *, waits: bool, everywhere: bool
    ) -> None:
        """Record that a person allowed this call: it may be sent once, in this run.

        `waits` is True if a client of a gateway may still wait for the call's result. `everywhere`
        is True if the person operates atc; then their answer also settles the questions about this
        call in other runs.
        """
        allow = f"{_SET} state = 'allowed' WHERE digest = ? AND run = ? AND client <> ''"
        settle = "DELETE FROM questions WHERE digest = ? AND run IN (?, '') AND state <> 'allowed'"
        release = f"{_SET} state = 'released' WHERE digest = ? AND state = 'open'"
        forget = "DELETE FROM questions WHERE digest = ? AND state = 'declined'"
        changes: list[tuple[str, tuple[str, ...]]] = []
        for digest in _digests(self._key(), tool, arguments, loose=True):
            if waits:
                changes.append((allow, (digest, run)))
            changes.append((settle, (digest, run)))
            if everywhere:
                changes.append((release, (digest,)))
                changes.append((forget, (digest,)))
        self._change(changes)

    def mark_answered(self, tool: Tool, arguments: JsonObject, run: str) -> None:
        """Record that the gateway's client has received the result of this call.

        The call is one that a person had to allow.
        """
        statement = "DELETE FROM questions WHERE digest = ? AND run = ? AND state = 'allowed'"
        self._change(
            (statement, (digest, run))
            for digest in _digests(self._key(), tool, arguments, loose=True)
        )

    def invalidate(self, run: str, *, but: Collection[str] = ()) -> None:
        """Invalidate the open questions of a run, except those with the ids in `but`.

        Later answers to invalid questions are ignored.
        """
        kept = "".join(" AND question <> ?" for _ in but)
        self._change([(_INVALIDATE + kept, (run, *but))])

    def has_open_question(self, run: str) -> bool:
        """Return True if a gateway's client still waits for the answer to a question of the run."""
        with self._transaction(writing=False) as db:
            query = (
                "SELECT 1 FROM questions WHERE run = ? AND state IN ('open', 'released') LIMIT 1"
            )
            return db.execute(query, (run,)).fetchone() is not None

    def _change(self, changes: Iterable[tuple[str, tuple[str, ...]]]) -> None:
        with self._transaction() as db:
            for statement, row in changes:
                db.execute(statement, row)


@dataclass(frozen=True, slots=True)
class HeldDigests:
    """Digests of the calls that no setting allows, only a person (held calls).

    They are those of one store at one moment. The object can be sent to another process, which
    needs no access to the store.
    """

    key: bytes
    digests: frozenset[str]

    def __call__(self, tool: Tool, arguments: JsonObject) -> bool:
        """Return True if this call is held: no setting allows it, only a person can."""
        return bool(self.digests) and not self.digests.isdisjoint(
            _digests(self.key, tool, arguments, loose=True)
        )


def _digests(
    key: bytes, tool: Tool, arguments: JsonObject, *, loose: bool = False
) -> tuple[str, ...]:
    """Return the keyed digests (HMAC) of the texts that identify a call.

    See `same_call.spellings` for these texts and for `loose`.
    """
    texts = (
        text.encode("utf-8", "surrogatepass") for text in spellings(tool, arguments, loose=loose)
    )
    return tuple(hmac.digest(key, text, "sha256").hex() for text in texts)


def forget_run(db: QuestionsDatabase, run: str) -> None:
    """Delete the questions of a deleted run.

    Calls that a person declined, or that wait for a decision, can still be allowed only by a
    person. But the name of the run is no longer stored.
    """
    db.execute(_KEEP_HELD, (run,))
    db.execute("DELETE FROM questions WHERE run = ?", (run,))
