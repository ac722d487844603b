"""One probing as the bench does it, and the rows that are kept of each: what has a row is not measured again."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.probing.score import Row, added, percent
from probing.document import protocols_of
from probing.facts import learn
from probing.output import write
from probing.probe import concluded, probe
from probing.samples import Log, ProbeSettings, Sample
from protocols.ask import Ask
from protocols.files import write_whole
from protocols.invoke import Invoker, InvokeSettings
from protocols.protocol import Annotations, HttpBinding, ToolProtocol, dump
from protocols.schema import resolve, types
from protocols.sources import load_tools
from protocols.toolbox import Toolbox
from toolflow_bench.columns import columns
from toolflow_bench.lines import InvalidRunFile, LineFile, differences


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a suite is measured. `out` is the folder of all that is written, `cache` that of the services' data."""

    out: Path
    cache: Path | None = None
    settings: tuple[str, ...] = ("names",)
    services: tuple[str, ...] = ()
    """None: all."""
    seed: int = 0
    per_tool: int = 15
    """Calls of one tool that probing may make."""
    model: str = "none"
    ask: Ask | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """`units` names what is measured one by one, `measure` measures one, `total` and `lines` tell of all rows."""

    name: str
    summary: str
    units: Callable[[Options], Sequence[str]]
    measure: Callable[[str, Options], Row]
    total: Callable[[Sequence[Row]], Row]
    lines: Callable[[Sequence[Row], Row], list[str]]


def run_suite(suite: Suite, options: Options, rows: Rows, *, say: Callable[[str], None]) -> Row:
    """Measure every unit of a suite that has no row yet; gives the rows by unit and the total."""
    found: dict[str, Row] = {}
    for unit in suite.units(options):
        known = rows.of.get((suite.name, unit))
        say(f"{suite.name}: {unit}{'' if known is None else ' (measured before)'}")
        found[unit] = known if known is not None else rows.add(suite.name, unit, suite.measure(unit, options))
    return {"units": found, "total": suite.total(list(found.values())) if found else {}}


class Rows:
    """The rows so far, by suite and unit, in a file that one process at a time continues.

    Raises:
        InvalidRunFile: it holds rows of another model, seed or number of calls, or cannot be written.
    """

    def __init__(self, options: Options) -> None:
        header = {"model": options.model, "seed": options.seed, "calls": options.per_tool}
        self._file = LineFile(options.out / "rows.jsonl", synced=True)
        lines = [json.loads(line) for line in self._file.whole.splitlines()]
        self._file.keep(self._file.whole)
        if not lines:
            self._file.write(header)
        elif different := differences(lines[0], header):
            self.close()
            raise InvalidRunFile(f"{options.out} holds other rows ({', '.join(different)}); give another --out.")
        self.of: dict[tuple[str, str], Row] = {(line["suite"], line["unit"]): line["row"] for line in lines[1:]}

    def add(self, suite: str, unit: str, row: Row) -> Row:
        """Keep a row."""
        self._file.write({"suite": suite, "unit": unit, "row": row})
        return row

    def close(self) -> None:
        """Close the file."""
        self._file.close()


@dataclass(frozen=True, kw_only=True)
class Probing:
    """What was given, what was called, and what came of it."""

    given: Sequence[ToolProtocol]
    samples: Sequence[Sample]
    protocols: Mapping[str, ToolProtocol]
    stopped: Mapping[str, str]
    made: Sequence[Mapping[str, Any]]
    seconds: float
    cpu_seconds: float

    def after(self, chosen: Callable[[Sample], bool]) -> dict[str, ToolProtocol]:
        """The protocols that follow from some of the samples. No model has a say."""
        samples = [sample for sample in self.samples if chosen(sample)]
        facts = {protocol.name: learn(protocol, samples) for protocol in self.given}
        return protocols_of(concluded(facts), keep_values=True)

    @property
    def calls(self) -> Row:
        """Calls in all and per tool."""
        by_tool = [sum(sample.tool == tool.name for sample in self.samples) for tool in self.given]
        return {"total": sum(by_tool), "mean": round(sum(by_tool) / max(len(by_tool), 1), 4), "max": max(by_tool)}


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
    return Probing(
        given=[tool.protocol for tool in toolbox.values()],
        samples=samples,
        protocols=written.protocols,
        stopped=probed.stopped,
        made=probed.made,
        seconds=round(time.perf_counter() - began, 2),
        cpu_seconds=round(time.process_time() - cpu, 2),
    )


def unit_folder(suite: str, unit: str, options: Options) -> Path:
    """The folder of all that is written of one unit."""
    model = re.sub(r"[^\w.-]+", "_", options.model)
    return options.out / suite / f"{unit}-{model}"


def strip(protocols: Iterable[ToolProtocol], setting: str) -> list[ToolProtocol]:
    """The protocols as one meets them in the wild: without anything that only documentation knows.

    What stays: the tool's name, its method and URL, the names of its arguments and where they travel, and with the
    setting `types` the JSON type of each.
    """
    return [_stripped(protocol, typed=setting == "types") for protocol in protocols]


def _stripped(protocol: ToolProtocol, *, typed: bool) -> ToolProtocol:
    kept = {}
    for name, schema in protocol.parameters.items():
        kinds = types(resolve(schema, protocol.input_schema)) if typed else ()
        kept[name] = {"type": kinds[0] if len(kinds) == 1 else list(kinds)} if kinds else {}
    binding = protocol.binding
    reads = isinstance(binding, HttpBinding) and binding.method in ("GET", "HEAD", "OPTIONS")
    if isinstance(binding, HttpBinding):
        binding = replace(binding, idempotency_header=None, credentials=())
    return ToolProtocol(
        name=protocol.name,
        input_schema={"type": "object", "properties": kept},
        binding=binding,
        annotations=Annotations(read_only=True) if reads else Annotations(),
    )


def total_by_setting(rows: Sequence[Row]) -> Row:
    """The counts of all rows, by setting."""
    total = {}
    for setting in dict.fromkeys(row["setting"] for row in rows):
        of = [row for row in rows if row["setting"] == setting]
        calls, tools = sum(row["calls"]["total"] for row in of), sum(row["tools"] for row in of)
        most = max(row["calls"]["max"] for row in of)
        total[setting] = {
            "tools": tools,
            **{key: added([row[key] for row in of]) for key in ("score", "links", "seconds", "cpu_seconds")},
            "calls": {"total": calls, "mean": round(calls / tools, 4), "max": most},
        }
    return total


def table(rows: Sequence[Row], total: Row) -> list[str]:
    """A table for each setting."""
    head = ("", "tools", "documented", "fields P", "R", "required", "types", "errors P", "R", "links P", "R",
            "calls/tool", "max", "s", "CPU s")  # fmt: skip
    shown: list[str] = []
    for setting, summed in total.items():
        body = [_cells(row["name"], row) for row in rows if row["setting"] == setting]
        shown += [f"setting: {setting}", *columns([head, *body, _cells("all", summed)]), ""]
    return shown


def _cells(name: str, row: Row) -> tuple[str, ...]:
    score, calls = row["score"], row["calls"]
    fields, errors, links = ([percent(one[key]) for key in ("precision", "recall")]
                             for one in (score["fields"], score["errors"], row["links"]))  # fmt: skip
    shares = [percent(score[key]["share"]) for key in ("documented", "required", "argument_types")]
    spent = (f"{calls['mean']:.1f}", str(calls["max"]), f"{row['seconds']:.0f}", f"{row['cpu_seconds']:.1f}")
    return (name, str(row["tools"]), shares[0], *fields, *shares[1:], *errors, *links, *spent)
