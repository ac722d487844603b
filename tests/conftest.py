"""Every run that a test stores as solved is exported and replayed when the test is over: it must give its answer again.

Runs of other processes (`subprocess`) and of agents without a store are out of reach.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial, wraps
from pathlib import Path
from typing import Any, Self

import pytest
from hypothesis import settings

from atc.agent import Agent
from atc.archive.recording import Replayer, make_recording
from atc.archive.recording.document import parse_recording, to_document
from atc.cli.main import _run_guarded
from atc.store import RunStore
from atc.store.stored import StoredRun
from benchmarks import postgres as postgresql
from sandbox.zygote import ZygoteSandbox
from tests.labs import data_marker
from tests.labs.browser import Browser
from tests.labs.stores import open_store

# Tests start hundreds of processes: without bytecode on disk each would compile the whole tree anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Nor is each to look through all that is installed for plugins of pydantic: there are none.
os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
# A shell that starts the suite in the background has it ignore Ctrl-C, and so would every command that a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
# What is made before the first test lives until the last: to look for garbage in it, again and again, takes long.
gc.disable()

settings.register_profile(
    "suite", max_examples=60, deadline=None
)  # how long one takes depends on who else works
settings.load_profile("suite")

_stored: list[StoredRun] = []
"""Runs that ended as solved since the last look."""
_figures = {"same": 0, "redacted": 0}
_seconds = 0.0


def _noting(method):
    """`Agent.run` or `resume`, which also notes the run that it has solved, as its store then has it."""

    @wraps(method)
    def noted(agent, *args, **options):
        solution = method(agent, *args, **options)
        if solution.status == "solved" and solution.run_id is not None:
            _stored.append(agent._store.load(solution.run_id))
        return solution

    return noted


@pytest.fixture(scope="session")
def _running() -> Iterator[ZygoteSandbox]:
    with ZygoteSandbox() as running:
        yield running


@pytest.fixture(scope="session")
def sandbox(_running: ZygoteSandbox) -> ZygoteSandbox:
    """One sandbox for all tests that only run programs in it."""
    return _running


class _Door:
    """Leads to the sandbox of all tests, and leaves it open when it is closed."""

    def __init__(self, behind: ZygoteSandbox) -> None:
        self._behind = behind

    def __getattr__(self, name: str) -> Any:
        return getattr(self._behind, name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave it open."""

    close = __exit__


@pytest.fixture(scope="module", autouse=True)
def _sandboxes_by_name_are_one(
    request: pytest.FixtureRequest, _running: ZygoteSandbox
) -> Iterator[None]:
    """A sandbox takes a third of a second to start, and most commands open one. Its own tests have their own."""

    def opened(**options: Any) -> Any:
        return ZygoteSandbox(**options) if options else _Door(_running)

    with pytest.MonkeyPatch.context() as patch:
        if not request.path.name.startswith(
            ("test_sandbox_", "test_security_", "test_bench_sandbox")
        ):
            patch.setattr("sandbox.zygote.ZygoteSandbox", opened)
        yield


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


@pytest.fixture(scope="session", autouse=True)
def _solved_runs_are_noted() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("run", "resume"):
            patch.setattr(Agent, name, _noting(getattr(Agent, name)))
        yield


class _Unsynced(sqlite3.Connection):
    """One that leaves it to the kernel when its writes reach the disk."""

    def execute(self, statement, *parameters):
        match statement:
            case "PRAGMA journal_mode = WAL":
                super().execute("PRAGMA synchronous = OFF")
            case "PRAGMA synchronous = FULL":
                statement = "PRAGMA synchronous = OFF"
        return super().execute(statement, *parameters)


@pytest.fixture(scope="session", autouse=True)
def _nobody_waits_for_the_disk() -> Iterator[None]:
    """No test cuts the power, and what a process wrote before it was killed is there all the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        patch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=_Unsynced))
        yield


@pytest.fixture(scope="module", autouse=True)
def _replayer() -> Iterator[Replayer]:
    with Replayer() as replayer:  # starts nothing before it is used
        yield replayer


@pytest.fixture(autouse=True)
def _every_stored_run_replays(_replayer: Replayer) -> Iterator[None]:
    _stored.clear()
    yield
    global _seconds
    began = time.perf_counter()
    for stored in _stored:
        recording = parse_recording(
            json.dumps(to_document(make_recording(stored))), where=stored.summary.run_id
        )
        assert recording.answer is not None, (
            f"the recording of a solved run has no answer: {recording}"
        )
        verdict = _replayer.rerun(recording)
        # What works with the characters of a secret cannot be replayed from a file without it.
        redacted = verdict.departure is not None and verdict.departure.redacted
        assert verdict.departure is None or (redacted and recording.secrets), (
            f"a stored run does not replay: {verdict.departure}\n{recording.program}"
        )
        _figures["redacted" if redacted else "same"] += 1
    _seconds += time.perf_counter() - began


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    data_marker.skip_without_data(items)


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for line in data_marker.summary(terminalreporter.stats.get("skipped", [])):
        terminalreporter.write_line(line, yellow=True)
    if sum(_figures.values()):
        redacted = (
            f", {_figures['redacted']} of them up to a secret" if _figures["redacted"] else ""
        )
        terminalreporter.write_line(
            f"replayed {sum(_figures.values())} stored runs in {_seconds:.1f} s{redacted}",
            green=True,
        )
