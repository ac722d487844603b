"""`atc probe`: write the protocols of tools that nobody documented, by calling them."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from contextlib import ExitStack, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from atc.cli.options import AT_LEAST_ONE, POSITIVE, jobs_option, json_option, servers_options, workers_option
from atc.cli.output import has_person, say
from atc.cli.probe_check import check_again
from atc.cli.probe_report import conclude, probing_bar, show_plan, tool_lines
from atc.cli.probe_sources import Many, conclude_many, open_model, own, probe_many, recall, require_named
from atc.cli.settings import load_config
from atc.cli.wiring import open_pool
from atc.config import Config
from atc.terminal import count
from probing.gate import plan
from probing.output import write
from probing.probe import Probed, probe
from probing.samples import FOLDER, Log, ProbeSettings
from protocols.sources import load_source
from protocols.toolbox import Toolbox

_EPILOG = """\b
Examples:
  atc probe https://example.org/openapi.json --dry-run
  atc probe bare/ -o documented/ --budget 300
  atc probe first.json second.json -o documented/ --workers ray:10.0.0.5:6379
  atc probe --check documented/
"""
_SETTINGS = ("model", "start_servers", "trust_annotations", "workers")
"""Flags that are settings of the configuration too."""


@click.command(epilog=_EPILOG, name="probe")
@click.argument("sources", metavar="SRC...", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Where to write; of several SRC, each has a folder there.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be called, how often and how fast; call nothing.")
@click.option("--check", is_flag=True, help="SRC is a folder that was written so: say what has changed since.")
@click.option("--budget", type=AT_LEAST_ONE, metavar="N", help="Calls in all, over all times DIR is probed.")
@click.option("--per-tool", type=AT_LEAST_ONE, default=15, show_default=True, metavar="N", help="Calls of a tool.")
@click.option("--rounds", type=click.IntRange(0), default=3, show_default=True, metavar="N", help="Chain rounds.")
@click.option("--rate", type=POSITIVE, default=10.0, show_default=True, metavar="N", help="A host's calls in a second.")
@click.option("--timeout", type=POSITIVE, default=20.0, show_default=True, metavar="S", help="Seconds for one call.")
@click.option(
    "--allow-writes",
    multiple=True,
    metavar="[TOOL]",
    is_flag=False,
    flag_value="all",
    help="Also call this tool, which may change something; without a name, all. Repeatable.",
)
@click.option("--keep-values", is_flag=True, help="For public data: show values in examples as they are.")
@click.option("--model", metavar="NAME", help="What proposes values and words; 'none' for no model.")
@click.option("--module", "modules", multiple=True, metavar="MODULE", help="Python module whose functions SRC names.")
@jobs_option
@workers_option
@servers_options
@json_option
@click.help_option("-h", "--help")
def probe_command(
    sources: tuple[str, ...],
    *,
    output: Path | None,
    dry_run: bool,
    check: bool,
    keep_values: bool,
    as_json: bool,
    **flags: Any,
) -> None:
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
    modules: Sequence[str] = flags["modules"]
    config = load_config({key: flags[key] for key in _SETTINGS} | {"tools": (*sources, *modules)})[0]
    writes = flags["allow_writes"]
    settings = ProbeSettings(
        budget=flags["budget"],
        per_tool=flags["per_tool"],
        rounds=flags["rounds"],
        allow_writes=True if "all" in writes else frozenset(writes),
        requests_per_second=flags["rate"],
        timeout_seconds=flags["timeout"],
    )
    many = Many(config, settings, keep_values=keep_values)
    if len(sources) > 1 or config.workers is not None:
        if output is None or dry_run or modules:
            raise click.UsageError("--check, --dry-run and --module take one SRC, and no --workers")
        with open_pool(config, flags["jobs"]) as pool, redirect_stdout(sys.stderr):
            ended = probe_many(sources, output, many, pool)
        sys.exit(conclude_many(ended, as_json=as_json))
    [source] = sources
    with ExitStack() as stack:
        invoker = stack.enter_context(many.invoker())
        with redirect_stdout(sys.stderr):  # what a module prints when it is imported is not the result
            loaded = load_source(source, invoker=invoker, modules=modules)
        if check:
            sys.exit(check_again(source, loaded.tools, config, settings, as_json=as_json))
        log = None
        if output is not None and (not dry_run or (output / FOLDER).is_dir()):
            given = Path(source)
            if given.is_dir() and output.is_dir() and given.samefile(output):
                raise click.UsageError(f"{str(output)!r} is the source itself; give another folder to write to")
            log = stack.enter_context(Log(output))
            own(log, source, output, dry_run=dry_run)
        if output is None or log is None or dry_run:
            show_plan(plan(loaded.tools, settings, log), flags["rate"], as_json=as_json)
            return
        recall(loaded.recorded, log)
        settings = allowed(loaded.tools, settings, log)
        probed = _probed(loaded.tools, log, settings, config)
        written = write(output, probed, keep_values=keep_values)
        code = conclude(written, probed, log, as_json=as_json)
    sys.exit(code)


def allowed(tools: Toolbox, settings: ProbeSettings, log: Log) -> ProbeSettings:
    """The settings, with writes where a person allows them.

    The writes of the plan are shown before. `--allow-writes` is consent; without it a terminal asks.

    Raises:
        click.UsageError: `--allow-writes` names a tool that there is not.
    """
    require_named((tool.protocol for tool in tools.values()), settings)
    agreed = settings if settings.allow_writes else replace(settings, allow_writes=True)
    writes = plan(tools, agreed, log).writes
    if not writes:
        return settings
    number = count(len(writes), "tool")
    if not settings.allow_writes and not has_person():
        say(f"{number} may change something and will not be called; --allow-writes lets it.")
        return settings
    say(f"{number} that {'will' if settings.allow_writes else 'may'} be called may change something:")
    for line in tool_lines(writes):
        say(f"  {line}")
    asked = not settings.allow_writes
    return agreed if not asked or click.confirm("Call these too?", default=False, err=True) else settings


def _probed(tools: Toolbox, log: Log, settings: ProbeSettings, config: Config) -> Probed:
    """Probe to the end, or until Ctrl-C or SIGTERM."""
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    most = log.sent + plan(tools, settings, log).total
    with redirect_stdout(sys.stderr), open_model(config) as ask, probing_bar(log, most) as watch:
        return probe(tools, log, settings=settings, ask=ask, watch=watch)  # a Python tool's prints are not the result
