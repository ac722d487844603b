"""What a run did before it was interrupted or paused, so that going on repeats none of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from atc.core.types import Attempt, Usage
from atc.store.stored import StoredRun, used_so_far
from protocols.model import Completion, Message


class ResumedRun:
    """The replies and attempts of a run's earlier life, given back in their order.

    A strategy runs as it did at first: prompts that were answered get the same replies, attempts that came to an end
    are not executed again. As soon as a prompt differs (a tool has changed), the rest is of no use any more.
    """

    def __init__(self, stored: StoredRun | None = None) -> None:
        self._attempts = stored.attempts if stored else ()
        # What was asked in vain, when the model was down, was asked again: its reply stands behind.
        self._exchanges = tuple(
            known for known in (stored.exchanges if stored else ()) if known.reply is not None
        )
        self._next = 0
        self._over = False

    @property
    def usage(self) -> Usage:
        """What the replies took when they were given."""
        return used_so_far(self._exchanges)

    def reply(
        self, prompt: Sequence[Message], redact: Callable[[str], str] = str
    ) -> Completion | None:
        """The reply to the next prompt; None for one that got none before the run ended.

        `redact` knows secrets by now that it did not know when the first prompts were stored.
        """
        if self._over or self._next == len(self._exchanges):
            return None
        known = self._exchanges[self._next]
        self._over = [
            replace(message, content=redact(message.content)) for message in known.messages
        ] != list(prompt)
        self._next += 1
        return None if self._over else known.reply

    def attempt(self, number: int) -> Attempt | None:
        """The attempt of this number, unless it did not come to its end: then it is executed again.

        Nor did one that was paused, or the last one if its time ran out, of which a run that goes on has more.
        """
        if self._over or number >= len(self._attempts):
            return None
        found = self._attempts[number]
        ended = found.trace is not None or found.fault is not None
        failure = (
            found.trace.failure
            if found.trace is not None and number == len(self._attempts) - 1
            else None
        )
        timed_out = failure is not None and (failure.kind, failure.type) == (
            "limit",
            "wall_seconds",
        )
        return found if ended and not found.paused and not timed_out else None


def is_unfinished(stored: StoredRun) -> bool:
    """Whether a run that goes on begins with the program that was last executed."""
    last = len(stored.attempts) - 1
    return last >= 0 and ResumedRun(stored).attempt(last) is None
