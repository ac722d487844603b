"""What `atc probe` needs before its first call: the source, the log, consent, a model."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import click

from atc.cli.output import count, escape_controls, say
from atc.cli.probe_plan import writes_lines
from atc.cli.wiring import choose_model, invoke_settings
from atc.config import Config
from probing.gate.caller import send_again
from probing.gate.plan import plan
from probing.log import FOLDER, Log
from probing.sample import Origin, Sample, Value
from probing.settings import ProbeSettings
from protocols.ask import Ask
from protocols.invoke import Invoker
from protocols.sources import Loaded, load_source
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.errors import SandboxUnavailable

SETTINGS = ("model", "start_servers", "trust_annotations")
"""Flags that are settings of the configuration too."""
_SOURCE = "source"
"""Note of a log: what is probed."""


def settings_of(flags: Mapping[str, Any]) -> ProbeSettings:
    """The limits that the command line sets."""
    return ProbeSettings(
        budget=flags["budget"],
        per_tool=flags["per_tool"],
        rounds=flags["rounds"],
        allow_writes=flags["allow_writes"],
        requests_per_second=flags["rate"],
        timeout_seconds=flags["timeout"],
    )


@contextmanager
def open_source(
    source: str, config: Config, settings: ProbeSettings, *, modules: Sequence[str] = ()
) -> Iterator[Loaded]:
    """The tools of a source, each call of which is one request: the gate of probing waits and repeats, nobody else.

    Raises:
        SourceUnavailable, InvalidProtocol: it cannot be read.
    """
    invoke = replace(
        invoke_settings(config, say),
        retries=0,
        timeout_seconds=settings.timeout_seconds,
    )
    with Invoker(invoke) as invoker:
        with redirect_stdout(sys.stderr):  # what a module prints when it is imported is not the result
            loaded = load_source(source, invoker=invoker, modules=modules)
        yield loaded


@contextmanager
def open_log(
    folder: Path | None, source: str, loaded: Loaded, *, resend: bool = False, dry_run: bool = False
) -> Iterator[Log | None]:
    """The log in `folder`, the calls of a recording among its samples. A dry run makes none where there is none.

    Raises:
        click.UsageError: the folder holds a probing of another source, or is the source itself.
        LogUnreadable, CannotWrite: it cannot be used.
    """
    if folder is None or (dry_run and not (folder / FOLDER).is_dir()):
        yield None
        return
    given = Path(source)
    if given.is_dir() and folder.is_dir() and given.samefile(folder):
        raise click.UsageError(f"{str(folder)!r} is the source itself; give another folder to write to")
    with Log(folder) as log:
        identity = str(given.resolve()) if given.exists() else source
        known = log.notes.get(_SOURCE, identity)
        if known != identity:
            raise click.UsageError(
                f"{str(folder)!r} holds a probing of {known!r}; give another folder, or remove {str(folder / FOLDER)!r}"
            )
        if not dry_run:
            if _SOURCE not in log.notes:
                log.note(_SOURCE, identity)
            _recall(loaded, log)
            _tell_cut_off(loaded.tools, log, resend=resend)
        yield log


def _recall(loaded: Loaded, log: Log) -> None:
    """Take the calls that a recording holds for samples: what somebody's own use showed need not be asked again."""
    for call in loaded.recorded:
        if log.find(call.tool, call.arguments) is None:
            log.add(
                Sample(
                    number=log.next_number,
                    tool=call.tool,
                    arguments={name: Value(value, Origin(kind="given")) for name, value in call.arguments.items()},
                    purpose="recorded",
                    outcome=call.outcome,
                    status=None if call.outcome == "done" else call.status,
                    response=call.response,
                    error=call.error,
                    answer=call.answer,
                    seconds=round(call.seconds, 4),
                )
            )


def _tell_cut_off(tools: Toolbox, log: Log, *, resend: bool) -> None:
    if resend and (number := send_again(tools, log)):
        say(f"{count(number, 'read')} without an answer may be sent again.")
    if told := cut_off(log):
        say(told)


def cut_off(log: Log) -> str:
    """A sentence about the calls that a kill cut off and that are not made again; empty where there are none."""
    if not log.intents:
        return ""
    names = sorted({str(intent["tool"]) for intent in log.intents.values()})
    shown = ", ".join(names[:5]) + (" …" if len(names) > 5 else "")
    calls = count(len(log.intents), "call")
    return f"Not made again: {calls} that an earlier probing was cut off in ({shown}); --resend sends reads again."


def allowed(tools: Toolbox, settings: ProbeSettings, log: Log) -> ProbeSettings:
    """The settings, with writes where a person allows them.

    The writes of the plan are shown before. `--allow-writes` is consent; without it a terminal asks.
    """
    with_writes = replace(settings, allow_writes=True)
    planned = plan(tools, with_writes, log)
    if not planned.writes:
        return settings
    terminal = sys.stdin is not None and sys.stdin.isatty() and sys.stderr is not None and sys.stderr.isatty()
    if not settings.allow_writes and not terminal:
        say(
            f"{count(len(planned.writes), 'tool')} may change something and will not be called; --allow-writes lets it."
        )
        return settings
    verb = "will" if settings.allow_writes else "may"
    say(f"{count(len(planned.writes), 'tool')} that {verb} be called may change something:")
    for line in writes_lines(planned):
        say(line)
    if settings.allow_writes:
        return settings
    if click.confirm("Call these too?", default=False, err=True):
        return with_writes
    return settings


@contextmanager
def terminable() -> Iterator[list[int]]:
    """SIGTERM ends the block as Ctrl-C does, and stands in the list that it gives."""
    received: list[int] = []

    def as_ctrl_c(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGTERM, as_ctrl_c)
    try:
        yield received
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def open_model(config: Config, *, progress: Callable[[int, int], None]) -> Iterator[tuple[Ask | None, Sandbox | None]]:
    """The model and the sandbox for its programs, each `None` where there is none.

    That of `--model`, of the configuration, or of the endpoint. The embedded model is used when it is named: it takes a
    minute a tool, which nobody expects who did not ask for it.
    """
    from atc.models import openai

    if config.model == "none" or (config.model is None and not openai.configured()):
        if config.model is None:
            say("No model: --model local adds words and examples of use (about a minute a tool).")
        yield None, None
        return
    ask = choose_model(config, progress=progress, talk=say)
    say(f"Model: {ask.name} (--model none probes without).")
    sandbox = _sandbox(config)
    try:
        yield ask, sandbox
    finally:
        getattr(ask, "close", lambda: None)()
        if sandbox is not None:
            sandbox.close()


def _sandbox(config: Config) -> Sandbox | None:
    from sandbox.choose import open_sandbox

    try:
        return open_sandbox(config.sandbox, policy=config.policy)
    except SandboxUnavailable as error:
        say(f"The model's programs are not run: {escape_controls(str(error))}")
        return None
