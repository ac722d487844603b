"""The part `mcp`: MCP servers of others, whose tools get output schemas by being called.

What a server declares of its tools' results is taken away before. The schemas that probing makes are tried by fresh
calls of another instance on another folder, and compared with the declared ones where there were any.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace

from protocols.errors import ToolError
from protocols.invoke import Invoker, InvokeSettings
from protocols.protocol import ToolProtocol
from protocols.schema import violations
from protocols.sources import load_tools
from protocols.toolbox import Toolbox
from toolflow_bench.probing.counts import Rate, Share, percent, rounded
from toolflow_bench.probing.fields import says_something
from toolflow_bench.probing.mcp_servers import SERVERS, ServerUnderTest
from toolflow_bench.probing.part import Options, Part, Row, unit_folder
from toolflow_bench.probing.prober import Probing, probe_toolbox
from toolflow_bench.probing.real_departures import declared_rate
from toolflow_bench.probing.tables import add_counts, columns

NAME = "mcp"


def measure_server(server: ServerUnderTest, options: Options) -> Row:
    """Probe one server's tools, writes allowed, and try the schemas.

    Raises:
        SourceUnavailable: it does not start.
    """
    folder = unit_folder(NAME, server.name, options)
    shutil.rmtree(folder, ignore_errors=True)
    settings = InvokeSettings(retries=0, confirm_start=lambda _server: True, start_seconds=120, trust_annotations=True)
    with Invoker(settings) as invoker:
        tools = load_tools(f"{server.name}={server.prepare(folder / 'probed', 0)}", invoker=invoker)
        declared = {tool.protocol.name: tool.protocol for tool in tools.values()}
        bare = Toolbox(
            replace(tool, protocol=(one := replace(tool.protocol, output_schema=None)), call=invoker.bind(one))
            for tool in tools.values()
        )
        probing = probe_toolbox(bare, folder, writes=True, options=options)
    with Invoker(settings) as invoker:
        fresh = load_tools(f"{server.name}={server.prepare(folder / 'fresh', 1)}", invoker=invoker)
        tried = [_tried(fresh, tool, arguments, probing) for tool, arguments in server.fresh_calls(folder / "fresh")]
    return _row(server.name, declared, probing, tried)


def _tried(tools: Toolbox, name: str, arguments: dict[str, object], probing: Probing) -> Row:
    """One fresh call: whether it was done, and where its reply departs from the probed schema."""
    try:
        reply = tools.find(name).call(arguments)
    except ToolError as error:
        return {"tool": name, "done": False, "error": error.body[:200], "broken": []}
    produced = probing.protocols.get(name)
    schema = produced.output_schema if produced is not None else None
    if schema is None:
        return {"tool": name, "done": True, "broken": ["there is no schema"]}
    return {
        "tool": name,
        "done": True,
        "broken": [f"{one.path}: {one.message}"[:200] for one in violations(schema, reply)],
    }


def _row(name: str, declared: Mapping[str, ToolProtocol], probing: Probing, tried: Sequence[Row]) -> Row:
    outputs = {tool: protocol.output_schema for tool, protocol in probing.protocols.items()}
    rates = [declared_rate(outputs.get(tool), protocol.output_schema) for tool, protocol in declared.items()]
    done = [one for one in tried if one["done"]]
    by_tool = [sum(sample.tool == tool for sample in probing.samples) for tool in declared]
    missing = sorted(tool for tool in declared if not says_something(outputs.get(tool)))
    return {
        "server": name,
        "tools": len(declared),
        "described": sum(protocol.output_schema is not None for protocol in declared.values()),
        "documented": Share(len(declared) - len(missing), len(declared)).as_json(),
        "declared": sum(rates, start=Rate()).as_json(),
        "fresh": {"calls": len(tried), "done": len(done)},
        "valid": Share.count(not one["broken"] for one in done).as_json(),
        "calls": {"total": sum(by_tool), "max": max(by_tool, default=0)},
        "seconds": round(probing.seconds, 2),
        "undocumented": {tool: _why(probing, tool) for tool in missing},
        "broken": [one for one in tried if one["broken"]],
        "not_done": [one for one in tried if not one["done"]],
    }


def _why(probing: Probing, tool: str) -> list[str]:
    if tool in probing.stopped:
        return [probing.stopped[tool]]
    mine = [sample for sample in probing.samples if sample.tool == tool]
    return [f"{sample.plain} → {sample.outcome} {sample.error[:160]}" for sample in mine[-3:]]


def _total(rows: Sequence[Row]) -> Row:
    kept = ("tools", "described", "documented", "declared", "fresh", "valid")
    summed = {key: add_counts([row[key] for row in rows]) for key in kept} if rows else {}
    calls = [row["calls"] for row in rows]
    return {
        **summed,
        "calls": {"total": sum(one["total"] for one in calls), "max": max((one["max"] for one in calls), default=0)},
        "skipped": {one.name: one.missing for one in SERVERS if one.missing},
    }


def _lines(rows: Sequence[Row], total: Row) -> list[str]:
    head = ("", "tools", "documented", "fresh", "done", "valid", "declared P", "R", "calls", "per tool", "max", "s")
    body = [_cells(row["server"], row, f"{row['seconds']:.0f}") for row in rows]
    shown = columns([head, *body, _cells("all", total, "")]) if rows else []
    for row in rows:
        shown += [
            f"  {row['server']}.{tool} is not documented: {'; '.join(why)}" for tool, why in row["undocumented"].items()
        ]
        shown += [f"  {row['server']}.{one['tool']}: {'; '.join(one['broken'])}" for one in row["broken"]]
        shown += [f"  {row['server']}.{one['tool']} refused a fresh call: {one['error']}" for one in row["not_done"]]
    return [*shown, *(f"skipped  {name}: {why}" for name, why in total["skipped"].items())]


def _cells(name: str, row: Row, seconds: str) -> tuple[str, ...]:
    return (
        name,
        str(row["tools"]),
        percent(row["documented"]["share"]),
        str(row["fresh"]["calls"]),
        str(row["fresh"]["done"]),
        percent(row["valid"]["share"]),
        percent(row["declared"]["precision"]),
        percent(row["declared"]["recall"]),
        str(row["calls"]["total"]),
        str(rounded(row["calls"]["total"] / row["tools"])),
        str(row["calls"]["max"]),
        seconds,
    )


PART = Part(
    name=NAME,
    summary="MCP servers of others: filesystem, memory, time, git",
    units=lambda _options: [one.name for one in SERVERS if not one.missing],
    measure=lambda unit, options: measure_server(next(one for one in SERVERS if one.name == unit), options),
    total=_total,
    lines=_lines,
)
