"""A small world for strategies that call tools one at a time, with scripted turns over the real sandbox."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from unittest.mock import patch

from atc.agent import Agent
from atc.core.config import Config
from atc.core.events import Event, ModelAsked
from atc.models.scripted import ScriptedModel
from atc.run.strategy_run import Solve
from protocols.errors import ToolError
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from tests.labs.tools import TEXT, tool

NOTES = {"p0": "milk", "p1": "bread"}


def turn(tool: str, thought: str = "Go on.", **arguments: Any) -> str:
    """A turn as a model writes it."""
    return f"Thought: {thought}\nAction: {tool}\nAction Input: {json.dumps(arguments)}"


def finish(answer: str) -> str:
    """The turn that ends with an answer."""
    return turn("finish", answer=answer)


@dataclass
class World:
    """Tools, and every call that really reached one."""

    sent: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)

    @property
    def toolbox(self) -> Toolbox:
        """People and their notes, marks that can be set and dropped, a long log."""
        log = {"lines": ["x" * 60 for _ in range(400)], "end": "over"}
        made = partial(tool, sent=self.sent, description="It does it.")
        return Toolbox(
            [
                made("list_people", {"people": ["p0", "p1"]}),
                made("get_note", self._note, {"id": TEXT}),
                made("read_log", log),
                made("add_mark", self._mark, {"person": TEXT}, reads=False),
                made(
                    "drop_mark",
                    lambda given: given,
                    {"mark_id": TEXT},
                    reads=False,
                    destructive=True,
                ),
            ]
        )

    def _note(self, given: dict[str, Any]) -> Any:
        if given["id"] not in NOTES:
            raise ToolError(404, "no such person")
        return {"text": NOTES[given["id"]]}

    def _mark(self, given: dict[str, Any]) -> Any:
        if given["person"] == "nowhere":
            raise ToolError(None, "timed out", outcome="unknown")
        self.marks.append(given["person"])
        return {"mark_id": f"m{len(self.marks)}"}


class Solver(Agent):
    """An agent whose strategy is a function."""

    def __init__(self, solve: Solve, tools: Toolbox, **parts: Any) -> None:
        super().__init__(tools, **parts)
        self._way = solve

    def run(self, *args: Any, **given: Any):
        with patch("atc.agent.strategy", lambda _: self._way):
            return super().run(*args, **given)


@dataclass
class Lab:
    """Runs a strategy in a world: `lab(react.solve, reply, …)` gives the solution and the model."""

    world: World
    sandbox: Sandbox

    def __call__(self, solve: Solve, *replies: Any, **settings):
        model, config = ScriptedModel(*replies), Config(**{"decoding": "off", **settings})
        return Solver(
            solve, self.world.toolbox, model=model, sandbox=self.sandbox, config=config
        ).run("Do it."), model


def heard(
    strategy: str,
    tools: Toolbox,
    model: ScriptedModel,
    sandbox: Sandbox,
    task: str,
    **settings: Any,
):
    """What a run comes to, its model, and for what it was asked each time."""
    events: list[Event] = []
    agent = Agent(tools, model=model, sandbox=sandbox, config=Config(strategy=strategy, **settings))
    solution = agent.run(task, observer=events.append)
    return solution, model, [event.purpose for event in events if isinstance(event, ModelAsked)]


def told(model: ScriptedModel, turn: int = -1) -> str:
    """What the model was told last before a reply."""
    return model.prompts[turn][-1].content


def steps(prompt) -> list[str]:
    """The tools of the turns that a prompt shows, those of the worked example aside."""
    said = [message.content for message in prompt if message.role == "assistant"][4:]
    return [text.partition("Action: ")[2].partition("\n")[0] for text in said]
