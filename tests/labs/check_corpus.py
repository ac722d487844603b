"""For the static check: toolboxes (an awkward shop, ToolFlow, RestBench, BFCL), and a corpus of programs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from benchmarks.catalogues import protocol_of
from benchmarks.shared_data import folder
from protocols.protocol import ToolProtocol, load
from protocols.sources.openapi import read_openapi
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from tests.labs.paths import DATA
from toolflow_bench.services.document import document
from toolflow_bench.services.service import find_service

FOLDER = DATA / "check"
WHOLE = {"type": "integer"}


def obj(*, optional: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [k for k in properties if k not in optional],
    }


def arr(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _shop() -> Toolbox:
    """Twenty tools with awkward schemas; all of them share the definitions of the file."""
    written = json.loads((FOLDER / "shop.json").read_text("utf-8"))
    for made in written["tools"]:
        for schema in ("inputSchema", "outputSchema"):
            if schema in made:
                made[schema] |= {"$defs": written["$defs"]}
    return Toolbox([_idle(load(made), "") for made in written["tools"]])


def _idle(protocol: ToolProtocol, source: str) -> Tool:
    return Tool(protocol=protocol, call=lambda arguments: None, source=source)


SHOP = _shop()


def _service_protocols(name: str) -> list[ToolProtocol]:
    """The tools of a ToolFlow service as its own OpenAPI document has them; nothing is served."""
    service = find_service(name)
    described = document(
        service.operations, info=service.info, schemas=service.schemas, server="http://service.test"
    )
    return read_openapi(described, where=name, base_url="http://service.test")


@cache
def services(*names: str) -> Toolbox:
    """The tools of ToolFlow services."""
    return Toolbox(
        [_idle(protocol, name) for name in names for protocol in _service_protocols(name)]
    )


@cache
def restbench(name: str) -> Toolbox:
    described = json.loads((folder("restbench") / f"{name}_oas.json").read_text("utf-8"))
    return Toolbox(
        [
            _idle(p, name)
            for p in read_openapi(described, where=name, base_url="http://service.test")
        ]
    )


@cache
def bfcl(only: str | None = None) -> Toolbox:
    """BFCL's functions, or those of one class, with their documented responses; their type names are translated."""
    documents = json.loads((folder("bfcl") / "func_docs.json").read_text("utf-8"))
    sources = documents if only is None else [only]
    return Toolbox(
        [
            _idle(protocol_of(function), source)
            for source in sources
            for function in documents[source]
        ]
    )


BOXES: dict[str, Callable[[], Toolbox]] = {
    "shop": lambda: SHOP,
    "spotify": lambda: restbench("spotify"),
    "tmdb": lambda: restbench("tmdb"),
    "bfcl": bfcl,
}


def toolbox(spec: str) -> Toolbox:
    """The toolbox that a program of the corpus names.

    One of `BOXES`, `bfcl:CLASS`, names of services, or `toolflow` with the aliases of tools of any service.
    """
    if spec in BOXES:
        return BOXES[spec]()
    if spec.startswith("toolflow "):
        return services("flights", "movies", "baseball", "places").only(spec.split()[1:])
    if spec.startswith("bfcl:"):
        return bfcl(spec.removeprefix("bfcl:"))
    return services(*spec.split())


def data_of(spec: str) -> str | None:
    """Return the name that `benchmarks.shared_data` has for the toolbox's data; None if the repository has the data."""
    if spec.startswith("bfcl"):
        return "bfcl"
    return "restbench" if spec in ("spotify", "tmdb") else None


@dataclass(frozen=True)
class Case:
    """One line of a data file."""

    name: str
    tools: str
    """Its toolbox, as `check_lab.toolbox` reads it."""
    source: str
    expect: tuple[tuple[str, int], ...] = ()
    """Codes and lines, in the order of the lines."""
    says: tuple[str, ...] = ()
    """Words that the messages hold."""


def cases(name: str) -> list[Case]:
    """Return the programs of the data file `name`, without its `.jsonl`."""
    rows = map(json.loads, (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines())
    return [
        Case(
            **row
            | {
                "expect": tuple((code, line) for code, line in row["expect"]),
                "says": tuple(row.get("says", ())),
            }
        )
        for row in rows
    ]


def cases_over(name: str, data: str | None) -> list[Case]:
    """Return the programs of a data file whose tools come from this data; None stands for the repository."""
    return [case for case in cases(name) if data_of(case.tools) == data]


def present(name: str) -> list[Case]:
    """Return the programs of a data file, without those whose tools come from data that is missing."""
    return [
        case
        for case in cases(name)
        if (data := data_of(case.tools)) is None or folder(data).is_dir()
    ]
