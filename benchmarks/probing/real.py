"""The suite `real`: services that others wrote, run here, probed with their own documents hidden.

Each runs as a process on loopback. Operations that tell of the service itself (`told`) are not among the tools.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import requests

from benchmarks.probing.runs import Options, Probing, run_probing, strip
from benchmarks.probing.score import Row, added, links_of, rate, score_tool, share
from benchmarks.probing.services import SERVICES, started
from probing.replies import refusal_in
from protocols.protocol import HttpBinding, ToolProtocol
from protocols.sources.openapi import read_openapi

_FORBIDDEN = r"being told which|not told which|one record, which it would|ends what others"


def measure(name: str, options: Options) -> Row:
    """Probe one service and score what came of it.

    Raises:
        SourceUnavailable: it does not start.
    """
    service, folder = SERVICES[name], options.out / name
    with started(name, folder / "run") as port:
        url = f"http://127.0.0.1:{port}"
        document = requests.get(url + service["document"], timeout=60).json()
        tools = [tool for tool in _tools(name, document, url) if service["writes"] or not tool.writes]
        probing = run_probing(strip(tools), folder / "probing", name=name, writes=service["writes"], options=options)
    return row_of(name, probing, tools)


def row_of(name: str, probing: Probing, declared: Sequence[ToolProtocol]) -> Row:
    """Probed protocols against their own document."""
    told = {sample.tool for sample in probing.samples if sample.done and not refusal_in(sample.response)}
    # What must not be called is not told which record is meant, writes over a single one, or ends what others rest on.
    unsent = probing.stopped.keys() - {sample.tool for sample in probing.samples}
    whole = {tool.name for tool in declared if _takes_all(tool)}
    forbidden = sorted(tool for tool in unsent if tool in whole or re.search(_FORBIDDEN, probing.stopped[tool]))
    scores = {}
    for tool in declared:
        score = score_tool(probing.protocols.get(tool.name), tool)
        documented = bool(score["documented"]["right"]) and tool.name in told  # not where all it said were refusals
        callable_ = share([] if tool.name in forbidden else [documented])
        scores[tool.name] = score | {"documented": share([documented]), "documented_of_callable": callable_}
    row = {"name": name, "tools": len(declared), **added(list(scores.values()))}
    links = rate(links_of(probing.protocols.values()), ())
    return row | {"links": links, **probing.spent, "forbidden": ", ".join(forbidden)}


def _tools(name: str, document: Any, url: str) -> list[ToolProtocol]:
    told = SERVICES[name]["told"]
    protocols = read_openapi(document, where=f"the document of {name}", base_url=url)
    return [protocol for protocol in protocols if urlsplit(_http(protocol).url).path.rstrip("/") not in told]


def _takes_all(tool: ToolProtocol) -> bool:
    """Whether a tool takes a whole list away."""
    binding = tool.binding
    return isinstance(binding, HttpBinding) and binding.method == "DELETE" and not binding.url.endswith("}")


def _http(protocol: ToolProtocol) -> HttpBinding:
    assert isinstance(protocol.binding, HttpBinding)
    return protocol.binding
