"""Probing of tools that are no plain HTTP services, and of what others wrote: run, scored, and told as a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from probing.sample import Sample
from probing.soft_errors import refusal_in
from protocols.jsontypes import JsonObject
from protocols.protocol import ToolProtocol
from toolflow_bench.probing.counts import Rate, rounded
from toolflow_bench.probing.misses import misses_of
from toolflow_bench.probing.part import Row
from toolflow_bench.probing.prober import Probing
from toolflow_bench.probing.real_departures import Observation, by_kind, declared_rate, departures
from toolflow_bench.probing.score import Score, score_tool
from toolflow_bench.probing.truth import ToolTruth, Truth, links_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One who knows the tools has called them so often, and this came of it, by tool."""

    calls: Mapping[str, Sequence[Observation]]

    def answers(self, tool: str) -> list[Observation]:
        """The calls of a tool that were answered with success."""
        return [one for one in self.calls.get(tool, ()) if one.done]

    def as_json(self) -> Row:
        """How many calls, how many answered, how many tools answered."""
        return {
            "asked": sum(map(len, self.calls.values())),
            "answered": sum(len(self.answers(tool)) for tool in self.calls),
            "tools_answered": sum(bool(self.answers(tool)) for tool in self.calls),
        }


def row_of(name: str, setting: str, probing: Probing, declared: Sequence[ToolProtocol], seen: Seen) -> Row:
    """Probed protocols against their own document and against a census, and where the document departs from both."""
    found = [
        departure.as_json()
        for tool in declared
        for departure in departures(tool, observations(probing, seen, tool.name), probing.protocols.get(tool.name))
    ]
    told = {sample.tool for sample in probing.samples if sample.done and not refusal_in(sample.response)}
    score = Score.total(_score(probing, tool, seen, refused=tool.name not in told) for tool in declared)
    return {
        "name": name,
        "setting": setting,
        "tools": len(declared),
        "described": sum(tool.output_schema is not None for tool in declared),
        "census": seen.as_json(),
        "score": score.as_json(),
        "only_refused": sorted(probing.protocols.keys() - told - probing.stopped.keys()),
        "links": len(links_of(probing.protocols.values())),
        "calls": _calls(probing, len(declared)),
        "seconds": round(probing.seconds, 2),
        "stopped": dict(probing.stopped),
        "departures": found,
        "departures_by_kind": by_kind(found),
        "misses": misses_of(probing, _truth(probing, declared, seen), false_links=(), missing_links=()),
    }


def observations(probing: Probing, seen: Seen, tool: str) -> list[Observation]:
    """The census's calls of a tool, then probing's own."""
    mine = [_observed(sample) for sample in probing.samples if sample.tool == tool]
    return [*seen.calls.get(tool, ()), *mine]


def _observed(sample: Sample) -> Observation:
    return Observation(
        arguments=sample.plain, done=sample.done, response=sample.response, status=sample.status, by="probing"
    )


def _score(probing: Probing, declared: ToolProtocol, seen: Seen, *, refused: bool) -> Score:
    """One tool's score. `refused`: all that it ever said were refusals, so it is not documented."""
    produced = probing.protocols.get(declared.name)
    output = produced.output_schema if produced is not None else None
    score = score_tool(produced, _tool_truth(output, declared, seen))
    score = replace(score, declared=declared_rate(output, declared.output_schema), nullable=Rate())
    if not seen.answers(declared.name):  # whether a field is right cannot be known
        score = replace(score, seen=Rate(), seen_paths=Rate())
    if refused:
        score = replace(
            score,
            documented=replace(score.documented, right=0),
            documented_of_seen=replace(score.documented_of_seen, right=0),
        )
    return score


def _truth(probing: Probing, declared: Sequence[ToolProtocol], seen: Seen) -> Truth:
    outputs = {name: protocol.output_schema for name, protocol in probing.protocols.items()}
    return Truth({tool.name: _tool_truth(outputs.get(tool.name), tool, seen) for tool in declared})


def _tool_truth(output: JsonObject | None, declared: ToolProtocol, seen: Seen) -> ToolTruth:
    # Whether an object's keys are data, no document says here: a map that probing found is read as one in the census
    # too. That it takes what the census saw is counted apart (`replies`).
    answers = [one.response for one in seen.answers(declared.name)]
    return ToolTruth(replace(declared, output_schema=output), answers)


def _calls(probing: Probing, tools: int) -> Row:
    by_tool = [sum(sample.tool == tool.name for sample in probing.samples) for tool in probing.given]
    return {"total": sum(by_tool), "mean": rounded(sum(by_tool) / tools) if tools else None, "max": max(by_tool)}
