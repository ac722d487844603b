"""The calls of a run that only a person can allow, whatever the options and settings say.

Such a call is "held": a person declined it, or a gateway asked a person about it and got no answer.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial

from atc.store.questions import HeldDigests, PastQuestion, Questions
from protocols.schema import JsonObject
from protocols.tool import Tool


def make_held_check(stores: Sequence[Questions]) -> Callable[[Tool, JsonObject], bool]:
    """Return a function that tells whether a call is held, that is, only a person can allow it.

    The function uses what all `stores` contain now, and does not see later changes. It can be sent
    to another process.
    """
    return partial(_is_held, tuple(store.load_held() for store in stores))


def _is_held(held: Sequence[HeldDigests], tool: Tool, arguments: JsonObject) -> bool:
    return any(one(tool, arguments) for one in held)


class HeldCalls:
    """The questions about the calls of one run and their answers, as the stores record them.

    The first of `stores` contains the run. `client` is the client of a gateway that sent the
    program, or None without a gateway. With a client, each question is stored before a person sees
    it, so that it is not lost if the client disconnects.
    """

    def __init__(
        self, stores: Sequence[Questions] = (), *, run: str = "", client: str | None = None
    ) -> None:
        self._stores = stores
        self.run = run
        self._client = client
        self._any_held: bool | None = None
        """True if any call was held when it was looked up for this program; None before that."""

    @property
    def is_served(self) -> bool:
        """True if a gateway executes the run.

        The options with which the gateway was started are then the consent of the person who
        started it.
        """
        return self._client is not None

    def begin(self, answered: Collection[str]) -> None:
        """Invalidate the questions of earlier programs of this run that have no answer.

        Those whose ids are in `answered` stay valid.
        """
        for store in self._stores if self.run else ():
            store.invalidate(self.run, but=answered)

    def refresh(self) -> None:
        """Prepare for the next program: look up again whether any calls are held."""
        self._any_held = None

    def about(self, tool: Tool, arguments: JsonObject) -> list[PastQuestion]:
        """Return the questions about a call because of which only a person can allow the call.

        These are questions that were asked about the same call, in this run or another one, and
        that have no answer yet or were answered with no. If the result is empty, the options and
        settings decide about the call. `arguments` are the arguments of the call.
        """
        found = [one for store in self._stores for one in store.about(tool, arguments)]
        return [one for one in found if one.state in ("open", "declined")]

    def about_read(self, tool: Tool, arguments: JsonObject) -> list[PastQuestion]:
        """Return the same questions as `about`, for a call that only reads.

        If the stores had no such question about any call when the program began, they are not
        searched.
        """
        if self._any_held is None:
            self._any_held = any(store.load_held().digests for store in self._stores)
        return self.about(tool, arguments) if self._any_held else []

    def ask(self, tool: Tool, listed: Sequence[JsonObject], *, exactly: str) -> str:
        """Store the question that a person is now asked about some calls, and return its id.

        The id is empty without a gateway, since the question can then be answered only now.
        `listed` contains the arguments of each call. `exactly` is a text that identifies the whole
        question. A question that is still open keeps its id when it is asked again. A question that
        was answered gets a new id.
        """
        if self._client is None or not self._stores:
            return ""
        subject = hashlib.sha256(exactly.encode("utf-8", "surrogatepass")).hexdigest()
        own = [
            one
            for one in self._stores[0].about(tool, listed[0])
            if (one.run, one.state) == (self.run, "open")
        ]
        known = next((one.question for one in own if one.question.endswith(f":{subject}")), "")
        question = known or f"{secrets.token_hex(8)}:{subject}"
        for store in () if known else self._stores:
            for arguments in listed:
                store.open(tool, arguments, self.run, client=self._client, question=question)
        return question

    def allow(self, tool: Tool, listed: Iterable[JsonObject], *, everywhere: bool = False) -> None:
        """Record that a person allowed these calls. Each of them may be sent once.

        `listed` contains the arguments of each call. An answer at the terminal, without a gateway,
        counts for all runs. In a gateway, the answer of a client counts only for this run, unless
        `everywhere` is True.
        """
        own = self._client is None
        for arguments in listed:
            for store in self._stores:
                store.allow(tool, arguments, self.run, waits=own, everywhere=own or everywhere)

    def decline(self, tool: Tool, listed: Iterable[JsonObject]) -> None:
        """Record that a person declined these calls.

        `listed` contains the arguments of each call.
        """
        self._any_held = True
        for arguments in listed:
            for store in self._stores:
                store.decline(tool, arguments, self.run)
