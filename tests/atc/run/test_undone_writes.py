"""Writes of earlier programs that the answer's program does not make: shown, paused at, undone or accepted."""

from __future__ import annotations

import pytest

from atc.agent import Agent
from atc.core.config import Config
from atc.store import RunRefused
from protocols.toolbox import Toolbox
from tests.labs.tools import record, tool, writing

pytestmark = pytest.mark.usefixtures("shared_sandbox")

BOOKED = {**record(id="string", seat="string"), "additionalProperties": True}


@pytest.fixture
def toolbox(sent):
    def writes(name, answer, parameters, **more):
        return tool(name, answer, parameters, BOOKED, reads=False, sent=sent, **more)

    return Toolbox(
        [
            writes(
                "book", lambda a: {"id": f"b-{a['seat']}", "seat": a["seat"]}, {"seat": "string"}
            ),
            writes(
                "cancel", lambda a: {"id": a["id"], "seat": "?"}, {"id": "string"}, destructive=True
            ),
        ]
    )


def agent(toolbox, sandbox, store, *programs):
    model = writing(*programs)
    config = Config(samples=1, allow_writes=("all",), strategy="chain", trust=("book", "cancel"))
    return Agent(toolbox, model=model, sandbox=sandbox, config=config, store=store), model


FIRST = "print(int(book(seat='1A')['id']))"


def test_a_leftover_write_pauses_until_accepted(toolbox, sandbox, store, sent):
    solver, model = agent(toolbox, sandbox, store, FIRST, "print(book(seat='2B')['id'])")
    solution = solver.run("Book 1A or 2B.")
    assert (solution.status, solution.answer) == ("paused", "b-2B")
    assert [(call.tool, call.arguments) for call in solution.orphans] == [("book", {"seat": "1A"})]
    assert "book(seat=" in model.prompts[1][-1].content
    resumed = agent(toolbox, sandbox, store)[0]
    assert resumed.resume(solution.run_id).status == "paused"
    accepted = agent(toolbox, sandbox, store)[0].resume(solution.run_id, accept_orphans=True)
    assert (accepted.status, accepted.answer) == ("solved", "b-2B")
    assert sent == [("book", {"seat": "1A"}), ("book", {"seat": "2B"})]
    with pytest.raises(RunRefused, match="is solved"):
        resumed.resume(solution.run_id)


@pytest.mark.parametrize(
    ("program", "left"),
    [
        ("print(book(seat='1A')['id'])", []),  # it keeps the write
        ("print(book(seat='2B')['id'])\ncancel(id='b-1A')", []),  # it undoes it
        ("print(book(seat='2B')['id'])\ncancel(id='b-2B')", ["book"]),  # it undoes another
    ],
)
def test_a_kept_or_undone_write_is_no_orphan(toolbox, sandbox, store, sent, program, left):
    """What undoes a write is destructive and names it."""
    solution = agent(toolbox, sandbox, store, FIRST, program)[0].run(
        "Book 2B; b-1A or b-2B is to be cancelled."
    )
    assert (solution.status, [call.tool for call in solution.orphans]) == (
        "paused" if left else "solved",
        left,
    )
    assert sent.count(("book", {"seat": "1A"})) == 1
