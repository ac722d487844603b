"""`atc probe`: write the protocols of tools that nobody documented, by calling them."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack, redirect_stdout, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from atc.cli.options import json_option, servers_options
from atc.cli.output import print_json, print_text, stderr_console
from atc.cli.settings import load_config
from atc.config import Config

if TYPE_CHECKING:
    from probing.log import Log
    from probing.probed import Probed
    from probing.settings import ProbeSettings
    from protocols.toolbox import Toolbox

_EPILOG = """\b
Examples:
  atc probe https://example.org/openapi.json --dry-run
  atc probe bare/ -o documented/ --budget 300
  atc probe --check documented/
"""


@click.command(epilog=_EPILOG)
@click.argument("source", metavar="SRC")
@click.option("-o", "--output", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Where to write.")
@click.option("--dry-run", is_flag=True, help="Show what would be called, how often and how fast; call nothing.")
@click.option("--check", is_flag=True, help="SRC is a folder that was written so: say what has changed since.")
@click.option("--budget", type=click.IntRange(1), metavar="N", help="Calls in all, over all times DIR is probed.")
@click.option("--per-tool", type=click.IntRange(1), default=15, show_default=True, metavar="N", help="Calls of a tool.")
@click.option("--rounds", type=click.IntRange(0), default=3, show_default=True, metavar="N", help="Chain rounds.")
@click.option(
    "--rate",
    type=click.FloatRange(0, min_open=True),
    default=10.0,
    show_default=True,
    metavar="N",
    help="Calls of a host in a second.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    default=20.0,
    show_default=True,
    metavar="S",
    help="Seconds for one call.",
)
@click.option("--allow-writes", is_flag=True, help="Also call tools that may change something.")
@click.option("--resend", is_flag=True, help="Send again reads that a kill cut off, or that were never answered.")
@click.option("--keep-values", is_flag=True, help="For public data: show values in examples as they are.")
@click.option("--model", metavar="NAME", help="What proposes values and words; 'none' for no model.")
@click.option("--module", "modules", multiple=True, metavar="MODULE", help="Python module whose functions SRC names.")
@servers_options
@json_option
@click.help_option("-h", "--help")
def probe(
    source: str, *, output: Path | None, dry_run: bool, check: bool, keep_values: bool, as_json: bool, **flags: Any
) -> None:
    """Write protocols of the tools of SRC into DIR, by calling them.

    SRC is a folder of bare descriptions, an OpenAPI document, a Python module, a HAR recording or an MCP server. Only
    tools that read are called, unless you allow more, and only the hosts that SRC names. The same command goes on where
    an earlier one stopped, and makes no call twice. Exit status: 0 done, 1 no tool could be documented or, with
    --check, something breaks, 2 wrong usage, 3 something is missing or down, 130 interrupted.
    """
    if check:
        if output is not None or dry_run:
            raise click.UsageError("--check writes nothing; give it without -o and --dry-run")
        from atc.cli.probe_check import check_folder

        sys.exit(check_folder(source, as_json=as_json, **flags))
    from atc.cli.probe_report import conclude
    from atc.cli.probe_setup import SETTINGS, allowed, open_log, open_source, settings_of
    from probing.output import write

    if output is None and not dry_run:
        raise click.UsageError("say where to write the protocols: -o DIR")
    config = load_config({key: flags[key] for key in SETTINGS} | {"tools": (source, *flags["modules"])})[0]
    settings = settings_of(flags)
    with ExitStack() as stack:
        loaded = stack.enter_context(open_source(source, config, settings, modules=flags["modules"]))
        log = stack.enter_context(open_log(output, source, loaded, resend=flags["resend"], dry_run=dry_run))
        if dry_run:
            _show_plan(loaded.tools, settings, log, as_json=as_json)
            return
        assert output is not None, "asked for above"
        assert log is not None, "made in that folder"
        settings = allowed(loaded.tools, settings, log)
        ended, probed = _probed(
            loaded.tools, log, settings, config, draft=partial(write, output, keep_values=keep_values)
        )
        written = write(output, probed, keep_values=keep_values)
        code = conclude(written, probed, log, ended=ended, as_json=as_json)
    sys.exit(code)


def _show_plan(tools: Toolbox, settings: ProbeSettings, log: Log | None, *, as_json: bool) -> None:
    from atc.cli.probe_plan import plan_document, plan_lines
    from probing.gate.plan import plan

    planned = plan(tools, settings, log)
    if as_json:
        print_json(plan_document(planned))
    else:
        print_text("\n".join(plan_lines(planned)))


def _probed(
    tools: Toolbox, log: Log, settings: ProbeSettings, config: Config, *, draft: Callable[[Probed], object]
) -> tuple[int, Probed]:
    """Probe to the end, or until a signal: the exit code that the signal asks for, or 0, and what is known.

    `draft` is given what is known before a model describes it, which takes long, and after each tool that writes, so
    that the report names what was made even after a kill.
    """
    from atc.cli.models import told_in_tenths
    from atc.cli.probe_setup import open_model, terminable
    from atc.cli.probe_view import ProbeView
    from probing.events import Called, Event, Step
    from probing.gate.plan import plan, reads
    from probing.probe import known, probe, take_away

    view = ProbeView(stderr_console(), sent=lambda: log.sent, most=log.sent + plan(tools, settings, log).total)
    writes = {tool.protocol.name for tool in tools.values() if not reads(tool.protocol)}
    described = written = False

    def watch(event: Event) -> None:
        nonlocal described, written
        view(event)
        if isinstance(event, Called):
            written = written or event.sample.tool in writes
        elif isinstance(event, Step) and (written or (event.phase == "describe" and not described)):
            written, described = False, described or event.phase == "describe"
            draft(known(tools, log, settings=settings))

    # What a Python tool prints is not the result.
    with terminable() as signals, redirect_stdout(sys.stderr):
        try:
            with open_model(config, progress=told_in_tenths()) as (ask, sandbox), view:
                return 0, probe(tools, log, settings=settings, ask=ask, sandbox=sandbox, watch=watch)
        except KeyboardInterrupt:
            with suppress(KeyboardInterrupt):  # a second one leaves what was made, and the report names it
                take_away(tools, log, settings=settings)
            return 128 + (signals or [signal.SIGINT])[0], known(tools, log, settings=settings)
