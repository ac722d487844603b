"""The teacher: a model that writes plans, sub-goals and queries, each reply JSON under a schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from atc.retrieve.document import ToolDocument
from atc.retrieve.replies import json_object, one_text
from protocols.abridge import clipped
from protocols.ask import Ask, Message
from toolflow_bench.toolqp.names import Names
from toolflow_bench.toolqp.prompts import fill

_PLAN_TOKENS, _ORDER_TOKENS, _LINE_TOKENS = 500, 600, 200
_DESCRIPTION_LETTERS = 600

Seed = Callable[[str], int]
"""The seed of the question that a text names, the same whenever the same query is worked on."""


class Teacher:
    """Asks `ask` about one request. Tools' names are kept out of what it writes, and of what its queries are made from.

    Each method gives an empty result where the reply holds none, and raises `ModelUnavailable` where there is no reply.
    """

    def __init__(self, ask: Ask, names: Names, seed: Seed) -> None:
        self._ask, self._names, self._seed = ask, names, seed

    def plan(self, query: str, tools: Sequence[ToolDocument]) -> str:
        """The request's plan in words (Shi et al.'s instruction), for data that have none."""
        listed = "\n".join(f"- {self._described(tool, tools)}" for tool in tools)
        written = self._text("plan", fill("plan", query=query, tools=listed), "plan", _PLAN_TOKENS, most=1200)
        return self._names.hidden(written, [tool.name for tool in tools])

    def order(self, query: str, plan: str, tools: Sequence[ToolDocument]) -> list[ToolDocument]:
        """The tools in the order of use; those that the reply leaves out follow in theirs."""
        if len(tools) < 2:
            return list(tools)
        listed = "\n".join(f"- {tool.name}: {_cut(tool.description)}" for tool in tools)
        named = [tool.name for tool in tools]
        schema = {"type": "array", "items": {"enum": named}, "minItems": len(named), "maxItems": len(named)}
        reply = self._reply(
            "order", fill("order", query=query, plan=plan, tools=listed), "order", schema, _ORDER_TOKENS
        )
        place = {name: number for number, name in reversed(list(enumerate(reply if isinstance(reply, list) else [])))}
        return sorted(tools, key=lambda tool: place.get(tool.name, len(place) + len(tools)))

    def sub_goal(self, plan: str, tool: ToolDocument, others: Sequence[str] = ()) -> str:
        """What of the plan `tool` is for; `others` are the goals of tools before it."""
        told = "\n" + fill("sub_goal_others", goals=" ".join(others)) if others else ""
        prompt = fill("sub_goal", plan=plan, tool=self._described(tool, [tool]), others=told)
        goal = self._text(f"goal {tool.name}", prompt, "goal", _LINE_TOKENS, most=160)
        return self._names.hidden(goal, [tool.name])

    def query(self, prompt: str, *, purpose: str, temperature: float) -> str:
        """A query for the step that `prompt` describes."""
        system = Message("system", fill("query_system"))
        return self._text(purpose, prompt, "query", _LINE_TOKENS, most=300, before=[system], temperature=temperature)

    def _described(self, tool: ToolDocument, tools: Sequence[ToolDocument]) -> str:
        """What a tool does; where nothing says it, its name must."""
        about = _cut(tool.description) or tool.title
        return self._names.hidden(about, [other.name for other in tools]) or tool.name

    def _text(self, purpose: str, prompt: str, key: str, tokens: int, *, most: int, **options: Any) -> str:
        schema = {"type": "string", "minLength": 1, "maxLength": most}
        return one_text(self._reply(purpose, prompt, key, schema, tokens, **options))

    def _reply(
        self,
        purpose: str,
        prompt: str,
        key: str,
        schema: Mapping[str, Any],
        tokens: int,
        *,
        before: Sequence[Message] = (),
        temperature: float = 0.0,
    ) -> Any:
        """The value of the reply's only key; None where the reply has no such thing."""
        whole = {"type": "object", "properties": {key: schema}, "required": [key], "additionalProperties": False}
        messages = [*before, Message("user", prompt)]
        seed = self._seed(purpose)
        text = self._ask(messages, schema=whole, temperature=temperature, seed=seed, max_tokens=tokens).text
        return json_object(text).get(key)


def _cut(text: str) -> str:
    return clipped(" ".join(text.split()), _DESCRIPTION_LETTERS)
