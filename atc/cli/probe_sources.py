"""The sources of a probing: several at once, here or on a cluster, and what each of them begins with."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from socket import gethostname
from typing import Any

import click

from atc.cli import wiring
from atc.cli.output import error_document, say
from atc.cli.progress import bar
from atc.cli.wiring import invoke_settings, portable
from atc.config import Config
from atc.models import openai
from atc.side_by_side import Pool, as_done
from atc.terminal import count, escape_controls
from probing.gate import host_of
from probing.output import READABLE, coverage, made_line, write
from probing.probe import Probed, probe
from probing.samples import FOLDER, Log, ProbeSettings
from protocols.ask import Ask
from protocols.errors import AtcError
from protocols.files import CannotWrite
from protocols.invoke import Invoker
from protocols.protocol import ToolProtocol
from protocols.sources import load_source
from protocols.toolbox import Tool, Toolbox

_SOURCE = "source"
"""Note of a log: what is probed."""
GOES_ON = "The same command goes on; no call is made twice."
_LOADED_AT_ONCE = 16
_LONGEST_NAME = 60
_MOST_SHOWN = 12
"""Tools without a response that the summary lists; the coverage report has all."""


def invoker_for(config: Config, settings: ProbeSettings) -> Invoker:
    """What makes calls: each is one request, since the gate of probing waits and repeats."""
    own = replace(invoke_settings(config), retries=0, timeout_seconds=settings.timeout_seconds)
    return Invoker(own)


@dataclass(frozen=True, kw_only=True)
class OneOfMany:
    """A source with its protocols, which the worker that probes it binds; then what was found with how many calls.

    `error` says why it ended early.
    """

    source: str
    folder: Path
    protocols: Sequence[ToolProtocol] = ()
    probed: Probed | None = None
    sent: int = 0
    error: str = ""


def probe_many(
    sources: Sequence[str], output: Path, pool: Pool, config: Config, settings: ProbeSettings, *, keep_values: bool
) -> list[dict[str, Any]]:
    """Probe all `sources`, each into a folder below `output`, and give the report of each.

    Sources that call one host are probed one after another by one worker, so that its rate holds. Workers write the
    logs; protocols are written here.

    Raises:
        click.UsageError: `--allow-writes` names a tool that no source has.
    """
    reports: dict[str, dict[str, Any]] = {}
    folders = {source: output / _folder_name(source) for source in sources}
    with invoker_for(config, settings) as invoker, bar("sources", total=len(sources)) as advance:

        def done(one: OneOfMany) -> None:
            report: dict[str, Any] = {"folder": str(folders[one.source]), "sent": one.sent, "totals": {"answered": 0}}
            if one.probed is not None:
                report = write_report(folders[one.source], one.probed, one.sent, keep_values=keep_values)
            reports[one.source] = {"source": one.source, "error": ""} | report | error_document(one.error, 3)
            say(f"{len(reports)}/{len(sources)}  {one.source}: {one.error or next(summary(report))}")
            advance(len(reports))
            if one.probed is not None and one.probed.interrupted:
                say(GOES_ON)
                raise KeyboardInterrupt

        read = list(as_done(partial(_read, invoker, folders), sources, most=_LOADED_AT_ONCE, ordered=True))
        for one in read:
            if one.error:
                done(one)
        found = [one for one in read if not one.error]
        require_named((protocol for one in found for protocol in one.protocols), settings)
        # The configuration is made portable here: workers elsewhere have none of its files and variables.
        away = portable(config) if config.workers is not None else config
        for group in pool(partial(_prober, away, settings), _by_host(found)):
            for one in group:
                done(one)
    return [reports[source] for source in sources]


def write_report(folder: Path, probed: Probed, sent: int, *, keep_values: bool) -> dict[str, Any]:
    """Write the protocols of a probing with `sent` calls, and give its report; `error` is there where it found none."""
    written = write(folder, probed, keep_values=keep_values)
    report = coverage(probed, written.protocols)
    problem, code = "", 1
    if not probed.interrupted and not report["totals"]["answered"]:
        problem = f"No tool could be documented; {folder / READABLE} says why."
        # Nothing answered at all although calls were allowed: it is down, and says nothing of the tools.
        silent = not any(facts.samples for facts in probed.facts.values())
        code = 3 if silent and any("connect" in why for why in probed.stopped.values()) else 1
    about = {"folder": str(folder), "interrupted": probed.interrupted, "sent": sent}
    files = {"written": list(written.written), "kept": list(written.kept)}
    return about | files | report | error_document(problem, code)


def exit_code(reports: Sequence[Mapping[str, Any]]) -> int:
    """3 where something was missing or down, 1 where no tool of a source is documented, else 0."""
    kinds = {report.get("kind") for report in reports}
    return 3 if "environment" in kinds else int("failed" in kinds)


def summary(report: Mapping[str, Any]) -> Iterator[str]:
    """The report of a probing for people, its first line alone being short."""
    totals, folder = report["totals"], Path(report["folder"])
    known = f"{count(totals['fields'], 'response field')}, {count(totals['links'], 'link')}"
    calls = count(report["sent"], "call")
    yield f"{totals['answered']} of {count(totals['tools'], 'tool')} documented with {calls}: {known}"
    silent = [(name, tool) for name, tool in report["coverage"].items() if not tool["answered"]]
    for name, tool in silent[:_MOST_SHOWN]:
        yield f"  {name}: {'; '.join(text.rstrip('.') for text in tool['missing']) or 'not called'}"
    if len(silent) > _MOST_SHOWN:
        yield f"  … and {len(silent) - _MOST_SHOWN} more"
    for made in report["made"]:
        yield f"{'Made and removed' if made['removed'] else 'Made and left'}: {escape_controls(made_line(made))}"
    if report["kept"]:
        yield f"Kept as they were changed by hand: {', '.join(report['kept'])}; without them they are written anew"
    yield f"Protocols in {folder}; what is missing, and why, in {folder / READABLE}"


def _folder_name(source: str) -> str:
    return re.sub(r"\W+", "-", source.partition("://")[2] or source).strip("-")[-_LONGEST_NAME:]


def _read(invoker: Invoker, folders: Mapping[str, Path], source: str) -> OneOfMany:
    """A source with its protocols, whose log is begun, or why it cannot be had."""
    one = OneOfMany(source=source, folder=folders[source].absolute())  # a worker may stand in another one
    try:
        loaded = load_source(source, invoker=invoker)
        if loaded.functions:
            return replace(one, error=f"{source!r} is Python code, which is probed alone: give it as the only SRC.")
        with Log(one.folder) as log:
            begin(log, one.folder, source)
    except (AtcError, click.UsageError) as error:
        return replace(one, error=str(error))
    return replace(one, protocols=[tool.protocol for tool in loaded.tools.values()])


def require_named(protocols: Iterable[ToolProtocol], settings: ProbeSettings) -> None:
    """Raise click.UsageError where `--allow-writes` names a tool that is none of these."""
    named = frozenset() if isinstance(settings.allow_writes, bool) else settings.allow_writes
    if strange := sorted(named - {protocol.name for protocol in protocols}):
        raise click.UsageError(f"--allow-writes names no tool of the source: {', '.join(strange)}")


def _by_host(sources: Iterable[OneOfMany]) -> list[list[OneOfMany]]:
    """The sources, those together that call one host, even by way of a third."""
    groups: dict[frozenset[str], list[OneOfMany]] = {}
    for source in sources:
        hosts = frozenset(map(host_of, source.protocols))
        met = [known for known in groups if known & hosts or known == hosts]
        groups[hosts.union(*met)] = [*(one for known in met for one in groups.pop(known)), source]
    return list(groups.values())


@contextmanager
def _prober(config: Config, settings: ProbeSettings) -> Iterator[Callable[[Sequence[OneOfMany]], list[OneOfMany]]]:
    """A worker that probes the sources of one host."""
    with invoker_for(config, settings) as invoker, open_model(config) as ask:

        def work(group: Sequence[OneOfMany]) -> list[OneOfMany]:
            ended: list[OneOfMany] = []
            for one in group:
                if ended and settings.requests_per_second:
                    time.sleep(1 / settings.requests_per_second)
                try:
                    with Log(one.folder) as log:
                        if _SOURCE not in log.notes:
                            raise CannotWrite(
                                f"{one.folder} is another folder on {gethostname()}: give one that is shared."
                            )
                        tools = Toolbox(Tool(protocol, invoker.bind(protocol)) for protocol in one.protocols)
                        probed = probe(tools, log, settings=settings, ask=ask)
                        ended.append(replace(one, probed=probed, sent=log.sent))
                    if probed.interrupted:
                        break
                except AtcError as error:  # of the source, or ours: the others are probed
                    ended.append(replace(one, error=str(error)))
            return ended

        yield work


def begin(log: Log, folder: Path, source: str) -> None:
    """Note in the log what is probed.

    Raises:
        click.UsageError: it is the log of another source.
    """
    identity = str(Path(source).resolve()) if Path(source).exists() else source
    if (before := log.notes.get(_SOURCE)) is None:
        log.note(_SOURCE, identity)
    elif before != identity:
        remove = f"or remove {str(folder / FOLDER)!r}"
        raise click.UsageError(f"{str(folder)!r} holds a probing of {before!r}; give another folder, {remove}")


@contextmanager
def open_model(config: Config) -> Iterator[Ask | None]:
    """The model of `--model`, of the configuration, or of the endpoint; None for none.

    The embedded model is used when it is named: it takes a minute a tool, which nobody expects who did not ask for it.
    """
    if config.model == "none" or (config.model is None and not openai.configured()):
        if config.model is None:
            say("No model: --model local adds words and values (about a minute a tool).")
        yield None
        return
    with wiring.open_model(config) as ask:
        say(f"Model: {ask.name} (--model none probes without).")
        yield ask
