"""One attempt: what the host tries again by itself, and what it tells the model after that."""

from __future__ import annotations

import pytest

from atc.agent import Agent
from atc.core.config import Config
from atc.models.scripted import ScriptedModel
from atc.run import passes
from protocols.errors import ToolError
from protocols.toolbox import Toolbox
from tests.labs.tools import fenced, tool

PROGRAM = "add_mark(person='p1')\nprint('ANSWER:', get_note(id='p1')['text'])"


@pytest.fixture
def at_once(monkeypatch):
    """Programs are executed again without a wait."""
    monkeypatch.setattr(passes, "RETRY_SECONDS", (0.0, 0.0))


@pytest.fixture
def run(sandbox, sent, at_once):
    def run(strategy, failures, *replies, reads=True):
        left = list(failures)

        def get_note(_):
            if left:
                raise ToolError(left.pop(0), "not now", outcome="refused")
            return {"text": "milk"}

        tools = Toolbox(
            [
                tool("get_note", get_note, {"id": "string"}, reads=reads, sent=sent),
                tool("add_mark", {"ok": True}, {"person": "string"}, reads=False, sent=sent),
            ]
        )
        model = ScriptedModel(*map(fenced, replies))
        config = Config(samples=1, strategy=strategy, allow_writes=("all",))
        solution = Agent(tools, model=model, sandbox=sandbox, config=config).run("Do it.")
        return solution, model

    return run


@pytest.mark.parametrize("strategy", ["chain", "stepwise"])
def test_a_passing_failure_costs_no_repair(run, sent, strategy):
    solution, model = run(strategy, [503, 500], PROGRAM)
    assert (solution.status, solution.repairs, len(model.prompts)) == ("solved", 0, 1)
    assert [name for name, _ in sent] == ["add_mark", "get_note", "get_note", "get_note"]
    assert [call.tool for call in solution.attempts[0].calls] == ["add_mark", "get_note"]
    assert not any(call.reused for call in solution.attempts[0].calls)


@pytest.mark.parametrize("strategy", ["chain", "stepwise"])
def test_the_same_program_may_be_sent_again(run, sent, strategy):
    solution, model = run(strategy, [503] * 3, PROGRAM, PROGRAM)
    assert (solution.status, len(solution.attempts)) == ("solved", 2)
    told = model.prompts[1][-1].content
    assert "the program need not change" in told
    assert "corrected" not in told
    assert [name for name, _ in sent].count("add_mark") == 1


@pytest.mark.parametrize(("status", "reads"), [(422, True), (409, True), (503, False)])
def test_other_failures_go_to_the_model(run, sent, status, reads):
    solution, model = run("chain", [status], PROGRAM, PROGRAM + "\n", reads=reads)
    assert len(model.prompts) == 2
    assert [name for name, _ in sent].count("get_note") == len(solution.attempts)


CAUTIOUS = """
try:
    stock = get_note(id="stock")["text"]
except ToolError:
    stock = "unknown"
add_mark(person=stock)
print("ANSWER:", get_note(id="report")["text"])
"""
GIVES_UP = """
try:
    text = get_note(id="p1")["text"]
except ToolError:
    add_mark(person="nobody")
    raise
print("ANSWER:", text)
"""


@pytest.mark.parametrize("strategy", ["chain", "stepwise"])
def test_a_new_execution_repeats_caught_failures(run, sent, strategy):
    solution, model = run(strategy, [503, 503, 500], CAUTIOUS)
    assert (solution.status, len(model.prompts)) == ("solved", 1)
    assert [one for one in sent if one[0] == "add_mark"] == [("add_mark", {"person": "unknown"})]
    assert [arguments["id"] for name, arguments in sent if name == "get_note"] == [
        "stock",
        "report",
        "report",
        "report",
    ]


@pytest.mark.parametrize("strategy", ["chain", "stepwise"])
def test_the_same_program_repeats_caught_failures(run, sent, strategy):
    solution, _ = run(strategy, [503] * 4, CAUTIOUS, CAUTIOUS)
    assert (solution.status, len(solution.attempts)) == ("solved", 2)
    assert [one for one in sent if one[0] == "add_mark"] == [("add_mark", {"person": "unknown"})]


def test_no_rerun_after_a_write_past_the_failure(run, sent):
    _, model = run("chain", [503], GIVES_UP, GIVES_UP + "\n")
    assert len(model.prompts) == 2
    assert [name for name, _ in sent][:2] == ["get_note", "add_mark"]
