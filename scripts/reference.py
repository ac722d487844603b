"""Generate the reference pages that come from the code.

`cli.md` describes the commands, which are read from click, and `settings.md` the settings in
`atc.core.config`.

    python scripts/reference.py

The files are generated before each build of the site and are not kept in git.
"""

from __future__ import annotations

import ast
import html
import inspect
import itertools
import re
from collections.abc import Iterator
from dataclasses import MISSING, fields
from pathlib import Path

import click

from atc.cli.main import cli
from atc.core import config, limit_settings, setting_tables

REFERENCE = Path(__file__).resolve().parent.parent / "docs" / "reference"


def commands(
    command: click.Command, context: click.Context
) -> Iterator[tuple[click.Command, click.Context]]:
    """Yield the command and all its subcommands, in the order of `atc --help`."""
    yield command, context
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from commands(below, click.Context(below, info_name=name, parent=context))


def command_page() -> str:
    """Return the reference page of the command line: usage, options and examples of commands."""
    parts = [
        "# Command line\n",
        "This page is made from the program. `atc COMMAND --help` shows the same.\n",
    ]
    for command, context in commands(
        cli, click.Context(cli, info_name="atc", **cli.context_settings)
    ):
        usage = " ".join(command.collect_usage_pieces(context))
        parts.append(
            f"## `{context.command_path}`\n\n```text\n{context.command_path} {usage}\n```\n"
        )
        parts.append(f"{_prose(inspect.cleandoc(command.help or ''))}\n")
        rows = [
            f"| <code>{html.escape(record[0]).replace('|', '&#124;')}</code> | {_cell(record[1])} |"
            for parameter in command.params
            if (record := parameter.get_help_record(context)) and "--help" not in record[0]
        ]
        if isinstance(command, click.Group):
            names = command.list_commands(context)
            path = context.command_path.replace(" ", "-")
            rows += [
                f"| [`{name}`](#{path}-{name}) | {_cell(_line(command, context, name))} |"
                for name in names
            ]
        if rows:
            parts.append(
                "| argument, option or command | what it does |\n|---|---|\n"
                + "\n".join(rows)
                + "\n"
            )
        epilog = (command.epilog or "").replace("\b", "").partition("More: ")[0].strip()
        if examples := re.sub(r"^(Examples?|Start with):\s*", "", epilog):
            parts.append(
                "```console\n"
                + "\n".join(f"$ {line.strip()}" for line in examples.splitlines())
                + "\n```\n"
            )
    return "\n".join(parts)


def settings_page() -> str:
    """Return the reference page of the settings: the default and the docstring of each."""
    parts = [
        "# Settings\n",
        (
            "This page is made from the program. [Configuration](configuration.md) says where "
            "settings are written."
        ),
        "As a flag a setting is spelled `--max-calls`, as a variable `ATC_MAX_CALLS`.\n",
    ]
    for kind, title in (
        (config.Config, ""),
        (setting_tables.CredentialEntry, "credentials.NAME"),
        (setting_tables.McpEntry, "mcp.NAME"),
        (limit_settings.LimitSettings, "limits"),
        (limit_settings.SourceLimitEntry, "source_limits.NAME"),
    ):
        if title:
            parts.append(f"\n## `[{title}]`\n\n{_prose(kind.__doc__ or '')}\n")
        parts.append("| setting | default | what it is |\n|---|---|---|")
        texts = _docstrings(kind)
        parts += [
            f"| `{setting.name}` | {_default(setting)} | {_cell(texts.get(setting.name, ''))} |"
            for setting in fields(kind)
        ]
    return "\n".join(parts) + "\n"


def _line(group: click.Group, context: click.Context, name: str) -> str:
    command = group.get_command(context, name)
    return command.get_short_help_str(200) if command else ""


def _prose(text: str) -> str:
    return text.replace("\b", "").replace("<", "&lt;")


def _cell(text: str) -> str:
    return " ".join(_prose(text).split()).replace("|", "\\|")


def _default(setting: object) -> str:
    default = getattr(setting, "default", MISSING)
    default = getattr(default, "default", default)  # a pydantic field is nested once more
    plain = default is None or isinstance(default, str | int | float | bool)
    return f"`{default}`" if plain and default not in (None, "") else ""


def _docstrings(kind: type) -> dict[str, str]:
    """Return the docstring below each field of a class, keyed by the field's name.

    Inherited fields are included.
    """
    found: dict[str, str] = {}
    for one in reversed(kind.__mro__[:-1]):
        (body,) = ast.parse(inspect.getsource(one)).body
        assert isinstance(body, ast.ClassDef)
        for field, after in itertools.pairwise(body.body):
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(after, ast.Expr)
                and isinstance(after.value, ast.Constant)
            ):
                found[ast.unparse(field.target)] = str(after.value.value)
    return found


if __name__ == "__main__":
    (REFERENCE / "cli.md").write_text(command_page(), encoding="utf-8")
    (REFERENCE / "settings.md").write_text(settings_page(), encoding="utf-8")
