"""Makes the conversations from which a planner learns (Algorithm 1 of the ToolQP paper).

A trajectory is one such conversation: the plan and the queries that find the tools of a request.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from atc.pipeline.retrieve.base import Hit, Retriever
from atc.pipeline.retrieve.document import ToolDocument, json_text
from atc.pipeline.retrieve.model_replies import a_text, an_object, json_object, one_text
from atc.pipeline.retrieve.toolqp import QueryCache, format_found_tools
from benchmarks.retrieval.data import RetrievalQuery
from benchmarks.toolqp.planner import (
    BEGIN,
    MOST_QUERIES,
    SHOWN,
    STOP,
    fill,
    plan_text,
    planner_prompt,
    query_text,
    results,
)
from protocols.model import Ask, Message
from protocols.truncate import clip_text

ROUNDS = 5
"""Maximum number of rounds for one sub-task.

Each round gives the model one more hint about the tools (figure 15 of the ToolQP paper).
"""
THRESHOLD = 5
"""A query is valid if the mean rank of the sub-task's tools in its results is at most this.

See appendix C.2 of the ToolQP paper.
"""
KEEP_FAILED = 0.4
"""Probability that failed queries stay in the conversation, before the valid query that follows.

See appendix C.2 of the ToolQP paper.
"""
TEMPERATURE = 1.0
"""Temperature for queries. Plans and sub-goals are greedy (temperature 0).

The ToolQP paper used a default temperature.
"""
DEPTH = 100
"""Number of tools in the results of a search. Any other tool has the next rank, 101."""
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")


Tools = Mapping[str, ToolDocument]


class UnusableRequest(Exception):
    """No conversation can be made from a request. The message has the reason."""


def hide_tool_names(text: str, tools: Iterable[str]) -> str:
    """Replace the names of `tools` in `text` with "this tool".

    A name that is split into words (`weather tool` for `WeatherTool`) is replaced too.
    """
    for name in tools:
        parts = r"[\W_]*".join(map(re.escape, _PART.findall(name))) or re.escape(name)
        text = re.sub(
            rf"(?<!\w)(?:{re.escape(name)}|{parts})(?!\w)", "this tool", text, flags=re.IGNORECASE
        )
    return text


class TrajectoryMaker:
    """Makes the conversation for one request.

    In each round the model writes `candidates` queries, and the best one is kept.
    """

    def __init__(
        self,
        query: RetrievalQuery,
        ask: Ask,
        base: Retriever,
        documents: Tools,
        *,
        candidates: int = 3,
        seed: int = 0,
    ) -> None:
        self._query = query
        self._ask = ask
        self._documents = documents
        self._candidates = candidates
        self._seed = seed
        self._found = QueryCache(base, depth=DEPTH)

    def make(self) -> dict[str, Any]:
        """Return the conversation from which a planner learns to search.

        Figure 7 of the ToolQP paper shows one.

        Raises:
            UnusableRequest: a step failed.
        """
        query = self._query
        plan = self._query.plan or self._plan()
        steps: list[dict[str, Any]] = []
        for goal, tools in self._sub_tasks(plan).items():
            steps.append(self._step(plan, goal, tools, steps))
        if sum(len(step["shown"]) for step in steps) > MOST_QUERIES:
            steps = [{**step, "kept": False, "shown": step["shown"][-1:]} for step in steps]
        if len(steps) > MOST_QUERIES:
            raise UnusableRequest("too many queries")
        messages = [
            *planner_prompt(query.text),
            Message("assistant", plan_text(plan, [step["goal"] for step in steps])),
        ]
        messages.append(Message("user", BEGIN))
        for text, found in (shown for step in steps for shown in step.pop("shown")):
            messages += [Message("assistant", query_text(text)), results(found, self._documents)]
        messages.append(Message("assistant", STOP))
        turns = [{"role": message.role, "content": message.content} for message in messages]
        return {
            "messages": turns,
            "query": query.text,
            "plan": plan,
            "gold": list(query.gold),
            "steps": steps,
        }

    def _plan(self) -> str:
        """Let the model write a plan for the request, with the instruction of Shi et al."""
        listed = "\n".join(
            f"- {self._describe_tool(name, self._query.gold)}" for name in self._query.gold
        )
        written = self._text(
            "plan", fill("plan", query=self._query.text, tools=listed), "plan", 500, most=1200
        )
        if not written:
            raise UnusableRequest("no plan")
        return hide_tool_names(written, self._query.gold)

    def _sub_tasks(self, plan: str) -> dict[str, list[str]]:
        """Return the goals of the plan, in the order in which they are needed, each with its tools.

        If the model writes the same goal for two tools, the goal has both tools.
        """
        named = list(self._query.gold)
        grouped = dict[str, list[str]]()
        if len(named) > 1:
            tools = "\n".join(f"- {name}: {self._short_description(name)}" for name in named)
            schema = {
                "type": "array",
                "items": {"enum": named},
                "minItems": len(named),
                "maxItems": len(named),
            }
            prompt = fill("order", query=self._query.text, plan=plan, tools=tools)
            order = self._reply("order", prompt, schema, 600, "order")
            order = [name for name in order if name in named] if isinstance(order, list) else []
            named = list(dict.fromkeys([*order, *named]))
        for name in named:
            others = "\n" + fill("sub_goal_others", goals=" ".join(grouped)) if grouped else ""
            prompt = fill(
                "sub_goal", plan=plan, tool=self._describe_tool(name, [name]), others=others
            )
            goal = hide_tool_names(
                self._text("goal", prompt, f"goal {name}", 200, most=160), [name]
            )
            if not goal:
                raise UnusableRequest("no sub-goal")
            grouped.setdefault(goal, []).append(name)
        return grouped

    def _step(
        self, plan: str, goal: str, tools: Sequence[str], before: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any]:
        """Let the model write queries for one goal of the plan until one of them is valid.

        A query is valid if its results rank the goal's tools high enough (see `THRESHOLD`). There
        are at most `ROUNDS` rounds. A random draw decides whether the failed queries before the
        valid one stay in the conversation.
        """
        attempts = list[tuple[str, Sequence[Hit], float]]()
        hints = list[str]()
        done = [
            f'{number}. {one["goal"]} Found by: "{one["attempts"][-1][0]}"'
            for number, one in enumerate(before, 1)
        ]
        for number in range(1, ROUNDS + 1):
            hints.append(self._hint(number, goal, tools, plan, attempts[-1][0] if attempts else ""))
            context = "\n\n".join(filter(None, hints))
            prompt = fill(
                "query",
                query=self._query.text,
                plan=plan,
                done="\n".join(done) or "(none)",
                context=context,
            )
            best = min(
                self._iter_usable_queries(prompt, f"{goal} {number}", tools),
                key=lambda one: one[2],
                default=None,
            )
            attempts += [best] if best is not None else []
            if best is not None and best[2] <= THRESHOLD:
                break
        else:
            raise UnusableRequest(f"no valid query: {goal}")
        kept = random.Random(f"{self._seed} {self._query.id} {len(before)}").random() < KEEP_FAILED
        shown = [(query, found) for query, found, _ in attempts]
        ranks = [[query, rank] for query, _, rank in attempts]
        step = {
            "goal": goal,
            "tools": list(tools),
            "round": number,
            "attempts": ranks,
            "kept": kept,
        }
        return step | {"shown": shown if kept else shown[-1:]}

    def _iter_usable_queries(
        self, prompt: str, purpose: str, tools: Sequence[str]
    ) -> Iterator[tuple[str, Sequence[Hit], float]]:
        """Yield the model's queries that name no tool, each with its search results and a rank.

        The rank is the mean rank of the wanted tools in the search results.
        """
        system = [Message("system", fill("query_system"))]
        for number in range(self._candidates):
            options = {"before": system, "temperature": TEMPERATURE}
            query = self._text("query", prompt, f"{purpose} {number}", 200, most=300, **options)
            if query and hide_tool_names(query, tools) == query:
                found = self._found.find_hits(query)
                ranks = {hit.tool: rank for rank, hit in enumerate(found, start=1)}
                yield query, found, sum(ranks.get(tool, DEPTH + 1) for tool in tools) / len(tools)

    def _hint(self, number: int, goal: str, tools: Sequence[str], plan: str, tried: str) -> str:
        """Return the hint about the tools that round `number` adds to the model's prompt.

        `tried` is the last query, or "".
        """
        match number:
            case 1:
                return fill("hint_goal", goal=goal)
            case 2:
                about = [hide_tool_names(self._documents[one].description, [one]) for one in tools]
                description = "\n".join(filter(None, about))
                return fill("hint_description", description=description) if description else ""
            case 3 | 4 if not tried:
                return ""
            case 3:
                return fill("hint_results", query=tried, found=self._list_tools(tried))
            case 4:
                with_plan = fill("hint_with_plan", found=self._list_tools(f"{tried} {plan}"))
                return f"{self._hint(3, goal, tools, plan, tried)}\n\n{with_plan}"
        lines = []
        for name in tools:  # the document in the index, without the tool's name
            found: dict[str, Any] = json.loads(json_text(self._documents[name]))
            kept = {
                key: value
                for key, value in found.items()
                if key not in ("name", "title", "description")
            }
            plain = {
                "description": hide_tool_names(self._documents[name].description, [name])
            } | kept
            lines.append(json.dumps(plain, ensure_ascii=False))
        return fill("hint_document", document="\n".join(lines))

    def _list_tools(self, query: str) -> str:
        return format_found_tools(self._found.find_hits(query)[:SHOWN], self._documents)

    def _short_description(self, name: str) -> str:
        return clip_text(" ".join(self._documents[name].description.split()), 600)

    def _describe_tool(self, name: str, others: Iterable[str]) -> str:
        """Return a tool's description in which the names of `others` are hidden.

        If the tool has no description, return its title or name.
        """
        return (
            hide_tool_names(self._short_description(name) or self._documents[name].title, others)
            or name
        )

    def _text(
        self, key: str, prompt: str, purpose: str, tokens: int, *, most: int, **options: Any
    ) -> str:
        return one_text(self._reply(key, prompt, a_text(most, least=1), tokens, purpose, **options))

    def _reply(
        self,
        key: str,
        prompt: str,
        schema: Any,
        tokens: int,
        purpose: str,
        before: Any = (),
        **options: Any,
    ) -> Any:
        """Return the model's answer: the value of the only key in its JSON reply.

        Return None if the value is missing. The model's seed depends only on the request and on
        `purpose`, the name of the step.
        """
        seed = random.Random(f"{self._seed} {self._query.id} {purpose}").getrandbits(31)
        messages = [*before, Message("user", prompt)]
        wanted = an_object({key: dict(schema)})
        reply = self._ask(
            messages, schema=wanted, seed=seed, max_tokens=tokens, **{"temperature": 0.0, **options}
        )
        return json_object(reply.text).get(key)
