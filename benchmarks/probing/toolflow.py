"""The suites `toolflow` and `writes`: ToolFlow's services, probed from bare descriptions over real HTTP."""

from __future__ import annotations

import requests

from benchmarks.probing.runs import Options, Suite, TruthLeaked, run_probing, strip, summed
from benchmarks.probing.score import Row, added, links_of, rate, score_tool
from protocols.protocol import ToolProtocol
from protocols.sources.openapi import read_openapi
from toolflow_bench.services.document import document
from toolflow_bench.services.serve import serve
from toolflow_bench.services.service import NAMES, Service, find_service

DOCUMENTS = ("/openapi.json", "/openapi.yaml", "/swagger.json", "/docs", "/redoc", "/bench/state", "/bench/log")
"""Paths by which a service might tell what is to be found out; all must answer 404."""


def declared(service: Service, url: str) -> list[ToolProtocol]:
    """The protocols that the service's own document declares, served at `url`."""
    described = document(service.operations, info=service.info, schemas=service.schemas, server=url)
    return read_openapi(described, where=f"the {service.name} service")


def measure_service(name: str, options: Options, *, writes: bool) -> Row:
    """Probe one service and score what came of it.

    Raises:
        SourceUnavailable: its data or a package is missing.
        TruthLeaked: the service answered for its document.
    """
    service, folder = find_service(name), options.folder("writes" if writes else "toolflow", name)
    with serve(service.app(service.database(options.cache), bare=True)) as served:
        tools = {tool.name: tool for tool in declared(service, served.url) if writes or not tool.writes}
        probing = run_probing(strip(tools.values()), folder, name=name, writes=writes, options=options)
        leaked = [r.path for r in served.app.state.requests if r.path in DOCUMENTS and r.status != 404]
        leaked += [path for path in DOCUMENTS if requests.get(served.url + path, timeout=10).status_code != 404]
    if leaked:
        raise TruthLeaked(f"the {name} service answered {', '.join(leaked)}; its figures are worth nothing.")
    row = {"name": name, "tools": len(tools)}
    row |= added([score_tool(probing.protocols.get(n), tool) for n, tool in tools.items()])
    return row | {"links": rate(links_of(probing.protocols.values()), links_of(tools.values())), **probing.spent}


def _suite(name: str, *, writes: bool) -> Suite:
    return Suite(
        name=name,
        units=lambda options: options.services or NAMES,
        measure=lambda name, options: measure_service(name, options, writes=writes),
        total=summed,
    )


READS, WRITES = _suite("toolflow", writes=False), _suite("writes", writes=True)
"""The operations that read, and all of them with writes allowed."""
