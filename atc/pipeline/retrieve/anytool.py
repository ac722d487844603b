"""AnyTool's retriever (§4.1): agents that search a hierarchy of tools.

Agents act in rounds. In a round each active agent asks the model once, up to
`AnyToolOptions.threads` of them at the same time. Their function calls are then performed in the
order in which the agents were created. So the result depends only on the options and on the model's
reply to each prompt, not on how long replies take.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Literal, NamedTuple

from atc.core.parallel import ModelRequest, require_completion
from atc.pipeline.retrieve import hierarchy as listing
from atc.pipeline.retrieve.base import Hit, Retrieval
from atc.pipeline.retrieve.document import ToolDocument
from atc.pipeline.retrieve.hierarchy import Hierarchy, Room, ToolPlace, resolve_name
from atc.pipeline.retrieve.model_replies import (
    Tally,
    a_list,
    a_text,
    an_object,
    json_object,
    one_text,
    prompt_tokens,
)
from atc.pipeline.retrieve.prompts import fill
from protocols.model import Ask, Message
from protocols.schema import Json, JsonObject
from protocols.truncate import clip_text

AgentRole = Literal["meta", "category", "tool", "flat"]
AgentStatus = Literal["active", "finished", "stopped"]
"""*finished*: the agent called `finish_search` and is never woken again. *stopped*: it used up its
steps, or the whole search ended.
"""
EndReason = Literal["", "solvable", "pool full", "budget", "done"]
"""Why a search ended: the pool is sufficient, the pool is full, the token budget is spent, or no
agent has more to do.
"""
VerdictWord = Literal["Solvable", "Unsolvable", "Unsure"]

_DEPTH = {"meta": 0, "flat": 0, "category": 1, "tool": 2}
"""The level of the hierarchy at which agents of each role work."""
_LINE = 300
"""Maximum characters of a call or a result in the transcript."""
_REPLY_TOKENS = 600
_VERDICT_TOKENS = 200
_HOW_TO_ADD = "put those that the request needs into the pool with add_API_into_API_pool"
"""Reminder for agents that have looked at APIs. Without it, small models look again or finish."""
_FEW = 256
"""Up to this many names, the reply schema lists them as an enum. Longer lists are checked after the
reply.
"""
_MOST_ADDED = 10
_LOOKED_UP = 5
_PAGE: JsonObject = {"type": "integer", "minimum": 1, "maximum": 999}
_WORDS: tuple[VerdictWord, ...] = ("Solvable", "Unsolvable", "Unsure")
_VERDICT = an_object({"reason": a_text(200), "verdict": {"type": "string", "enum": list(_WORDS)}})


class Mistake(Exception):
    """A call that cannot be carried out. The message tells the agent what it can do instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyToolOptions:
    """Limits of an AnyTool search (§4.1, A.1 and the published code) and the ablations of Tables 3,
    6 and 7.

    Raises:
        ValueError: a value is below its minimum (1, or the field's `least`).
    """

    pool: int = 64
    """Maximum number of APIs in the pool. The search ends when it is full."""
    tools_per_agent: int = 5
    """Maximum number of tools for one tool agent. A category with no more tools than this gets a
    tool agent directly.
    """
    steps: int = 20
    """Maximum number of model calls of an agent each time it is woken."""
    tokens: int = 200_000
    """Token budget of one query: prompts and replies of all agents together."""
    threads: int = 16
    """Number of agents that ask the model at the same time."""
    flat: bool = False
    """Use a single agent with all functions instead of a hierarchy of agents."""
    prompt_tokens: int | None = None
    """Maximum tokens of an agent's prompt. None means the model's own limit."""

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            least = one.metadata.get("least", 1)
            if isinstance(value, int) and not isinstance(value, bool) and value < least:
                raise ValueError(f"{one.name} must be at least {least}, not {value}")


@dataclass(eq=False, kw_only=True)
class SearchAgent:
    """One agent of a search, identified by its number in order of creation.

    `history` is the complete conversation; a prompt may contain only part of it. `categories`,
    `places` and `apis` are the agent's scope: it cannot delegate or add anything outside it.
    """

    number: int
    role: AgentRole
    history: list[Message]
    categories: tuple[str, ...] = ()
    places: tuple[ToolPlace, ...] = ()
    apis: tuple[str, ...] = ()
    creator: int | None = None
    status: AgentStatus = "active"
    steps: int = 0
    """Model calls since the agent was last woken."""
    delegated_names: set[str] = field(default_factory=set)
    """Categories or tools for which another agent was created."""
    studied: dict[str, None] = field(default_factory=dict)
    """APIs whose details the agent asked for."""
    reminded: bool = False

    def __str__(self) -> str:
        named = {
            "category": self.categories[:1],
            "tool": [place.tool for place in self.places],
        }.get(self.role, ())
        return f"#{self.number} {self.role} {', '.join(map(repr, named))}".rstrip()

    def add_message(self, text: str) -> None:
        """Add a user message. If the last message is still unanswered, append to it, since turns
        must alternate.
        """
        last = self.history[-1]
        if last.role == "user":
            self.history[-1] = replace(last, content=f"{last.content}\n\n{text}")
        else:
            self.history.append(Message("user", text))

    def prompt(self, *, room: int) -> list[Message]:
        """Return the history cut to about `room` tokens.

        The instructions and the task are always kept; the oldest turns are dropped first.
        """
        opening = self.history[:2]
        turns = self.history[2:]
        while len(turns) > 2 and prompt_tokens([*opening, *turns]) > room:
            turns = turns[2:]
        return [*opening, *turns]

    @property
    def tools(self) -> list[str]:
        """Names of the tools in the agent's scope. A name that occurs in several categories is
        listed once.
        """
        return list(dict.fromkeys(place.tool for place in self.places))

    def places_of(self, names: Sequence[str]) -> tuple[ToolPlace, ...]:
        """Return the places in the agent's scope of the tools with these names."""
        return tuple(place for name in names for place in self.places if place.tool == name)


@dataclass(frozen=True, slots=True)
class PoolVerdict:
    """The model's verdict on a pool. An unreadable reply counts as *Unsure*."""

    pool: tuple[str, ...]
    word: VerdictWord
    reason: str

    def __str__(self) -> str:
        return f"{self.word}: {self.reason}" if self.reason else self.word


class AgentFunction(NamedTuple):
    """A function that agents can call.

    `build_parameters` returns the JSON Schema properties of its arguments at this moment, or None
    if the function cannot do anything now. `act` carries out a call and returns the result text.
    """

    build_parameters: Callable[[AgentSearch, SearchAgent], JsonObject | None]
    act: Callable[[AgentSearch, SearchAgent, JsonObject], str]


def _make_function(
    key: str,
    scope: Literal["categories", "tools", "apis"],
    act: Callable[[AgentSearch, SearchAgent, list[str], Json], str],
    *,
    most: Callable[[AgentSearch], int] | None = None,
    used: Callable[[AgentSearch, SearchAgent], Collection[str]] = lambda *_: (),
    pages: bool = False,
) -> AgentFunction:
    """Build a function that takes names from the agent's `scope` that are not yet `used`.

    `most` returns the maximum number of names per call; None means exactly one. With `pages`, the
    function also takes a page number. A short list of names is enforced by the reply schema, a long
    one is checked when the reply comes.
    """

    def find_unused_names(search: AgentSearch, agent: SearchAgent) -> list[str]:
        gone = used(search, agent)
        return [name for name in getattr(agent, scope) if name not in gone]

    def build_parameters(search: AgentSearch, agent: SearchAgent) -> JsonObject | None:
        names = find_unused_names(search, agent)
        one = {"type": "string", "enum": names} if len(names) <= _FEW else a_text(200)
        given = {key: one if most is None else a_list(one, most=most(search), least=1)}
        return given | ({"page": _PAGE} if pages else {}) if names else None

    def resolve_and_act(search: AgentSearch, agent: SearchAgent, arguments: JsonObject) -> str:
        given = arguments.get(key)
        known = find_unused_names(search, agent)
        wanted = [given] if isinstance(given, str) else given
        if not isinstance(wanted, list) or not wanted:
            raise Mistake(f"{key!r} must be {'a name' if most is None else 'a list of names'}")
        found = {str(name): resolve_name(str(name), known) for name in wanted}
        missing = ", ".join(clip_text(repr(name), 80) for name, one in found.items() if one is None)
        unknown = (
            f"not among the names left for {key!r}: {missing}; use names as they are listed"
            if missing
            else ""
        )
        names = list(dict.fromkeys(one for one in found.values() if one))
        if not names:
            raise Mistake(unknown)
        if most is not None and len(names) > most(search):
            raise Mistake(f"at most {most(search)} {key} at a time, and these are {len(names)}")
        return _lines(act(search, agent, names, arguments.get("page", 1)), unknown)

    return AgentFunction(build_parameters, resolve_and_act)


def _create_for_category(search: AgentSearch, agent: SearchAgent, names: list[str], _: Json) -> str:
    agent.delegated_names |= set(names)
    created = search.add_category_agent(names[0], creator=agent)
    return f"agent {created} was created ({len(created.places)} tools)"


def _create_for_tools(search: AgentSearch, agent: SearchAgent, names: list[str], _: Json) -> str:
    agent.delegated_names |= set(names)
    return f"agent {search.add_agent('tool', places=agent.places_of(names), creator=agent)} was created"


def _list_tools(search: AgentSearch, _: SearchAgent, names: list[str], page: Json) -> str:
    return _page(search.hierarchy.tools[names[0]], page, search)


def _describe_tools(search: AgentSearch, agent: SearchAgent, names: list[str], _: Json) -> str:
    return listing.tools_text(agent.places_of(names), search.hierarchy, room=search.room.result)


def _list_apis(search: AgentSearch, agent: SearchAgent, names: list[str], page: Json) -> str:
    return _page(search.hierarchy.apis(agent.places_of(names)), page, search)


def _detail_apis(search: AgentSearch, agent: SearchAgent, names: list[str], _: Json) -> str:
    """Return description, parameters and response fields of each API, and how to add those that
    fit.
    """
    agent.studied |= dict.fromkeys(names)
    room = search.room.result // len(names)
    details = [listing.detail_text(search.hierarchy.documents[name], room=room) for name in names]
    return _lines(*details, "" if search.decided_apis.issuperset(names) else _HOW_TO_ADD)


def _add(search: AgentSearch, agent: SearchAgent, names: list[str], _: Json) -> str:
    """Add the APIs to the pool, as many as still fit."""
    added = names[: max(0, search.options.pool - len(search.pool))]
    search.pool += added
    search.awaiting.append(agent)
    return f"added: {', '.join(added)}\nthe pool holds {len(search.pool)} APIs"


def _check(search: AgentSearch, agent: SearchAgent, _: JsonObject) -> str:
    """Register the agent for the verdict on the pool, which is determined at the end of the
    round.
    """
    search.awaiting.append(agent)
    return ""


def _finish(search: AgentSearch, agent: SearchAgent, _: JsonObject) -> str:
    """Mark the agent as finished.

    An agent that looked at APIs but added none is asked once to reconsider. Without this, the
    embedded model left 14 of 25 pools empty.
    """
    if agent.studied and not agent.reminded and search.decided_apis.isdisjoint(agent.studied):
        agent.reminded = True
        names = ", ".join(list(agent.studied)[:_LOOKED_UP])
        raise Mistake(
            f"you looked at {names} and added nothing; {_HOW_TO_ADD}, or call finish_search again"
        )
    agent.status = "finished"
    return "finished"


def _get_delegated_names(_: AgentSearch, agent: SearchAgent) -> Collection[str]:
    return agent.delegated_names


_LOOK = {
    "get_tools_in_category": _make_function("category", "categories", _list_tools, pages=True),
    "get_tool_descriptions": _make_function(
        "tools", "tools", _describe_tools, most=lambda _: _LOOKED_UP
    ),
}
_APIS = {
    "add_API_into_API_pool": _make_function(
        "apis", "apis", _add, most=lambda _: _MOST_ADDED, used=lambda search, _: search.decided_apis
    ),
    "get_APIs_in_tool": _make_function("tool", "tools", _list_apis, pages=True),
    "get_API_detail": _make_function("apis", "apis", _detail_apis, most=lambda _: _LOOKED_UP),
    "check_if_request_solvable": AgentFunction(lambda *_: {}, _check),
}
_FINISH = {"finish_search": AgentFunction(lambda *_: {}, _finish)}
FUNCTIONS: Mapping[AgentRole, Mapping[str, AgentFunction]] = {
    "meta": {
        "create_agent_category_level": _make_function(
            "category", "categories", _create_for_category, used=_get_delegated_names
        ),
        **_LOOK,
        **_FINISH,
    },
    "category": {
        "create_agent_tool_level": _make_function(
            "tools",
            "tools",
            _create_for_tools,
            most=lambda search: search.options.tools_per_agent,
            used=_get_delegated_names,
        ),
        **_LOOK,
        **_FINISH,
    },
    "tool": {**_APIS, **_FINISH},
    "flat": {**_LOOK, **_APIS, **_FINISH},
}
"""Functions by agent role (Table 8). The flat agent has those of category and tool agents but
cannot create agents (§5.3).
"""


def reply_schema(
    search: AgentSearch, agent: SearchAgent, functions: Mapping[str, AgentFunction]
) -> JsonObject:
    """Return the JSON Schema of a reply of `agent`: a thought and one function call.

    Only functions that can do something now are included. Names that are used up (a category that
    has an agent, an API in the pool) are no longer offered.
    """
    calls: list[Json] = [
        an_object({"function": {"type": "string", "enum": [name]}, **takes}, optional=["page"])
        for name, function in functions.items()
        if (takes := function.build_parameters(search, agent)) is not None
    ]
    return an_object({"thought": a_text(200), "call": {"anyOf": calls}})


def perform(
    search: AgentSearch, agent: SearchAgent, text: str, functions: Mapping[str, AgentFunction]
) -> tuple[str, str]:
    """Carry out the function call in a reply.

    Return the call as one line of text, and its result or an error line.
    """
    reply = json_object(text)
    call = reply.get("call", reply)
    name = call.get("function") if isinstance(call, dict) else None
    if not isinstance(call, dict) or not isinstance(name, str):
        return (
            "no call",
            'error: reply with one JSON object of a thought and a "call": {"function": …}',
        )
    arguments = {key: value for key, value in call.items() if key not in ("function", "thought")}
    line = f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
    if name not in functions:
        return line, f"error: there is no function {name!r}; there are {', '.join(functions)}"
    try:
        return line, functions[name].act(search, agent, arguments)
    except Mistake as mistake:
        return line, f"error: {mistake}"


class AgentSearch:
    """State of the search for one query.

    `run` works until the search ends; `resume` wakes unfinished agents and tells them why. `pool`
    is in order of addition and `agents` in order of creation. `ended` is the reason why the search
    last stopped. `dropped` are the pruned APIs, which no agent can add again. Not thread-safe.
    """

    def __init__(
        self, query: str, hierarchy: Hierarchy, ask: Ask, *, options: AnyToolOptions
    ) -> None:
        self.hierarchy = hierarchy
        self.options: AnyToolOptions = options
        self.agents: list[SearchAgent] = []
        self.pool: list[str] = []
        self.dropped: set[str] = set()
        self.transcript: list[str] = []
        self.ended: EndReason = ""
        self.verdict: PoolVerdict | None = None
        self.awaiting: list[SearchAgent] = []
        """Agents that are to hear whether the pool suffices."""
        self.ask = Tally(ask)
        self.room = Room.of(options.prompt_tokens or ask.prompt_tokens)
        self.query = listing.clip_to_room(query, room=self.room.request)

    @property
    def decided_apis(self) -> set[str]:
        """APIs that cannot be added: those already in the pool and those that were pruned."""
        return self.dropped.union(self.pool)

    def begin(self) -> None:
        """Create the first agents.

        If there is only one category, that is its agent. Otherwise it is as many meta agents as are
        needed to list all categories.
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

    def add_category_agent(
        self, category: str, *, creator: SearchAgent | None = None
    ) -> SearchAgent:
        """Create an agent for a category: a tool agent if the category has few tools, else a
        category agent.
        """
        places = self.hierarchy.places([category])
        role: AgentRole = "tool" if len(places) <= self.options.tools_per_agent else "category"
        return self.add_agent(role, categories=(category,), places=places, creator=creator)

    def add_agent(
        self,
        role: AgentRole,
        *,
        categories: tuple[str, ...] = (),
        places: tuple[ToolPlace, ...] = (),
        creator: SearchAgent | None = None,
    ) -> SearchAgent:
        """Create an agent with its instructions and its task.

        Tool and flat agents may add the APIs of the tools at `places`.
        """
        match role:
            case "meta" | "flat":
                scope = "\n".join(
                    ["Categories:", *listing.category_lines(categories, self.hierarchy)]
                )
            case "category":
                lines = [f"- {place.tool}" for place in places]
                scope = f"Tools of the category {categories[0]}:\n{listing.page(lines, 1, room=self.room.scope)}"
            case "tool":
                scope = f"Tools and their APIs:\n{listing.tools_text(places, self.hierarchy, room=self.room.scope)}"
        most = {"most": str(self.options.tools_per_agent)} if role == "category" else {}
        agent = SearchAgent(
            number=len(self.agents),
            role=role,
            categories=categories,
            places=places,
            apis=() if role in ("meta", "category") else self.hierarchy.apis(places),
            creator=creator.number if creator else None,
            history=[
                Message("system", fill(f"agents_{role}", **most)),
                Message("user", fill("agents_task", listing=scope, query=self.query)),
            ],
        )
        self.agents.append(agent)
        return agent

    def prune(self, names: Iterable[str]) -> None:
        """Remove APIs from the pool for good, because a solver found them useless."""
        gone = set(names)
        self.dropped |= gone
        self.pool = [name for name in self.pool if name not in gone]
        self.transcript.append(f"pruned: {', '.join(sorted(gone))}")

    def run(self) -> None:
        """Let the active agents act until the search ends. Does nothing if no agent is active.

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
        """Tell every unfinished agent why the pool failed, then wake them one after another (§4.3).

        The deepest agents come first, among equals the youngest. Each acts, together with the
        agents it creates, until none of them has anything left to do. Waking stops as soon as the
        pool is sufficient.

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
        """Return the first `k` APIs of the pool in order of addition. The scores only express that
        order.
        """
        hits = tuple(Hit(name, 1 / (rank + 1)) for rank, name in enumerate(self.pool[:k]))
        return Retrieval(hits=hits, transcript=tuple(self.transcript), usage=self.ask.usage)

    def _round(self, agents: Sequence[SearchAgent]) -> None:
        """Run one step of each agent: ask the model in parallel, perform the calls in order, then
        check the pool once.
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
        """Add the result of a call to the agent's history, and stop the agent after its last
        step.
        """
        agent.steps += 1
        agent.add_message(result)
        self.transcript.append(
            f"{agent}: {clip_text(call, _LINE)} → {clip_text(one_text(result), _LINE)}"
        )
        if agent.status == "active" and agent.steps >= self.options.steps:
            agent.status = "stopped"

    def _verdict(self) -> str:
        """Return the verdict on the pool as a result text. The model is asked only if the pool
        changed since the last check.
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
        """Ask the model whether the pool suffices for the query.

        The APIs may take the room of an agent's scope and of one result in the prompt.
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
        """Return why the search must end, or an empty string if it may continue.

        As in the published code, every verdict except *Unsolvable* ends the search.
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


def _page(names: Iterable[str], number: Json, search: AgentSearch) -> str:
    try:
        lines = [f"- {name}" for name in names]
        return listing.page(lines, number if type(number) is int else 1, room=search.room.result)
    except IndexError as error:
        raise Mistake(str(error)) from None


def _lines(*lines: str) -> str:
    return "\n".join(filter(None, lines))


class AnyTool:
    """A `Retriever` after AnyTool: meta agents choose categories, category agents choose tools,
    tool agents choose APIs.

    The hits are the pool in order of addition. Several threads may search at once. See
    `AgentSearch` for how agents act and `Hierarchy` for tools without categories. The hierarchy is
    built from the documents at the first search.
    """

    def __init__(
        self,
        documents: Mapping[str, ToolDocument],
        ask: Ask,
        *,
        options: AnyToolOptions = AnyToolOptions(),
    ) -> None:
        self._documents = documents
        self._ask = ask
        self._options = options

    def search(self, query: str, *, k: int) -> Retrieval:
        """Return the first `k` APIs of the pool, see `Retriever.search`.

        Raises:
            ModelUnavailable: the model did not answer.
        """
        search = self.start(query)
        search.run()
        return search.retrieval(k=k)

    def start(self, query: str) -> AgentSearch:
        """Return a search with its first agents, before any model call."""
        search = AgentSearch(query, self.hierarchy, self._ask, options=self._options)
        search.begin()
        return search

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The hierarchy of the documents, built at first use."""
        return Hierarchy.of(self._documents)
