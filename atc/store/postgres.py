"""The store of runs in a PostgreSQL database, which processes on many machines can share.

A run is leased to one process at a time. The lease has an expiry time by the database's clock, and
a token, a number that is increased each time a process takes the run. Every write to a run checks,
in the same transaction, that the run still has the token that the process got; otherwise the write
is refused. So a process that was suspended or disconnected for too long can record nothing more. It
also sends no more calls, since each call must be recorded before it is sent.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, cast

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

from atc.core.types import Solution
from atc.store.files import TABLE as FILES
from atc.store.lease import LEASE_SECONDS, Holder, this_process
from atc.store.questions import TABLE as QUESTIONS
from atc.store.run_rows import Database
from atc.store.sql import TABLES, RunStore
from atc.store.stored import RunRefused, StoreUnavailable, as_json, from_json

# Its log messages also arrive as errors.
logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())
# Maximum wait for a lost connection or a locked row.
_PATIENCE_SECONDS = 10.0
# Per process. Further threads wait for a free connection.
_MOST_CONNECTIONS = 32
_CONNECTION: Mapping[str, Any] = {
    "application_name": "atc",
    "client_encoding": "utf8",
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
"""Connection parameters that apply unless the address sets others. With them, a broken network
connection is noticed within seconds.
"""
_SESSION = (
    "-c search_path=atc -c synchronous_commit=on -c lock_timeout={}s -c"
    " idle_in_transaction_session_timeout={}s"
)
"""Session settings: a commit returns only when it is on the disk, and the server ends a transaction
that is idle for too long, so that a suspended process does not keep runs locked.
"""
_STEPS = (
    f"""
-- SQLite's function, for values without escapes. In others, escapes are removed, since
-- PostgreSQL's json does not accept \\u0000.
CREATE FUNCTION json_extract(document text, path text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN CAST(replace(replace(replace(document, '\\\\', ''), '\\"', ''), '\\', '') AS json)
        ->> substr(path, 3);
{TABLES}
CREATE TABLE leases (
    run text PRIMARY KEY REFERENCES runs ON DELETE CASCADE, token bigint NOT NULL,
    owner text NOT NULL,
    expires timestamptz NOT NULL, writes bigint NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX runs_latest ON runs (created DESC, id DESC);
""",
    "ALTER TABLE leases DROP COLUMN writes",
    QUESTIONS.format(""),
    FILES.format(""),
)
"""Migrations of the tables. The n-th one, counted from 0, leads from format n to format n + 1. The
effect of a migration must never change after its release.
"""
_LOCK = 0x61746372  # "atcr"
_TAKE = """
INSERT INTO leases VALUES (?, 1, ?, clock_timestamp() + ? * interval '1 second')
ON CONFLICT (run) DO UPDATE
    SET token = leases.token + 1, owner = excluded.owner, expires = excluded.expires
RETURNING token
"""
_WRITE = """
UPDATE leases SET expires = clock_timestamp() + ? * interval '1 second'
WHERE run = ? AND token = ? RETURNING token
"""
_RENEW = """
WITH mine AS (
    SELECT run FROM leases
    JOIN unnest(?::text[], ?::bigint[]) AS held (run, token) USING (run, token)
    FOR UPDATE OF leases SKIP LOCKED
)
UPDATE leases SET expires = clock_timestamp() + ? * interval '1 second'
FROM mine WHERE leases.run = mine.run
RETURNING leases.run
"""
"""Renews the leases that this process still holds. A locked lease is skipped, since it is being
renewed or taken at this moment.
"""


@dataclass(slots=True)
class _Lease:
    """The lease of a run: this process owns the run until the lease expires.

    `until` is the earliest time at which other processes may take the run, by this process's
    monotonic clock.
    """

    token: int
    until: float


@dataclass(slots=True)
class _Transaction:
    """An open transaction of PostgreSQL, with the methods of `Database`.

    `taken` are the leases that this process gets when the transaction is committed, keyed by run
    id.
    """

    connection: psycopg.Connection[Any]
    taken: dict[str, _Lease] = field(default_factory=dict)

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Any:
        """Execute one statement, whose parameters are written as `?`. Return a cursor."""
        return self.connection.execute(cast("Any", sql.replace("?", "%s")), parameters or None)


class PostgresStore(RunStore):
    """A `RunStore` in the PostgreSQL database at `address`, a `postgresql://` URL.

    Missing tables are created. A lost connection is reopened. Until then, recording fails with an
    error, and calls that cannot be recorded are not sent.

    Raises:
        StoreUnavailable: there is no such server or database, the user has no access, or a newer
            version of atc created it.
    """

    shared = True

    def __init__(self, address: str, *, lease_seconds: float = LEASE_SECONDS) -> None:
        self._parameters = {**_CONNECTION, **_parse_address(address)}
        host = self._parameters.get("host") or self._parameters.get("service") or "the default host"
        self.name = (
            f"PostgreSQL database {self._parameters.get('dbname') or 'of its user'} at {host}"
        )
        session = _SESSION.format(_PATIENCE_SECONDS, lease_seconds)
        self._parameters["options"] = f"{self._parameters.get('options', '')} {session}"
        self._lease_seconds = lease_seconds
        self._holder = this_process()
        self._leases: dict[str, _Lease] = {}
        self._closing = threading.Event()
        with (
            self._translate_errors(),
            psycopg.connect(**self._parameters, row_factory=dict_row) as connection,
        ):
            self._migrate(_Transaction(connection))
        self._pool = ConnectionPool(
            kwargs={**self._parameters, "autocommit": True, "row_factory": dict_row},
            min_size=0,
            max_size=_MOST_CONNECTIONS,
            timeout=_PATIENCE_SECONDS,
            reconnect_timeout=_PATIENCE_SECONDS,
            check=ConnectionPool.check_connection,
            open=True,
        )
        self._heart = threading.Thread(target=self._beat, name="leases", daemon=True)
        self._heart.start()

    def close(self) -> None:
        """Release the runs that this process owns, and close all connections.

        The store cannot be used afterwards.
        """
        self._closing.set()
        self._heart.join()
        self._renew(0.0)
        self._pool.close()

    def changes(self) -> int:
        """Return a number that changes whenever a process has written to the store.

        The number is derived from the expiry times of all leases. It changes with every write to a
        run, since that renews the run's lease.
        """
        with self._transaction(writing=False) as db:
            return hash(
                db.execute(
                    "SELECT sum(extract(epoch FROM expires)) AS until FROM leases"
                ).fetchone()["until"]
            )

    def confirm_owned(self, run: str) -> None:
        """Check that the run still belongs to this process. See `RunStore.confirm_owned`."""
        lease = self._leases.get(run)
        if lease is None or time.monotonic() >= lease.until:
            with self._transaction(run):
                pass

    def finish(self, run: str, solution: Solution | None = None, **how: str | None) -> None:
        """Record how a run ended. The arguments are those of `RunStore.finish`.

        The run's lease is no longer renewed, even if the end could not be recorded.
        """
        try:
            super().finish(run, solution, **how)
        finally:
            self._leases.pop(run, None)

    @contextmanager
    def _transaction(self, run: str | None = None, *, writing: bool = True) -> Iterator[Database]:
        lease = self._leases.get(run or "") or _Lease(0, 0.0)
        until = time.monotonic() + self._lease_seconds
        with (
            self._translate_errors(),
            self._pool.connection() as connection,
            connection.transaction(),
        ):
            db = _Transaction(connection)
            if not writing:
                db.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            if (
                run is not None
                and not db.execute(_WRITE, (self._lease_seconds, run, lease.token)).fetchone()
            ):
                row = db.execute("SELECT owner FROM leases WHERE run = ?", (run,)).fetchone()
                if row is None:
                    raise RunRefused(f"run {run} has been deleted while this process worked on it.")
                raise RunRefused(
                    f"run {run} was taken over by {_format_owner(row['owner'])}, since nothing had"
                    " been heard of this process"
                    f" for {self._lease_seconds:g} seconds; this one sends and records nothing"
                    " more of it."
                    f" 'atc runs show {run}' shows how it goes on."
                )
            yield db
        self._leases |= db.taken
        lease.until = until

    def _owner(self, db: Database, run: str, *, lock: bool = False) -> str | None:
        # A thread of this process works on it, possibly unaware that its lease has expired.
        if lock and run in self._leases:
            return str(self._holder)
        query = "SELECT owner, expires > clock_timestamp() AS living FROM leases WHERE run = ?"
        row = db.execute(query + (" FOR UPDATE" if lock else ""), (run,)).fetchone()
        holder = None if row is None else _holder(row["owner"])
        if row is None or not row["living"] or (holder is not None and holder.life() == "ended"):
            return None
        return _format_owner(row["owner"])

    def _now(self, db: Database) -> float:
        row = db.execute("SELECT extract(epoch FROM clock_timestamp())::float8 AS now").fetchone()
        return float(row["now"])

    def _own(self, db: Database, run: str) -> None:
        until = time.monotonic() + self._lease_seconds
        row = db.execute(
            _TAKE, (run, as_json(Holder, self._holder), self._lease_seconds)
        ).fetchone()
        cast("_Transaction", db).taken[run] = _Lease(row["token"], until)

    def _beat(self) -> None:
        """Renew the leases of all runs of this process until the store is closed."""
        while not self._closing.wait(self._lease_seconds / 3):
            self._renew(self._lease_seconds)

    def _renew(self, seconds: float) -> None:
        """Extend the leases that this process still holds: they expire in `seconds` from now."""
        held = dict(self._leases)
        until = time.monotonic() + seconds
        if not held:
            return
        # The renewal is repeated. Until then, writes are refused.
        with suppress(StoreUnavailable):
            with self._transaction() as db:
                tokens = [lease.token for lease in held.values()]
                rows = db.execute(_RENEW, (list(held), tokens, seconds)).fetchall()
            for row in rows:
                held[row["run"]].until = until

    def _migrate(self, db: _Transaction) -> None:
        """Bring the database's tables up to date. Only one process at a time does so."""
        db.execute("SELECT pg_advisory_xact_lock(?)", (_LOCK,))
        # A query of the catalogue: a lookup by name may not yet see tables that another process
        # created.
        made = db.execute(
            "SELECT 1 FROM pg_tables WHERE schemaname = 'atc' AND tablename = 'format'"
        ).fetchone()
        if not made:
            db.execute("CREATE SCHEMA IF NOT EXISTS atc")
            db.execute("CREATE TABLE atc.format AS SELECT 0 AS number")
        found = db.execute("SELECT number FROM atc.format").fetchone()["number"]
        if found > len(_STEPS):
            raise StoreUnavailable(
                f"the store of runs, {self.name}: another version of atc made its tables (format"
                f" {found}, this one"
                f" knows {len(_STEPS)}); use that version or a newer one, or name another database"
                " in ATC_STORE."
            )
        for step in _STEPS[found:]:
            for statement in step.strip().removesuffix(";").split(";\n"):
                db.execute(statement)
        if found < len(_STEPS):
            db.execute("UPDATE atc.format SET number = ?", (len(_STEPS),))

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Turn database errors in the block into `StoreUnavailable`, without the password."""
        try:
            yield
        except psycopg.Error as error:
            # Only the first line: libpq adds guesses about the cause.
            said = (error.diag.message_primary or str(error)).strip().partition("\n")[0]
            if (password := self._parameters.get("password")) is not None:
                said = said.replace(str(password), "***")
            lost = isinstance(error, psycopg.OperationalError) and error.sqlstate is None
            advice = "; see that it runs, and that ATC_STORE names it" if lost else ""
            raise StoreUnavailable(
                f"the store of runs, {self.name}: {said.strip().rstrip('.')}{advice}."
            ) from None


def _holder(owner: str) -> Holder | None:
    """Return the process that owns a run, as read from the lease's column `owner`.

    The result is None if another version of atc wrote the column.
    """
    with suppress(StoreUnavailable, ValueError):
        return from_json(Holder, owner)
    return None


def _format_owner(owner: str) -> str:
    """Return the name of a process for messages. `owner` describes the process in a lease."""
    return str(_holder(owner) or owner)


def _parse_address(address: str) -> dict[str, Any]:
    """Return the connection parameters in a PostgreSQL address.

    Raises:
        StoreUnavailable: the address is invalid. The message does not quote it, since it may
            contain the password.
    """
    with suppress(psycopg.Error):
        found = conninfo_to_dict(address)
        places = "".join(str(found.get(part) or "") for part in ("host", "dbname", "user"))
        if "@" not in places and str(found.get("port") or 0).replace(",", "").isdigit():
            return found
    raise StoreUnavailable(
        "the store of runs: its address is no PostgreSQL address; write"
        " postgresql://USER@HOST:PORT/DATABASE, with"
        " characters such as @ / : # in a password as %40 %2F %3A %23."
    )
