"""AnyTool's retriever (§4.1 of its paper): agents that search a hierarchy of tools.

An agent is a conversation with the model, which replies with function calls. The agents add APIs to
a common list, the pool. They act in rounds. In a round each active agent asks the model once, up to
`AnyToolOptions.threads` of them at the same time. Their function calls are then performed in the
order in which the agents were created. So the result depends only on the options and on the model's
reply to each prompt, not on how long replies take.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from atc.core.parallel import ModelRequest, require_completion
from atc.pipeline.retrieve import hierarchy as listing
from atc.pipeline.retrieve.agent_functions import (
    FUNCTIONS,
    perform,
    reply_schema,
)
from atc.pipeline.retrieve.base import Hit, Retrieval
from atc.pipeline.retrieve.document import ToolDocument
from atc.pipeline.retrieve.hierarchy import Hierarchy
from atc.pipeline.retrieve.model_replies import (
    a_text,
    an_object,
    json_object,
    one_text,
)
from atc.pipeline.retrieve.prompts import fill
from atc.pipeline.retrieve.search_agents import (
    AgentRole,
    AnyToolOptions,
    EndReason,
    PoolVerdict,
    SearchAgent,
    SearchState,
    VerdictWord,
)
from protocols.model import Ask, Message
from protocols.truncate import clip_text

_DEPTH = {"meta": 0, "flat": 0, "category": 1, "tool": 2}
"""The level of the hierarchy at which agents of each role work."""
_LINE = 300
"""Maximum length, in characters, of a call or a result in the transcript."""
_REPLY_TOKENS = 600
_VERDICT_TOKENS = 200
_WORDS: tuple[VerdictWord, ...] = ("Solvable", "Unsolvable", "Unsure")
_VERDICT = an_object({"reason": a_text(200), "verdict": {"type": "string", "enum": list(_WORDS)}})


class AgentSearch(SearchState):
    """The search of AnyTool's agents for one query.

    `run` lets the agents act until the search ends. `resume` wakes the unfinished agents if the
    task could not be solved with the APIs found.
    """

    def begin(self) -> None:
        """Create the agents with which the search begins.

        If there is only one category, this is the agent of the category. Otherwise these are meta
        agents, which choose categories: as many as are needed to list all categories in their
        prompts.
        """
        categories = list(self.hierarchy.tools)
        role: AgentRole = "flat" if self.options.flat else "meta"
        if len(categories) == 1 and role == "meta":
            self.add_category_agent(categories[0])
            return
        for lines in listing.pages(
            listing.category_lines(categories, self.hierarchy), room=self.room.scope
        ):
            names = categories[: len(lines)]
            categories = categories[len(lines) :]
            if names:
                self.add_agent(role, categories=tuple(names), places=self.hierarchy.places(names))

    def prune(self, names: Iterable[str]) -> None:
        """Remove APIs from those found, because they proved useless for the task.

        No agent can add them again.
        """
        gone = set(names)
        self.dropped |= gone
        self.pool = [name for name in self.pool if name not in gone]
        self.transcript.append(f"pruned: {', '.join(sorted(gone))}")

    def run(self) -> None:
        """Let the active agents act until the search ends. Do nothing if no agent is active.

        Raises:
            ModelUnavailable: the model did not answer an agent.
        """
        self.ended = self._limit()
        while not self.ended and (
            active := [agent for agent in self.agents if agent.status == "active"]
        ):
            for start in range(0, len(active), self.options.threads):
                if not self.ended:
                    self._round(active[start : start + self.options.threads])
        for agent in self.agents:
            if agent.status == "active":
                agent.status = "stopped"
        self.ended = self.ended or "done"
        calls = self.ask.usage.model_calls
        self.transcript.append(
            f"ended: {self.ended}; {calls} calls of the model, {self.ask.spent:,} tokens"
        )

    def resume(self, reason: str) -> None:
        """Wake the unfinished agents, because the APIs found so far do not suffice.

        This is §4.3 of the AnyTool paper. Each agent gets the `reason`. Then the agents are woken
        one after another: those at the deepest level of the hierarchy first, and of these the one
        created last. Each acts, together with the agents it creates, until none of them has
        anything left to do. Waking stops as soon as the APIs found suffice.

        Raises:
            ModelUnavailable: the model did not answer an agent.
        """
        unfinished = [agent for agent in self.agents if agent.status != "finished"]
        reason = listing.clip_to_room(reason, room=self.room.result)
        for agent in unfinished:
            agent.add_message(
                fill(
                    "agents_resume_tool" if agent.apis else f"agents_resume_{agent.role}",
                    reason=reason,
                )
            )
        self.verdict = PoolVerdict(tuple(self.pool), "Unsolvable", one_text(reason))
        self.ended = self._limit()
        self.transcript.append(f"resumed, since: {one_text(reason)}")
        for agent in sorted(unfinished, key=lambda agent: (-_DEPTH[agent.role], -agent.number)):
            if self.ended in ("", "done"):
                agent.status = "active"
                agent.steps = 0
                self.run()

    def retrieval(self, *, k: int) -> Retrieval:
        """Return the first `k` of the APIs found as the result of the search.

        They are in the order in which agents added them. The scores only express that order.
        """
        hits = tuple(Hit(name, 1 / (rank + 1)) for rank, name in enumerate(self.pool[:k]))
        return Retrieval(hits=hits, transcript=tuple(self.transcript), usage=self.ask.usage)

    def _round(self, agents: Sequence[SearchAgent]) -> None:
        """Let each of `agents` ask the model once and call one function.

        The model is asked in parallel, and the calls are performed in order. Then the model checks
        once if the APIs found suffice.
        """
        requests = [
            ModelRequest(
                messages=agent.prompt(room=self.room.prompt),
                schema=reply_schema(self, agent, FUNCTIONS[agent.role]),
                max_tokens=_REPLY_TOKENS,
            )
            for agent in agents
        ]
        replies = [
            require_completion(reply).text for reply in self.ask.each(requests, len(requests))
        ]
        calls = []
        for agent, text in zip(agents, replies, strict=True):
            agent.history.append(Message("assistant", text))
            calls.append((agent, *perform(self, agent, text, FUNCTIONS[agent.role])))
        verdict = self._verdict() if self.awaiting else ""
        for agent, call, result in calls:
            self._answer(
                agent, call, f"{result}\n{verdict}".strip() if agent in self.awaiting else result
            )
        self.awaiting = []
        self.ended = self._limit()

    def _answer(self, agent: SearchAgent, call: str, result: str) -> None:
        """Add the result of an agent's function call to its conversation.

        Stop the agent if this was the last of the steps that it may take.
        """
        agent.steps += 1
        agent.add_message(result)
        self.transcript.append(
            f"{agent}: {clip_text(call, _LINE)} → {clip_text(one_text(result), _LINE)}"
        )
        if agent.status == "active" and agent.steps >= self.options.steps:
            agent.status = "stopped"

    def _verdict(self) -> str:
        """Return the model's verdict on whether the APIs found suffice for the query, as text.

        The model is asked only if the APIs have changed since the last verdict.
        """
        if not self.pool:
            return "Unsolvable: the pool is empty"
        if self.verdict is None or self.verdict.pool != tuple(self.pool):
            if self._limit():
                return "not checked: the search has ended"
            self.verdict = self._ask_verdict()
            self.transcript.append(f"check of {len(self.pool)} APIs → {self.verdict}")
        return str(self.verdict)

    def _ask_verdict(self) -> PoolVerdict:
        """Ask the model whether the APIs found suffice for the query.

        The prompt lists as many of these APIs as fit into the tokens that agents' prompts have for
        a list of choices and for one result (`room.scope + room.result`).
        """
        most = self.room.scope + self.room.result
        lines = listing.pages(listing.api_lines(self.pool, self.hierarchy, room=most), room=most)[0]
        messages = [
            Message("system", fill("agents_solvable")),
            Message(
                "user", fill("agents_solvable_task", listing="\n".join(lines), query=self.query)
            ),
        ]
        reply = self.ask(messages, schema=_VERDICT, max_tokens=_VERDICT_TOKENS)
        found = json_object(reply.text)
        word: VerdictWord = found["verdict"] if found.get("verdict") in _WORDS else "Unsure"
        return PoolVerdict(tuple(self.pool), word, one_text(found.get("reason")))

    def _limit(self) -> EndReason:
        """Return the reason why the search must end, or "" if it may continue.

        As in the published code of AnyTool, every verdict except *Unsolvable* ends the search.
        """
        verdict = self.verdict
        if (
            verdict is not None
            and verdict.word != "Unsolvable"
            and verdict.pool == tuple(self.pool)
        ):
            return "solvable"
        if len(self.pool) >= self.options.pool:
            return "pool full"
        return "" if self.ask.spent < self.options.tokens else "budget"


class AnyTool:
    """A `Retriever` in which agents choose tools, as in the AnyTool paper.

    Meta agents choose categories, category agents choose tools, and tool agents choose APIs. The
    hits are the chosen APIs in the order in which agents added them. Several threads may search at
    once. See `AgentSearch` for how agents act and `Hierarchy` for tools without categories. The
    hierarchy is built from the documents at the first search.
    """

    def __init__(
        self,
        documents: Mapping[str, ToolDocument],
        ask: Ask,
        *,
        options: AnyToolOptions = AnyToolOptions(),  # noqa: B008 - frozen
    ) -> None:
        self._documents = documents
        self._ask = ask
        self._options = options

    def search(self, query: str, *, k: int) -> Retrieval:
        """Let agents search for tools, and return the first `k` of the APIs that they have added.

        Raises:
            ModelUnavailable: the model did not answer.
        """
        search = self.start(query)
        search.run()
        return search.retrieval(k=k)

    def start(self, query: str) -> AgentSearch:
        """Return a search for `query` with its first agents. The model is not asked yet."""
        search = AgentSearch(query, self.hierarchy, self._ask, options=self._options)
        search.begin()
        return search

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The hierarchy of category, tool and API into which the documents are sorted.

        It is built on first use.
        """
        return Hierarchy.of(self._documents)
