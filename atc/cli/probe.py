"""`atc probe`: call undocumented tools and write protocols that describe them.

With --check, it calls the tools again and reports what has changed since they were probed.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

import click

from atc.cli import wiring
from atc.cli.errors import ExitCode, error_document
from atc.cli.options import (
    AT_LEAST_ONE,
    POSITIVE,
    Verb,
    jobs_option,
    servers_options,
    workers_option,
)
from atc.cli.output import bar, confirmed, has_person, print_result, say
from atc.cli.probe_many import probe_many
from atc.cli.probe_setup import invoker_for, log_source, open_model, require_named
from atc.cli.probe_text import (
    GOES_ON,
    exit_code,
    format_changes,
    format_plan,
    format_planned_tools,
    plan_document,
    summary,
    write_report,
)
from atc.core.config import SETTINGS, Config
from atc.core.text import count
from atc.settings.reading import load_config
from probing.call_plan import plan_probing
from probing.probe import Probed, probe
from probing.recheck import CALLS, earlier_samples, recheck
from probing.samples import FOLDER, Log, ProbeSettings, Watch
from protocols.sources import load_source
from protocols.toolbox import Toolbox


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
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Where to write; of several SRC, each has a folder there.",
)
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
@click.option(
    "--rate",
    "requests_per_second",
    type=POSITIVE,
    default=10.0,
    show_default=True,
    metavar="N",
    help="A host's calls in a second.",
)
@click.option(
    "--timeout",
    "timeout_seconds",
    type=POSITIVE,
    default=20.0,
    show_default=True,
    metavar="S",
    help="Seconds for one call.",
)
@click.option(
    "--allow-writes",
    "writes",
    multiple=True,
    metavar="[TOOL]",
    is_flag=False,
    flag_value="all",
    help="Also call this tool, which may change something; without a name, all. Repeatable.",
)
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
    sources: tuple[str, ...],
    *,
    output: Path | None,
    dry_run: bool,
    check: bool,
    keep_values: bool,
    writes: tuple[str, ...],
    modules: tuple[str, ...],
    jobs: int | None,
    **flags: Any,
) -> None:
    """Write protocols of SRC's tools into DIR, by calling them.

    A protocol describes the arguments and the response of a tool. SRC is a folder of bare
    descriptions, an OpenAPI document, a Python module, a HAR recording or an MCP server. Only tools
    that read are called, unless you allow more, and only hosts that SRC names are reached. A call
    that a person declined, or about which a client of 'atc serve' waits for a decision, is never
    made.

    If the command was stopped, the same command continues, and repeats no call. Several SRC are
    probed at the same time (--jobs, --workers), but those of one host one after another; then
    nothing is asked on the terminal. Exit status: 0 done, 1 no tool could be documented or, with
    --check, a change breaks programs, 2 wrong usage, 3 something is missing or down, 130
    interrupted.
    """
    chosen = {name: flags.pop(name) for name in SETTINGS if name in flags}
    config = load_config(chosen | {"tools": (*sources, *modules)})
    settings = ProbeSettings(allow_writes="all" in writes or frozenset(writes), **flags)
    several = len(sources) > 1 or config.workers is not None
    _require_compatible(output, dry_run=dry_run, check=check, several=several, modules=modules)
    if several and output is not None:
        with wiring.open_pool(config, jobs) as pool, redirect_stdout(sys.stderr):
            reports = probe_many(sources, output, pool, config, settings, keep_values=keep_values)
        _conclude_many(reports)
    [source] = sources
    with invoker_for(config, settings) as invoker:
        # Text that a Python module prints when it is imported is not the result.
        with redirect_stdout(sys.stderr):
            loaded = load_source(source, invoker=invoker, modules=modules)
        if check:
            sys.exit(_check_again(source, loaded.tools, config, settings))
        if output is None or dry_run:
            _show_plan(source, loaded.tools, output, settings)
            return
        with _open_log(output, source) as log:
            probed = _probe(loaded.tools, log, config, settings)
            report = write_report(output, probed, log.sent_count, keep_values=keep_values)
    code_sources = modules or (sources if loaded.functions else ())
    _conclude(report, "".join(f" --tools {one}" for one in code_sources))


def _require_compatible(
    output: Path | None, *, dry_run: bool, check: bool, several: bool, modules: Sequence[str]
) -> None:
    """Check that the options can be combined, and that -o is given if files will be written.

    `several` is True if there is more than one source, or --workers is given.

    Raises:
        click.UsageError: The options contradict each other, or -o is missing.
    """
    if check and (output is not None or dry_run):
        raise click.UsageError("--check writes nothing; give it without -o and --dry-run")
    if output is None and not (dry_run or check):
        raise click.UsageError("say where to write the protocols: -o DIR")
    if several and (output is None or dry_run or modules):
        raise click.UsageError("--check, --dry-run and --module take one SRC, and no --workers")


def _conclude_many(reports: Sequence[Mapping[str, Any]]) -> NoReturn:
    """Print the reports of several probed sources and exit."""
    rows = [(one["folder"], one["error"] or next(summary(one))) for one in reports]
    print_result(list(reports), rows)
    if any(one["error"] for one in reports):
        say(GOES_ON)
    sys.exit(exit_code(reports))


def _conclude(report: Mapping[str, Any], code_options: str) -> NoReturn:
    """Print the report of one source and the command to run next, and exit.

    `code_options` is the part of that command which names the probed Python modules, such as
    ` --tools shop.py`.
    """
    print_result(dict(report), "\n".join(summary(report)))
    if report["interrupted"]:
        say(f"Interrupted. {GOES_ON}")
        sys.exit(ExitCode.INTERRUPTED)
    next_step = f'Next: atc run "…" --tools {report["folder"]}{code_options}'
    say(report.get("error") or next_step)
    sys.exit(exit_code([report]))


def _show_plan(source: str, tools: Toolbox, output: Path | None, settings: ProbeSettings) -> None:
    """Print which tools would be called and how often.

    If an earlier probing wrote into the folder `output`, the calls that it made are not counted.
    """
    if output is not None and (output / FOLDER).is_dir():
        with _open_log(output, source) as log:
            plan = plan_probing(tools, settings, log)
    else:
        plan = plan_probing(tools, settings)
    print_result(plan_document(plan, settings), "\n".join(format_plan(plan, settings)))


@contextmanager
def _open_log(folder: Path, source: str) -> Iterator[Log]:
    """Open the log of the calls that are made to probe `source`.

    The log is in `folder`, to which the results are written, too.

    Raises:
        click.UsageError: The folder is the source itself, or contains the log of another source.
    """
    if Path(source).is_dir() and folder.is_dir() and Path(source).samefile(folder):
        raise click.UsageError(
            f"{str(folder)!r} is the source itself; give another folder to write to"
        )
    with Log(folder) as log:
        log_source(log, folder, source)
        yield log


def _probe(tools: Toolbox, log: Log, config: Config, settings: ProbeSettings) -> Probed:
    """Probe the tools of one source, with a progress bar.

    A SIGTERM interrupts the probing like Ctrl-C, so the results so far are still written.
    """
    settings = confirm_writes(tools, settings, log)
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    most = log.sent_count + plan_probing(tools, settings, log).total
    # Text that a Python tool prints is not the result.
    with (
        redirect_stdout(sys.stderr),
        open_model(config) as ask,
        _probing_bar(log, most) as watch,
    ):
        held = wiring.load_held_check(config)
        return probe(tools, log, settings=settings, ask=ask, watch=watch, needs_approval=held)


def confirm_writes(tools: Toolbox, settings: ProbeSettings, log: Log) -> ProbeSettings:
    """Return the probing settings. They allow writes if the user agrees to the planned writes.

    The tools that may change something are listed first. The user agrees with `--allow-writes`, or
    else when asked on the terminal.

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
    for line in format_planned_tools(writes):
        say(f"  {line}")
    return agreed if named or confirmed("Call these too?") else settings


@contextmanager
def _probing_bar(log: Log, most: int) -> Iterator[Watch]:
    """Show a progress bar of the calls of a probing, with its messages above the bar.

    `most` is the largest number of calls that the probing may make. Yield the function that
    receives the events of the probing.
    """
    with bar("calls", total=most) as advance:
        yield lambda event: say(event) if isinstance(event, str) else advance(log.sent_count)


def _check_again(source: str, tools: Toolbox, config: Config, settings: ProbeSettings) -> int:
    """Call the tools again that were probed before, and print what has changed.

    Return the exit code. `source` is the folder that the earlier probing wrote.

    Raises:
        LogUnreadable: The log in the folder cannot be read.
    """
    earlier = earlier_samples(Path(source)) if Path(source).is_dir() else []
    planned = plan_probing(tools, settings)
    most = min(planned.total, CALLS * sum(bool(tool.at_most) for tool in planned.tools))
    held = wiring.load_held_check(config)
    # A log of its own, because calls that are in the folder's log would not be made again.
    with (
        TemporaryDirectory(prefix="atc-check-") as folder,
        Log(Path(folder)) as log,
        _probing_bar(log, most) as watch,
        redirect_stdout(sys.stderr),
    ):
        checked = recheck(
            tools, log, settings=settings, earlier=earlier, watch=watch, needs_approval=held
        )
    problem = "" if checked.breaking or checked.calls else "Nothing could be checked."
    document = (
        {"breaking": checked.breaking}
        | asdict(checked)
        | error_document(problem, ExitCode.ENVIRONMENT)
    )
    print_result(document, "\n".join(format_changes(checked)))
    if problem:
        say(problem)
    if checked.breaking:
        return ExitCode.FAILED
    return ExitCode.ENVIRONMENT if problem else ExitCode.DONE
