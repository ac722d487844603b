"""Calls of one run that only a person can let through: those that one declined, or that a gateway left open."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Sequence

from atc.store.questions import Asked, Questions
from protocols.schema import JsonObject
from protocols.toolbox import Tool


class HeldCalls:
    """What the stores know of the calls of a run, the run's own store first.

    With a `client`, the program is one that a client of a gateway sent: each question is kept before a person hears
    of it, so that the call is known although the client goes away.
    """

    def __init__(self, stores: Sequence[Questions] = (), *, run: str = "", client: str | None = None) -> None:
        self._stores, self.run, self._client = stores, run, client

    def begin(self, answered: Collection[str]) -> None:
        """A program of the run begins. Questions of its earlier ones get no answer any more, but those `answered`."""
        for store in self._stores if self.run else ():
            store.void(self.run, but=answered)

    def about(self, tool: Tool, arguments: JsonObject) -> list[Asked]:
        """What holds this call, whatever the settings say: nothing, or what was asked in this run and in others."""
        found = [one for store in self._stores for one in store.about(tool, arguments)]
        return [one for one in found if one.state != "allowed"]

    def ask(self, tool: Tool, arguments: JsonObject, *, exactly: str) -> str:
        """The id of a question that a person is asked now, empty where nobody answers it later.

        `exactly` is all that the question is about. The same question has the same id for as long as it is open; one
        that was answered, or came to nothing, has another one when it is asked again.
        """
        if self._client is None or not self._stores:
            return ""
        subject = hashlib.sha256(exactly.encode("utf-8", "surrogatepass")).hexdigest()
        own = [one for one in self._stores[0].about(tool, arguments) if (one.run, one.state) == (self.run, "open")]
        known = next((one.question for one in own if one.question.endswith(f":{subject}")), "")
        question = known or f"{secrets.token_hex(8)}:{subject}"
        for store in () if known else self._stores:
            store.open(tool, arguments, self.run, client=self._client, question=question)
        return question

    def allow(self, tool: Tool, arguments: JsonObject) -> None:
        """A person said yes: the call is sent now, and asks again the next time if others of its kind are held."""
        for store in self._stores:
            store.allow(tool, arguments, self.run, waits=self._client is None)

    def decline(self, tool: Tool, arguments: JsonObject) -> None:
        """A person said no."""
        for store in self._stores:
            store.decline(tool, arguments, self.run)
