"""Formats the plan and the report of `atc probe`, and changes that it found, as text and JSON."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from atc.cli.errors import ExitCode, error_document
from atc.core.quoting import quote_name, quoted
from atc.core.text import count, escape_controls
from probing.call_plan import PlannedTool, ProbePlan
from probing.drift import DriftReport
from probing.probe import Probed
from probing.report import READABLE, coverage, format_created_record, write
from probing.samples import ProbeSettings

GOES_ON = "The same command goes on; no call is made twice."
_LONGEST_HOW = 160
_PLAIN_HOW = re.compile(r"[A-Z][A-Za-z]* [!-~]{1,160}")
"""Matches calls that are shown without quotes: two words, `GET https://api.example.org/users`."""
_MOST_SHOWN = 12
"""Maximum number of tools without a response that the summary lists.

The file COVERAGE.md lists all.
"""


def plan_document(plan: ProbePlan, settings: ProbeSettings) -> dict[str, Any]:
    """Return the plan of a probing as a JSON object."""
    hosts = [{"host": host, "at_most": most} for host, most in plan.hosts.items()]
    return asdict(plan) | {"hosts": hosts, "requests_per_second": settings.requests_per_second}


def format_plan(plan: ProbePlan, settings: ProbeSettings) -> Iterator[str]:
    """Yield the plan of a probing as text: a line for each tool, then for each host, and totals."""
    yield from format_planned_tools(sorted(plan.tools, key=lambda tool: not tool.at_most))
    yield ""
    total = len(plan.tools)
    called = sum(bool(tool.at_most) for tool in plan.tools)
    writes = f", {len(plan.writes)} of them may change something" if plan.writes else ""
    tools = count(called, "tool")
    yield f"{tools} of {total} would be called{writes}; {total - called} would not."
    for host, most in plan.hosts.items():
        limited = not host.startswith("Python ")
        pace = f", no more than {settings.requests_per_second:g} in a second" if limited else ""
        yield f"{host}: at most {count(most, 'call')}{pace}"
    yield f"In all at most {count(plan.total, 'call')}."


def format_planned_tools(tools: Sequence[PlannedTool]) -> Iterator[str]:
    """Yield a line for each tool: how it is called and how often, or why it is not called."""
    width = max((len(quote_name(tool.name)) for tool in tools), default=0)
    for tool in tools:
        often = f"not called: {tool.why_not}"
        if tool.at_most:
            often = f"at most {count(tool.at_most, 'call')}"
        how = tool.how if _PLAIN_HOW.fullmatch(tool.how) else quoted(tool.how, most=_LONGEST_HOW)
        effect = "reads " if tool.reads else "writes"
        yield f"{quote_name(tool.name):<{width}}  {effect}  {often}  ({how})"


def format_changes(checked: DriftReport) -> Iterator[str]:
    """Yield the lines about what has changed since the tools were probed.

    There is a line for each change, for each tool that could not be checked, and for the totals.
    """
    for change in checked.changes:
        yield f"{change.severity:<9} {change.tool}: {change.text}"
    for tool, why in checked.unchecked.items():
        yield f"unchecked {tool}: {why.rstrip('.')}"
    changes = "no change"
    if checked.changes:
        severities = Counter(change.severity for change in checked.changes)
        kinds = (f"{severities[kind]} {kind}" for kind in ("breaking", "risky", "harmless"))
        changes = f"{count(len(checked.changes), 'change')} ({', '.join(kinds)})"
    seen = checked.tools - len(checked.unchecked)
    tools = count(checked.tools, "tool")
    yield f"{changes} in {seen} of {tools} with {count(checked.calls, 'call')}"


def write_report(folder: Path, probed: Probed, sent: int, *, keep_values: bool) -> dict[str, Any]:
    """Write the protocols that are the result of a probing, and return a report as a JSON object.

    `sent` is the number of calls that were made. If no tool could be documented, the report has the
    keys `error` and `kind`. With `keep_values`, values in examples are written as they are.
    """
    written = write(folder, probed, keep_values=keep_values)
    report = coverage(probed, written.protocols)
    problem = ""
    code = ExitCode.FAILED
    if not probed.interrupted and not report["totals"]["answered"]:
        problem = f"No tool could be documented; {folder / READABLE} says why."
        # If nothing answered at all although calls were allowed, the service is down, and this says
        # nothing about the tools.
        silent = not any(facts.samples for facts in probed.facts.values())
        if silent and any("connect" in why for why in probed.stopped.values()):
            code = ExitCode.ENVIRONMENT
    about = {"folder": str(folder), "interrupted": probed.interrupted, "sent": sent}
    files = {"written": list(written.written), "kept": list(written.kept)}
    return about | files | report | error_document(problem, code)


def exit_code(reports: Sequence[Mapping[str, Any]]) -> ExitCode:
    """Return the exit code of the command for the reports of all probed sources.

    It is `environment` if a report has an error of this kind, because a service was down or
    missing. Otherwise it is `failed` if a report has an error of that kind, else `done`.
    """
    kinds = {report.get("kind") for report in reports}
    if "environment" in kinds:
        return ExitCode.ENVIRONMENT
    return ExitCode.FAILED if "failed" in kinds else ExitCode.DONE


def summary(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield the report of a probing as lines of text, the first of which summarises it."""
    totals = report["totals"]
    folder = Path(report["folder"])
    tools = count(totals["tools"], "tool")
    calls = count(report["sent"], "call")
    known = f"{count(totals['fields'], 'response field')}, {count(totals['links'], 'link')}"
    yield f"{totals['answered']} of {tools} documented with {calls}: {known}"
    silent = [(name, tool) for name, tool in report["coverage"].items() if not tool["answered"]]
    for name, tool in silent[:_MOST_SHOWN]:
        yield f"  {name}: {'; '.join(text.rstrip('.') for text in tool['missing']) or 'not called'}"
    if len(silent) > _MOST_SHOWN:
        yield f"  … and {len(silent) - _MOST_SHOWN} more"
    for record in report["made"]:
        end = "removed" if record["removed"] else "left"
        yield f"Made and {end}: {escape_controls(format_created_record(record))}"
    if report["kept"]:
        kept = ", ".join(report["kept"])
        yield f"Kept as they were changed by hand: {kept}; without them they are written anew"
    yield f"Protocols in {folder}; what is missing, and why, in {folder / READABLE}"
