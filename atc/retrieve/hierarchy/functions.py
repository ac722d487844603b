"""The functions of the agents (AnyTool, Table 8): which each may call now, as a schema, and reading a reply."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from atc.retrieve.hierarchy import acts
from atc.retrieve.hierarchy.acts import Mistake
from atc.retrieve.hierarchy.agent import Agent, Role
from protocols.jsontypes import Json, JsonObject

if TYPE_CHECKING:
    from atc.retrieve.hierarchy.search import Search

_FEW = 256
"""So many names stand in the schema as the only ones possible; of more, a reply's are checked when it comes."""
_THOUGHT = 200
_LONGEST_NAME = 200
_MOST_ADDED = 10
_MOST_LOOKED_UP = 5

Takes: TypeAlias = "Callable[[Search, Agent], JsonObject | None]"
"""The properties of a function's arguments; None where it can do nothing now."""


class Function(NamedTuple):
    """One function: what it takes, and what it does (see `acts`)."""

    takes: Takes
    act: Callable[[Search, Agent, JsonObject], str]


def name_schema(names: Sequence[str]) -> JsonObject:
    """One of `names`, where they are few; else any text, to be checked."""
    return (
        {"type": "string", "enum": list(names)}
        if len(names) <= _FEW
        else {"type": "string", "maxLength": _LONGEST_NAME}
    )


def _names(names: Sequence[str], most: int) -> JsonObject:
    return {"type": "array", "items": name_schema(names), "minItems": 1, "maxItems": most}


_PAGE: JsonObject = {"type": "integer", "minimum": 1, "maximum": 999}


def _nothing(_search: Search, _agent: Agent) -> JsonObject | None:
    return {}


def _new_category(_search: Search, agent: Agent) -> JsonObject | None:
    left = [name for name in agent.categories if name not in agent.given_out]
    return {"category": name_schema(left)} if left else None


def _new_tools(search: Search, agent: Agent) -> JsonObject | None:
    left = [name for name in acts.tool_names(agent) if name not in agent.given_out]
    return {"tools": _names(left, search.options.tools_per_agent)} if left else None


def _new_apis(search: Search, agent: Agent) -> JsonObject | None:
    known = search.known
    left = [name for name in agent.apis if name not in known]
    return {"apis": _names(left, _MOST_ADDED)} if left else None


def _listed_category(_search: Search, agent: Agent) -> JsonObject | None:
    return {"category": name_schema(agent.categories), "page": _PAGE}


def _described_tools(_search: Search, agent: Agent) -> JsonObject | None:
    return {"tools": _names(acts.tool_names(agent), _MOST_LOOKED_UP)}


def _listed_tool(_search: Search, agent: Agent) -> JsonObject | None:
    return {"tool": name_schema(acts.tool_names(agent)), "page": _PAGE}


def _detailed_apis(_search: Search, agent: Agent) -> JsonObject | None:
    return {"apis": _names(agent.apis, _MOST_LOOKED_UP)}


_TOOLS_IN_CATEGORY = {"get_tools_in_category": Function(_listed_category, acts.list_tools)}
_DESCRIPTIONS = {"get_tool_descriptions": Function(_described_tools, acts.describe_tools)}
_FINISH = {"finish_search": Function(_nothing, acts.finish)}
_ADD = {"add_API_into_API_pool": Function(_new_apis, acts.add)}
_APIS = {
    **_ADD,
    "get_APIs_in_tool": Function(_listed_tool, acts.list_apis),
    "get_API_detail": Function(_detailed_apis, acts.detail_apis),
    "check_if_request_solvable": Function(_nothing, acts.check),
}

FUNCTIONS: Mapping[Role, Mapping[str, Function]] = {
    "meta": {
        "create_agent_category_level": Function(_new_category, acts.create_for_category),
        **_TOOLS_IN_CATEGORY,
        **_DESCRIPTIONS,
        **_FINISH,
    },
    "category": {
        "create_agent_tool_level": Function(_new_tools, acts.create_for_tools),
        **_TOOLS_IN_CATEGORY,
        **_DESCRIPTIONS,
        **_FINISH,
    },
    "tool": {**_APIS, **_FINISH},
    "flat": {**_TOOLS_IN_CATEGORY, **_DESCRIPTIONS, **_APIS, **_FINISH},
    "plain": {**_ADD, **_FINISH},
}
"""By role. The flat agent has those of category and tool agents, but creates none (§5.3); the plain one adds alone."""


def schema(search: Search, agent: Agent) -> JsonObject:
    """What a reply of `agent` must look like: a thought, and a call of a function that can do something now.

    Names that are used up (a category with an agent, an API in the pool) are no longer offered.
    """
    calls: list[Json] = []
    for name, function in FUNCTIONS[agent.role].items():
        takes = function.takes(search, agent)
        if takes is None:
            continue
        calls.append(
            {
                "type": "object",
                "properties": {"function": {"type": "string", "enum": [name]}, **takes},
                "required": ["function", *(argument for argument in takes if argument != "page")],
                "additionalProperties": False,
            }
        )
    return {
        "type": "object",
        "properties": {"thought": {"type": "string", "maxLength": _THOUGHT}, "call": {"anyOf": calls}},
        "required": ["thought", "call"],
        "additionalProperties": False,
    }


def perform(search: Search, agent: Agent, text: str) -> tuple[str, str]:
    """Do what a reply asks for: the call as a line, and its result, or an error line that says what is possible."""
    functions = FUNCTIONS[agent.role]
    try:
        name, arguments = _read(text)
    except Mistake as mistake:
        return "no call", f"error: {mistake}"
    call = f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
    function = functions.get(name)
    if function is None:
        return call, f"error: there is no function {name!r}; there are {', '.join(functions)}"
    try:
        return call, function.act(search, agent, arguments)
    except Mistake as mistake:
        return call, f"error: {mistake}"


def _read(text: str) -> tuple[str, dict[str, Json]]:
    """The function and the arguments of a reply, also of one whose model was free in how it nests them.

    Raises:
        Mistake: it is no call.
    """
    try:
        reply = json.loads(text)
    except (ValueError, RecursionError):
        raise Mistake("the reply is not JSON; reply with one object of a thought and a call") from None
    call = reply.get("call", reply) if isinstance(reply, dict) else None
    name = call.get("function") if isinstance(call, dict) else None
    if not isinstance(call, dict) or not isinstance(name, str):
        raise Mistake('the reply has no call; it must hold "call": {"function": …}')
    given = call.get("arguments")
    arguments = given if isinstance(given, dict) else {key: value for key, value in call.items() if key != "arguments"}
    return name, {key: value for key, value in arguments.items() if key not in ("function", "thought")}
