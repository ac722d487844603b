"""The tools whose calls are decoded: random ones, BFCL's functions, and those of RestBench and ToolFlow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from protocols.protocol import ToolProtocol
from protocols.sources import load_tools
from protocols.toolbox import Tool, Toolbox
from toolflow_bench.decoding.gold import bfcl_tools
from toolflow_bench.decoding.random.schemas import Drawn, draw_tool
from toolflow_bench.restbench.data import APIS
from toolflow_bench.retrieval.data_toolflow import service_tools


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """Tools that one model is offered together. `drawn` are the random ones among them, by alias."""

    source: str
    name: str
    tools: Toolbox
    drawn: Mapping[str, Drawn]


def random_catalogues(seed: int) -> Iterator[Catalogue]:
    """Random tools without an end, each beside another whose name it may begin with."""
    number = 0
    while True:
        drawn = [draw_tool(1_000_003 * seed + number + place) for place in range(2)]
        tools = Toolbox(idle(one.protocol, f"s{place}") for place, one in enumerate(drawn))
        yield Catalogue(
            source="random schemas",
            name=str(drawn[0].seed),
            tools=tools,
            drawn=dict(zip(tools, drawn, strict=True)),
        )
        number += 2


def bfcl_catalogues(data: Path) -> list[Catalogue]:
    """The functions of each of BFCL's executable classes; none where `data` has no `bfcl/func_docs.json`."""
    if not (data / "bfcl" / "func_docs.json").is_file():
        return []
    return [_catalogue("BFCL", module, tools) for module, tools in bfcl_tools(data).items()]


def tool_catalogues(data: Path) -> list[Catalogue]:
    """ToolFlow's tools, a catalogue a service, and RestBench's two APIs where `data` has them."""
    every = service_tools()
    services = sorted({tool.source for tool in every.values()})
    found = [
        _catalogue("ToolFlow", name, every.only(alias for alias, tool in every.items() if tool.source == name))
        for name in services
    ]
    paths = {api: data / "restbench" / f"{api}_oas.json" for api in APIS}
    return found + [
        _catalogue("RestBench", api, load_tools(f"{api}={path}")) for api, path in paths.items() if path.is_file()
    ]


def idle(protocol: ToolProtocol, source: str) -> Tool:
    """A tool that nobody calls."""
    return Tool(protocol=protocol, call=lambda arguments: None, source=source)  # noqa: ARG005 - the shape of a call


def _catalogue(source: str, name: str, tools: Toolbox) -> Catalogue:
    return Catalogue(source=source, name=name, tools=tools, drawn={})
