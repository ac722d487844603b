"""One probing as the bench does it."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.probing.score import Row, added
from probing.output import write
from probing.probe import probe
from probing.samples import Log, ProbeSettings, Sample
from protocols.ask import Ask
from protocols.files import write_whole
from protocols.invoke import Invoker, InvokeSettings
from protocols.protocol import Annotations, HttpBinding, ToolProtocol, dump
from protocols.sources import load_tools
from protocols.toolbox import Toolbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a suite is measured. `out` is the folder of all that is written, `cache` that of the services' data."""

    out: Path
    cache: Path | None = None
    per_tool: int = 15
    """Calls of one tool that probing may make."""
    model: str = "none"
    ask: Ask | None = None


@dataclass(frozen=True, kw_only=True)
class Probing:
    """What was called, what came of it, and what was `spent`: calls in all and per tool, and the time they took."""

    samples: Sequence[Sample]
    protocols: Mapping[str, ToolProtocol]
    stopped: Mapping[str, str]
    spent: Row


def run_probing(given: Sequence[ToolProtocol], folder: Path, *, name: str, writes: bool, options: Options) -> Probing:
    """Probe the tools of `given` by calling them; everything is kept in `folder`, written as `atc probe` writes it.

    The tools are written down as one file each and read from there, as those of a person would be; nothing else of
    theirs reaches the prober. The data are public: values are kept as they are.
    """
    shutil.rmtree(folder, ignore_errors=True)  # of a measurement that was cut off
    for protocol in given:
        write_whole(folder / "stripped" / f"{protocol.name}.json", json.dumps(dump(protocol), indent=1) + "\n")
    with Invoker(InvokeSettings(retries=0, timeout_seconds=ProbeSettings().timeout_seconds)) as invoker:
        toolbox = load_tools(f"{name}={folder / 'stripped'}", invoker=invoker)
        return probe_toolbox(toolbox, folder, writes=writes, options=options)


def probe_toolbox(toolbox: Toolbox, folder: Path, *, writes: bool, options: Options) -> Probing:
    """Probe the tools of `toolbox`; what came of it lies in `folder/protocols`."""
    settings = ProbeSettings(allow_writes=writes, per_tool=options.per_tool, requests_per_second=None)
    began, cpu = time.perf_counter(), time.process_time()
    with Log(folder / "protocols") as log:
        probed = probe(toolbox, log, settings=settings, ask=options.ask)
        samples = tuple(log.samples)
    written = write(folder / "protocols", probed, keep_values=True)
    by_tool = [sum(sample.tool == tool.protocol.name for sample in samples) for tool in toolbox.values()]
    spent = {
        "calls": {"total": sum(by_tool), "mean": round(sum(by_tool) / len(by_tool), 4), "max": max(by_tool)},
        "seconds": round(time.perf_counter() - began, 2),
        "cpu_seconds": round(time.process_time() - cpu, 2),
    }
    return Probing(samples=samples, protocols=written.protocols, stopped=probed.stopped, spent=spent)


def strip(protocols: Iterable[ToolProtocol]) -> list[ToolProtocol]:
    """The protocols as one meets them in the wild: without anything that only documentation knows.

    What stays: the tool's name, its method and URL, the names of its arguments and where they travel.
    """
    found = []
    for protocol in protocols:
        binding, known = protocol.binding, Annotations()
        if isinstance(binding, HttpBinding):
            binding = replace(binding, idempotency_header=None, credentials=())
            known = Annotations(read_only=True) if binding.method in ("GET", "HEAD", "OPTIONS") else known
        schema = {"type": "object", "properties": {name: {} for name in protocol.parameters}}
        found.append(ToolProtocol(name=protocol.name, input_schema=schema, binding=binding, annotations=known))
    return found


COUNTS = ("documented", "fields", "required", "argument_types", "errors", "links", "seconds", "cpu_seconds")
"""What of a unit's row adds up."""


def summed(rows: Sequence[Row]) -> Row:
    """The counts of all rows."""
    sent, tools = sum(row["calls"]["total"] for row in rows), sum(row["tools"] for row in rows)
    calls = {"total": sent, "mean": round(sent / tools, 4), "max": max(row["calls"]["max"] for row in rows)}
    return {"tools": tools, "calls": calls, **{key: added([row[key] for row in rows]) for key in COUNTS}}
