"""The answer to a shell that completes a command line of `atc`.

It must come within a tenth of a second, and importing the modules of the verbs takes longer. So it
is made from an outline of all commands, `completion.json`, which `scripts/completion.py` writes.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import tomllib
from collections.abc import Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import click
import platformdirs
from click.shell_completion import CompletionItem, get_completion_class

from atc.cli.shell_scripts import VARIABLE

OUTLINE = Path(__file__).with_name("completion.json")
_MOST_RUNS = 20
_RUN_ID = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-z]{4}")
"""What a run id looks like. Nothing else in the store reaches the shell, except the status."""
_STATUSES = frozenset({"running", "solved", "unsure", "failed", "paused", "error", "interrupted"})
_BUSY_SECONDS = 0.2
"""How long to wait for a process that locks the store."""


def answer_shell() -> int:
    """Print the completions that the shell asks for, and return the exit code, which is always 0.

    Print nothing if there is an error: the user is typing a command, and cannot use a message.
    """
    try:
        shell = os.environ[VARIABLE].partition("_")[0]
        complete = get_completion_class(shell)
        if complete is not None:
            outline = json.loads(OUTLINE.read_text(encoding="utf-8"))
            reply = complete(_Outlined(outline, ""), {}, "atc", VARIABLE).complete()
            click.echo(reply.encode("utf-8", "replace"))
    except (Exception, KeyboardInterrupt):  # noqa: BLE001 - as the docstring says
        return 0
    return 0


class _Outlined(click.Group):
    """A command that is made from the outline. It can be completed, but not run."""

    def __init__(self, outline: Mapping[str, Any], path: str) -> None:
        entry = outline[path]
        super().__init__(
            path.rpartition(" ")[2] or "atc",
            params=[_make_parameter(one) for one in entry["params"]],
            help=entry["help"],
            context_settings={"help_option_names": ["-h", "--help"]},
        )
        self._outline = outline
        self._path = path

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - required by click
        """Return the names of the subcommands, in the order of the help."""
        names: list[str] = self._outline[self._path]["commands"]
        return names

    def get_command(
        self,
        ctx: click.Context,
        cmd_name: str,
    ) -> click.Command | None:
        """Return a subcommand, or None if there is none with this name."""
        if cmd_name not in self.list_commands(ctx):
            return None
        path = f"{self._path} {cmd_name}".lstrip()
        if self._outline[path]["commands"]:
            return _Outlined(self._outline, path)
        entry = self._outline[path]
        params = [_make_parameter(one) for one in entry["params"]]
        return click.Command(cmd_name, params=params, help=entry["help"])


def _make_parameter(entry: Mapping[str, Any]) -> click.Parameter:
    """Return the parameter that an entry of the outline describes."""
    match entry["values"]:
        case "run":
            kind: Any = {"shell_complete": _complete_run}
        case "file":
            kind = {"type": click.Path()}
        case names:
            kind = {"shell_complete": partial(_complete_name, names)}
    if "name" in entry:
        return click.Argument([entry["name"]], nargs=entry["nargs"], required=False, **kind)
    more = {"is_flag": True} if entry["flag"] else {"nargs": entry["nargs"], **kind}
    return click.Option(entry["options"], multiple=entry["multiple"], help=entry["help"], **more)


def _complete_name(
    names: list[str],
    _ctx: click.Context,
    _param: click.Parameter,
    incomplete: str,
) -> list[CompletionItem]:
    """Return those of `names` that begin with the incomplete word."""
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def _complete_run(
    _ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return `last` and the ids of the latest runs that begin with the incomplete word."""
    last = [CompletionItem("last", help="the latest run")]
    return [one for one in last + _read_runs() if one.value.startswith(incomplete)]


def _read_runs() -> list[CompletionItem]:
    """Return the ids of the latest runs in the store's file, the newest first."""
    place = f"{(_state_folder() / 'runs.sqlite').absolute().as_uri()}?mode=ro"
    query = "SELECT id, json_extract(document, '$.status') FROM runs ORDER BY created DESC LIMIT ?"
    try:
        with closing(sqlite3.connect(place, uri=True, timeout=_BUSY_SECONDS)) as db:
            found = db.execute(query, (_MOST_RUNS,)).fetchall()
    except sqlite3.Error:  # there is no store, or it cannot be read
        return []
    return [
        CompletionItem(run, help=status if status in _STATUSES else None)
        for run, status in found
        if isinstance(run, str) and _RUN_ID.fullmatch(run)
    ]


def _state_folder() -> Path:
    """Return the folder of the store of runs.

    It is that of the variable, of the user's settings file or the default. `atc.settings.reading`
    knows more places, but takes longer than the shell should wait.
    """
    own = platformdirs.user_config_path("atc", appauthor=False) / "config.toml"
    configured = os.environ.get("ATC_STATE_DIR", "")
    if not configured and own.is_file():
        configured = str(tomllib.loads(own.read_text(encoding="utf-8")).get("state_dir", ""))
    default = platformdirs.user_state_path("atc", appauthor=False)
    return Path(configured).expanduser() if configured else default
