from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from atc.cli.wiring import open_store
from atc.core import events
from atc.core.config import Config
from atc.core.types import Attempt, Fact, Fault, Program, Solution, Usage
from protocols.model import Completion, Message
from sandbox.trace import ToolCall, Trace

HAS_ID = Fact(kind="keys", text="rows[0] has id")

CALL = ToolCall(
    index=0,
    tool="find",
    arguments={"name": "Bo"},
    line=1,
    result=[{"id": "\x1b[2J"}],
    seconds=0.012,
)
FAILED = Attempt(
    Program("rows = find(name='Bo')\nprint(rows['id'])"),
    (),
    Trace(calls=(CALL,), backend="zygote"),
    Fault(kind="misread_result", message="rows is a list", call=0, tool="find", evidence=(HAS_ID,)),
    execution=0,
)
AGAIN = Trace(calls=(replace(CALL, reused=True),), stdout="5\n")
ANSWERED = Attempt(Program("print(5)"), (), AGAIN, None, ("it is short",), round=1, execution=1)


@pytest.fixture
def config(own_folders: Path) -> Config:
    return Config(state_dir=own_folders / "state")


def solved(config: Config) -> str:
    with open_store(config) as store:
        run = store.create("How many \x1b[31mBos?", model="local")
        observe = store.observer(run)
        observe(events.ToolsChosen(("find",), 1))
        observe(events.ModelAsked("write", [Message("user", "the prompt")]))
        observe(
            events.ModelReplied(
                "write", Completion(text="the reply", model="local", input_tokens=9)
            )
        )
        for number, attempt in enumerate((FAILED, ANSWERED)):
            store.observer(run)(events.ToolCalled(number, attempt.trace.calls[0]))
            observe(events.AttemptEnded(number, attempt))
        usage = Usage(model_calls=1, input_tokens=9, output_tokens=2)
        store.finish(run, Solution(task="t", attempts=(), status="solved", answer="5", usage=usage))
    return run


def test_no_runs_yet(config: Config, atc_) -> None:
    assert atc_("runs", "list") == (0, "", "No run is stored yet; 'atc run TASK' makes one.\n")
    assert json.loads(atc_("runs", "list", "--json")[1]) == []


def test_list(config: Config, atc_) -> None:
    first, second = solved(config), solved(config)
    lines = atc_("runs", "list")[1].splitlines()
    assert [line.split()[:2] for line in lines] == [[second, "solved"], [first, "solved"]]
    assert lines[0].endswith("How many \\x1b[31mBos?")
    (run,) = json.loads(atc_("runs", "list", "--json", "--limit", "1")[1])
    keys = ("run_id", "status", "answer", "attempt_count", "call_count")
    assert [run[key] for key in keys] == [second, "solved", "5", 2, 1]


def test_show_tells_the_whole_story(config: Config, atc_) -> None:
    run = solved(config)
    out = re.sub(r"when .*", "when -", atc_("runs", "show", "last")[1])
    assert out == (
        f"run      {run} (solved)\n"
        "task     How many \\x1b[31mBos?\n"
        "when -\n"
        "model    local, asked 1 time, 0.0 s, 9 tokens in, 2 out\n"
        "tools    find\n"
        "\n"
        "attempt 1\n"
        "      1 │ rows = find(name='Bo')\n"
        "      2 │ print(rows['id'])\n"
        'call 0   find(name="Bo") → [{"id": "\\u001b[2J"}] · 12 ms\n'
        "fault    misread_result: rows is a list\n"
        "         rows[0] has id\n"
        "\n"
        "attempt 2\n"
        "      1 │ print(5)\n"
        'call 0   find(name="Bo") → [{"id": "\\u001b[2J"}] · from the journal\n'
        "printed  5\n"
        "doubt    it is short\n"
        "\n"
        "answer   5\n"
    )
    out = atc_("runs", "show", run[-4:], "--prompts")[1]
    assert "prompt (write)\n[user]\nthe prompt\nreply (0 tokens, 0.0 s)\nthe reply\n" in out


def test_calls_that_were_under_way_are_shown(config: Config, atc_) -> None:
    with open_store(config) as store:
        run = store.create("t")
        store.observer(run)(
            events.ToolCalled(0, replace(CALL, result=None, outcome="unknown"), complete=False)
        )
        store.finish(run, status="interrupted", error="KeyboardInterrupt()")
    code, out, _ = atc_("runs", "show", run)
    assert code == 0
    assert (
        'broke off or were begun again\ncall 0   find(name="Bo") → (no outcome was recorded)' in out
    )
    assert f"error    interrupted; go on with: atc runs resume {run}" in out
    assert len(json.loads(atc_("runs", "show", run, "--json")[1])["unfinished_calls"]) == 1
