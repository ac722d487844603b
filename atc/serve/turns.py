"""Whose request is next: a fair share of a few places for each client."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import ExitStack

from protocols.errors import AtcError


class TooMany(AtcError):
    """A client that has too many requests waiting."""


class Turns:
    """Places that clients share, so that one which floods does not starve the others. Of one event loop.

    A client waits for one of its own places first: of one that floods, few requests stand in the others' way.
    """

    def __init__(self, places: int, *, each: int, waiting: int) -> None:
        self._places, self._each, self._most = asyncio.Semaphore(places), each, each + waiting
        self._own: dict[str, asyncio.Semaphore] = {}
        self._requests: Counter[str] = Counter()  # at work, or waiting

    async def take(self, client: str) -> ExitStack:
        """Wait for a place; closing what this gives ends its use.

        Raises:
            TooMany: so many requests of this client wait already.
        """
        if (made := self._requests[client]) >= self._most:
            raise TooMany(
                f"{made} requests of this client are at work or wait already; wait for their replies, then send it"
                " again. Nothing was run."
            )
        with ExitStack() as held:  # left where the request is cancelled while it waits
            self._requests[client] += 1
            held.callback(self._leave, client)
            for places in (self._own.setdefault(client, asyncio.Semaphore(self._each)), self._places):
                await places.acquire()
                held.callback(places.release)
            return held.pop_all()

    def _leave(self, client: str) -> None:
        self._requests[client] -= 1
        if not self._requests[client]:
            del self._requests[client], self._own[client]
