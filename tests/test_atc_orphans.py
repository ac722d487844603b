"""Writes of earlier programs that the answer's program does not make: shown, paused at, undone or accepted."""

from __future__ import annotations

from pathlib import Path

import pytest

from atc.agent import Agent
from atc.config import Config
from atc.store import RunEnded, RunTaken, Store
from atc.strategies.run import not_undone
from protocols.toolbox import Toolbox
from sandbox.choose import open_sandbox
from sandbox.trace import ToolCall
from tests.tool_lab import record, tool, writing

BOOKED = {**record(id="string", seat="string"), "additionalProperties": True}


@pytest.fixture(scope="module")
def sandbox():
    opened = open_sandbox("trusted")
    yield opened
    opened.close()


@pytest.fixture
def sent():
    return []


@pytest.fixture
def toolbox(sent):
    return Toolbox(
        [
            tool(
                "book",
                lambda a: {"id": f"b-{a['seat']}", "seat": a["seat"]},
                {"seat": "string"},
                BOOKED,
                reads=False,
                sent=sent,
            ),
            tool(
                "cancel",
                lambda a: {"id": a["id"], "seat": "?"},
                {"id": "string"},
                BOOKED,
                reads=False,
                destructive=True,
                sent=sent,
            ),
        ]
    )


@pytest.fixture
def store(tmp_path: Path):
    with Store(tmp_path / "runs.sqlite") as opened:
        yield opened


def agent(toolbox, sandbox, store, *programs):
    model = writing(*programs)
    config = Config(samples=1, allow_writes=("all",), strategy="chain", trust=("book", "cancel"))
    return Agent(toolbox, model=model, sandbox=sandbox, config=config, store=store), model


FIRST = "print(int(book(seat='1A')['id']))"


def test_a_write_left_behind_pauses_the_run_until_it_is_accepted(toolbox, sandbox, store, sent):
    solver, model = agent(toolbox, sandbox, store, FIRST, "print(book(seat='2B')['id'])")
    solution = solver.run("Book 1A or 2B.")
    assert (solution.status, solution.answer) == ("paused", "b-2B")
    assert [(call.tool, call.arguments) for call in solution.orphans] == [("book", {"seat": "1A"})]
    assert "book(seat=" in model.prompts[1][-1].content
    resumed = agent(toolbox, sandbox, store)[0]
    assert resumed.resume(solution.run).status == "paused"
    accepted = agent(toolbox, sandbox, store)[0].resume(solution.run, accept_orphans=True)
    assert (accepted.status, accepted.answer) == ("solved", "b-2B")
    assert sent == [("book", {"seat": "1A"}), ("book", {"seat": "2B"})]
    with pytest.raises(RunEnded, match="is solved"):
        resumed.resume(solution.run)


def test_a_write_that_the_repair_keeps_is_no_orphan(toolbox, sandbox, store, sent):
    solution = agent(toolbox, sandbox, store, FIRST, "print(book(seat='1A')['id'])")[0].run("Book 1A.")
    assert (solution.status, solution.orphans, len(sent)) == ("solved", (), 1)


def test_a_write_that_the_repair_undoes_is_no_orphan(toolbox, sandbox, store, sent):
    program = "print(book(seat='2B')['id'])\ncancel(id='b-1A')"
    solution = agent(toolbox, sandbox, store, FIRST, program)[0].run("Book 2B; b-1A is to be cancelled.")
    assert (solution.status, solution.orphans) == ("solved", ())
    assert sent[-1] == ("cancel", {"id": "b-1A"})


def call(tool, result=None, **arguments):
    return ToolCall(index=0, tool=tool, arguments=arguments, line=1, result=result)


@pytest.mark.parametrize(
    ("later", "undone"),
    [
        (call("cancel", id="b1"), True),
        (call("cancel", id="b2"), False),
        (call("book", seat="1A"), False),
    ],
)
def test_what_undoes_a_write_is_destructive_and_names_it(toolbox, later, undone):
    orphan = call("book", {"id": "b1", "seat": "1A"}, seat="1A")
    assert (not_undone([orphan], [later], toolbox) == ()) == undone


def test_a_run_belongs_to_one_living_process(store):
    run = store.create("Do it.")
    with pytest.raises(RunTaken, match="is being worked on by process"):
        store.take(run)
    store.finish(run, status="interrupted")
    assert store.take(run).summary.status == "running"
