"""The next steps that a message about a call that was not sent names for the user."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from atc.core.quoting import command

_KEYWORDS = {"--allow-writes": "allow_writes", "--trust": "trust"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedies:
    """The next steps of a run, for the user who has started it.

    `run` is the id of the stored run, or None. If `in_shell` is True, a shell command started the
    run, so the steps are commands. Otherwise a Python program started it. The tools and the store
    may exist only in this program, so the steps are method calls of its agent.
    """

    run: str | None
    in_shell: bool = True

    @property
    def resume(self) -> str:
        """The command or the method that continues the run, or "" if the run is not stored."""
        if self.run is None:
            return ""
        if not self.in_shell:
            return f"agent.resume({self.run!r})"
        return command("atc", "runs", "resume", self.run) or ""

    def allow(self, options: Sequence[str]) -> str:
        """Return a sentence without a full stop: how to allow a call.

        `options` are the command-line options that allow it, quoted for a shell.
        """
        if self.in_shell:
            return f"Allow it with{f': {self.resume}' if self.run else ''} {' '.join(options)}"
        words = shlex.split(" ".join(options))
        values: dict[str, list[str]] = {}
        for option, value in zip(words[::2], words[1::2], strict=True):
            values.setdefault(_KEYWORDS[option], []).append(value)
        given = ", ".join(f"{keyword}={found!r}" for keyword, found in values.items())
        return f"Allow it with Agent(…, {given}) and {self.resume or 'agent.run again'}"

    def decide(self, what: str) -> str:
        """Return a sentence without a full stop that says how a person can decide about a call.

        `what` is its beginning, such as "To see it whole and decide".
        """
        if self.in_shell:
            return f"{what}, run this on a terminal: {self.resume or 'the same command again'}"
        return f"{what}, give the agent an ask_person and call {self.resume or 'agent.run again'}"
