"""What type checkers make of the public names: mypy reads this file with the packages, and pytest runs it."""

from __future__ import annotations

import asyncio
from typing import assert_type

from pydantic import BaseModel

from atc import Agent, Config, Sandbox, ScriptedModel, Solution, Toolbox, TypedSolution

PROGRAM = """```python
print('{"id": 7}')
```"""


class Ticket(BaseModel):
    """An answer."""

    id: int


def make_agent(sandbox: Sandbox) -> Agent:
    """Return an agent whose model prints a ticket."""
    config = Config(samples=1, strategy="chain", max_repairs=0)
    return Agent(Toolbox(), model=ScriptedModel(PROGRAM, PROGRAM), sandbox=sandbox, config=config)


def test_answers_have_the_requested_type(sandbox: Sandbox) -> None:
    agent = make_agent(sandbox)
    solution = agent.run("Which ticket?", output_type=Ticket)
    assert_type(solution, TypedSolution[Ticket])
    assert_type(solution.raise_if_unsolved(), TypedSolution[Ticket])
    assert_type(solution.output, Ticket)
    assert solution.output == Ticket(id=7)


def test_an_awaited_answer_has_the_type_too(sandbox: Sandbox) -> None:
    agent = make_agent(sandbox)

    async def ask() -> TypedSolution[list[int]]:
        return await agent.arun("Which tickets?", output_type=list[int])

    assert asyncio.run(ask()).status == "failed"


def test_without_a_type_the_answer_is_text(sandbox: Sandbox) -> None:
    solution = make_agent(sandbox).run("Which ticket?")
    assert_type(solution, Solution)
    assert_type(solution.raise_if_unsolved(), Solution)
    assert_type(solution.answer, str | None)
    assert solution.raise_if_unsolved() is solution
