"""The suites `toolflow` and `writes`: ToolFlow's services, probed from bare descriptions over real HTTP."""

from __future__ import annotations

from benchmarks.probing.runs import Options, run_probing, strip
from benchmarks.probing.score import Row, added, links_of, rate, score_tool
from protocols.protocol import ToolProtocol
from protocols.sources.openapi import read_openapi
from toolflow_bench.services.document import document
from toolflow_bench.services.serve import serve
from toolflow_bench.services.service import Service, find_service


def declared(service: Service, url: str) -> list[ToolProtocol]:
    """The protocols that the service's own document declares, served at `url`."""
    described = document(service.operations, info=service.info, schemas=service.schemas, server=url)
    return read_openapi(described, where=f"the {service.name} service")


def measure(name: str, options: Options, *, writes: bool = False) -> Row:
    """Probe one service, `writes` included where they are wanted, and score what came of it.

    Raises:
        SourceUnavailable: its data or a package is missing.
    """
    service, folder = find_service(name), options.out / name
    with serve(service.app(service.database(options.cache), bare=True)) as served:
        tools = {tool.name: tool for tool in declared(service, served.url) if writes or not tool.writes}
        probing = run_probing(strip(tools.values()), folder, name=name, writes=writes, options=options)
    row = {"name": name, "tools": len(tools)}
    row |= added([score_tool(probing.protocols.get(n), tool) for n, tool in tools.items()])
    return row | {"links": rate(links_of(probing.protocols.values()), links_of(tools.values())), **probing.spent}
