"""`atc runs export`, `replay` and `test`, driven as a person and a CI service drive them."""

from __future__ import annotations

import io
import json
import socket
import stat
from pathlib import Path

import pytest

from atc.agent import Agent
from atc.cli.wiring import open_store
from atc.core.config import Config
from atc.models.scripted import ScriptedModel
from protocols.client import Invoker
from protocols.protocol import HttpBinding
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from tests.labs.loopback import Reply, serving
from tests.labs.tools import record, tool

pytestmark = pytest.mark.usefixtures("shared_sandbox")

PROGRAM = "note = get_note(id='p1')\nprint(note['text'])\nprint(get_note(id='p2')['text'])"


@pytest.fixture
def config(own_folders, tmp_path, monkeypatch):
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return Config(state_dir=tmp_path / "state", samples=1, max_repairs=0, strategy="chain")


@pytest.fixture
def service():
    """Notes over HTTP. `p3` holds what a terminal must not be given."""
    texts = {"p1": "hello", "p2": "wörld", "p3": "\x1b[2J\x00 \u202e"}

    def answer(seen):
        text = texts.get(seen.path.rpartition("/")[2])
        return (
            Reply(status=404, body={"detail": "none"})
            if text is None
            else Reply(body={"text": text, "more": 1})
        )

    with serving(answer) as server:
        yield server


@pytest.fixture
def solve(config, sandbox, service):
    """Stores a run of a program over the notes, and gives its id."""

    def run(program=PROGRAM, task="What do they say?"):
        binding = HttpBinding(method="GET", url=f"{service.url}/notes/{{id}}")
        answer = {**record(text="string", more="integer"), "required": ["text"]}
        protocol = tool("get_note", None, {"id": "string"}, answer, binding=binding).protocol
        with Invoker() as invoker, open_store(config) as store:
            toolbox = Toolbox([Tool(protocol, invoker.bind(protocol))])
            model = ScriptedModel(f"```python\n{program}\n```")
            return (
                Agent(toolbox, model=model, sandbox=sandbox, config=config, store=store)
                .run(task)
                .run_id
            )

    return run


@pytest.fixture
def offline(monkeypatch):
    """From here on, whoever connects to anything but a local socket fails."""

    def forbid():
        def refused(self, address):
            if self.family != socket.AF_UNIX:
                raise AssertionError(f"a replay connects to {address}")
            return connect(self, address)

        connect = socket.socket.connect
        monkeypatch.setattr(socket.socket, "connect", refused)

    return forbid


def exported(atc_, run="last", name="run.json"):
    code, out, err = atc_("runs", "export", run, "-o", name)
    assert (code, out) == (0, ""), err
    return Path(name)


def test_a_run_is_exported_and_replayed(solve, atc_, offline, service):
    run = solve()
    code, out, err = atc_("runs", "export", "last", "-o", "run.json")
    assert (code, out) == (0, "")
    assert err == f"run {run} written to run.json; replay it with: atc runs replay run.json\n"
    assert stat.S_IMODE(Path("run.json").stat().st_mode) == 0o600
    seen = len(service.seen)
    offline()
    code, out, err = atc_("runs", "replay", "run.json")
    assert (code, out) == (0, "hello\nwörld\n")
    assert err.startswith("the same answer (2 calls, ")
    assert len(service.seen) == seen
    code, out, _ = atc_("runs", "replay", "run.json", "--json")
    verdict = json.loads(out)
    assert (
        code,
        verdict["run_id"],
        verdict["same"],
        verdict["call_count"],
        verdict["diverged"],
    ) == (
        0,
        run,
        True,
        2,
        None,
    )


def test_by_stdout_and_stdin(solve, atc_, monkeypatch):
    solve()
    code, text, err = atc_("runs", "export", "last")
    assert (code, err) == (0, "")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert atc_("runs", "replay", "-")[:2] == (0, "hello\nwörld\n")


def test_files_are_not_overwritten_unasked(solve, atc_):
    solve()
    Path("run.json").write_text("mine")
    code, _, err = atc_("runs", "export", "last", "-o", "run.json")
    assert code == 2
    assert "'run.json' exists; give --force" in err
    assert Path("run.json").read_text() == "mine"
    assert atc_("runs", "export", "last", "-o", "run.json", "--force", "--json")[0] == 0
    assert atc_("runs", "replay", "run.json")[0] == 0


def edit(path, change):
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def test_a_departure_is_shown_with_what_was_expected(solve, atc_):
    solve()
    path = exported(atc_)
    edit(path, lambda d: d.update(program=d["program"].replace("p2", "p3")))
    code, out, err = atc_("runs", "replay", path)
    assert (code, out) == (1, "")
    assert (
        err
        == 'the replay left its recording at call 1: expected get_note(id="p2"), got get_note(id="p3").\n'
    )
    code, out, _ = atc_("runs", "replay", path, "--json")
    assert code == 1
    shown = json.loads(out)["diverged"]
    assert (shown["index"], shown["expected"], shown["got"]) == (
        1,
        'get_note(id="p2")',
        'get_note(id="p3")',
    )


def test_a_file_that_is_not_there(config, atc_):
    code, out, err = atc_("runs", "replay", "run.json")
    assert (code, out) == (2, "")
    assert "cannot read 'run.json' (No such file or directory); " in err
    assert err.count("\n") == 1


def test_many_files_as_a_test_suite(solve, atc_, offline):
    solve()
    Path("kept/deep").mkdir(parents=True)
    exported(atc_, name="kept/one.json")
    edit(
        exported(atc_, name="kept/two.json"),
        lambda d: d.update(program=d["program"].replace("p2", "p3")),
    )
    exported(atc_, name="kept/deep/three.json")
    Path("kept/other.json").write_text('{"format": "of somebody else"}')
    Path("kept/cut.json").write_text(Path("kept/one.json").read_text()[:300])
    offline()
    code, out, err = atc_("runs", "test", "kept")
    assert code == 1
    assert err == "2 of 5 recordings gave the same answer.\n"
    lines = out.splitlines()
    assert [line.split()[:2] for line in lines if line[:1] != " "] == [
        ["ERROR", "kept/cut.json"],
        ["ok", "kept/deep/three.json"],
        ["ok", "kept/one.json"],
        ["ERROR", "kept/other.json"],
        ["FAIL", "kept/two.json"],
    ]
    assert 'expected get_note(id="p2"), got get_note(id="p3")' in lines[-1]
