"""Runs that are purged leave no byte behind."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from atc.cli.wiring import open_store
from atc.core import events
from atc.core.config import Config
from atc.core.program import Program
from atc.core.types import Attempt, Solution
from protocols.model import Completion, Message
from sandbox.trace import ToolCall, Trace

SECRET = "s3cr3t-Zq8vKx2mN7"
CALL = ToolCall(
    index=0, tool="login", arguments={"password": SECRET}, line=1, result={"token": SECRET[::-1]}
)
LONG = SECRET + "x" * 20_000  # more than a page of the file


@pytest.fixture
def config(own_folders: Path) -> Config:
    return Config(state_dir=own_folders / "state")


def stored(config: Config, *, ended: bool = True) -> str:
    with open_store(config) as store:
        run = store.create(f"log in with {SECRET}")
        store.observer(run)(events.ModelAsked("write", (Message("user", LONG),)))
        store.observer(run)(events.ModelReplied("write", Completion(text=SECRET, model="m")))
        store.observer(run)(
            events.ToolCalled(0, replace(CALL, result=None, outcome="unknown"), complete=False)
        )
        store.observer(run)(events.ToolCalled(0, replace(CALL, result={"token": LONG})))
        attempt = Attempt(
            Program(f"login(password={SECRET!r})"),
            (),
            Trace(calls=(CALL,), stdout=SECRET),
            None,
            execution=0,
        )
        store.observer(run)(events.AttemptEnded(0, attempt))
        if ended:
            store.finish(run, Solution(task=SECRET, attempts=(), status="solved", answer=SECRET))
    return run


def holds_secret(config: Config) -> list[str]:
    return [
        file.name
        for file in config.state_dir.rglob("*")
        if file.is_file() and SECRET.encode() in file.read_bytes()
    ]


def runs(config: Config) -> list[str]:
    with open_store(config) as store:
        return [run.run_id for run in store.list(None)]


def test_a_purged_run_leaves_nothing_behind(config: Config, atc_) -> None:
    run, other = stored(config), stored(config)
    assert holds_secret(config)
    assert atc_("runs", "purge", run, other, "--yes") == (0, "", "Deleted 2 runs.\n")
    assert holds_secret(config) == []
    assert runs(config) == []


def test_a_purge_removes_the_models_saved_prompts(config: Config, atc_) -> None:
    folder = config.state_dir.parent / "cache" / "models" / "states"
    folder.mkdir(parents=True)
    for name, prompt in (("a", f"tools, then: log in with {SECRET}. Go."), ("b", "another task")):
        (folder / f"{name}.json").write_text(json.dumps({"prompt": prompt}))
        (folder / f"{name}.state").write_bytes(b"state")
    (folder / "broken.json").write_text("{")
    assert atc_("runs", "purge", stored(config), "--yes")[0] == 0
    assert sorted(file.name for file in folder.iterdir()) == ["b.json", "b.state", "broken.json"]


def test_a_run_at_work_is_left_alone(config: Config, atc_) -> None:
    working, done = stored(config, ended=False), stored(config)
    assert json.loads(atc_("runs", "purge", "--all", "--yes", "--json")[1]) == {
        "deleted": [done],
        "running": [working],
    }
    assert runs(config) == [working]
    code, _, err = atc_("runs", "purge", "--all", "--yes")
    assert code == 0
    assert (
        f"There is nothing to delete.\nLeft alone, since a process works on it: {working}." in err
    )
    code, _, err = atc_("runs", "purge", working, "--yes")
    assert (code, "is being worked on" in err) == (2, True)
    assert runs(config) == [working]


@pytest.mark.parametrize(
    "arguments", [[], ["last", "--all"], ["--all", "--older-than", "1"], ["nosuch", "--yes"]]
)
def test_wrong_use_deletes_nothing(config: Config, arguments: list[str], atc_) -> None:
    run = stored(config)
    code, _, err = atc_("runs", "purge", *arguments)
    assert (code, err[:5]) == (2, "atc: ")
    assert runs(config) == [run]


@pytest.mark.parametrize(("answer", "code", "left"), [("\n", 130, 1), ("y\n", 0, 0)])
def test_on_a_terminal_it_asks(
    config: Config, monkeypatch, atc_, answer: str, code: int, left: int
) -> None:
    stored(config)
    monkeypatch.setattr("atc.cli.runs.has_person", lambda: True)
    monkeypatch.setattr("atc.cli.output.has_person", lambda: True)
    monkeypatch.setattr("sys.stdin", io.StringIO(answer))
    ended, _, err = atc_("runs", "purge", "--all")
    assert (ended, "Delete 1 run with all that they hold? [y/N]" in err) == (code, True)
    assert len(runs(config)) == left
