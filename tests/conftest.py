"""Fixtures of all tests, and what makes a run of the suite the same from every shell.

Nothing here depends on the name of a file, and no function of the product is replaced but by a
fixture that a test asks for.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import pytest
from hypothesis import settings

from atc.cli.main import _run_guarded
from atc.store import RunStore
from benchmarks import postgres as postgresql
from sandbox.zygote import ZygoteSandbox
from tests.labs import data_marker
from tests.labs.browser import Browser
from tests.labs.stores import open_store

# Tests start hundreds of processes: without bytecode on disk each would compile the whole tree.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# The settings of whoever runs the tests are none of theirs.
os.environ["XDG_CONFIG_HOME"] = "/nonexistent"
# Searching all installed packages for plugins of pydantic, of which there are none, takes long.
os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
# A shell that starts the suite in the background makes it, and the commands that it starts,
# ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Objects made while tests are collected live until the end: searching them for garbage takes long.
gc.disable()

settings.register_profile(
    "suite", max_examples=60, deadline=None
)  # how long one takes depends on who else works
settings.load_profile("suite")


@pytest.fixture(scope="session")
def sandbox() -> Iterator[ZygoteSandbox]:
    """One sandbox for all tests that only run programs in it."""
    with ZygoteSandbox() as running:
        yield running


class _KeptOpen:
    """A sandbox that stays open when it is closed."""

    def __init__(self, sandbox: ZygoteSandbox) -> None:
        self._sandbox = sandbox

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sandbox, name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave it open."""

    close = __exit__


@pytest.fixture
def shared_sandbox(sandbox: ZygoteSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands and agents of a test, which open a sandbox of their own, get `sandbox`.

    A sandbox takes a third of a second to start. Only one without options is replaced.
    """

    def opened(**options: Any) -> Any:
        return ZygoteSandbox(**options) if options else _KeptOpen(sandbox)

    monkeypatch.setattr("sandbox.zygote.ZygoteSandbox", opened)


@pytest.fixture(scope="session")
def postgres() -> Iterator[postgresql.Server]:
    """A PostgreSQL server for all tests that need one."""
    if postgresql.programs() is None:
        pytest.skip("no PostgreSQL server is installed (apt-get install postgresql)")
    with postgresql.server(flushes=False) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser for all tests of a file that look at pages."""
    with Browser() as opened:
        yield opened


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where runs are stored: a file of a test's own, or where `stores.both_stores` asks for it a database."""
    if getattr(request, "param", "sqlite") == "postgresql":
        return request.getfixturevalue("postgres").database()
    return str(tmp_path / "state" / "runs.sqlite")


@pytest.fixture
def store(place: str) -> Iterator[RunStore]:
    with open_store(place) as opened:
        yield opened


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """Yield a stack whose contexts, such as services, are closed after the test."""
    with ExitStack() as opened:
        yield opened


@pytest.fixture
def sent() -> list[tuple[str, dict[str, Any]]]:
    """Every call that really reached a tool."""
    return []


@pytest.fixture
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh user, of whom and in whose working folder there is nothing yet."""
    for variable in [name for name in os.environ if name.startswith(("ATC_", "OPENAI_"))]:
        monkeypatch.delenv(variable)
    own = {
        "XDG_CONFIG_HOME": "user",
        "XDG_STATE_HOME": "home",
        "ATC_STATE_DIR": "state",
        "ATC_CACHE_DIR": "cache",
    }
    for variable, folder in own.items():
        monkeypatch.setenv(variable, str(tmp_path / folder))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def atc_(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """The command line in this process: exit code, stdout and stderr of a verb."""

    def run(*words: object) -> tuple[int, str, str]:
        code = _run_guarded([str(word) for word in words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    data_marker.skip_without_data(items)


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for line in data_marker.summary(terminalreporter.stats.get("skipped", [])):
        terminalreporter.write_line(line, yellow=True)
