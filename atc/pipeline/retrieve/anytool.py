"""AnyTool's retriever (§4.1): agents over a hierarchy of tools, what they may do, and how they go on.

Agents act in rounds. In a round each active agent asks the model once, up to `Options.threads` of them at the same
time; what they asked for is then done in the order in which the agents were created. So the result depends on the
options and on what the model replies to each prompt, never on how long a reply takes.
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
"""*finished*: it called `finish_search`, and is never woken again. *stopped*: it used up its steps, or the whole search
ended."""
EndReason = Literal["", "solvable", "pool full", "budget", "done"]
"""Why a search ended: the pool suffices, it is full, the tokens are used up, or no agent has more to do."""
VerdictWord = Literal["Solvable", "Unsolvable", "Unsure"]

_DEPTH = {"meta": 0, "flat": 0, "category": 1, "tool": 2}
"""How deep in the hierarchy agents of a role stand."""
_LINE = 300
"""Characters of a call or a result in the transcript."""
_REPLY_TOKENS = 600
_VERDICT_TOKENS = 200
_HOW_TO_ADD = "put those that the request needs into the pool with add_API_into_API_pool"
"""What an agent that may add APIs does when it has looked at some: small models look again, or finish."""
_FEW = 256
"""So many names stand in the schema as the only ones possible; of more, a reply's are checked when it comes."""
_MOST_ADDED = 10
_LOOKED_UP = 5
_PAGE: JsonObject = {"type": "integer", "minimum": 1, "maximum": 999}
_WORDS: tuple[VerdictWord, ...] = ("Solvable", "Unsolvable", "Unsure")
_VERDICT = an_object({"reason": a_text(200), "verdict": {"type": "string", "enum": list(_WORDS)}})


class Mistake(Exception):
    """A call that cannot be done; its text says what can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyToolOptions:
    """The limits of AnyTool (§4.1, A.1 and the published code), and the ablations of its Tables 3, 6 and 7.

    Raises:
        ValueError: one is less than 1, or than its `least`.
    """

    pool: int = 64
    """APIs in the pool at most; the search ends when it is full."""
    tools_per_agent: int = 5
    """Tools that a tool agent searches at most; a category of so few gets a tool agent at once."""
    steps: int = 20
    """Calls of the model that an agent makes at most, each time it is woken."""
    tokens: int = 200_000
    """Tokens of a query, prompts and replies of all agents together."""
    threads: int = 16
    """Agents that ask the model at the same time."""
    flat: bool = False
    """One agent with the functions of all, and no hierarchy of agents."""
    prompt_tokens: int | None = None
    """Tokens of an agent's prompt at most; None for what the model is said to hold."""

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            least = one.metadata.get("least", 1)
            if isinstance(value, int) and not isinstance(value, bool) and value < least:
                raise ValueError(f"{one.name} must be at least {least}, not {value}")


@dataclass(eq=False, kw_only=True)
class SearchAgent:
    """One agent of a search, known by its number in order of creation.

    `history` is all that was said, whole; a prompt may show less of it. `categories`, `places` and `apis` are its
    scope; an agent hands out or adds nothing beyond.
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
    """Calls of the model since it was last woken."""
    delegated_names: set[str] = field(default_factory=set)
    """Categories or tools that have an agent of their own."""
    studied: dict[str, None] = field(default_factory=dict)
    """APIs whose details it asked for."""
    reminded: bool = False

    def __str__(self) -> str:
        named = {
            "category": self.categories[:1],
            "tool": [place.tool for place in self.places],
        }.get(self.role, ())
        return f"#{self.number} {self.role} {', '.join(map(repr, named))}".rstrip()

    def add_message(self, text: str) -> None:
        """Add a message; to the last one, where that has not been answered: turns alternate."""
        last = self.history[-1]
        if last.role == "user":
            self.history[-1] = replace(last, content=f"{last.content}\n\n{text}")
        else:
            self.history.append(Message("user", text))

    def prompt(self, *, room: int) -> list[Message]:
        """The history within about `room` tokens: the instructions and the task stay, the oldest turns are left out."""
        opening = self.history[:2]
        turns = self.history[2:]
        while len(turns) > 2 and prompt_tokens([*opening, *turns]) > room:
            turns = turns[2:]
        return [*opening, *turns]

    @property
    def tools(self) -> list[str]:
        """The tools in its scope, a name that several categories have once."""
        return list(dict.fromkeys(place.tool for place in self.places))

    def places_of(self, names: Sequence[str]) -> tuple[ToolPlace, ...]:
        """Where the tools of these names stand."""
        return tuple(place for name in names for place in self.places if place.tool == name)


@dataclass(frozen=True, slots=True)
class PoolVerdict:
    """What the model said of a pool. A reply that cannot be read counts as *Unsure*."""

    pool: tuple[str, ...]
    word: VerdictWord
    reason: str

    def __str__(self) -> str:
        return f"{self.word}: {self.reason}" if self.reason else self.word


class AgentFunction(NamedTuple):
    """The properties of what a function takes now (None where it can do nothing), and what it does."""

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
    """A function that takes names of the agent's `scope` that are not `used` up, and perhaps a page.

    It takes at most `most` names; None: one. Of few names a reply can only say these; of many it is checked.
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
    """Description, parameters and response fields of each; and what to do with those that fit."""
    agent.studied |= dict.fromkeys(names)
    room = search.room.result // len(names)
    details = [listing.detail_text(search.hierarchy.documents[name], room=room) for name in names]
    return _lines(*details, "" if search.decided_apis.issuperset(names) else _HOW_TO_ADD)


def _add(search: AgentSearch, agent: SearchAgent, names: list[str], _: Json) -> str:
    """What finds room is added."""
    added = names[: max(0, search.options.pool - len(search.pool))]
    search.pool += added
    search.awaiting.append(agent)
    return f"added: {', '.join(added)}\nthe pool holds {len(search.pool)} APIs"


def _check(search: AgentSearch, agent: SearchAgent, _: JsonObject) -> str:
    """The verdict on the pool as it is at the end of the round."""
    search.awaiting.append(agent)
    return ""


def _finish(search: AgentSearch, agent: SearchAgent, _: JsonObject) -> str:
    """Who studied APIs and added none is asked once more: else the embedded model left 14 of 25 pools empty."""
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
"""By role (Table 8). The flat agent has those of category and tool agents, but creates none (§5.3)."""


def reply_schema(
    search: AgentSearch, agent: SearchAgent, functions: Mapping[str, AgentFunction]
) -> JsonObject:
    """What a reply of `agent` must look like: a thought, and a call of a function that can do something now.

    Names that are used up (a category with an agent, an API in the pool) are no longer offered.
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
    """Do what a reply asks for: the call as a line, and its result or an error line."""
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
    """The state of one query's search. `run` goes on until it ends; `resume` wakes unfinished agents with a reason.

    `pool` is in order of addition, `agents` in order of creation, `ended` says why the search stopped last; `dropped`
    are the APIs that were pruned, which no agent can add again. Not for use by several threads.
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
        """APIs that cannot be added: those in the pool, and those that were pruned."""
        return self.dropped.union(self.pool)

    def begin(self) -> None:
        """Create the first agents: the agent of the only category, else as many meta agents as the categories need."""
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
        """An agent for a category, which is a tool agent where the category has few tools."""
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
        """A new agent with its instructions and its task; it may add the APIs of its tools."""
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
        """Take APIs out of the pool for good (those that a solver found to be of no use)."""
        gone = set(names)
        self.dropped |= gone
        self.pool = [name for name in self.pool if name not in gone]
        self.transcript.append(f"pruned: {', '.join(sorted(gone))}")

    def run(self) -> None:
        """Let the active agents act until the search ends; does nothing where none is active.

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

        The deepest come first, among equals the youngest; each acts, with those that it creates, until none of them has
        anything left to do. The first to make the request solvable is the last to be woken.

        Raises:
            ModelUnavailable: as for `run`.
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
        """The pool in order of addition, at most `k`; scores only say that order."""
        hits = tuple(Hit(name, 1 / (rank + 1)) for rank, name in enumerate(self.pool[:k]))
        return Retrieval(hits=hits, transcript=tuple(self.transcript), usage=self.ask.usage)

    def _round(self, agents: Sequence[SearchAgent]) -> None:
        """One step of each agent, side by side; then what they asked for, in order; then one check of the pool."""
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
        """Tell an agent the result of its call, and stop it after its last step."""
        agent.steps += 1
        agent.add_message(result)
        self.transcript.append(
            f"{agent}: {clip_text(call, _LINE)} → {clip_text(one_text(result), _LINE)}"
        )
        if agent.status == "active" and agent.steps >= self.options.steps:
            agent.status = "stopped"

    def _verdict(self) -> str:
        """What the pool is worth, as a result for agents; the model is asked where the pool changed since."""
        if not self.pool:
            return "Unsolvable: the pool is empty"
        if self.verdict is None or self.verdict.pool != tuple(self.pool):
            if self._limit():
                return "not checked: the search has ended"
            self.verdict = self._ask_verdict()
            self.transcript.append(f"check of {len(self.pool)} APIs → {self.verdict}")
        return str(self.verdict)

    def _ask_verdict(self) -> PoolVerdict:
        """What the model says of the pool; its APIs get the room of an agent's scope and of a result."""
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
        """Why nobody may go on; empty while they may. Anything but *Unsolvable* ends it, as in the published code."""
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
    """A `Retriever`: a meta agent chooses categories, category agents tools, tool agents APIs.

    The hits are the pool in order of addition. Several threads may search at once. See `Search` for how agents act,
    and `Hierarchy` for boxes without categories; it is made of the documents as they are at the first search.
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
        """The first `k` APIs of the pool, see `Retriever.search`.

        Raises:
            ModelUnavailable: the model did not answer.
        """
        search = self.start(query)
        search.run()
        return search.retrieval(k=k)

    def start(self, query: str) -> AgentSearch:
        """A search with its first agents, in which nothing was asked yet."""
        search = AgentSearch(query, self.hierarchy, self._ask, options=self._options)
        search.begin()
        return search

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The hierarchy of the documents, made at first use."""
        return Hierarchy.of(self._documents)
