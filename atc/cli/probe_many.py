"""`atc probe` with several sources: they are probed at the same time, here or on a cluster."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import click

from atc.cli import wiring
from atc.cli.errors import ExitCode, error_document
from atc.cli.output import bar, say
from atc.cli.probe_setup import invoker_for, log_source, open_model, require_named
from atc.cli.probe_text import GOES_ON, summary, write_report
from atc.core.config import Config
from atc.core.parallel import Pool, run_parallel
from atc.core.secret_values import portable
from probing.caller import ApprovalCheck
from probing.probe import SourceProbing, by_host, probe_in_turn
from probing.samples import Log, ProbeSettings
from protocols.client import Invoker
from protocols.errors import AtcError
from protocols.sources import load_source

_LOADED_AT_ONCE = 16
_LONGEST_NAME = 60
"""Maximum number of characters in the name of a source's folder."""


def probe_many(
    sources: Sequence[str],
    output: Path,
    pool: Pool,
    config: Config,
    settings: ProbeSettings,
    *,
    keep_values: bool,
) -> list[dict[str, Any]]:
    """Probe all `sources`, each into a folder below `output`, and return a report for each.

    Sources that call the same host are probed by one worker, one after another, because the limit
    on requests per second is for the host. Workers write the logs; this process writes the
    protocols.

    Raises:
        click.UsageError: `--allow-writes` names a tool that no source has.
    """
    reports: dict[str, dict[str, Any]] = {}
    folders = {source: output / _folder_name(source) for source in sources}
    with invoker_for(config, settings) as invoker, bar("sources", total=len(sources)) as advance:

        def finish(one: SourceProbing) -> None:
            report = _report_source(one, folders[one.source], keep_values=keep_values)
            reports[one.source] = report
            result = one.error or next(summary(report))
            say(f"{len(reports)}/{len(sources)}  {one.source}: {result}")
            advance(len(reports))
            if one.probed is not None and one.probed.interrupted:
                say(GOES_ON)
                raise KeyboardInterrupt

        load = partial(_load_source, invoker, folders)
        loaded = list(run_parallel(load, sources, most=_LOADED_AT_ONCE, ordered=True))
        for one in loaded:
            if one.error:
                finish(one)
        usable = [one for one in loaded if not one.error]
        require_named(chain.from_iterable(one.protocols for one in usable), settings)
        # Workers on other machines do not have the settings files and variables of this machine.
        worker_config = portable(config) if config.workers is not None else config
        held = wiring.load_held_check(config)
        for group in pool(partial(_prober, worker_config, settings, held), by_host(usable)):
            for one in group:
                finish(one)
    return [reports[source] for source in sources]


def _report_source(one: SourceProbing, folder: Path, *, keep_values: bool) -> dict[str, Any]:
    """Write the protocols of a probed source, and return its report.

    The entry `error` of the report is a sentence that says what went wrong, or empty.
    """
    about = {"source": one.source, "error": ""}
    report: dict[str, Any] = {"folder": str(folder), "sent": one.sent, "totals": {"answered": 0}}
    if one.probed is not None:
        report = write_report(folder, one.probed, one.sent, keep_values=keep_values)
    return about | report | error_document(one.error, ExitCode.ENVIRONMENT)


def _load_source(invoker: Invoker, folders: Mapping[str, Path], source: str) -> SourceProbing:
    """Load the tools of a source, and begin the log of the calls that probing will make.

    If this fails, the attribute `error` of the result says why.
    """
    # The folder is absolute, because a worker may have another current folder.
    one = SourceProbing(source=source, folder=folders[source].absolute())
    try:
        loaded = load_source(source, invoker=invoker)
        if loaded.functions:
            problem = f"{source!r} is Python code, which is probed alone: give it as the only SRC."
            return replace(one, error=problem)
        with Log(one.folder) as log:
            log_source(log, one.folder, source)
    except (AtcError, click.UsageError) as error:
        return replace(one, error=str(error))
    return replace(one, protocols=[tool.protocol for tool in loaded.tools.values()])


@contextmanager
def _prober(
    config: Config, settings: ProbeSettings, held: ApprovalCheck
) -> Iterator[Callable[[Sequence[SourceProbing]], list[SourceProbing]]]:
    """Open what probing needs, and yield a function that probes several sources of one host.

    `held` is a function that returns True for a call that only a person may allow.
    """
    with invoker_for(config, settings) as invoker, open_model(config) as ask:
        yield partial(
            probe_in_turn, invoker=invoker, settings=settings, ask=ask, needs_approval=held
        )


def _folder_name(source: str) -> str:
    """Return the name of the folder for a source: its address, with `-` between the words."""
    return re.sub(r"\W+", "-", source.partition("://")[2] or source).strip("-")[-_LONGEST_NAME:]
