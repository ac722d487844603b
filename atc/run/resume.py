"""The replies and attempts that a resumed run already has, so that nothing is done twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from atc.core.types import Attempt, Usage
from atc.store.stored import StoredRun, used_so_far
from protocols.model import Completion, Message
from sandbox.journal import Journal


class ResumedRun:
    """The stored replies and attempts of a run, returned again in their original order.

    The strategy starts from the beginning: prompts that were answered before get the same replies,
    and completed attempts are not executed again. Once a prompt differs from the stored one, for
    example because a tool has changed, the rest is ignored.
    """

    def __init__(self, stored: StoredRun | None = None) -> None:
        self._attempts = stored.attempts if stored else ()
        # Skip prompts that got no reply because the model was down; they were sent again, and the
        # reply is a later entry.
        self._exchanges = tuple(
            known for known in (stored.exchanges if stored else ()) if known.reply is not None
        )
        self._next = 0
        self._over = False

    @property
    def usage(self) -> Usage:
        """The usage of the model for the stored replies."""
        return used_so_far(self._exchanges)

    def reply(
        self, prompt: Sequence[Message], redact: Callable[[str], str] = str
    ) -> Completion | None:
        """Return the stored reply to this prompt, or None if the next stored prompt differs.

        `redact` is applied to the stored prompt before the comparison, because more secrets may be
        known now than when it was stored.
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
        """Return the stored attempt with this number, or None if it must be executed.

        Unfinished and paused attempts are executed again. So is a last attempt that hit the time
        limit, because a resumed run has a new time budget.
        """
        if self._over or number >= len(self._attempts):
            return None
        found = self._attempts[number]
        ended = found.trace is not None or found.fault is not None
        timed_out = number == len(self._attempts) - 1 and ran_out_of_time(found)
        return found if ended and not found.paused and not timed_out else None


def ran_out_of_time(attempt: Attempt) -> bool:
    """Return True if the time limit ended the program of an attempt."""
    failure = None if attempt.trace is None else attempt.trace.failure
    return failure is not None and (failure.kind, failure.type) == ("limit", "wall_seconds")


def repeat_unfinished(journal: Journal, stored: StoredRun) -> None:
    """Let the journal repeat the failures of a stored run's last program if it is executed again.

    The call that paused the program is made again.
    """
    last = len(stored.attempts) - 1
    if last < 0 or ResumedRun(stored).attempt(last) is not None:
        return
    attempt = stored.attempts[last]
    failure = attempt.trace.failure if attempt.trace is not None else None
    ended_by = failure.call if failure is not None and failure.kind == "paused" else None
    before = [one.execution for one in stored.attempts[:last] if one.execution is not None]
    journal.repeat(since=max(before, default=-1) + 1, ended_by=ended_by)
