"""The sources of a probing: several at once, here or on a cluster, and what each of them begins with."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import click

from atc.cli.output import print_json, print_text, say
from atc.cli.pool import portable
from atc.cli.progress import bar, told_in_tenths
from atc.cli.wiring import choose_model, invoke_settings
from atc.config import Config
from atc.models import openai
from atc.side_by_side import Pool, as_done
from atc.terminal import count
from probing.gate import host_of
from probing.output import coverage, write
from probing.probe import Probed, probe
from probing.samples import FOLDER, Log, LogFile, Origin, ProbeSettings, Sample, Value
from protocols.ask import Ask
from protocols.errors import AtcError, InvalidProtocol, SourceUnavailable
from protocols.invoke import Invoker
from protocols.jsontypes import JsonObject
from protocols.protocol import PythonBinding
from protocols.sources import RecordedCall, load_source
from protocols.toolbox import Tool, Toolbox

_SOURCE = "source"
"""Note of a log: what is probed."""
_LOADED_AT_ONCE = 16
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Many:
    """How each of several sources is probed."""

    config: Config
    settings: ProbeSettings
    modules: tuple[str, ...] = ()
    keep_values: bool = False

    def invoker(self) -> Invoker:
        """What makes calls: each is one request, since the gate of probing waits and repeats."""
        settings = invoke_settings(self.config, say)
        return Invoker(replace(settings, retries=0, timeout_seconds=self.settings.timeout_seconds))


@dataclass(frozen=True)
class _Source:
    """A source that was read. Where it is sent, its tools arrive without their calls, which are `bound` there anew."""

    text: str
    folder: Path
    tools: Toolbox
    bound: bool = True

    def __reduce__(self) -> tuple[Any, ...]:
        tools = [replace(tool, call=_unbound, admit=None) for tool in self.tools.values()]
        return _arrived, (self.text, self.folder, tools)


def _unbound(_: JsonObject) -> NoReturn:
    raise AssertionError("the tool was not bound where it arrived")


def _arrived(text: str, folder: Path, tools: Sequence[Tool]) -> _Source:
    return _Source(text, folder, Toolbox(tools), bound=False)


@dataclass(frozen=True, kw_only=True)
class Ended:
    """What became of a source: what was found, with how many calls in all; or the `error` that it ended with."""

    source: str
    folder: Path
    probed: Probed | None = None
    sent: int = 0
    error: str = ""
    totals: Mapping[str, Any] = field(default_factory=dict)
    """Of the tools: how many, how many of them answered."""


def probe_many(sources: Sequence[str], output: Path, many: Many, pool: Pool) -> list[Ended]:
    """Probe all `sources`, each into a folder below `output`, and say how each ended.

    Sources that call one host are probed one after another by one worker, so that its rate holds. Logs and protocols
    are written here, wherever calls are made.

    Raises:
        click.UsageError: two sources would have one folder, or `--allow-writes` names a tool that none has.
    """
    folders = _folders(sources, output)
    ended: list[Ended] = []
    with many.invoker() as invoker, bar("sources", total=len(sources)) as advance:

        def done(one: Ended) -> None:
            ended.append(replace(one, folder=folders[one.source]))
            say(f"{len(ended)}/{len(sources)}  {one.source}: {_line(one)}")
            advance(len(ended))

        read: list[_Source] = []
        for one in as_done(partial(_read, many, invoker, folders), sources, most=_LOADED_AT_ONCE):
            if isinstance(one, Ended):
                done(one)
            else:
                read.append(one)
        require_named((tool for one in read for tool in one.tools.values()), many.settings)
        read.sort(key=lambda one: sources.index(one.text))
        # The configuration is made portable here: workers elsewhere have none of its files and variables.
        away = replace(many, config=portable(many.config)) if many.config.workers is not None else many
        opened = partial(_prober, away, pool.kept_here(LogFile))
        for group in pool(opened, _by_host(read)):
            for one in group:
                if one.probed is not None:
                    written = write(one.folder, one.probed, keep_values=many.keep_values)
                    one = replace(one, totals=coverage(one.probed, written.protocols)["totals"])
                done(one)
    return sorted(ended, key=lambda one: sources.index(one.source))


def conclude_many(ended: Sequence[Ended], *, as_json: bool) -> int:
    """Print how all sources ended, and give the exit code: 3 where one failed, 1 where one has no tool documented."""
    if as_json:
        names = ("source", "sent", "error", "totals")
        print_json([{name: getattr(one, name) for name in names} | {"folder": str(one.folder)} for one in ended])
    else:
        print_text("\n".join(f"{one.folder}: {_line(one)}" for one in ended))
    failed = any(one.error for one in ended)
    if failed:
        say("The same command goes on; no call is made twice.")
    return 3 if failed else int(any(not one.totals["answered"] for one in ended))


def _line(one: Ended) -> str:
    if one.error:
        return one.error
    tools = count(one.totals["tools"], "tool")
    return f"{one.totals['answered']} of {tools} documented with {count(one.sent, 'call')}"


def _folders(sources: Sequence[str], output: Path) -> dict[str, Path]:
    """The folder of each source, named after it."""
    names: dict[str, str] = {}
    for source in sources:
        name = re.sub(r"\W+", "-", source.partition("://")[2] or source).strip("-")[-_LONGEST_NAME:]
        if name in names:
            raise click.UsageError(f"{names[name]!r} and {source!r} would both be written to {str(output / name)!r}")
        names[name] = source
    return {source: output / name for name, source in names.items()}


def _read(many: Many, invoker: Invoker, folders: Mapping[str, Path], source: str) -> _Source | Ended:
    """A source with its tools, whose log is begun, or why it cannot be had."""
    try:
        loaded = load_source(source, invoker=invoker, modules=many.modules)
    except (SourceUnavailable, InvalidProtocol) as error:
        return Ended(source=source, folder=folders[source], error=str(error))
    if many.config.workers is not None and any(_is_code(tool) for tool in loaded.tools.values()):
        told = f"{source!r} is code of this machine, which is sent nowhere; probe it without --workers."
        return Ended(source=source, folder=folders[source], error=told)
    folder = folders[source].absolute()  # a worker may stand in another one
    try:
        with Log(folder) as log:
            own(log, source, folder, dry_run=False)
            recall(loaded.recorded, log)
    except (AtcError, click.UsageError) as error:
        return Ended(source=source, folder=folders[source], error=str(error))
    return _Source(source, folder, loaded.tools)


def _is_code(tool: Tool) -> bool:
    return tool.protocol.binding is None or isinstance(tool.protocol.binding, PythonBinding)


def require_named(tools: Iterable[Tool], settings: ProbeSettings) -> None:
    """Raise click.UsageError where `--allow-writes` names a tool that is none of these."""
    named = frozenset() if isinstance(settings.allow_writes, bool) else settings.allow_writes
    if strange := sorted(named - {tool.protocol.name for tool in tools}):
        raise click.UsageError(f"--allow-writes names no tool of the source: {', '.join(strange)}")


def _by_host(sources: Iterable[_Source]) -> list[list[_Source]]:
    """The sources, those together that call one host, even by way of a third."""
    groups: list[tuple[set[str], list[_Source]]] = []
    for source in sources:
        hosts, members = {host_of(tool.protocol) for tool in source.tools.values()}, [source]
        for group in [group for group in groups if group[0] & hosts]:
            groups.remove(group)
            hosts, members = hosts | group[0], [*group[1], *members]
        groups.append((hosts, members))
    return [members for _, members in groups]


@contextmanager
def _prober(many: Many, open_lines: Callable[[Path], Any]) -> Iterator[Callable[[Sequence[_Source]], list[Ended]]]:
    """A worker that probes the sources of one host."""
    with many.invoker() as invoker, open_model(many.config) as ask:

        def work(group: Sequence[_Source]) -> list[Ended]:
            ended: list[Ended] = []
            for source in group:
                if ended and many.settings.requests_per_second:
                    time.sleep(1 / many.settings.requests_per_second)
                ended.append(_probed(source, many, invoker, ask, open_lines))
            return ended

        yield work


def _probed(source: _Source, many: Many, invoker: Invoker, ask: Ask | None, open_lines: Callable[[Path], Any]) -> Ended:
    """Probe one source to its end, or to an error of ours."""
    tools = source.tools
    if not source.bound:
        tools = Toolbox(replace(tool, call=invoker.bind(tool.protocol)) for tool in tools.values())
    try:
        with Log(source.folder, open_lines) as log:
            probed = probe(tools, log, settings=many.settings, ask=ask)
            return Ended(source=source.text, folder=source.folder, probed=probed, sent=log.sent)
    except AtcError as error:
        return Ended(source=source.text, folder=source.folder, error=str(error))


def own(log: Log, source: str, folder: Path, *, dry_run: bool) -> None:
    """Note in the log what is probed. Raises click.UsageError where it is another source's."""
    identity = str(Path(source).resolve()) if Path(source).exists() else source
    if (before := log.notes.get(_SOURCE, identity)) != identity:
        remove = f"or remove {str(folder / FOLDER)!r}"
        raise click.UsageError(f"{str(folder)!r} holds a probing of {before!r}; give another folder, {remove}")
    if not dry_run and _SOURCE not in log.notes:
        log.note(_SOURCE, identity)


def recall(recorded: Iterable[RecordedCall], log: Log) -> None:
    """Take the calls that a recording holds for samples: what somebody's own use showed need not be asked again."""
    for call in recorded:
        if log.find(call.tool, call.arguments) is None:
            arguments = {name: Value(value, Origin(kind="given")) for name, value in call.arguments.items()}
            log.add(
                Sample(
                    number=log.next_number, tool=call.tool, arguments=arguments, purpose="recorded",
                    outcome="done", response=call.response, seconds=0.0,
                )
            )  # fmt: skip


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
    ask = choose_model(config, progress=told_in_tenths(), talk=say)
    say(f"Model: {ask.name} (--model none probes without).")
    try:
        yield ask
    finally:
        getattr(ask, "close", lambda: None)()
