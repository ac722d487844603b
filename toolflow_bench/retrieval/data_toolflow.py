"""ToolFlow's own tasks: the operations of its four services in one index, gold being what each gold program calls."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from atc.retrieve.document import documents
from protocols.links import guess_links
from protocols.protocol import Link, ToolProtocol
from protocols.sources import load_tools
from protocols.toolbox import Tool, Toolbox
from toolflow_bench.retrieval.data import RetrievalData, RetrievalQuery, assembled
from toolflow_bench.services.document import document
from toolflow_bench.services.service import NAMES, find_service
from toolflow_bench.task import Task, load_tasks

TOOLFLOW = "toolflow"
"""What `--data` names instead of a path."""

Links = Literal["declared", "guessed", "probed", "known"]
"""Whose links a toolbox has: the documents' alone, guesses alone, those of probed protocols, or all that the product
knows of a document (declared, and guessed where nothing is declared)."""

Given = Mapping[str, Mapping[str, ToolProtocol]]
"""Service → tool → its probed protocol, as `toolflow_bench.given.load_given` reads them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFlowData:
    """The data set, its toolbox (nothing of it can be called), and the ids of the queries that need ids.

    A query *needs ids* where some gold tool has a required argument whose values, by the links that the service's own
    document declares, another gold tool yields.
    """

    data: RetrievalData
    toolbox: Toolbox
    needing_ids: frozenset[str]


def read_toolflow(folder: Path | None = None) -> ToolFlowData:
    """ToolFlow's tasks, or those in a folder of the same format.

    Raises:
        InvalidTask: as `toolflow_bench.task.load_tasks`.
    """
    toolbox = service_tools()
    tasks = load_tasks(folder)
    queries = [
        RetrievalQuery(id=task.id, text=task.question, gold=tuple(dict.fromkeys(task.operations)), group=task.split)
        for task in tasks
    ]
    data = assembled(TOOLFLOW, documents(toolbox.values()), queries)
    declared = with_links(toolbox, "declared")
    return ToolFlowData(
        data=data, toolbox=toolbox, needing_ids=frozenset(task.id for task in tasks if _needs_ids(task, declared))
    )


def service_tools() -> Toolbox:
    """The tools of the four services out of their documents; no service runs, so none of them can be called."""
    with TemporaryDirectory() as folder:
        sources = []
        for name in NAMES:
            service = find_service(name)
            said = document(service.operations, info=service.info, schemas=service.schemas, server="http://localhost")
            path = Path(folder) / f"{name}.json"
            path.write_text(json.dumps(said), encoding="utf-8")
            sources.append(f"{name}={path}")
        return load_tools(*sources)


def with_links(toolbox: Toolbox, links: Links, given: Given | None = None) -> Toolbox:
    """The same tools with links of one kind. `probed` takes them from the protocols `given`, by service and tool."""
    if links == "known":
        return toolbox
    if links == "declared":
        return toolbox.map(lambda tool: _linked(tool, _declared(tool)))
    if links == "probed":
        return toolbox.map(lambda tool: _linked(tool, _probed(tool, given or {})))
    guessed: dict[tuple[str, str], ToolProtocol] = {}
    for source in {tool.source for tool in toolbox.values()}:
        bare = [replace(tool.protocol, links=()) for tool in toolbox.values() if tool.source == source]
        guessed |= {(source, protocol.name): protocol for protocol in guess_links(bare)}
    return toolbox.map(lambda tool: _linked(tool, guessed[tool.source, tool.protocol.name].links))


def _linked(tool: Tool, links: tuple[Link, ...]) -> Tool:
    return replace(tool, protocol=replace(tool.protocol, links=links))


def _declared(tool: Tool) -> tuple[Link, ...]:
    return tuple(link for link in tool.protocol.links if link.support == "declared")


def _probed(tool: Tool, given: Given) -> tuple[Link, ...]:
    known = given.get(tool.source, {}).get(tool.protocol.name)
    return known.links if known is not None else ()


def _needs_ids(task: Task, declared: Toolbox) -> bool:
    gold = {(tool.source, tool.protocol.name) for tool in declared.only(task.operations).values()}
    return any(
        link.argument in tool.protocol.required and (tool.source, link.tool) in gold and link.tool != tool.protocol.name
        for tool in declared.only(task.operations).values()
        for link in tool.protocol.links
    )
