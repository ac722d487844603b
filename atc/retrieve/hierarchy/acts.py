"""What each function of an agent does. Results are text for the agent; what cannot be done is a `Mistake`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from atc.retrieve.hierarchy import listing
from atc.retrieve.hierarchy.agent import Agent
from atc.retrieve.hierarchy.tree import Place, nearest, spelled
from protocols.jsontypes import Json, JsonObject

if TYPE_CHECKING:
    from atc.retrieve.hierarchy.search import Search

HOW_TO_ADD = "put those that the request needs into the pool with add_API_into_API_pool"
"""What an agent that may add APIs does when it has looked at some: small models look again, or finish."""
_MOST_NAMED = 5


class Mistake(Exception):
    """A call that cannot be done; its text tells the agent what can."""


def tool_names(agent: Agent) -> list[str]:
    """The tools in an agent's scope, a name that several categories have once."""
    return list(dict.fromkeys(place.tool for place in agent.places))


def create_for_category(search: Search, agent: Agent, arguments: JsonObject) -> str:
    """`create_agent_category_level`: an agent for a category, of few tools a tool agent at once."""
    category = _one(arguments, "category", agent.categories)
    if category in agent.given_out:
        raise Mistake(f"the category {category!r} has its agent already; name another, or finish")
    agent.given_out.add(category)
    created = search.add_category_agent(category, creator=agent)
    return f"agent {created} was created ({len(created.places)} tools)"


def create_for_tools(search: Search, agent: Agent, arguments: JsonObject) -> str:
    """`create_agent_tool_level`: an agent for some tools."""
    names, unknown = _several(arguments, "tools", tool_names(agent))
    new = [name for name in names if name not in agent.given_out]
    most = search.options.tools_per_agent
    if len(new) > most:
        raise Mistake(f"an agent takes at most {most} tools, and these are {len(new)}; create several agents")
    if not new:
        raise Mistake(unknown or "these tools have their agent already; name others, or finish")
    agent.given_out |= set(new)
    created = search.add_agent("tool", places=_places(agent, new), creator=agent)
    return "\n".join(filter(None, [f"agent {created} was created", unknown]))


def list_tools(search: Search, agent: Agent, arguments: JsonObject) -> str:
    """`get_tools_in_category`: names, a page of them."""
    category = _one(arguments, "category", agent.categories)
    return _page([f"- {tool}" for tool in search.hierarchy.tools[category]], arguments, search)


def describe_tools(search: Search, agent: Agent, arguments: JsonObject) -> str:
    """`get_tool_descriptions`: what each tool is for."""
    names, unknown = _several(arguments, "tools", tool_names(agent))
    if not names:
        raise Mistake(unknown)
    text = listing.tools_text(_places(agent, names), search.hierarchy, room=search.room.result)
    return "\n".join(filter(None, [text, unknown]))


def list_apis(search: Search, agent: Agent, arguments: JsonObject) -> str:
    """`get_APIs_in_tool`: names, a page of them."""
    tool = _one(arguments, "tool", tool_names(agent))
    names = search.hierarchy.apis(_places(agent, [tool]))
    return _page([f"- {name}" for name in names], arguments, search)


def detail_apis(search: Search, agent: Agent, arguments: JsonObject) -> str:
    """`get_API_detail`: description, parameters and response fields of each; and what to do with those that fit."""
    names, unknown = _several(arguments, "apis", agent.apis)
    if not names:
        raise Mistake(unknown)
    documents = [search.hierarchy.documents[name] for name in names]
    texts = [listing.detail_text(document, room=search.room.result // len(documents)) for document in documents]
    agent.studied |= dict.fromkeys(names)
    return "\n".join(filter(None, [*texts, unknown, "" if search.known.issuperset(names) else HOW_TO_ADD]))


def add(search: Search, agent: Agent, arguments: JsonObject) -> str:
    """`add_API_into_API_pool`: what is new and finds room is added."""
    names, unknown = _several(arguments, "apis", agent.apis)
    added = [name for name in names if search.add(name)]
    if added:
        search.awaiting.append(agent)
    dropped = [name for name in names if name in search.dropped]
    said = [
        f"added: {', '.join(added)}" if added else "nothing was added",
        f"tried before without success: {', '.join(dropped)}" if dropped else "",
        unknown,
        "the pool is full" if search.is_full else f"the pool holds {len(search.pool)} APIs",
    ]
    return "\n".join(filter(None, said))


def check(search: Search, agent: Agent, _arguments: JsonObject) -> str:
    """`check_if_request_solvable`: the verdict on the pool as it is at the end of the round."""
    search.awaiting.append(agent)
    return ""


def finish(search: Search, agent: Agent, _arguments: JsonObject) -> str:
    """`finish_search`: the agent is done, for good. One that studied APIs and added none of them is asked once more."""
    if agent.studied and not agent.reminded and search.known.isdisjoint(agent.studied):
        agent.reminded = True
        names = ", ".join(list(agent.studied)[:_MOST_NAMED])
        raise Mistake(
            f"you looked at {names} and added nothing; {HOW_TO_ADD}, or call finish_search again if none helps"
        )
    agent.status = "finished"
    return "finished"


def _one(arguments: JsonObject, key: str, known: Sequence[str]) -> str:
    """The one of `known` that an argument names."""
    name = arguments.get(key)
    if not isinstance(name, str):
        raise Mistake(f"{key!r} must be a name, got {_shown(name)}")
    found = spelled(name, known)
    if found is None:
        raise Mistake(_unknown(key, [name], known))
    return found


def _several(arguments: JsonObject, key: str, known: Sequence[str]) -> tuple[list[str], str]:
    """Those of `known` that an argument names, each once, and an error line for those that are not there."""
    names = arguments.get(key)
    names = [names] if isinstance(names, str) else names
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise Mistake(f"{key!r} must be a list of names, got {_shown(names)}")
    found = {str(name): spelled(str(name), known) for name in names}
    missing = [name for name, one in found.items() if one is None]
    return list(dict.fromkeys(one for one in found.values() if one)), _unknown(key, missing, known) if missing else ""


def _unknown(key: str, names: Sequence[str], known: Sequence[str]) -> str:
    near = list(dict.fromkeys(one for name in names for one in nearest(name, known)))[:5]
    hint = f"; there are {', '.join(map(repr, near))}" if near else "; use names as they are listed"
    return f"not among the {key} here: {', '.join(_shown(name) for name in names[:5])}{hint}"


def _places(agent: Agent, names: Sequence[str]) -> tuple[Place, ...]:
    return tuple(place for name in names for place in agent.places if place.tool == name)


def _page(lines: Sequence[str], arguments: JsonObject, search: Search) -> str:
    number = arguments.get("page", 1)
    try:
        return listing.page(lines, number if type(number) is int else 1, room=search.room.result)
    except IndexError as error:
        raise Mistake(str(error)) from None


def _shown(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"
