"""LiveMCPBench's listings of MCP servers: their tools, of which nothing is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from atc.retrieve.document import ToolDocument
from toolflow_bench.retrieval.data import RetrievalData, assembled, first_text
from toolflow_bench.retrieval.data_tools import read_tool


def is_livemcp(content: Any) -> bool:
    """Whether a JSON value is a list of servers with their listings."""
    return isinstance(content, list) and bool(content) and all(_listings(server) for server in content)


def livemcp(content: list[Mapping[str, Any]]) -> RetrievalData:
    """The tools of all servers. A name that several tools have takes its server's as prefix (`server/search`).

    Raises:
        InvalidRetrievalData: there is no tool.
    """
    found = list(_tools(content))
    shared = Counter(first_text(tool, ["name"]) for _, _, tool in found)
    documents: dict[str, ToolDocument] = {}
    for server, category, tool in found:
        name = first_text(tool, ["name"])
        name = f"{server}/{name}" if shared[name] > 1 else name
        while name in documents:
            name += "+"  # two servers of one name with a tool of one name
        documents[name] = read_tool(tool, name=name, collection=server, category=category)
    return assembled("livemcp", documents.values(), (), notes=["There are no queries, only listings."])


def _listings(server: Any) -> Mapping[str, Any]:
    """What each process of a server lists, by name; empty where there is nothing of the kind."""
    listed = server.get("tools") if isinstance(server, Mapping) else None
    if not isinstance(listed, Mapping):
        return {}
    return {
        name: one for name, one in listed.items() if isinstance(one, Mapping) and isinstance(one.get("tools"), list)
    }


def _tools(content: list[Mapping[str, Any]]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Server, category and record of each tool."""
    for server in content:
        for name, listing in _listings(server).items():
            for tool in listing["tools"]:
                if isinstance(tool, Mapping) and first_text(tool, ["name"]):
                    yield name, first_text(server, ["category"]), tool
