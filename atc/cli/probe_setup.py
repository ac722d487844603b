"""Preparation of `atc probe` before it calls tools: an invoker, a log entry, a language model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import click

from atc.cli import wiring
from atc.cli.output import say
from atc.core.config import Config
from atc.models import openai
from probing.samples import FOLDER, SOURCE, Log, ProbeSettings
from protocols.client import Invoker
from protocols.errors import UnknownTool
from protocols.model import Ask
from protocols.protocol import ToolProtocol
from protocols.secrets.sources import mask_source


def require_named(protocols: Iterable[ToolProtocol], settings: ProbeSettings) -> None:
    """Check that `--allow-writes` names only tools in `protocols`.

    Raises:
        click.UsageError: It names an unknown tool; the message suggests similar names.
    """
    if isinstance(settings.allow_writes, bool):
        return
    known = {protocol.name for protocol in protocols}
    if unknown := sorted(settings.allow_writes - known):
        raise click.UsageError(f"--allow-writes: {UnknownTool(unknown[0], sorted(known))}")


def log_source(log: Log, folder: Path, source: str) -> None:
    """Record in the log in `folder` which source is probed.

    Raises:
        click.UsageError: The log belongs to another source.
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
    """Return an invoker that sends each call once, because the probing has its own retries."""
    wiring.say_withheld(config)
    own = replace(
        wiring.invoke_settings(config),
        retries=0,
        timeout_seconds=settings.timeout_seconds,
        time_option="--timeout",
    )
    return Invoker(own)


@contextmanager
def open_model(config: Config) -> Iterator[Ask | None]:
    """Open the model that the settings name, or else that of the configured endpoint.

    Yield None if there is neither. The embedded model is used only if it is named, because it takes
    a minute for each tool.
    """
    if config.model == "none" or (config.model is None and not openai.is_configured()):
        if config.model is None:
            say("No model: --model local adds words and values (about a minute a tool).")
        yield None
        return
    with wiring.open_model(config) as ask:
        say(f"Model: {ask.name} (--model none probes without).")
        yield ask
