"""Asking a person about a call before it is sent."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

import click

from atc.consent import question_text

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
            click.echo(question_text(question), err=True)
            return click.confirm("Send it?", default=False, err=True)

    return ask if yes or terminal else None
