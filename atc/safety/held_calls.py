"""Calls of one run that only a person can let through: those that one declined, or that a gateway left open."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial

from atc.store.questions import HeldDigests, PastQuestion, Questions
from protocols.schema import JsonObject
from protocols.toolbox import Tool


def make_held_check(stores: Sequence[Questions]) -> Callable[[Tool, JsonObject], bool]:
    """Return what says of a call whether only a person may let it through, as it is now; for another process, too."""
    return partial(_is_held, tuple(store.load_held() for store in stores))


def _is_held(held: Sequence[HeldDigests], tool: Tool, arguments: JsonObject) -> bool:
    return any(one(tool, arguments) for one in held)


class HeldCalls:
    """The questions and answers that the stores have of one run's calls, the run's own store first.

    With a `client`, the program is one that a client of a gateway sent: each question is kept before a person hears
    of it, so that the call is known although the client goes away.
    """

    def __init__(
        self, stores: Sequence[Questions] = (), *, run: str = "", client: str | None = None
    ) -> None:
        self._stores = stores
        self.run = run
        self._client = client
        self._some: bool | None = None
        """Whether anything at all was held when the program began; None where nobody has looked yet."""

    @property
    def is_served(self) -> bool:
        """Return True if a gateway runs this: its consent is what a person gave when they started it."""
        return self._client is not None

    def begin(self, answered: Collection[str]) -> None:
        """A program of the run begins. Questions of its earlier ones get no answer any more, but those `answered`."""
        for store in self._stores if self.run else ():
            store.invalidate(self.run, but=answered)

    def look_again(self) -> None:
        """Another program begins: what was held by nobody before may be held by now."""
        self._some = None

    def about(self, tool: Tool, arguments: JsonObject) -> list[PastQuestion]:
        """Return what holds this call, whatever the settings say: nothing, or what was asked in this run and in others."""
        found = [one for store in self._stores for one in store.about(tool, arguments)]
        return [one for one in found if one.state in ("open", "declined")]

    def about_read(self, tool: Tool, arguments: JsonObject) -> list[PastQuestion]:
        """Return what holds a call that counts as a read, which costs nothing where nothing was held at the beginning."""
        if self._some is None:
            self._some = any(store.load_held().digests for store in self._stores)
        return self.about(tool, arguments) if self._some else []

    def ask(self, tool: Tool, listed: Sequence[JsonObject], *, exactly: str) -> str:
        """The id of a question about calls that a person is asked now, empty where nobody answers it later.

        `listed` has the arguments of each call. `exactly` is all that the question is about. The same question has the
        same id for as long as it is open; one that was answered, or came to nothing, has another when it is asked
        again.
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
        """A person said yes to these calls: each is sent once, and asks again then if others of its kind are held.

        Who sits before this run answers for all runs, and so does the consent of a gateway (`everywhere`).
        """
        own = self._client is None
        for arguments in listed:
            for store in self._stores:
                store.allow(tool, arguments, self.run, waits=own, everywhere=own or everywhere)

    def decline(self, tool: Tool, listed: Iterable[JsonObject]) -> None:
        """A person said no to these calls."""
        self._some = True
        for arguments in listed:
            for store in self._stores:
                store.decline(tool, arguments, self.run)
