"""The file behind the store of runs: its tables, how it is opened, and what its errors mean to a user."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from protocols.errors import AtcError
from protocols.files import NotPrivate, keep_private

VERSION = 5
_APPLICATION = 0x61746372  # "atcr": tells our files from other programs'
_BUSY_SECONDS = 10.0

_SCHEMA = """
CREATE TABLE runs (
    id TEXT PRIMARY KEY, task TEXT NOT NULL, created REAL NOT NULL, ended REAL, status TEXT NOT NULL,
    model TEXT NOT NULL, strategy TEXT NOT NULL, sandbox TEXT NOT NULL, config TEXT NOT NULL, tools TEXT NOT NULL,
    answer TEXT, error TEXT, usage TEXT, pid INTEGER NOT NULL, process TEXT, pins TEXT,
    notes TEXT NOT NULL DEFAULT '[]', identities TEXT NOT NULL DEFAULT '{}'
) STRICT;
CREATE TABLE attempts (
    run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, number INTEGER NOT NULL, execution INTEGER,
    program TEXT NOT NULL, findings TEXT NOT NULL, mended TEXT NOT NULL DEFAULT '[]', trace TEXT, fault TEXT,
    doubts TEXT NOT NULL DEFAULT '[]', round INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE calls (
    run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, execution INTEGER NOT NULL, number INTEGER NOT NULL,
    tool TEXT NOT NULL, arguments TEXT NOT NULL, line INTEGER NOT NULL, result TEXT NOT NULL, error TEXT,
    status INTEGER, outcome TEXT NOT NULL, drift TEXT NOT NULL, curl TEXT, reused INTEGER NOT NULL,
    started REAL NOT NULL, seconds REAL NOT NULL, intent_at REAL, completed_at REAL,
    baseline TEXT NOT NULL DEFAULT 'null', note TEXT,
    PRIMARY KEY (run, execution, number)
) STRICT;
CREATE INDEX calls_in_doubt ON calls (tool) WHERE outcome = 'unknown';
CREATE INDEX runs_open ON runs (id) WHERE status IN ('interrupted', 'running');
CREATE TABLE exchanges (
    run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, number INTEGER NOT NULL, purpose TEXT NOT NULL,
    messages TEXT NOT NULL, reply TEXT, model TEXT NOT NULL DEFAULT '', input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0, seconds REAL NOT NULL DEFAULT 0,
    cached_tokens INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
"""

# A protocol is kept once, however many runs name it.
_PROTOCOLS = """
CREATE TABLE protocols (digest TEXT PRIMARY KEY, document TEXT NOT NULL) STRICT;
CREATE TABLE tools (
    run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, alias TEXT NOT NULL,
    digest TEXT NOT NULL REFERENCES protocols(digest), PRIMARY KEY (run, alias)
) STRICT, WITHOUT ROWID;
CREATE INDEX tools_by_digest ON tools (digest)
"""

_UPGRADES = {
    1: """
ALTER TABLE runs ADD COLUMN pins TEXT;
ALTER TABLE calls ADD COLUMN baseline TEXT NOT NULL DEFAULT 'null';
ALTER TABLE calls ADD COLUMN note TEXT;
"""
    + _PROTOCOLS,
    2: """
ALTER TABLE runs ADD COLUMN notes TEXT NOT NULL DEFAULT '[]';
ALTER TABLE exchanges ADD COLUMN cached_tokens INTEGER NOT NULL DEFAULT 0;
""",
    3: "ALTER TABLE runs ADD COLUMN identities TEXT NOT NULL DEFAULT '{}'",
    4: """
CREATE INDEX calls_in_doubt ON calls (tool) WHERE outcome = 'unknown';
CREATE INDEX runs_open ON runs (id) WHERE status IN ('interrupted', 'running')
""",
}
"""What makes the next version of each older one."""

_EXPLANATIONS = {
    "SQLITE_FULL": "the disk is full; free some space",
    "SQLITE_NOTADB": "it is not a database; move it away and a new one is made",
    "SQLITE_CORRUPT": "it is damaged; move it away and a new one is made",
    "SQLITE_READONLY": "it cannot be written; check its permissions, or set ATC_STATE_DIR",
    "SQLITE_CANTOPEN": "it cannot be opened; check the folder's permissions, or set ATC_STATE_DIR",
    "SQLITE_BUSY": "another process has kept it locked for 10 seconds; try again when it has ended",
    "SQLITE_IOERR": "the disk failed while it was read or written; check the disk",
}


class StoreUnavailable(AtcError):
    """The store cannot be read or written. Says why and what to do."""


@contextmanager
def explained(path: Path) -> Iterator[None]:
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


def connect(path: Path) -> sqlite3.Connection:
    """A connection to the store, made (for this user alone) where there is none yet. Every commit is on disk.

    Raises:
        StoreUnavailable: the file cannot be used, or is not ours, or a newer version's.
    """
    with explained(path):
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
        file.name.startswith((path.name, "bench")) for file in path.parent.iterdir()
    )
    if ours and folder.st_uid == os.geteuid() and folder.st_mode & 0o077:
        path.parent.chmod(0o700)


def _set_up(database: sqlite3.Connection, path: Path) -> None:
    _use_wal(database)
    database.execute("PRAGMA synchronous = FULL")
    database.execute("PRAGMA foreign_keys = ON")
    database.execute("PRAGMA secure_delete = ON")
    if _version(database, path) == VERSION:
        return
    database.execute("BEGIN IMMEDIATE")
    try:
        found = _version(database, path)  # somebody else may have made the tables meanwhile
        scripts = [_SCHEMA + _PROTOCOLS] if found == 0 else [_UPGRADES[version] for version in range(found, VERSION)]
        for script in scripts:
            for statement in script.split(";"):
                database.execute(statement)
        database.execute(f"PRAGMA application_id = {_APPLICATION}")
        database.execute(f"PRAGMA user_version = {VERSION}")
        database.execute("COMMIT")
    except BaseException:
        database.execute("ROLLBACK")
        raise


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


def _version(database: sqlite3.Connection, path: Path) -> int:
    """0 for an empty file, else the version of our tables."""
    version: int = database.execute("PRAGMA user_version").fetchone()[0]
    application = database.execute("PRAGMA application_id").fetchone()[0]
    tables = database.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    if tables and application != _APPLICATION:
        raise StoreUnavailable(
            f"the store of runs {str(path)!r}: it is another program's database; set ATC_STATE_DIR to another folder."
        )
    if version > VERSION:
        raise StoreUnavailable(
            f"the store of runs {str(path)!r}: it was written by a newer atc (format {version}, this one knows "
            f"{VERSION}); upgrade atc, or set ATC_STATE_DIR to another folder."
        )
    return version
