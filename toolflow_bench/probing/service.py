"""One service probed from bare descriptions, and held against its truth."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import cast

import requests

from protocols.errors import AtcError
from protocols.protocol import ToolProtocol
from toolflow_bench.probing.census import Known, declared, known, really_flows, take_census
from toolflow_bench.probing.counts import Rate, Share, rounded
from toolflow_bench.probing.misses import misses_of
from toolflow_bench.probing.part import Options, Row, unit_folder
from toolflow_bench.probing.prober import Probing, run_probing
from toolflow_bench.probing.score import HINTS, Score, score_effects, score_tool
from toolflow_bench.probing.strip import Setting, strip
from toolflow_bench.probing.truth import Truth, links_of
from toolflow_bench.services.log import RequestRecord
from toolflow_bench.services.serve import serve
from toolflow_bench.services.service import find_service

DOCUMENTS = ("/openapi.json", "/openapi.yaml", "/swagger.json", "/docs", "/redoc", "/bench/state", "/bench/log")
"""Paths by which a service might tell what is to be found out; all must answer 404."""


class TruthLeaked(AtcError):
    """The service showed what the prober was to find out; its figures are worth nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a service's own log says of a probing."""

    by_tool: Mapping[str, int]
    nowhere: tuple[str, ...]
    """Requests that led to no operation."""

    @property
    def total(self) -> int:
        """All requests, those that led nowhere among them."""
        return sum(self.by_tool.values()) + len(self.nowhere)

    def as_json(self) -> Row:
        """Calls in all, and per tool."""
        counts = list(self.by_tool.values())
        return {
            "total": self.total,
            "tools": len(counts),
            "mean": rounded(self.total / len(counts)) if counts else None,
            "max": max(counts, default=0),
            "nowhere": list(self.nowhere),
        }


def measure_service(service_name: str, setting: str, options: Options, *, part: str, writes: bool) -> Row:
    """Probe one service and score what came of it.

    Raises:
        SourceUnavailable: its data or a package is missing.
        TruthLeaked: the service answered for its document.
    """
    service = find_service(service_name)
    folder = unit_folder(part, f"{service_name}-{setting}", options)
    shutil.rmtree(folder, ignore_errors=True)  # of a measurement that was cut off; its service is gone
    with known(service, writes=writes, seed=options.seed, folder=options.cache) as knower:
        truth = take_census(knower, calls=options.census)
        with serve(service.app(service.database(options.cache), bare=True)) as served:
            tools = [protocol for protocol in declared(service, served.url) if protocol.name in truth.tools]
            probing = run_probing(
                strip(tools, cast("Setting", setting)),
                folder,
                name=service_name,
                writes=writes,
                options=options,
            )
            asked = asked_of(list(served.app.state.requests), truth.tools)
            _see_that_nothing_is_told(served.url)
        return _row(service_name, setting, probing, truth, asked, knower)


def _row(service: str, setting: str, probing: Probing, truth: Truth, asked: Asked, knower: Known) -> Row:
    produced = probing.protocols
    score = total_score(produced, truth)
    links = links_of(produced.values())
    undeclared = sorted(links - truth.links)
    real = {link for link in undeclared if really_flows(knower, link)}
    false = [link for link in undeclared if link not in real]
    effects = {hint: score_effects(produced, truth.tools, hint).as_json() for hint in HINTS}
    of_writes = [score_effects(produced, truth.tools, hint, of_writes=True) for hint in HINTS]
    return {
        "service": service,
        "setting": setting,
        "tools": len(truth.tools),
        "census": {"asked": truth.asked, "answered": truth.answered},
        "score": score.as_json(),
        "links": {
            "declared": Rate.of(links, truth.links).as_json(),
            "real": Share(len(links) - len(false), len(links)).as_json(),
        },
        "effects": {**effects, "of_writes": sum(of_writes, start=Share()).as_json()},
        "calls": asked.as_json(),
        "rounds": [_round(probing, number, truth) for number in probing.rounds],
        "seconds": round(probing.seconds, 2),
        "stopped": dict(probing.stopped),
        "misses": misses_of(probing, truth, false_links=false, missing_links=sorted(truth.links - links)),
    }


def _round(probing: Probing, number: int, truth: Truth) -> Row:
    """What was known after a round, whatever came later."""
    protocols = probing.after_round(number)
    score = total_score(protocols, truth)
    return {
        "round": number,
        "calls": probing.calls_until(number),
        "documented": score.documented.as_json(),
        "seen": score.seen.as_json(),
        "declared": score.declared.as_json(),
        "links": Rate.of(links_of(protocols.values()), truth.links).as_json(),
    }


def total_score(produced: Mapping[str, ToolProtocol], truth: Truth) -> Score:
    """Over all tools; one that probing gave nothing of counts as wholly missing."""
    return Score.total(score_tool(produced.get(name), tool) for name, tool in truth.tools.items())


def asked_of(records: Iterable[RequestRecord], tools: Collection[str]) -> Asked:
    """What a log says.

    Raises:
        TruthLeaked: the service answered where nothing should be told.
    """
    counts: Counter[str] = Counter(dict.fromkeys(tools, 0))
    nowhere: list[str] = []
    for record in records:
        if record.operation in tools:
            counts[record.operation] += 1
        else:
            nowhere.append(f"{record.method} {record.path} → {record.status}")
        if record.path in DOCUMENTS and record.status != 404:
            raise TruthLeaked(
                f"the service answered {record.path} with {record.status}; its figures are worth nothing."
            )
    return Asked(by_tool=dict(counts), nowhere=tuple(nowhere))


def _see_that_nothing_is_told(url: str) -> None:
    for path in DOCUMENTS:
        status = requests.get(url + path, timeout=10).status_code
        if status != 404:
            raise TruthLeaked(f"the service answers {path} with {status}; its figures are worth nothing.")
