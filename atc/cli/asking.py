"""Asking a person about a call before it is sent."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

import click

from atc.cli.output import escape_controls
from atc.redaction import Redactor
from protocols.spelled import spelled

if TYPE_CHECKING:
    from atc.consent import AskPerson, Question


def asker(*, yes: bool, aside: Callable[[], AbstractContextManager[None]] = nullcontext) -> AskPerson | None:
    """Asks on the terminal; None where there is nobody to ask.

    `yes` answers questions about writes, never those about where a value came from. `aside` stops what moves on the
    screen while somebody reads.
    """
    terminal = sys.stdin is not None and sys.stdin.isatty() and sys.stderr is not None and sys.stderr.isatty()

    def ask(question: Question) -> bool:
        if yes and not question.tainted:
            return True
        if not terminal:
            return False
        with aside():
            click.echo(escape_controls(_shown(question), keep_newlines=True), err=True)
            return click.confirm("Send it?", default=False, err=True)

    return ask if yes or terminal else None


def _shown(question: Question) -> str:
    shown = Redactor().value(dict(question.arguments), question.tool.protocol.input_schema)
    arguments = json.dumps(shown, ensure_ascii=False, indent=2)
    tool = question.tool
    alias = (
        f"{tool.alias} ({how} of {tool.source or 'an unnamed source'})"
        if (how := spelled(tool.protocol.binding))
        else tool.alias
    )
    if not question.tainted:
        return f"{alias} may change something. Arguments:\n{arguments}"
    reasons = "\n".join(f"- {reason}" for reason in question.reasons)
    head = f"{alias} is to be called with values that neither you nor your settings gave:"
    return f"{head}\n{reasons}\nArguments:\n{arguments}"
