"""Whose request is next: a fair share of a few places for each client."""

from __future__ import annotations

import asyncio
from collections import Counter

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

    async def take(self, client: str) -> None:
        """Wait for a place; `give_back` ends its use.

        Raises:
            TooMany: so many requests of this client wait already.
        """
        if (made := self._requests[client]) >= self._most:
            raise TooMany(
                f"{made} requests of this client are at work or wait already; wait for their replies, then send it"
                " again. Nothing was run."
            )
        self._requests[client] += 1
        own = self._own.setdefault(client, asyncio.Semaphore(self._each))
        taken: list[asyncio.Semaphore] = []
        try:
            for places in (own, self._places):
                await places.acquire()
                taken.append(places)
        except asyncio.CancelledError:
            self._leave(client, *taken)
            raise

    def give_back(self, client: str) -> None:
        """A place that this client had taken is free."""
        self._leave(client, self._own[client], self._places)

    def _leave(self, client: str, *taken: asyncio.Semaphore) -> None:
        for places in taken:
            places.release()
        self._requests[client] -= 1
        if not self._requests[client]:
            del self._requests[client], self._own[client]
