"""The store of runs in one SQLite file on this machine.

This module creates the file, keeps it private, and sends the heartbeats of the runs that this
process owns. The heartbeats show other processes that this one is alive.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from atc.store.files import TABLE as FILES
from atc.store.lease import LEASE_SECONDS, Lease, this_process
from atc.store.questions import TABLE as QUESTIONS
from atc.store.run_rows import Database, change_run, read_run, resolve
from atc.store.sql import TABLES, RunStore
from atc.store.stored import RunRefused, StoredRun, StoreUnavailable, UnknownRun
from protocols.private_files import NotPrivate, check_folder, keep_private, make_folders

FORMAT = 8
_APPLICATION = 0x61746372  # "atcr": distinguishes our files from those of other programs
_BUSY_SECONDS = 10.0
_LOOK_SECONDS = 0.2  # between two checks of a process that may have ended
_HOLDER = "SELECT json_extract(document, '$.lease.holder.taken') AS taken FROM runs WHERE id = ?"


@dataclass(slots=True)
class _HeldRun:
    """A run that this process owns.

    `taken` is the random token in its `Holder`. No other process may take the run before the time
    `until` (of `time.monotonic`).
    """

    taken: str
    until: float


class Store(RunStore):
    """A `RunStore` in one SQLite file. A missing file is created, and only this user can read it.

    A run belongs to the process that took it last, as long as that process is alive. A process that
    this one cannot look up, for instance in another container, counts as alive as long as it sends
    heartbeats.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).expanduser()
        self._lock = threading.RLock()
        self._db = _connect(self.path)
        self._held: dict[str, _HeldRun] = {}
        self._silent: dict[str, Lease] = {}
        """Leases, keyed by run id, of processes that cannot be looked up and that sent no heartbeat
        while `_watch` waited for one.
        """
        self._closing = threading.Event()
        self._heart: threading.Thread | None = None

    def close(self) -> None:
        """Close the file. The store cannot be used afterwards."""
        self._closing.set()
        if self._heart is not None:
            self._heart.join()
        with self._lock:
            self._db.close()

    def take(self, name: str, *, ended: bool = False) -> StoredRun:
        """Make this process the owner of a run, and return the run. See `RunStore.take`.

        If the process that owns the run now cannot be looked up, first wait to see if it sends a
        heartbeat.
        """
        self._watch([name])
        return super().take(name, ended=ended)

    def finish(self, run: str, *args: Any, **how: Any) -> None:
        """Record how a run ended. The arguments are those of `RunStore.finish`.

        No more heartbeats are sent for the run, even if the end could not be recorded.
        """
        try:
            super().finish(run, *args, **how)
        finally:
            self._held.pop(run, None)

    def confirm_owned(self, run: str) -> None:
        """Check that the run still belongs to this process. See `RunStore.confirm_owned`."""
        held = self._held.get(run)
        if held is not None and time.monotonic() >= held.until:
            with self._transaction(run):
                held.until = time.monotonic() + LEASE_SECONDS

    def changes(self) -> int:
        """Return a number that changes whenever another process has written to the store."""
        with self._lock, _translate_errors(self.path):
            return int(self._db.execute("PRAGMA data_version").fetchone()[0])

    def delete(self, names: Sequence[str]) -> int:
        """Delete runs with all their data, and return their number. See `RunStore.delete`.

        If processes that own the runs cannot be looked up, first wait to see if they send
        heartbeats.
        """
        self._watch(names)
        count = super().delete(names)
        with self._lock, _translate_errors(self.path):
            self._db.execute("VACUUM")
            busy = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        if busy:
            raise StoreUnavailable(
                f"the store of runs {str(self.path)!r}: the runs are deleted, but another process"
                " still reads the file,"
                " so their bytes are still in it; purge again when that one has ended."
            )
        return count

    def _owner(self, db: Database, run: str, *, lock: bool = False) -> str | None:
        lease = read_run(db, run).lease
        if lease is None or self._silent.get(run) == lease:
            return None
        # Clocks may be wrong. That is acceptable for displaying a run, but not for taking one.
        over = lease.holder.life() == "ended" if lock else lease.is_over(time.time())
        return None if over else str(lease.holder)

    def _own(self, db: Database, run: str) -> None:
        lease = Lease(holder=this_process(), seen=time.time())
        change_run(db, run, lease=lease)
        self._held[run] = _HeldRun(lease.holder.taken, time.monotonic() + LEASE_SECONDS)
        if self._heart is None:
            self._heart = threading.Thread(target=self._beat, name="leases", daemon=True)
            self._heart.start()

    @contextmanager
    def _transaction(self, run: str | None = None, *, writing: bool = True) -> Iterator[Database]:
        with self._lock, _translate_errors(self.path), self._db:
            self._db.execute("BEGIN IMMEDIATE" if writing else "BEGIN")
            if run in self._held:
                self._require_held(self._db, run)
            yield self._db

    def _require_held(self, db: Database, run: str) -> None:
        """Raise RunRefused if a run that this process owned was deleted or taken by another."""
        row = db.execute(_HOLDER, (run,)).fetchone()
        if row is None:
            raise RunRefused(f"run {run} has been deleted while this process worked on it.")
        if row["taken"] != self._held[run].taken:
            lease = read_run(db, run).lease
            raise RunRefused(
                f"run {run} was taken over by {lease.holder if lease else 'another process'}, since"
                f" nothing had been heard of this process for {LEASE_SECONDS:g} seconds; this one"
                " sends and records"
                f" nothing more of it. 'atc runs show {run}' shows how it goes on."
            )

    def _beat(self) -> None:
        """Send a heartbeat for each run of this process until the store is closed."""
        while not self._closing.wait(LEASE_SECONDS / 3):
            for run, held in list(self._held.items()):
                with suppress(StoreUnavailable, RunRefused), self._transaction(run) as db:
                    until = time.monotonic() + LEASE_SECONDS
                    lease = read_run(db, run).lease
                    if lease is not None:
                        change_run(
                            db, run, lease=replace(lease, seen=time.time(), beats=lease.beats + 1)
                        )
                    held.until = until

    def _watch(self, names: Sequence[str]) -> None:
        """Wait up to `LEASE_SECONDS` for heartbeats of processes that cannot be looked up.

        `names` are the runs that these processes own. The leases of processes that send none are
        added to `_silent`. Only the arrival of heartbeats is observed, so the clocks of the
        processes do not matter.
        """
        watched = self._unresolved_leases(names)
        end = time.monotonic() + LEASE_SECONDS
        while watched and time.monotonic() < end:
            time.sleep(_LOOK_SECONDS)
            now = self._unresolved_leases(names)
            watched = {run: lease for run, lease in watched.items() if now.get(run) == lease}
        self._silent |= watched

    def _unresolved_leases(self, names: Sequence[str]) -> dict[str, Lease]:
        """Return the leases of runs whose processes cannot be looked up from here.

        Of the runs `names`, only those with the status `running` are considered. The result is
        keyed by run id.
        """
        found: dict[str, Lease] = {}
        with self._transaction(writing=False) as db:
            for name in names:
                # This is reported when the run is taken.
                with suppress(UnknownRun):
                    run = resolve(db, name)
                    summary = read_run(db, run)
                    if (
                        summary.status == "running"
                        and summary.lease
                        and summary.lease.holder.life() == "unknown"
                    ):
                        found[run] = summary.lease
        return found


@contextmanager
def _translate_errors(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and the file system into `StoreUnavailable`."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        said = getattr(error, "strerror", None) or error
        advice = (
            "see that it may be written and has space, move it away, or set ATC_STATE_DIR to"
            " another folder"
        )
        raise StoreUnavailable(f"the store of runs {str(path)!r}: {said}; {advice}.") from error


def _connect(path: Path) -> sqlite3.Connection:
    """Open the store's file. A missing file is created, and only this user can read it.

    A commit returns only when its data are on the disk.

    Raises:
        StoreUnavailable: the file cannot be used, is not a store of runs, or has the format of
            another version of atc.
    """
    with _translate_errors(path):
        make_folders(path.parent)
        _keep_private(path)
        if not path.exists():
            _make(path)
        database = sqlite3.connect(
            path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        with ExitStack() as stack:
            stack.callback(database.close)
            program, version = (
                database.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("application_id", "user_version")
            )
            if (program, version) != (_APPLICATION, FORMAT):
                made = (
                    f"another version of atc (format {version}"
                    if program == _APPLICATION
                    else "another program ("
                )
                raise StoreUnavailable(
                    f"the store of runs {str(path)!r}: {made}, this one reads {FORMAT}) wrote it;"
                    " move it away, or set"
                    " ATC_STATE_DIR to another folder."
                )
            database.executescript(
                "PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA foreign_keys = ON;"
            )
            # A store created by an earlier version lacks these tables.
            for table in (QUESTIONS, FILES):
                database.execute(table.format("IF NOT EXISTS"))
            stack.pop_all()
    database.row_factory = sqlite3.Row
    return database


def _keep_private(path: Path) -> None:
    """Make the file readable by its owner alone, and its folder, too, if that is named `atc`.

    An older version, a copy or a restored backup may be readable by others.

    Raises:
        StoreUnavailable: the file or its folder belongs to another user, or others can change it.
    """
    try:
        check_folder(path.parent)
        for name in ("", "-wal", "-shm"):
            keep_private(path.with_name(path.name + name))
    except NotPrivate as error:
        advice = "set ATC_STATE_DIR to a folder of your own, or repair this one."
        raise StoreUnavailable(f"the store of runs is not yours alone; {advice} {error}") from error
    # Only a folder named `atc` is ours. Users may share other folders.
    folder = path.parent.stat()
    if path.parent.name == "atc" and folder.st_uid == os.geteuid() and folder.st_mode & 0o077:
        path.parent.chmod(0o700)


def _make(path: Path) -> None:
    """Create the file with its tables in one step, since several processes may do so at once."""
    descriptor, made = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.")
    os.close(descriptor)
    try:
        with closing(sqlite3.connect(made)) as database:
            database.executescript(
                f"PRAGMA journal_mode = WAL; {TABLES}"
                f"PRAGMA application_id = {_APPLICATION}; PRAGMA user_version = {FORMAT};"
            )
        with suppress(FileExistsError):
            # SQLite's side files get the permissions of this file.
            os.link(made, path)
    finally:
        Path(made).unlink()
