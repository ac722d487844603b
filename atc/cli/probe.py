"""`atc probe`: write the protocols of tools that nobody documented, by calling them; what has changed since."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from atc.cli.options import AT_LEAST_ONE, POSITIVE, Verb, jobs_option, servers_options, workers_option
from atc.cli.output import error_document, has_person, print_result, say
from atc.cli.probe_sources import (
    GOES_ON,
    begin,
    exit_code,
    invoker_for,
    open_model,
    probe_many,
    require_named,
    summary,
    write_report,
)
from atc.cli.progress import bar
from atc.cli.settings import load_config
from atc.cli.wiring import open_pool
from atc.terminal import count
from probing.drift import CALLS, Checked, earlier_samples, recheck
from probing.gate import Plan, PlannedTool, plan
from probing.probe import probe
from probing.samples import FOLDER, Log, ProbeSettings, Watch
from protocols.protocol import PythonBinding
from protocols.sources import load_source
from protocols.toolbox import Toolbox

_SETTINGS = ("model", "start_servers", "trust_annotations", "workers")
"""Flags that are settings of the configuration too."""


@click.command(
    "probe",
    cls=Verb,
    examples=[
        "atc probe https://example.org/openapi.json --dry-run",
        "atc probe bare/ -o documented/ --budget 300",
        "atc probe first.json second.json -o documented/ --workers ray:10.0.0.5:6379",
        "atc probe --check documented/",
    ],
)
@click.argument("sources", metavar="SRC...", nargs=-1, required=True)
@click.option("-o", "--output", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
              help="Where to write; of several SRC, each has a folder there.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Show what would be called, how often and how fast; call nothing.")
@click.option("--check", is_flag=True, help="SRC is a folder that was written so: say what has changed since.")
@click.option("--budget", type=AT_LEAST_ONE, metavar="N", help="Calls in all, over all times DIR is probed.")
@click.option("--per-tool", type=AT_LEAST_ONE, default=15, show_default=True, metavar="N", help="Calls of a tool.")
@click.option("--rounds", type=click.IntRange(0), default=3, show_default=True, metavar="N", help="Chain rounds.")
@click.option("--rate", "requests_per_second", type=POSITIVE, default=10.0, show_default=True, metavar="N",
              help="A host's calls in a second.")  # fmt: skip
@click.option("--timeout", "timeout_seconds", type=POSITIVE, default=20.0, show_default=True, metavar="S",
              help="Seconds for one call.")  # fmt: skip
@click.option("--allow-writes", "writes", multiple=True, metavar="[TOOL]", is_flag=False, flag_value="all",
              help="Also call this tool, which may change something; without a name, all. Repeatable.")  # fmt: skip
@click.option("--keep-values", is_flag=True, help="For public data: show values in examples as they are.")
@click.option("--model", metavar="NAME", help="What proposes values and words; 'none' for no model.")
@click.option("--module", "modules", multiple=True, metavar="MODULE", help="Python module whose functions SRC names.")
@jobs_option
@workers_option
@servers_options
def probe_command(
    sources: tuple[str, ...], *, output: Path | None, dry_run: bool, check: bool, keep_values: bool,
    writes: tuple[str, ...], modules: tuple[str, ...], jobs: int | None, **flags: Any,
) -> None:  # fmt: skip
    """Write protocols of SRC's tools into DIR, by calling them.

    SRC is a folder of bare descriptions, an OpenAPI document, a Python module, a HAR recording or an MCP server. Only
    tools that read are called, unless you allow more, and only the hosts that SRC names. The same command goes on where
    an earlier one stopped, and asks for nothing twice. Several SRC are probed at once (--jobs, --workers), those of one
    host one after another; nothing is asked then. Exit status: 0 done, 1 no tool could be documented or, with --check,
    something breaks, 2 wrong usage, 3 something is missing or down, 130 interrupted.
    """
    if check and (output is not None or dry_run):
        raise click.UsageError("--check writes nothing; give it without -o and --dry-run")
    if output is None and not (dry_run or check):
        raise click.UsageError("say where to write the protocols: -o DIR")
    config = load_config({key: flags.pop(key) for key in _SETTINGS} | {"tools": (*sources, *modules)})
    settings = ProbeSettings(allow_writes="all" in writes or frozenset(writes), **flags)
    if len(sources) > 1 or config.workers is not None:
        if output is None or dry_run or modules:
            raise click.UsageError("--check, --dry-run and --module take one SRC, and no --workers")
        with open_pool(config, jobs) as pool, redirect_stdout(sys.stderr):
            reports = probe_many(sources, output, pool, config, settings, keep_values=keep_values)
        print_result(reports, [(one["folder"], one["error"] or next(summary(one))) for one in reports])
        if any(one["error"] for one in reports):
            say(GOES_ON)
        sys.exit(exit_code(reports))
    [source] = sources
    with ExitStack() as stack:
        invoker = stack.enter_context(invoker_for(config, settings))
        with redirect_stdout(sys.stderr):  # what a module prints when it is imported is not the result
            loaded = load_source(source, invoker=invoker, modules=modules)
        if check:
            sys.exit(_check_again(source, loaded.tools, settings))
        log = None
        if output is not None and (not dry_run or (output / FOLDER).is_dir()):
            given = Path(source)
            if given.is_dir() and output.is_dir() and given.samefile(output):
                raise click.UsageError(f"{str(output)!r} is the source itself; give another folder to write to")
            log = stack.enter_context(Log(output))
            begin(log, output, source)
        if output is None or log is None or dry_run:
            _show_plan(plan(loaded.tools, settings, log), settings)
            return
        settings = allowed(loaded.tools, settings, log)
        signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
        most = log.sent + plan(loaded.tools, settings, log).total
        # What a Python tool prints is not the result.
        with redirect_stdout(sys.stderr), open_model(config) as ask, _probing_bar(log, most) as watch:
            probed = probe(loaded.tools, log, settings=settings, ask=ask, watch=watch)
        report = write_report(output, probed, log.sent, keep_values=keep_values)
    print_result(report, "\n".join(summary(report)))
    if probed.interrupted:
        say(f"Interrupted. {GOES_ON}")
        sys.exit(130)
    runs_here = any(isinstance(tool.protocol.binding, PythonBinding) for tool in loaded.tools.values())
    also = "".join(f" --tools {one}" for one in modules or sources if runs_here)
    say(report.get("error") or f'Next: atc run "…" --tools {output}{also}')
    sys.exit(exit_code([report]))


def allowed(tools: Toolbox, settings: ProbeSettings, log: Log) -> ProbeSettings:
    """The settings, with writes where a person allows them.

    The writes of the plan are shown before. `--allow-writes` is consent; without it a terminal asks.

    Raises:
        click.UsageError: `--allow-writes` names a tool that there is not.
    """
    require_named((tool.protocol for tool in tools.values()), settings)
    named = settings.allow_writes
    agreed = replace(settings, allow_writes=named or True)
    writes = plan(tools, agreed, log).writes
    if not writes:
        return settings
    number = count(len(writes), "tool")
    if not named and not has_person():
        say(f"{number} may change something and will not be called; --allow-writes lets it.")
        return settings
    say(f"{number} that {'will' if named else 'may'} be called may change something:")
    for line in _tool_lines(writes):
        say(f"  {line}")
    return agreed if named or click.confirm("Call these too?", default=False, err=True) else settings


def _show_plan(plan: Plan, settings: ProbeSettings) -> None:
    """Print the plan: a line a tool, and what it comes to."""
    hosts = [{"host": host, "at_most": most} for host, most in plan.hosts.items()]
    tools = [asdict(tool) for tool in plan.tools]
    document = {
        "tools": tools,
        "hosts": hosts,
        "total": plan.total,
        "requests_per_second": settings.requests_per_second,
    }
    called = sum(bool(tool.at_most) for tool in plan.tools)
    writes = f", {len(plan.writes)} of them may change something" if plan.writes else ""
    told = f"{count(called, 'tool')} of {len(tools)} would be called{writes}; {len(tools) - called} would not."
    lines = [*_tool_lines(sorted(plan.tools, key=lambda tool: not tool.at_most)), "", told]
    for host, most in plan.hosts.items():
        pace = "" if host.startswith("Python ") else f", no more than {settings.requests_per_second:g} in a second"
        lines.append(f"{host}: at most {count(most, 'call')}{pace}")
    print_result(document, "\n".join([*lines, f"In all at most {count(plan.total, 'call')}."]))


def _tool_lines(tools: Sequence[PlannedTool]) -> Iterator[str]:
    """A line for each tool: how often it is called at most, or why not, and how."""
    width = max((len(tool.name) for tool in tools), default=0)
    for tool in tools:
        often = f"at most {count(tool.at_most, 'call')}" if tool.at_most else f"not called: {tool.why_not}"
        yield f"{tool.name:<{width}}  {'reads ' if tool.reads else 'writes'}  {often}  ({tool.how})"


@contextmanager
def _probing_bar(log: Log, most: int) -> Iterator[Watch]:
    """A bar of a probing's calls, with its sentences above. What it gives takes what probing tells."""
    with bar("calls", total=most) as advance:
        yield lambda event: say(event) if isinstance(event, str) else advance(log.sent)


def _check_again(source: str, tools: Toolbox, settings: ProbeSettings) -> int:
    """Sample the tools of a probed folder again, print what changed, and give the exit code: 1 where something breaks.

    Raises:
        LogUnreadable: the folder's log cannot be read.
    """
    earlier = earlier_samples(Path(source)) if Path(source).is_dir() else []
    planned = plan(tools, settings)
    most = min(planned.total, CALLS * sum(bool(tool.at_most) for tool in planned.tools))
    # A log of its own: what the folder's log has would be answered from there.
    with (
        TemporaryDirectory(prefix="atc-check-") as folder,
        Log(Path(folder)) as log,
        _probing_bar(log, most) as watch,
        redirect_stdout(sys.stderr),
    ):
        checked = recheck(tools, log, settings=settings, earlier=earlier, watch=watch)
    problem = "" if checked.breaking or checked.calls else "Nothing could be checked."
    document = {
        "breaking": bool(checked.breaking),
        "changes": [asdict(change) for change in checked.changes],
        "unchecked": dict(checked.unchecked),
        "calls": checked.calls,
    } | error_document(problem, 3)
    print_result(document, "\n".join(_check_lines(checked)))
    if problem:
        say(problem)
    return 1 if checked.breaking else 3 if problem else 0


def _check_lines(checked: Checked) -> Iterator[str]:
    for change in checked.changes:
        yield f"{change.severity:<9} {change.tool}: {change.text}"
    for tool, why in checked.unchecked.items():
        yield f"unchecked {tool}: {why.rstrip('.')}"
    seen = checked.tools - len(checked.unchecked)
    kinds = [f"{sum(c.severity == kind for c in checked.changes)} {kind}" for kind in ("breaking", "risky", "harmless")]
    changes = f"{count(len(checked.changes), 'change')} ({', '.join(kinds)})" if checked.changes else "no change"
    yield f"{changes} in {seen} of {count(checked.tools, 'tool')} with {count(checked.calls, 'call')}"
