"""The part `real`: services that others wrote, run here, probed with their own documents hidden.

Each runs twice, as a process on loopback: one instance is probed through a passage that hides where it tells of itself
and notes every request, the other is asked by one who knows it (the census).
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, cast

import requests

from protocols.errors import ToolError
from protocols.invoke import Invoker
from protocols.protocol import ToolProtocol
from protocols.sources.openapi import read_openapi
from protocols.toolbox import Tool, Toolbox
from toolflow_bench.probing.part import Options, Part, Row, unit_folder
from toolflow_bench.probing.prober import run_probing
from toolflow_bench.probing.real_departures import Observation
from toolflow_bench.probing.real_passage import Passage, Passed
from toolflow_bench.probing.real_probing import Seen, row_of
from toolflow_bench.probing.real_services import REAL, RealService, census_calls, started, told_paths
from toolflow_bench.probing.real_tables import real_lines, real_total
from toolflow_bench.probing.service import TruthLeaked
from toolflow_bench.probing.strip import Setting, strip

NAME = "real"


def measure_real(service: RealService, setting: str, options: Options, *, only: Sequence[str] = ()) -> Row:
    """Probe one service and score what came of it; `only` are the operations that are looked at, all by default.

    Raises:
        SourceUnavailable: it does not start.
        TruthLeaked: it answered where it tells of itself.
    """
    folder = unit_folder(NAME, f"{service.name}-{setting}", options)
    shutil.rmtree(folder, ignore_errors=True)
    with started(service, folder / "probed") as port, Passage(port, hides=service.told) as passage:
        document = _document(f"http://127.0.0.1:{port}{service.document}")
        tools = [tool for tool in _tools(service, document, passage.url) if not only or tool.name in only]
        probing = run_probing(
            strip(tools, cast("Setting", setting)), folder, name=service.name, writes=service.writes, options=options
        )
        _see_that_nothing_is_told(service, passage)
    with started(service, folder / "asked") as port:
        known = [
            tool for tool in _tools(service, document, f"http://127.0.0.1:{port}") if not only or tool.name in only
        ]
        seen = take_real_census(service, known, calls=options.census)
    callable_here = [tool for tool in tools if service.writes or not tool.writes]
    row = row_of(service.name, setting, probing, callable_here, seen)
    return {**row, "requests": _requests(passage.requests)}


def take_real_census(service: RealService, tools: Sequence[ToolProtocol], *, calls: int) -> Seen:
    """What the service answers to one who knows it."""
    found: dict[str, list[Observation]] = {tool.name: [] for tool in tools}
    with Invoker() as invoker:
        toolbox = Toolbox(Tool(protocol=tool, call=invoker.bind(tool)) for tool in tools)
        allowed = [tool for tool in tools if service.writes or not tool.writes]
        for name, arguments in census_calls(service, allowed, calls):
            try:
                response = toolbox.find(name).call(arguments)
            except ToolError as error:
                found[name].append(Observation(arguments=arguments, done=False, status=error.status))
            else:
                found[name].append(Observation(arguments=arguments, done=True, response=response))
    return Seen(calls=found)


def _tools(service: RealService, document: Any, url: str) -> list[ToolProtocol]:
    protocols = read_openapi(document, where=f"the document of {service.name}", base_url=url)
    told = told_paths(service, protocols)
    return [protocol for protocol in protocols if protocol.name not in told]


def _document(url: str) -> Any:
    answer = requests.get(url, timeout=60)
    answer.raise_for_status()
    return answer.json()


def _see_that_nothing_is_told(service: RealService, passage: Passage) -> None:
    leaked = {one.path for one in passage.requests if not one.hidden and passage.hides(one.path)}
    for path in (path for path in service.told if not path.endswith("*")):
        if requests.get(passage.url + path, timeout=60).status_code != 404:
            leaked.add(path)
    if leaked:
        raise TruthLeaked(f"{service.name} answered {', '.join(sorted(leaked))}; its figures are worth nothing.")


def _requests(passed: Iterable[Passed]) -> Row:
    """What the passage's log says."""
    noted = list(passed)
    return {
        "passed": sum(not one.hidden for one in noted),
        "hidden": sorted({one.path for one in noted if one.hidden}),
        "statuses": {str(status): count for status, count in sorted(Counter(one.status for one in noted).items())},
    }


def _units(options: Options) -> Sequence[str]:
    return [f"{one.name}-{setting}" for setting in options.settings for one in REAL if not one.missing]


def _measure(unit: str, options: Options) -> Row:
    name, _, setting = unit.rpartition("-")
    return measure_real(next(one for one in REAL if one.name == name), setting, options)


PART = Part(
    name=NAME,
    summary="services that others wrote: httpbin, kinto, glances",
    units=_units,
    measure=_measure,
    total=lambda rows: real_total(rows, {one.name: one.missing for one in REAL if one.missing}),
    lines=real_lines,
)
