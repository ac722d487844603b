"""The store of runs in one SQLite file of this machine: its tables, who may read it, and which process owns a run."""

from __future__ import annotations

import os
import sqlite3
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

from atc.store.questions import TABLE as QUESTIONS
from atc.store.sql import TABLES, Database, RunStore, change_run, read_run
from atc.store.stored import StoreUnavailable
from protocols.files import NotPrivate, keep_private

FORMAT = 8
_APPLICATION = 0x61746372  # "atcr": tells our files from other programs'
_BUSY_SECONDS = 10.0


class Store(RunStore):
    """The `RunStore` of one SQLite file, made (for this user alone) where there is none yet.

    A run belongs to the process that took it last for as long as that process lives.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._db = _connect(path)

    def close(self) -> None:
        """Close the file. The store cannot be used afterwards."""
        with self._lock:
            self._db.close()

    def changes(self) -> int:
        """See `RunStore.changes`."""
        with self._lock, _explained(self.path):
            return int(self._db.execute("PRAGMA data_version").fetchone()[0])

    def delete(self, names: Sequence[str]) -> int:
        """See `RunStore.delete`."""
        count = super().delete(names)
        with self._lock, _explained(self.path):
            self._db.execute("VACUUM")
            busy = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        if busy:
            raise StoreUnavailable(
                f"the store of runs {str(self.path)!r}: the runs are deleted, but another process still reads the file,"
                " so their bytes are still in it; purge again when that one has ended."
            )
        return count

    def _owner(self, db: Database, run: str, *, lock: bool = False) -> str | None:  # noqa: ARG002 - one writes at a time
        found = read_run(db, run)
        return f"process {found.pid}" if process_mark(found.pid) == found.process else None

    def _own(self, db: Database, run: str) -> None:
        change_run(db, run, pid=os.getpid(), process=process_mark(os.getpid()))

    @contextmanager
    def _transaction(self, run: str | None = None, *, writing: bool = True) -> Iterator[Database]:  # noqa: ARG002 - see `confirm_owned`
        with self._lock, _explained(self.path), self._db:
            self._db.execute("BEGIN IMMEDIATE" if writing else "BEGIN")
            yield self._db


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turns what SQLite and the file system say about `path` into `StoreUnavailable`."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        said = getattr(error, "strerror", None) or error
        advice = "see that it may be written and has space, move it away, or set ATC_STATE_DIR to another folder"
        raise StoreUnavailable(f"the store of runs {str(path)!r}: {said}; {advice}.") from error


def _connect(path: Path) -> sqlite3.Connection:
    """A connection to the store, made (for this user alone) where there is none yet. Every commit is on disk.

    Raises `StoreUnavailable`: the file cannot be used, or is not ours, or another version's.
    """
    with _explained(path):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _keep_private(path)
        if not path.exists():
            _make(path)
        database = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        with ExitStack() as stack:
            stack.callback(database.close)
            program, version = (
                database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
            )
            if (program, version) != (_APPLICATION, FORMAT):
                made = f"another version of atc (format {version}" if program == _APPLICATION else "another program ("
                raise StoreUnavailable(
                    f"the store of runs {str(path)!r}: {made}, this one reads {FORMAT}) wrote it; move it away, or set"
                    " ATC_STATE_DIR to another folder."
                )
            database.executescript("PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA foreign_keys = ON;")
            database.execute(QUESTIONS.format("IF NOT EXISTS"))  # a store that an earlier version made has none
            stack.pop_all()
    database.row_factory = sqlite3.Row
    return database


def _keep_private(path: Path) -> None:
    """Nobody else may read what runs have said: older versions, a copy or a restored backup may have left it open."""
    try:
        for name in ("", "-wal", "-shm"):
            keep_private(path.with_name(path.name + name))
    except NotPrivate as error:
        raise StoreUnavailable(f"the store of runs: {error} Or set ATC_STATE_DIR to a folder of your own.") from error
    # A folder of another name is the user's, and as open as the user wants it; a link leads where the user wants it.
    folder = path.parent.stat()
    if path.parent.name == "atc" and folder.st_uid == os.geteuid() and folder.st_mode & 0o077:
        path.parent.chmod(0o700)


def _make(path: Path) -> None:
    """Make the file with its tables, at once for all who look: several processes may do so at this moment."""
    descriptor, made = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.")
    os.close(descriptor)
    try:
        with closing(sqlite3.connect(made)) as database:
            database.executescript(
                f"PRAGMA journal_mode = WAL; {TABLES}"
                f"PRAGMA application_id = {_APPLICATION}; PRAGMA user_version = {FORMAT};"
            )
        with suppress(FileExistsError):
            os.link(made, path)  # SQLite gives its side files the permissions of the file
    finally:
        Path(made).unlink()


def process_mark(pid: int) -> str | None:
    """A text that stands for this one process (boot, pid, start time), or None when there is no such process."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        if Path("/proc/self/stat").exists():
            return None
        try:  # a system without /proc
            os.kill(pid, 0)
        except OSError:
            return None
        return f"pid:{pid}"
    fields_after_name = stat.rpartition(")")[2].split()
    return None if fields_after_name[0] == "Z" else f"{boot}:{pid}:{fields_after_name[19]}"
