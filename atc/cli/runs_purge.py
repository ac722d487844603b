"""`atc runs purge`: forget runs, with the secrets that their journals hold."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Sequence
from pathlib import Path

import click

from atc.cli.options import json_option
from atc.cli.output import has_person, print_json, say
from atc.cli.settings import load_config
from atc.cli.state import open_store
from atc.store import Store
from atc.store.stored import RunSummary
from atc.terminal import count

_DAY_SECONDS = 86_400


@click.command(epilog="Example: atc runs purge --older-than 30 --yes")
@click.argument("names", nargs=-1, metavar="[RUN]...")
@click.option("--older-than", type=click.FloatRange(0), metavar="DAYS", help="Every run begun longer ago than that.")
@click.option("--all", "every", is_flag=True, help="Every run, also those of earlier versions.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def purge(names: tuple[str, ...], *, older_than: float | None, every: bool, yes: bool, as_json: bool) -> None:
    """Delete stored runs with all that they hold, down to the bytes in the store's file.

    RUN is an id, the beginning or the end of one, or 'last'. A run that a process is working on is left alone.
    """
    if sum((bool(names), older_than is not None, every)) != 1:
        raise click.UsageError("name the runs to delete, or give one of --older-than DAYS and --all")
    config = load_config()[0]
    with open_store(config) as store:
        chosen, running = _chosen(store, names, None if every else older_than)
        if chosen and not yes:
            if not has_person():
                raise click.UsageError("nobody can be asked here; give --yes to delete them")
            question = f"Delete {count(len(chosen), 'run')} with all that they hold?"
            click.confirm(question, default=False, err=True, abort=True)
        deleted = store.delete([run.id for run in chosen])
    _forget_prompts(config.cache_dir / "models" / "states", [run.task for run in chosen])
    if as_json:
        print_json({"deleted": [run.id for run in chosen], "running": running})
        return
    say(f"Deleted {count(deleted, 'run')}." if deleted else "There is nothing to delete.")
    if running:
        say(f"Left alone, since a process works on it: {', '.join(running)}.")


def _chosen(store: Store, names: tuple[str, ...], older_than: float | None) -> tuple[list[RunSummary], list[str]]:
    """The runs to delete, and the ids of those that the choice takes in but that are at work."""
    if names:
        return list({(run := store.load(name).summary).id: run for name in names}.values()), []
    before = time.time() - (older_than or 0) * _DAY_SECONDS
    found = [run for run in store.list(None) if run.created <= before]
    return [run for run in found if run.status != "running"], [run.id for run in found if run.status == "running"]


def _forget_prompts(folder: Path, tasks: Sequence[str]) -> None:
    """Delete what the embedded model kept of prompts with these tasks, in which a secret may have been typed."""
    for note in folder.glob("*.json"):
        with contextlib.suppress(OSError, ValueError):
            prompt = json.loads(note.read_text(encoding="utf-8")).get("prompt", "")
            if any(task in prompt for task in tasks):
                note.with_suffix(".state").unlink(missing_ok=True)
                note.unlink()
