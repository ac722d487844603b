"""Scripted agents for the tests of retrieval by agents: who is asked is told by what stands in the prompt."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from atc.pipeline.retrieve.document import ToolDocument
from protocols.model import Completion, Message

Line = str | Exception | Callable[[], str]


def call(function: str, **arguments: Any) -> str:
    return json.dumps({"thought": "", "call": {"function": function, **arguments}})


def verdict(word: str, reason: str = "") -> str:
    return json.dumps({"reason": reason, "verdict": word})


FINISH = call("finish_search")


class Cast:
    """A model that plays each agent by its own script, so that the order in which agents ask does not matter.

    An agent is known by a text of its system prompt and its task; a script that is at its end goes on with its last
    line.
    """

    name = "cast"
    prompt_tokens = 4000

    def __init__(self, scripts: Mapping[str, Sequence[Line]], *, tokens: int = 10) -> None:
        self.scripts = scripts
        self.tokens = tokens
        self.calls: list[tuple[str, str]] = []
        self.prompts: list[tuple[str, list[Message]]] = []
        self.schemas: list[Mapping[str, Any]] = []
        self._spoken: dict[str, int] = {}
        self._lock = threading.Lock()

    def __call__(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None, **_: Any
    ) -> Completion:
        text = messages[0].content + messages[1].content
        who = next(part for part in self.scripts if part in text)
        with self._lock:
            spoken = self._spoken[who] = self._spoken.get(who, -1) + 1
            self.prompts.append((who, list(messages)))
            self.schemas.append(schema or {})
        line = self.scripts[who][min(spoken, len(self.scripts[who]) - 1)]
        if isinstance(line, Exception):
            raise line
        said = line if isinstance(line, str) else line()
        with self._lock:
            self.calls.append((who, said))
        return Completion(text=said, model=self.name, input_tokens=self.tokens)

    def of(self, who: str) -> list[str]:
        """The functions that one agent called, in order."""
        calls = [json.loads(said) for part, said in self.calls if part == who]
        return [said["call"]["function"] if "call" in said else said["verdict"] for said in calls]


def box(**categories: Mapping[str, int]) -> dict[str, ToolDocument]:
    """Category → tool → how many APIs it has, named `tool/0`, `tool/1` …"""
    names = [
        (c, t, f"{t}/{i}")
        for c, tools in categories.items()
        for t, n in tools.items()
        for i in range(n)
    ]
    return {
        name: ToolDocument(
            name=name, description=f"what {name} does", category=category, collection=tool
        )
        for category, tool, name in names
    }


SPORTS = {f"club{i}": 2 for i in range(8)}
WORLD = box(sports=SPORTS, weather={"storm": 3, "sun": 2}, food={f"dish{i}": 1 for i in range(7)})

META, CHECK = "You guide a search", "Judge whether"
SPORTS_AGENT = "category sports"
WEATHER_TOOLS = "storm (weather)"
