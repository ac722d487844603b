"""A temporary PostgreSQL server for tests and benchmarks, run from Debian's packages."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg

from benchmarks.local import free_port

PASSWORD = "correct/horse@battery"  # of the user `atc` over TCP. The Unix socket asks for none.


def programs() -> Path | None:
    """Return the folder of `initdb` and related programs; None if PostgreSQL is not installed."""
    found = shutil.which("initdb")
    if found:
        return Path(found).parent
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return places[-1].parent if places else None


class Server:
    def __init__(self, folder: Path, *, flushes: bool = True) -> None:
        self.folder = folder
        self.port = free_port()
        self.flushes = flushes
        self._numbers = count(1)

    def database(self) -> str:
        """Create an empty database and return its address."""
        name = f"atc{next(self._numbers)}"
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.address(name)

    def address(self, database: str) -> str:
        """Return the address of a database. It connects over the Unix socket, as a superuser."""
        return f"postgresql://atc@/{database}?host={self.folder}&port={self.port}"

    def start(self) -> None:
        options = (
            f"-k {self.folder} -p {self.port} -c listen_addresses=127.0.0.1 -c max_connections=200"
        )
        options += "" if self.flushes else " -c fsync=off"
        _as_its_user(
            "pg_ctl",
            "start",
            "-D",
            self.folder / "data",
            "-w",
            "-l",
            self.folder / "log",
            "-o",
            options,
        )

    def stop(self, *, how: str = "fast") -> None:
        """Stop the server and close its connections.

        If `how` is "immediate", it stops as in a power cut, without writing its data to the disk.
        """
        _as_its_user("pg_ctl", "stop", "-D", self.folder / "data", "-w", "-m", how)

    @staticmethod
    def clear(address: str) -> None:
        """Delete all runs in a database."""
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("DROP SCHEMA IF EXISTS atc CASCADE")


@contextmanager
def server(*, flushes: bool = True) -> Iterator[Server]:
    """Run a server while the context is open, and delete its folder afterwards.

    If `flushes` is False, the server does not flush writes to the disk, so that it is faster but
    would lose data in a power cut.
    """
    with tempfile.TemporaryDirectory(prefix="atc-pg-") as name:
        folder = Path(name)
        password = folder / "password"
        password.write_text(PASSWORD)
        if os.geteuid() == 0:
            for path in (folder, password):
                os.chown(path, pwd.getpwnam("postgres").pw_uid, -1)
        ways = ["--auth-local=trust", "--auth-host=scram-sha-256", "--encoding=UTF8", "--no-sync"]
        _as_its_user("initdb", "-D", folder / "data", "-U", "atc", f"--pwfile={password}", *ways)
        running = Server(folder, flushes=flushes)
        running.start()
        try:
            yield running
        finally:
            running.stop(how="immediate")


def _as_its_user(program: str, *words: str | Path) -> None:
    """Run one of PostgreSQL's programs; if this process is root, run it as the user `postgres`."""
    folder = programs()
    assert folder is not None
    user = (
        ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        if os.geteuid() == 0
        else []
    )
    subprocess.run(
        [*user, folder / program, *words],
        check=True,
        cwd="/",
        stdout=subprocess.DEVNULL,
        timeout=120,
    )
