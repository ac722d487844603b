"""A small world for strategies that call tools one at a time, with scripted turns over the real sandbox."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from atc.agent import Agent
from atc.config import Config
from atc.models.scripted import ScriptedModel
from atc.store import Store
from atc.strategies.run import Strategy
from protocols.errors import ToolError
from protocols.protocol import Annotations, ToolProtocol
from protocols.toolbox import Tool, Toolbox
from sandbox.base import Sandbox

TEXT = {"type": "string"}
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
        return Toolbox(
            [
                self._tool("list_people", {}, lambda _: {"people": ["p0", "p1"]}),
                self._tool("get_note", {"id": TEXT}, self._note),
                self._tool("read_log", {}, lambda _: {"lines": ["x" * 60 for _ in range(400)], "end": "over"}),
                self._tool("add_mark", {"person": TEXT}, self._mark, reads=False),
                self._tool("drop_mark", {"mark_id": TEXT}, lambda given: given, reads=False, destructive=True),
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

    def _tool(self, name: str, parameters: dict[str, Any], call: Any, *, reads=True, destructive=None) -> Tool:
        def recorded(given):
            self.sent.append((name, dict(given)))
            return call(dict(given))

        schema = {"type": "object", "properties": parameters, "required": list(parameters)}
        marked = Annotations(read_only=reads, destructive=destructive)
        protocol = ToolProtocol(name=name, description=f"{name} does it.", input_schema=schema, annotations=marked)
        return Tool(protocol=protocol, call=recorded)


class Solver(Agent):
    """An agent whose strategy is a function."""

    def __init__(self, solve: Strategy, tools: Toolbox, **parts: Any) -> None:
        super().__init__(tools, **parts)
        self._way = solve

    def run(self, *args: Any, **given: Any):
        with patch("atc.agent.strategy", lambda _: self._way):
            return super().run(*args, **given)

    def resume(self, *args: Any, **given: Any):
        with patch("atc.agent.strategy", lambda _: self._way):
            return super().resume(*args, **given)


@dataclass
class Lab:
    """Runs a strategy in a world: `lab(react.solve, reply, …)` gives the solution and the model."""

    world: World
    sandbox: Sandbox

    def __call__(self, solve: Strategy, *replies: Any, task: str = "Do it.", store: Store | None = None, **settings):
        model = ScriptedModel(*replies)
        return self._agent(solve, model, store, settings).run(task), model

    def resume(self, solve: Strategy, store: Store, *replies: Any, **settings):
        model = ScriptedModel(*replies)
        return self._agent(solve, model, store, settings).resume("last"), model

    def _agent(self, solve, model, store, settings):
        config = Config(**{"decoding": "off", **settings})
        return Solver(solve, self.world.toolbox, model=model, sandbox=self.sandbox, config=config, store=store)


def told(model: ScriptedModel, turn: int = -1) -> str:
    """What the model was told last before a reply."""
    return model.prompts[turn][-1].content


def steps(prompt) -> list[str]:
    """The tools of the turns that a prompt shows, those of the worked example aside."""
    said = [message.content for message in prompt if message.role == "assistant"][4:]
    return [text.partition("Action: ")[2].partition("\n")[0] for text in said]
