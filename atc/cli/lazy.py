"""A click group whose verbs are imported only when they are used, so that `atc --help` starts at once."""

from __future__ import annotations

import gc
import sys
from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

import click

from protocols.errors import docs_page


class LazyGroup(click.Group):
    """A group of `verbs`: name → where its command stands (`module:attribute`) and its line in the group's help.

    `pages` are those of the documentation in which the help of each verb ends.
    """

    def __init__(
        self,
        *args: Any,
        verbs: Mapping[str, tuple[str, str]],
        pages: Mapping[str, str] = MappingProxyType({}),
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.verbs, self.pages = verbs, pages

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The verbs, in the order in which they were given."""
        return list(self.verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """The command of a verb, imported now."""
        if cmd_name not in self.verbs:
            return None
        module, _, attribute = self.verbs[cmd_name][0].partition(":")
        if module not in sys.modules:
            gc.disable()  # what is imported stays: to look through it for garbage takes a tenth of the time
            try:
                import_module(module)
            finally:
                gc.freeze()
                gc.enable()
        command: click.Command = getattr(sys.modules[module], attribute)
        if cmd_name in self.pages:
            _lead_to(command, self.pages[cmd_name])
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, but with the nearest verbs in the error."""
        if args[0] not in self.verbs and not args[0].startswith("-"):
            raise click.exceptions.NoSuchCommand(args[0], possibilities=self.verbs, ctx=ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """The verbs with their lines, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in self.verbs.items()])


def _lead_to(command: click.Command, page: str) -> None:
    """End the help of the command, and of those below it, with a page of the documentation."""
    more = f"More: {docs_page(page)}"
    if more in (command.epilog or ""):
        return
    command.epilog = f"{command.epilog or ''}\n\n{more}".lstrip()
    if isinstance(command, LazyGroup):
        command.pages = dict.fromkeys(command.verbs, page)
    elif isinstance(command, click.Group):
        for below in command.commands.values():
            _lead_to(below, page)
