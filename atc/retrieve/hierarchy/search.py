"""One query's search by agents: the agents, the pool, the budget, and how they go on.

Agents act in rounds. In a round each active agent asks the model once, up to `Options.threads` of them at the same
time; what they asked for is then done in the order in which the agents were created. So the result depends on the
options and on what the model replies to each prompt, never on how long a reply takes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import Executor

from atc.retrieve.base import Hit, Retrieval
from atc.retrieve.hierarchy import listing
from atc.retrieve.hierarchy.acts import HOW_TO_ADD
from atc.retrieve.hierarchy.agent import Agent, Role, waking_order
from atc.retrieve.hierarchy.budget import Budget
from atc.retrieve.hierarchy.ending import Ended, sentence
from atc.retrieve.hierarchy.functions import perform, schema
from atc.retrieve.hierarchy.options import Options
from atc.retrieve.hierarchy.prompts import fill
from atc.retrieve.hierarchy.room import Room
from atc.retrieve.hierarchy.solvable import Verdict, judge
from atc.retrieve.hierarchy.tree import Hierarchy, Place
from atc.retrieve.side_by_side import SideBySide
from protocols.ask import Ask, Message
from protocols.ask_each import Request, ask_each
from protocols.errors import ModelUnavailable

_REPLY_TOKENS = 600
_MOST_REPEATS = 3
"""Calls with the same result as before, in a row, after which an agent is stopped: it would go on so to the end."""
_REPEATED = "the result is the same as before; {next}, or call finish_search"


class Search:
    """The state of one query's search. `run` goes on until it ends; `resume` wakes unfinished agents with a reason.

    `pool` is in order of addition, `agents` in order of creation, `ended` says why the search stopped last; `dropped`
    are the APIs that were pruned, which no agent can add again. A model's outage leaves everything as it was before the
    calls that failed: `run` goes on there. Not for use by several threads.
    """

    def __init__(
        self, query: str, hierarchy: Hierarchy, ask: Ask, *, options: Options, budget: Budget | None = None
    ) -> None:
        self.hierarchy, self.options = hierarchy, options
        self.budget = budget or Budget(options.tokens)
        self.agents: list[Agent] = []
        self.pool: list[str] = []
        self.dropped: set[str] = set()
        self.transcript: list[str] = []
        self.ended: Ended = ""
        self.verdict: Verdict | None = None
        self.awaiting: list[Agent] = []
        """Agents that are to hear whether the pool suffices."""
        self._ask = ask
        self.room = Room.of(options.prompt_tokens or ask.prompt_tokens)
        self.query = listing.within(query, room=self.room.request)

    @property
    def known(self) -> set[str]:
        """APIs that cannot be added: those in the pool, and those that were pruned."""
        return self.dropped.union(self.pool)

    @property
    def is_full(self) -> bool:
        """Whether the pool holds all that it may."""
        return len(self.pool) >= self.options.pool

    def begin(self) -> None:
        """Create the first agents: a meta agent, or what a small box needs instead.

        Of a few tools in all a tool agent alone, of one category its category agent; where the categories do not fit
        one prompt several meta agents share them.
        """
        places = self.hierarchy.places()
        categories = list(self.hierarchy.tools)
        if not places:
            return
        if not self.options.flat and len(places) <= self.options.tools_per_agent:
            self.add_agent("tool", places=places)
        elif not self.options.flat and len(categories) == 1:
            self.add_category_agent(categories[0])
        else:
            role: Role = "flat" if self.options.flat else "meta"
            lines = listing.category_lines(categories, self.hierarchy)
            for names, _ in listing.groups(categories, lines, room=self.room.scope):
                self.add_agent(role, categories=names, places=self.hierarchy.places(names))

    def add_category_agent(self, category: str, *, creator: Agent | None = None) -> Agent:
        """An agent for a category, which is a tool agent where the category has few tools."""
        places = self.hierarchy.places([category])
        role: Role = "tool" if len(places) <= self.options.tools_per_agent else "category"
        return self.add_agent(role, categories=(category,), places=places, creator=creator)

    def add_agent(
        self,
        role: Role,
        *,
        categories: tuple[str, ...] = (),
        places: tuple[Place, ...] = (),
        apis: Sequence[str] = (),
        listed: str = "",
        creator: Agent | None = None,
    ) -> Agent:
        """A new agent with its instructions and its task.

        `apis`, which it may add, are by default those of its tools; `listed` is how it is shown its scope.
        """
        scope = tuple(apis) if apis or role in ("meta", "category") else self.hierarchy.apis(places)
        agent = Agent(
            number=len(self.agents), role=role, categories=categories, places=places, apis=scope,
            creator=creator.number if creator else None, history=[],
        )  # fmt: skip
        most = {"most": str(self.options.tools_per_agent)} if role == "category" else {}
        listed = listed or listing.scope(agent, self.hierarchy, room=self.room.scope)
        agent.history = [
            Message("system", fill(role, **most)),
            Message("user", fill("task", listing=listed, query=self.query)),
        ]
        self.agents.append(agent)
        return agent

    def add(self, api: str) -> bool:
        """Put an API into the pool; False where it is there, was pruned, or finds no room."""
        if self.is_full or api in self.known:
            return False
        self.pool.append(api)
        return True

    def prune(self, names: Iterable[str]) -> None:
        """Take APIs out of the pool for good (those that a solver found to be of no use)."""
        gone = set(names)
        self.dropped |= gone
        self.pool = [name for name in self.pool if name not in gone]
        self.transcript.append(f"pruned: {', '.join(sorted(gone))}")

    def run(self) -> None:
        """Let the active agents act until the search ends; does nothing where none is active.

        Raises:
            ModelUnavailable: the model did not answer an agent. All others of its round have been heard.
        """
        self.ended = self._limit()
        with SideBySide(self.options.threads) as threads:
            while not self.ended and (active := [agent for agent in self.agents if agent.status == "active"]):
                for start in range(0, len(active), self.options.threads):
                    if not self.ended:
                        self._round(active[start : start + self.options.threads], threads)
        for agent in self.agents:
            if agent.status == "active":
                agent.status = "stopped"
        self.ended = self.ended or "done"
        self.transcript.append(sentence(self.ended, apis=len(self.pool), budget=self.budget))

    def resume(self, reason: str, roles: Collection[Role] = ("tool", "category", "meta", "flat", "plain")) -> None:
        """Tell every unfinished agent why the pool failed, then wake them one after another (§4.3).

        The deepest come first, among equals the youngest; each acts, with those that it creates, until none of them has
        anything left to do. The first to make the request solvable is the last to be woken. `roles` is the ablation
        of Table 4.

        Raises:
            ModelUnavailable: as for `run`; agents not woken yet stay as they are.
        """
        unfinished = [agent for agent in self.agents if agent.status != "finished"]
        said = listing.within(reason, room=self.room.result)
        for agent in unfinished:
            agent.hear(fill("resume_tool" if agent.apis else f"resume_{agent.role}", reason=said))
        self.verdict = Verdict(tuple(self.pool), "Unsolvable", listing.plain(said))
        self.ended = self._limit()
        self.transcript.append(f"resumed, since: {listing.plain(said)}")
        for agent in waking_order([agent for agent in unfinished if agent.role in roles]):
            if self.ended in ("", "done"):
                agent.wake()
                self.run()

    def retrieval(self, *, k: int) -> Retrieval:
        """The pool in order of addition, at most `k`; scores only say that order."""
        hits = tuple(Hit(name, 1 / (rank + 1)) for rank, name in enumerate(self.pool[:k]))
        return Retrieval(hits=hits, transcript=tuple(self.transcript), usage=self.budget.usage)

    def _round(self, agents: Sequence[Agent], threads: Executor) -> None:
        """One step of each agent, side by side; then what they asked for, in order; then one check of the pool."""
        prompts = [agent.prompt(room=self.room.prompt) for agent in agents]
        requests = [
            Request(messages=prompt, schema=schema(self, agent), max_tokens=_REPLY_TOKENS)
            for agent, prompt in zip(agents, prompts, strict=True)
        ]
        replies = ask_each(self._ask, requests, threads)
        calls = []
        for agent, prompt, reply in zip(agents, prompts, replies, strict=True):
            if not isinstance(reply, ModelUnavailable):
                self.budget.charge(reply, prompt)
                agent.history.append(Message("assistant", reply.text))
                calls.append((agent, *perform(self, agent, reply.text)))
        failed = next((reply for reply in replies if isinstance(reply, ModelUnavailable)), None)
        try:
            verdict = self._verdict() if self.awaiting and not failed else ""
        except ModelUnavailable as error:
            verdict, failed = "", error
        for agent, call, result in calls:
            self._heard(agent, call, f"{result}\n{verdict}".strip() if agent in self.awaiting else result)
        if failed is not None:
            raise failed  # those that await a verdict hear it at the end of the next round
        self.awaiting = []
        self.ended = self._limit()

    def _heard(self, agent: Agent, call: str, result: str) -> None:
        """Tell an agent the result of its call, and stop it where it goes on in vain."""
        repeated = agent.heard.get(call) == result
        agent.heard[call] = result
        agent.repeats = agent.repeats + 1 if repeated else 0
        agent.steps += 1
        agent.hear(_REPEATED.format(next=HOW_TO_ADD if agent.apis else "make another call") if repeated else result)
        self.transcript.append(f"{agent}: {_short(call)} → {_short(listing.plain(result))}")
        if agent.status == "active" and agent.repeats >= _MOST_REPEATS:
            agent.status = "stopped"
            self.transcript.append(f"{agent} was stopped: it repeats itself")
        elif agent.status == "active" and agent.steps >= self.options.steps:
            agent.status = "stopped"
            self.transcript.append(f"{agent} was stopped: it made its {self.options.steps} steps")

    def _verdict(self) -> str:
        """What the pool is worth, as a result for agents; the model is asked where the pool changed since."""
        if not self.pool:
            return "Unsolvable: the pool is empty"
        if self.verdict is None or self.verdict.pool != tuple(self.pool):
            if self._limit():
                return "not checked: the search has ended"
            self.verdict = judge(self.query, self.pool, self.hierarchy, self._ask, self.budget, room=self.room)
            self.transcript.append(f"check of {len(self.pool)} APIs → {self.verdict}")
        return str(self.verdict)

    def _limit(self) -> Ended:
        """Why nobody may go on; empty while they may."""
        if self.verdict is not None and self.verdict.ends and self.verdict.pool == tuple(self.pool):
            return "solvable"
        if self.is_full:
            return "pool full"
        return "" if self.budget.left else "budget"


def _short(text: str) -> str:
    return text if len(text) <= 300 else f"{text[:300]}…"
