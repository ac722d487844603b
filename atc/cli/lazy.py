"""A click group whose verbs are imported only when they are used, so that `atc --help` starts at once."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from protocols.errors import docs_page


class LazyGroup(click.Group):
    """A group of `verbs`: name → where its command stands (`module:attribute`) and its line in the group's help.

    A third part is the page of the documentation in which the help of the verb, and of those below it, ends.
    """

    page = ""

    def __init__(self, *, verbs: Mapping[str, tuple[str, ...]], **kwargs: Any) -> None:
        stand_ins = {name: click.Command(name) for name in verbs}  # by whose names click corrects a misspelled verb
        super().__init__(commands=stand_ins, **kwargs)
        self.verbs = verbs

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The verbs, in the order in which they were given."""
        return list(self.verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """The command of a verb, imported now."""
        if cmd_name not in self.verbs:
            return None
        place, _, *pages = self.verbs[cmd_name]
        module, _, attribute = place.partition(":")
        gc.disable()  # what is imported stays: to look through it for garbage takes a tenth of the time
        command: click.Command = getattr(import_module(module), attribute)
        gc.freeze()
        gc.enable()
        page = pages[0] if pages else self.page
        if isinstance(command, LazyGroup):
            command.page = page
        for one in (command, *getattr(command, "commands", {}).values()):
            if page and "More: " not in (one.epilog or ""):
                one.epilog = f"{one.epilog or ''}\n\nMore: {docs_page(page)}".lstrip()
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """The verbs with their lines, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary, *_) in self.verbs.items()])
