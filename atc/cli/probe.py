"""`atc probe`: write protocols of undocumented tools by calling them, and find what has changed
since.
"""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from atc.cli import wiring
from atc.cli.errors import error_document
from atc.cli.options import (
    AT_LEAST_ONE,
    POSITIVE,
    Verb,
    jobs_option,
    servers_options,
    workers_option,
)
from atc.cli.output import bar, confirmed, has_person, print_result, say
from atc.cli.settings import load_config
from atc.core.config import SETTINGS, Config, portable
from atc.core.parallel import Pool, run_parallel
from atc.core.quoting import quote_name, quoted
from atc.core.text import count, escape_controls
from atc.models import openai
from probing.call_plan import PlannedTool, ProbePlan, plan_probing
from probing.caller import ApprovalCheck
from probing.drift import CALLS, DriftReport, earlier_samples, recheck
from probing.probe import Probed, SourceProbing, by_host, probe, probe_in_turn
from probing.report import READABLE, coverage, format_created_record, write
from probing.samples import FOLDER, SOURCE, Log, ProbeSettings, Watch
from protocols.client import Invoker
from protocols.errors import AtcError, UnknownTool
from protocols.model import Ask
from protocols.protocol import ToolProtocol
from protocols.secrets.sources import mask_source
from protocols.sources import load_source
from protocols.toolbox import Toolbox

GOES_ON = "The same command goes on; no call is made twice."
_LOADED_AT_ONCE = 16
_LONGEST_NAME = 60
_LONGEST_HOW = 160
_PLAIN_HOW = re.compile(r"[A-Z][A-Za-z]* [!-~]{1,160}")
"""How a tool is called, if that is two plain words: `GET https://api.example.org/users`."""
_MOST_SHOWN = 12
"""How many tools without a response the summary lists; the coverage report has all."""


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
@click.option(
    "--dry-run",
    is_flag=True,
    help="Show what would be called, how often and how fast; call nothing.",
)
@click.option(
    "--check", is_flag=True, help="SRC is a folder that was written so: say what has changed since."
)
@click.option(
    "--budget", type=AT_LEAST_ONE, metavar="N", help="Calls in all, over all times DIR is probed."
)
@click.option(
    "--per-tool",
    type=AT_LEAST_ONE,
    default=15,
    show_default=True,
    metavar="N",
    help="Calls of a tool.",
)
@click.option(
    "--rounds",
    type=click.IntRange(0),
    default=3,
    show_default=True,
    metavar="N",
    help="Chain rounds.",
)
@click.option("--rate", "requests_per_second", type=POSITIVE, default=10.0, show_default=True, metavar="N",
              help="A host's calls in a second.")  # fmt: skip
@click.option("--timeout", "timeout_seconds", type=POSITIVE, default=20.0, show_default=True, metavar="S",
              help="Seconds for one call.")  # fmt: skip
@click.option("--allow-writes", "writes", multiple=True, metavar="[TOOL]", is_flag=False, flag_value="all",
              help="Also call this tool, which may change something; without a name, all. Repeatable.")  # fmt: skip
@click.option(
    "--keep-values", is_flag=True, help="For public data: show values in examples as they are."
)
@click.option(
    "--model", metavar="NAME", help="What proposes values and words; 'none' for no model."
)
@click.option(
    "--module",
    "modules",
    multiple=True,
    metavar="MODULE",
    help="Python module whose functions SRC names.",
)
@jobs_option
@workers_option
@servers_options
def probe_command(
    sources: tuple[str, ...], *, output: Path | None, dry_run: bool, check: bool, keep_values: bool,
    writes: tuple[str, ...], modules: tuple[str, ...], jobs: int | None, **flags: Any,
) -> None:  # fmt: skip
    """Write protocols of SRC's tools into DIR, by calling them.

    SRC is a folder of bare descriptions, an OpenAPI document, a Python module, a HAR recording or
    an MCP server. Only tools that read are called, unless you allow more, and only the hosts that
    SRC names; a call that somebody declined, or that a client of 'atc serve' waits for, is never
    made. The same command goes on where an earlier one stopped, and asks for nothing twice. Several
    SRC are probed at once (--jobs, --workers), those of one host one after another; nothing is
    asked then. Exit status: 0 done, 1 no tool could be documented or, with --check, something
    breaks, 2 wrong usage, 3 something is missing or down, 130 interrupted.
    """
    if check and (output is not None or dry_run):
        raise click.UsageError("--check writes nothing; give it without -o and --dry-run")
    if output is None and not (dry_run or check):
        raise click.UsageError("say where to write the protocols: -o DIR")
    chosen = {name: flags.pop(name) for name in SETTINGS if name in flags}
    config = load_config(chosen | {"tools": (*sources, *modules)})
    settings = ProbeSettings(allow_writes="all" in writes or frozenset(writes), **flags)
    if len(sources) > 1 or config.workers is not None:
        if output is None or dry_run or modules:
            raise click.UsageError("--check, --dry-run and --module take one SRC, and no --workers")
        with wiring.open_pool(config, jobs) as pool, redirect_stdout(sys.stderr):
            reports = probe_many(sources, output, pool, config, settings, keep_values=keep_values)
        print_result(
            reports, [(one["folder"], one["error"] or next(summary(one))) for one in reports]
        )
        if any(one["error"] for one in reports):
            say(GOES_ON)
        sys.exit(exit_code(reports))
    [source] = sources
    with ExitStack() as stack:
        invoker = stack.enter_context(invoker_for(config, settings))
        with redirect_stdout(
            sys.stderr
        ):  # what a module prints when it is imported is not the result
            loaded = load_source(source, invoker=invoker, modules=modules)
        if check:
            sys.exit(_check_again(source, loaded.tools, settings, wiring.load_held_check(config)))
        log = None
        if output is not None and (not dry_run or (output / FOLDER).is_dir()):
            given = Path(source)
            if given.is_dir() and output.is_dir() and given.samefile(output):
                raise click.UsageError(
                    f"{str(output)!r} is the source itself; give another folder to write to"
                )
            log = stack.enter_context(Log(output))
            log_source(log, output, source)
        if output is None or log is None or dry_run:
            _show_plan(plan_probing(loaded.tools, settings, log), settings)
            return
        settings = confirm_writes(loaded.tools, settings, log)
        signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
        most = log.sent_count + plan_probing(loaded.tools, settings, log).total
        # What a Python tool prints is not the result.
        with (
            redirect_stdout(sys.stderr),
            open_model(config) as ask,
            _probing_bar(log, most) as watch,
        ):
            held = wiring.load_held_check(config)
            probed = probe(loaded.tools, log, settings=settings, ask=ask, watch=watch, held=held)
        report = write_report(output, probed, log.sent_count, keep_values=keep_values)
    print_result(report, "\n".join(summary(report)))
    if probed.interrupted:
        say(f"Interrupted. {GOES_ON}")
        sys.exit(130)
    also = "".join(f" --tools {one}" for one in modules or (sources if loaded.functions else ()))
    say(report.get("error") or f'Next: atc run "…" --tools {output}{also}')
    sys.exit(exit_code([report]))


def confirm_writes(tools: Toolbox, settings: ProbeSettings, log: Log) -> ProbeSettings:
    """Return the settings of a probing, in which a person may have allowed calls that write.

    The planned calls that write are shown first. `--allow-writes` allows them; without it the
    person at the terminal is asked.

    Raises:
        click.UsageError: `--allow-writes` names a tool that the source does not have.
    """
    require_named((tool.protocol for tool in tools.values()), settings)
    named = settings.allow_writes
    agreed = replace(settings, allow_writes=named or True)
    writes = plan_probing(tools, agreed, log).writes
    if not writes:
        return settings
    number = count(len(writes), "tool")
    if not named and not has_person():
        say(f"{number} may change something and will not be called; --allow-writes lets it.")
        return settings
    say(f"{number} that {'will' if named else 'may'} be called may change something:")
    for line in _tool_lines(writes):
        say(f"  {line}")
    return agreed if named or confirmed("Call these too?") else settings


def require_named(protocols: Iterable[ToolProtocol], settings: ProbeSettings) -> None:
    """Check that each tool that `--allow-writes` names is one of `protocols`.

    Raises:
        click.UsageError: One of them is not; the message has the nearest names.
    """
    if isinstance(settings.allow_writes, bool):
        return
    known = {protocol.name for protocol in protocols}
    if unknown := sorted(settings.allow_writes - known):
        raise click.UsageError(f"--allow-writes: {UnknownTool(unknown[0], sorted(known))}")


def log_source(log: Log, folder: Path, source: str) -> None:
    """Record in the log which source is probed.

    Raises:
        click.UsageError: The log is that of another source.
    """
    identity = str(Path(source).resolve()) if Path(source).exists() else mask_source(source)
    if (before := log.notes.get(SOURCE)) is None:
        log.note(SOURCE, identity)
    elif before != identity:
        remove = f"or remove {str(folder / FOLDER)!r}"
        raise click.UsageError(
            f"{str(folder)!r} holds a probing of {before!r}; give another folder, {remove}"
        )


def invoker_for(config: Config, settings: ProbeSettings) -> Invoker:
    """Return the invoker of a probing.

    It sends each call once, since the caller that uses it waits and repeats by itself.
    """
    wiring.say_withheld(config)
    own = replace(
        wiring.invoke_settings(config), retries=0, timeout_seconds=settings.timeout_seconds
    )
    return Invoker(own)


@contextmanager
def open_model(config: Config) -> Iterator[Ask | None]:
    """Open the model that `--model` or the configuration names, or the one of the configured
    endpoint; else yield None.

    The embedded model is used only if it is named: it takes a minute for each tool.
    """
    if config.model == "none" or (config.model is None and not openai.is_configured()):
        if config.model is None:
            say("No model: --model local adds words and values (about a minute a tool).")
        yield None
        return
    with wiring.open_model(config) as ask:
        say(f"Model: {ask.name} (--model none probes without).")
        yield ask


def _show_plan(plan: ProbePlan, settings: ProbeSettings) -> None:
    """Print the plan of a probing: a line for each tool, and the totals."""
    hosts = [{"host": host, "at_most": most} for host, most in plan.hosts.items()]
    document = asdict(plan) | {"hosts": hosts, "requests_per_second": settings.requests_per_second}
    called = sum(bool(tool.at_most) for tool in plan.tools)
    writes = f", {len(plan.writes)} of them may change something" if plan.writes else ""
    total = len(plan.tools)
    told = (
        f"{count(called, 'tool')} of {total} would be called{writes}; {total - called} would not."
    )
    lines = [*_tool_lines(sorted(plan.tools, key=lambda tool: not tool.at_most)), "", told]
    for host, most in plan.hosts.items():
        pace = (
            ""
            if host.startswith("Python ")
            else f", no more than {settings.requests_per_second:g} in a second"
        )
        lines.append(f"{host}: at most {count(most, 'call')}{pace}")
    print_result(document, "\n".join([*lines, f"In all at most {count(plan.total, 'call')}."]))


def _tool_lines(tools: Sequence[PlannedTool]) -> Iterator[str]:
    """Return a line for each tool: how it is called and at most how often, or why it is not
    called.
    """
    width = max((len(quote_name(tool.name)) for tool in tools), default=0)
    for tool in tools:
        often = (
            f"at most {count(tool.at_most, 'call')}"
            if tool.at_most
            else f"not called: {tool.why_not}"
        )
        how = tool.how if _PLAIN_HOW.fullmatch(tool.how) else quoted(tool.how, most=_LONGEST_HOW)
        yield f"{quote_name(tool.name):<{width}}  {'reads ' if tool.reads else 'writes'}  {often}  ({how})"


@contextmanager
def _probing_bar(log: Log, most: int) -> Iterator[Watch]:
    """Show a progress bar of a probing's calls, with its messages above it.

    Yields the function that receives the events of the probing.
    """
    with bar("calls", total=most) as advance:
        yield lambda event: say(event) if isinstance(event, str) else advance(log.sent_count)


def _check_again(source: str, tools: Toolbox, settings: ProbeSettings, held: ApprovalCheck) -> int:
    """Sample the tools of a probed folder again, print what changed, and return the exit code: 1 if
    a change is breaking.

    Raises:
        LogUnreadable: The folder's log cannot be read.
    """
    earlier = earlier_samples(Path(source)) if Path(source).is_dir() else []
    planned = plan_probing(tools, settings)
    most = min(planned.total, CALLS * sum(bool(tool.at_most) for tool in planned.tools))
    # A log of its own: what the folder's log has would be answered from there.
    with (
        TemporaryDirectory(prefix="atc-check-") as folder,
        Log(Path(folder)) as log,
        _probing_bar(log, most) as watch,
        redirect_stdout(sys.stderr),
    ):
        checked = recheck(tools, log, settings=settings, earlier=earlier, watch=watch, held=held)
    problem = "" if checked.breaking or checked.calls else "Nothing could be checked."
    document = {"breaking": checked.breaking} | asdict(checked) | error_document(problem, 3)
    print_result(document, "\n".join(_check_lines(checked)))
    if problem:
        say(problem)
    if checked.breaking:
        return 1
    return 3 if problem else 0


def _check_lines(checked: DriftReport) -> Iterator[str]:
    for change in checked.changes:
        yield f"{change.severity:<9} {change.tool}: {change.text}"
    for tool, why in checked.unchecked.items():
        yield f"unchecked {tool}: {why.rstrip('.')}"
    seen = checked.tools - len(checked.unchecked)
    kinds = [
        f"{sum(c.severity == kind for c in checked.changes)} {kind}"
        for kind in ("breaking", "risky", "harmless")
    ]
    changes = (
        f"{count(len(checked.changes), 'change')} ({', '.join(kinds)})"
        if checked.changes
        else "no change"
    )
    yield f"{changes} in {seen} of {count(checked.tools, 'tool')} with {count(checked.calls, 'call')}"


def probe_many(
    sources: Sequence[str],
    output: Path,
    pool: Pool,
    config: Config,
    settings: ProbeSettings,
    *,
    keep_values: bool,
) -> list[dict[str, Any]]:
    """Probe all `sources`, each into a folder below `output`, and return the report of each.

    One worker probes all sources that call the same host, one after another, so that the limit on
    its request rate holds. Workers write the logs; this process writes the protocols.

    Raises:
        click.UsageError: `--allow-writes` names a tool that no source has.
    """
    reports: dict[str, dict[str, Any]] = {}
    folders = {source: output / _folder_name(source) for source in sources}
    with invoker_for(config, settings) as invoker, bar("sources", total=len(sources)) as advance:

        def done(one: SourceProbing) -> None:
            report: dict[str, Any] = {
                "folder": str(folders[one.source]),
                "sent": one.sent,
                "totals": {"answered": 0},
            }
            if one.probed is not None:
                report = write_report(
                    folders[one.source], one.probed, one.sent, keep_values=keep_values
                )
            reports[one.source] = (
                {"source": one.source, "error": ""} | report | error_document(one.error, 3)
            )
            say(
                f"{len(reports)}/{len(sources)}  {one.source}: {one.error or next(summary(report))}"
            )
            advance(len(reports))
            if one.probed is not None and one.probed.interrupted:
                say(GOES_ON)
                raise KeyboardInterrupt

        read = list(
            run_parallel(
                partial(_load_source, invoker, folders), sources, most=_LOADED_AT_ONCE, ordered=True
            )
        )
        for one in read:
            if one.error:
                done(one)
        found = [one for one in read if not one.error]
        require_named((protocol for one in found for protocol in one.protocols), settings)
        # The configuration is made portable here: workers elsewhere have none of its files and variables.
        away = portable(config) if config.workers is not None else config
        held = wiring.load_held_check(config)
        for group in pool(partial(_prober, away, settings, held), by_host(found)):
            for one in group:
                done(one)
    return [reports[source] for source in sources]


def _load_source(invoker: Invoker, folders: Mapping[str, Path], source: str) -> SourceProbing:
    """Load a source and begin its log. If it cannot be loaded, the result has the reason as
    `error`.
    """
    one = SourceProbing(
        source=source, folder=folders[source].absolute()
    )  # a worker may stand in another one
    try:
        loaded = load_source(source, invoker=invoker)
        if loaded.functions:
            return replace(
                one,
                error=f"{source!r} is Python code, which is probed alone: give it as the only SRC.",
            )
        with Log(one.folder) as log:
            log_source(log, one.folder, source)
    except (AtcError, click.UsageError) as error:
        return replace(one, error=str(error))
    return replace(one, protocols=[tool.protocol for tool in loaded.tools.values()])


@contextmanager
def _prober(
    config: Config, settings: ProbeSettings, held: ApprovalCheck
) -> Iterator[Callable[[Sequence[SourceProbing]], list[SourceProbing]]]:
    """Open a worker that probes the sources of one host."""
    with invoker_for(config, settings) as invoker, open_model(config) as ask:
        yield partial(probe_in_turn, invoker=invoker, settings=settings, ask=ask, held=held)


def write_report(folder: Path, probed: Probed, sent: int, *, keep_values: bool) -> dict[str, Any]:
    """Write the protocols of a probing that sent `sent` calls, and return its report.

    The report has an `error` if no tool could be documented.
    """
    written = write(folder, probed, keep_values=keep_values)
    report = coverage(probed, written.protocols)
    problem = ""
    code = 1
    if not probed.interrupted and not report["totals"]["answered"]:
        problem = f"No tool could be documented; {folder / READABLE} says why."
        # Nothing answered at all although calls were allowed: it is down, and says nothing of the tools.
        silent = not any(facts.samples for facts in probed.facts.values())
        code = 3 if silent and any("connect" in why for why in probed.stopped.values()) else 1
    about = {"folder": str(folder), "interrupted": probed.interrupted, "sent": sent}
    files = {"written": list(written.written), "kept": list(written.kept)}
    return about | files | report | error_document(problem, code)


def exit_code(reports: Sequence[Mapping[str, Any]]) -> int:
    """Return 3 if something was missing or down, 1 if a source has no documented tool, else 0."""
    kinds = {report.get("kind") for report in reports}
    return 3 if "environment" in kinds else int("failed" in kinds)


def summary(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a probing's report for people. The first line is a summary."""
    totals = report["totals"]
    folder = Path(report["folder"])
    known = f"{count(totals['fields'], 'response field')}, {count(totals['links'], 'link')}"
    calls = count(report["sent"], "call")
    yield f"{totals['answered']} of {count(totals['tools'], 'tool')} documented with {calls}: {known}"
    silent = [(name, tool) for name, tool in report["coverage"].items() if not tool["answered"]]
    for name, tool in silent[:_MOST_SHOWN]:
        yield f"  {name}: {'; '.join(text.rstrip('.') for text in tool['missing']) or 'not called'}"
    if len(silent) > _MOST_SHOWN:
        yield f"  … and {len(silent) - _MOST_SHOWN} more"
    for made in report["made"]:
        yield f"{'Made and removed' if made['removed'] else 'Made and left'}: {escape_controls(format_created_record(made))}"
    if report["kept"]:
        yield f"Kept as they were changed by hand: {', '.join(report['kept'])}; without them they are written anew"
    yield f"Protocols in {folder}; what is missing, and why, in {folder / READABLE}"


def _folder_name(source: str) -> str:
    return re.sub(r"\W+", "-", source.partition("://")[2] or source).strip("-")[-_LONGEST_NAME:]
