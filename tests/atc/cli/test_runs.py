from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from atc.cli.wiring import open_store
from atc.core import events
from atc.core.config import Config
from atc.core.program import Program
from atc.core.types import Attempt, Fact, Fault, Finding, Solution, Usage
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
    assert [line.split()[:4] for line in lines[::2]] == [
        [run, "solved,", "1", "doubt"] for run in (second, first)
    ]
    assert lines[0].endswith("11 tokens  $0  How many \\x1b[31mBos?")
    assert lines[1].split(maxsplit=1) == ["doubt", "it is short"]
    (run,) = json.loads(atc_("runs", "list", "--json", "--limit", "1")[1])
    keys = ("run_id", "status", "answer", "attempt_count", "call_count", "input_tokens", "cost")
    assert [run[key] for key in keys] == [second, "solved", "5", 2, 1, 9, 0.0]
    assert (run["doubts"], run["reason"]) == (["it is short"], None)


def test_list_says_why_a_run_failed(config: Config, atc_) -> None:
    with open_store(config) as store:
        for attempt, solution in (
            (FAILED, Solution(task="t", attempts=(), status="failed")),
            (replace(ANSWERED, doubts=()), None),
        ):
            run = store.create("t")
            store.observer(run)(events.AttemptEnded(0, attempt))
            store.finish(run, solution, error=None if solution else "no\nspace")
    reasons = [one["reason"] for one in json.loads(atc_("runs", "list", "--json")[1])]
    assert reasons == ["no\nspace", "rows is a list"]
    lines = atc_("runs", "list")[1].splitlines()
    assert [line.split(maxsplit=1) for line in lines[1::2]] == [
        ["reason", "no space"],
        ["reason", "rows is a list"],
    ]


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


def test_show_says_a_finding_once(config: Config, atc_) -> None:
    fault = Fault(kind="unknown_tool", message="line 1: there is no tool fin", line=1)
    finding = Finding(code="unknown-tool", message="there is no tool fin", line=1)
    with open_store(config) as store:
        run = store.create("t")
        store.observer(run)(
            events.AttemptEnded(0, Attempt(Program("fin()"), (finding,), None, fault))
        )
        store.finish(run, Solution(task="t", attempts=(), status="failed"))
    assert atc_("runs", "show", "last")[1].count("there is no tool fin") == 1
