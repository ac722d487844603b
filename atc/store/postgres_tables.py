"""The tables of the store in PostgreSQL, each change of them a step, and how a database is brought up to date."""

from __future__ import annotations

from atc.store.rows import Database
from atc.store.stored import StoreUnavailable

_LOCK = 0x61746372  # "atcr"

STEPS = (
    """
CREATE TABLE runs (id text COLLATE "C" PRIMARY KEY, created double precision NOT NULL, document text NOT NULL);
CREATE TABLE attempts (
    run text COLLATE "C" NOT NULL REFERENCES runs ON DELETE CASCADE, number integer NOT NULL, execution integer,
    document text NOT NULL, PRIMARY KEY (run, number)
);
CREATE TABLE calls (
    run text COLLATE "C" NOT NULL REFERENCES runs ON DELETE CASCADE, execution integer NOT NULL,
    number integer NOT NULL, intended double precision, complete integer NOT NULL, reused integer NOT NULL,
    document text NOT NULL, PRIMARY KEY (run, execution, number)
);
CREATE TABLE exchanges (
    run text COLLATE "C" NOT NULL REFERENCES runs ON DELETE CASCADE, number integer NOT NULL, document text NOT NULL,
    PRIMARY KEY (run, number)
);
CREATE TABLE protocols (digest text PRIMARY KEY, document text NOT NULL);
CREATE TABLE tools (
    run text COLLATE "C" NOT NULL REFERENCES runs ON DELETE CASCADE, alias text COLLATE "C" NOT NULL,
    digest text NOT NULL REFERENCES protocols, PRIMARY KEY (run, alias)
);
CREATE TABLE keys (name text PRIMARY KEY, key text NOT NULL);
CREATE TABLE leases (
    run text COLLATE "C" PRIMARY KEY REFERENCES runs ON DELETE CASCADE, token bigint NOT NULL, owner text NOT NULL,
    expires timestamptz NOT NULL, writes bigint NOT NULL
) WITH (fillfactor = 50);
-- SQLite's function, for values without escapes. Others' escapes are cut out: PostgreSQL's json takes no \\u0000.
CREATE FUNCTION json_extract(document text, path text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN CAST(replace(replace(replace(document, '\\\\', ''), '\\"', ''), '\\', '') AS json) ->> substr(path, 3);
CREATE INDEX tools_by_digest ON tools (digest);
CREATE INDEX calls_in_doubt ON calls (json_extract(document, '$.tool'))
    WHERE json_extract(document, '$.outcome') = 'unknown';
CREATE INDEX runs_open ON runs (id) WHERE json_extract(document, '$.status') IN ('interrupted', 'running');
CREATE INDEX runs_latest ON runs (created DESC, id DESC);
""",
    "ALTER TABLE leases DROP COLUMN writes",
)
"""The n-th step leads from format n to format n + 1. A step that has been released is never changed."""


def migrate(db: Database, name: str) -> None:
    """Bring the database up to date; one process at a time does.

    Raises:
        StoreUnavailable: a newer atc has made its tables.
    """
    found = _format(db)
    if found < len(STEPS):
        db.execute("SELECT pg_advisory_xact_lock(?)", (_LOCK,))
        found = _format(db)
    if found > len(STEPS):
        raise StoreUnavailable(
            f"the store of runs, {name}: another version of atc made its tables (format {found}, this one knows"
            f" {len(STEPS)}); use that version or a newer one, or name another database in ATC_STORE."
        )
    if found == 0:
        db.execute("CREATE SCHEMA IF NOT EXISTS atc")
        db.execute("CREATE TABLE atc.format (number integer NOT NULL)")
        db.execute("INSERT INTO atc.format VALUES (0)")
    for step in STEPS[found:]:
        for statement in step.strip().removesuffix(";").split(";\n"):
            db.execute(statement)
    if found < len(STEPS):
        db.execute("UPDATE atc.format SET number = ?", (len(STEPS),))


def _format(db: Database) -> int:
    """The format of the tables; 0 where there are none."""
    # Asked of the catalogue as of any table: what looks up one name may not see yet what another process has made.
    if db.execute("SELECT 1 FROM pg_tables WHERE schemaname = 'atc' AND tablename = 'format'").fetchone() is None:
        return 0
    return int(db.execute("SELECT number FROM atc.format").fetchone()["number"])
