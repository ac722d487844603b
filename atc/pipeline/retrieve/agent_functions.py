"""The functions that the agents of an AnyTool search call: their arguments, and what they do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from atc.pipeline.retrieve import hierarchy as listing
from atc.pipeline.retrieve.hierarchy import resolve_name
from atc.pipeline.retrieve.model_replies import (
    a_list,
    a_text,
    an_object,
    json_object,
)
from atc.pipeline.retrieve.search_agents import (
    AgentRole,
    Mistake,
    SearchAgent,
    SearchState,
)
from protocols.schema import Json, JsonObject
from protocols.truncate import clip_text

_HOW_TO_ADD = "put those that the request needs into the pool with add_API_into_API_pool"
"""Reminder for agents that have requested the details of APIs.

Without it, small models request the details again or finish.
"""
_FEW = 256
"""Maximum number of names that the reply schema lists as an enum.

If there are more names, those in a reply are checked afterwards.
"""
_MOST_ADDED = 10
_LOOKED_UP = 5
_PAGE: JsonObject = {"type": "integer", "minimum": 1, "maximum": 999}


class AgentFunction(NamedTuple):
    """A function that the agents of an AnyTool search can call.

    `build_parameters` returns the JSON Schema properties of the arguments as they are now, or None
    if the function cannot do anything now. `act` carries out a call and returns the text of its
    result.
    """

    build_parameters: Callable[[SearchState, SearchAgent], JsonObject | None]
    act: Callable[[SearchState, SearchAgent, JsonObject], str]


@dataclass(frozen=True, kw_only=True)
class _NamesFunction:
    """A function of agents with an argument `key` that takes names of categories, tools or APIs.

    `scope` says which of the three. An agent may pass only names that were assigned to it. `most`
    returns the maximum number of names per call; None means exactly one. `used` returns the names
    that cannot be chosen any more. If `pages` is True, the function also takes a page number. The
    reply schema enforces a short list of names; names of a long list are checked in the reply.
    """

    key: str
    scope: Literal["categories", "tools", "apis"]
    perform: Callable[[SearchState, SearchAgent, list[str], Json], str]
    most: Callable[[SearchState], int] | None = None
    used: Callable[[SearchState, SearchAgent], Collection[str]] = lambda *_: ()
    pages: bool = False

    def build_parameters(self, search: SearchState, agent: SearchAgent) -> JsonObject | None:
        """Return the JSON Schema properties of the function's arguments at this moment.

        Return None if the agent has no names left that it could pass.
        """
        names = self._unused_names(search, agent)
        if not names:
            return None
        name = {"type": "string", "enum": names} if len(names) <= _FEW else a_text(200)
        taken = name if self.most is None else a_list(name, most=self.most(search), least=1)
        return {self.key: taken} | ({"page": _PAGE} if self.pages else {})

    def act(self, search: SearchState, agent: SearchAgent, arguments: JsonObject) -> str:
        """Carry out an agent's call of the function, and return the text of its result.

        Raises:
            Mistake: none of the names is known, or there are too many.
        """
        names, problem = self._resolve_names(search, agent, arguments.get(self.key))
        if not names:
            raise Mistake(problem)
        if self.most is not None and len(names) > self.most(search):
            raise Mistake(
                f"at most {self.most(search)} {self.key} at a time, and these are {len(names)}"
            )
        return _lines(self.perform(search, agent, names, arguments.get("page", 1)), problem)

    def _resolve_names(
        self, search: SearchState, agent: SearchAgent, argument: Json
    ) -> tuple[list[str], str]:
        """Return the names in an argument that the agent may pass, and a line about all others.

        Duplicates are left out.
        """
        wanted = [argument] if isinstance(argument, str) else argument
        if not isinstance(wanted, list) or not wanted:
            expected = "a name" if self.most is None else "a list of names"
            raise Mistake(f"{self.key!r} must be {expected}")
        available = self._unused_names(search, agent)
        resolved = {str(name): resolve_name(str(name), available) for name in wanted}
        names = list(dict.fromkeys(name for name in resolved.values() if name))
        unknown = [clip_text(repr(name), 80) for name, known in resolved.items() if known is None]
        if not unknown:
            return names, ""
        listed = ", ".join(unknown)
        problem = (
            f"not among the names left for {self.key!r}: {listed}; use names as they are listed"
        )
        return names, problem

    def _unused_names(self, search: SearchState, agent: SearchAgent) -> list[str]:
        used = self.used(search, agent)
        return [name for name in getattr(agent, self.scope) if name not in used]


def _make_function(
    key: str,
    scope: Literal["categories", "tools", "apis"],
    act: Callable[[SearchState, SearchAgent, list[str], Json], str],
    *,
    most: Callable[[SearchState], int] | None = None,
    used: Callable[[SearchState, SearchAgent], Collection[str]] = lambda *_: (),
    pages: bool = False,
) -> AgentFunction:
    """Build an agent's function whose argument takes names of categories, tools or APIs.

    The arguments are those of `_NamesFunction`.
    """
    function = _NamesFunction(key=key, scope=scope, perform=act, most=most, used=used, pages=pages)
    return AgentFunction(function.build_parameters, function.act)


def _create_for_category(search: SearchState, agent: SearchAgent, names: list[str], _: Json) -> str:
    agent.delegated_names |= set(names)
    created = search.add_category_agent(names[0], creator=agent)
    return f"agent {created} was created ({len(created.places)} tools)"


def _create_for_tools(search: SearchState, agent: SearchAgent, names: list[str], _: Json) -> str:
    agent.delegated_names |= set(names)
    created = search.add_agent("tool", places=agent.places_of(names), creator=agent)
    return f"agent {created} was created"


def _list_tools(search: SearchState, _: SearchAgent, names: list[str], page: Json) -> str:
    return _page(search.hierarchy.tools[names[0]], page, search)


def _describe_tools(search: SearchState, agent: SearchAgent, names: list[str], _: Json) -> str:
    return listing.tools_text(agent.places_of(names), search.hierarchy, room=search.room.result)


def _list_apis(search: SearchState, agent: SearchAgent, names: list[str], page: Json) -> str:
    return _page(search.hierarchy.apis(agent.places_of(names)), page, search)


def _detail_apis(search: SearchState, agent: SearchAgent, names: list[str], _: Json) -> str:
    """Return a text with the description, the parameters and the response fields of each API.

    A reminder of how to add APIs follows, unless all of them were already added or pruned.
    """
    agent.studied |= dict.fromkeys(names)
    room = search.room.result // len(names)
    details = [listing.detail_text(search.hierarchy.documents[name], room=room) for name in names]
    return _lines(*details, "" if search.decided_apis.issuperset(names) else _HOW_TO_ADD)


def _add(search: SearchState, agent: SearchAgent, names: list[str], _: Json) -> str:
    """Add the APIs `names` to those that the search has found (`search.pool`).

    The number of APIs found is limited. If not all of `names` fit, only the first ones are added.
    """
    added = names[: max(0, search.options.pool - len(search.pool))]
    search.pool += added
    search.awaiting.append(agent)
    return f"added: {', '.join(added)}\nthe pool holds {len(search.pool)} APIs"


def _check(search: SearchState, agent: SearchAgent, _: JsonObject) -> str:
    """Note that the agent wants to know whether the APIs found so far suffice for the query.

    The model's verdict is given at the end of the round.
    """
    search.awaiting.append(agent)
    return ""


def _finish(search: SearchState, agent: SearchAgent, _: JsonObject) -> str:
    """Mark the agent as finished.

    An agent that studied APIs but added none is asked once to reconsider. Without this, searches
    with the embedded model (the small local one) found no API in 14 of 25 cases.
    """
    if agent.studied and not agent.reminded and search.decided_apis.isdisjoint(agent.studied):
        agent.reminded = True
        names = ", ".join(list(agent.studied)[:_LOOKED_UP])
        raise Mistake(
            f"you looked at {names} and added nothing; {_HOW_TO_ADD}, or call finish_search again"
        )
    agent.status = "finished"
    return "finished"


def _get_delegated_names(_: SearchState, agent: SearchAgent) -> Collection[str]:
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
"""Functions of each agent role (Table 8 of the AnyTool paper).

The flat agent has those of category and tool agents but cannot create agents (§5.3 of the paper).
"""


def reply_schema(
    search: SearchState, agent: SearchAgent, functions: Mapping[str, AgentFunction]
) -> JsonObject:
    """Return the JSON Schema of a reply of `agent`: a thought and one function call.

    Only functions that can do something now are included. Names that are used up (a category that
    has an agent, an API that was added) are left out.
    """
    calls: list[Json] = [
        an_object({"function": {"type": "string", "enum": [name]}, **takes}, optional=["page"])
        for name, function in functions.items()
        if (takes := function.build_parameters(search, agent)) is not None
    ]
    return an_object({"thought": a_text(200), "call": {"anyOf": calls}})


def perform(
    search: SearchState, agent: SearchAgent, text: str, functions: Mapping[str, AgentFunction]
) -> tuple[str, str]:
    """Carry out the function call in an agent's reply.

    Return the call as one line of text, and the text of its result or of an error.
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


def _page(names: Iterable[str], number: Json, search: SearchState) -> str:
    try:
        lines = [f"- {name}" for name in names]
        return listing.page(lines, number if type(number) is int else 1, room=search.room.result)
    except IndexError as error:
        raise Mistake(str(error)) from None


def _lines(*lines: str) -> str:
    return "\n".join(filter(None, lines))
