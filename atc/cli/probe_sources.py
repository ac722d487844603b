"""The sources of a probing: several at once, here or on a cluster, and what each of them begins with."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from atc.cli import wiring
from atc.cli.output import print_result, say
from atc.cli.progress import bar
from atc.cli.wiring import invoke_settings, portable
from atc.config import Config
from atc.models import openai
from atc.side_by_side import Pool, as_done
from atc.terminal import count
from probing.gate import host_of
from probing.output import coverage, write
from probing.probe import Probed, probe
from probing.samples import FOLDER, Log, LogFile, Origin, ProbeSettings, Sample, Value
from protocols.ask import Ask
from protocols.errors import AtcError
from protocols.invoke import Invoker
from protocols.protocol import ToolProtocol
from protocols.sources import load_source
from protocols.sources.har import RecordedCall
from protocols.toolbox import Tool, Toolbox

_SOURCE = "source"
"""Note of a log: what is probed."""
_GOES_ON = "The same command goes on; no call is made twice."
_LOADED_AT_ONCE = 16
_LONGEST_NAME = 60


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
    totals: Mapping[str, Any] = field(default_factory=dict)
    """Of the tools: how many, how many of them answered."""

    @property
    def line(self) -> str:
        """How it ended."""
        if self.error:
            return self.error
        tools = count(self.totals["tools"], "tool")
        return f"{self.totals['answered']} of {tools} documented with {count(self.sent, 'call')}"


def probe_many(
    sources: Sequence[str], output: Path, pool: Pool, config: Config, settings: ProbeSettings, *, keep_values: bool
) -> list[OneOfMany]:
    """Probe all `sources`, each into a folder below `output`, and say how each ended.

    Sources that call one host are probed one after another by one worker, so that its rate holds. Logs and protocols
    are written here, wherever calls are made.

    Raises:
        click.UsageError: two sources would have one folder, or `--allow-writes` names a tool that none has.
    """
    folders = _folders(sources, output)
    ended: list[OneOfMany] = []
    with invoker_for(config, settings) as invoker, bar("sources", total=len(sources)) as advance:

        def done(one: OneOfMany) -> None:
            ended.append(replace(one, folder=folders[one.source], protocols=(), probed=None))
            say(f"{len(ended)}/{len(sources)}  {one.source}: {one.line}")
            advance(len(ended))

        read = list(as_done(partial(_read, invoker, folders), sources, most=_LOADED_AT_ONCE))
        for one in read:
            if one.error:
                done(one)
        found = sorted((one for one in read if not one.error), key=lambda one: sources.index(one.source))
        require_named((protocol for one in found for protocol in one.protocols), settings)
        # The configuration is made portable here: workers elsewhere have none of its files and variables.
        away = portable(config) if config.workers is not None else config
        for group in pool(partial(_prober, away, settings, pool.kept_here(LogFile)), _by_host(found)):
            for one in group:
                if one.probed is not None:
                    written = write(one.folder, one.probed, keep_values=keep_values)
                    one = replace(one, totals=coverage(one.probed, written.protocols)["totals"])
                done(one)
                if one.probed is not None and one.probed.interrupted:
                    say(_GOES_ON)
                    raise KeyboardInterrupt
    return sorted(ended, key=lambda one: sources.index(one.source))


def conclude_many(ended: Sequence[OneOfMany]) -> int:
    """Print how all sources ended, and give the exit code: 3 where one failed, 1 where one has no tool documented."""
    names = ("source", "sent", "error", "totals")
    document = [{name: getattr(one, name) for name in names} | {"folder": str(one.folder)} for one in ended]
    print_result(document, "\n".join(f"{one.folder}: {one.line}" for one in ended))
    if any(one.error for one in ended):
        say(_GOES_ON)
        return 3
    return int(any(not one.totals["answered"] for one in ended))


def _folders(sources: Sequence[str], output: Path) -> dict[str, Path]:
    """The folder of each source, named after it."""
    names: dict[str, str] = {}
    for source in sources:
        name = re.sub(r"\W+", "-", source.partition("://")[2] or source).strip("-")[-_LONGEST_NAME:]
        if name in names:
            raise click.UsageError(f"{names[name]!r} and {source!r} would both be written to {str(output / name)!r}")
        names[name] = source
    return {source: output / name for name, source in names.items()}


def _read(invoker: Invoker, folders: Mapping[str, Path], source: str) -> OneOfMany:
    """A source with its protocols, whose log is begun, or why it cannot be had."""
    one = OneOfMany(source=source, folder=folders[source].absolute())  # a worker may stand in another one
    try:
        loaded = load_source(source, invoker=invoker)
        if loaded.functions:
            return replace(one, error=f"{source!r} is Python code, which is probed alone: give it as the only SRC.")
        with Log(one.folder) as log:
            begin(log, one.folder, source, loaded.recorded)
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
    groups: list[tuple[set[str], list[OneOfMany]]] = []
    for source in sources:
        hosts, members = {host_of(protocol) for protocol in source.protocols}, [source]
        for group in [group for group in groups if group[0] & hosts]:
            groups.remove(group)
            hosts, members = hosts | group[0], [*group[1], *members]
        groups.append((hosts, members))
    return [members for _, members in groups]


@contextmanager
def _prober(
    config: Config, settings: ProbeSettings, open_lines: Callable[[Path], Any]
) -> Iterator[Callable[[Sequence[OneOfMany]], list[OneOfMany]]]:
    """A worker that probes the sources of one host."""
    with invoker_for(config, settings) as invoker, open_model(config) as ask:

        def work(group: Sequence[OneOfMany]) -> list[OneOfMany]:
            ended: list[OneOfMany] = []
            for one in group:
                if ended and settings.requests_per_second:
                    time.sleep(1 / settings.requests_per_second)
                try:
                    with Log(one.folder, open_lines) as log:
                        tools = Toolbox(Tool(protocol, invoker.bind(protocol)) for protocol in one.protocols)
                        probed = probe(tools, log, settings=settings, ask=ask)
                        ended.append(replace(one, probed=probed, sent=log.sent))
                    if probed.interrupted:
                        break
                except AtcError as error:  # of the source, or ours: the others are probed
                    ended.append(replace(one, error=str(error)))
            return ended

        yield work


def begin(log: Log, folder: Path, source: str, recorded: Iterable[RecordedCall]) -> None:
    """Note in the log what is probed, and take the calls of a recording for samples: they need not be made again.

    Raises:
        click.UsageError: it is the log of another source.
    """
    identity = str(Path(source).resolve()) if Path(source).exists() else source
    if (before := log.notes.get(_SOURCE)) is None:
        log.note(_SOURCE, identity)
    elif before != identity:
        remove = f"or remove {str(folder / FOLDER)!r}"
        raise click.UsageError(f"{str(folder)!r} holds a probing of {before!r}; give another folder, {remove}")
    for call in recorded:
        if log.find(call.tool, call.arguments) is None:
            given = {name: Value(value, Origin(kind="given")) for name, value in call.arguments.items()}
            number, tool, response = log.next_number, call.tool, call.response
            log.add(Sample(number=number, tool=tool, arguments=given, purpose="recorded", response=response))


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
