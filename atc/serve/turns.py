"""Whose request is next: a fair share of a few places for each client."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque

from protocols.errors import AtcError


class TooMany(AtcError):
    """A client that has too many requests waiting."""


class Turns:
    """Places that clients take in turn, so that one which floods does not starve the others. Of one event loop."""

    def __init__(self, places: int, *, each: int, waiting: int) -> None:
        self._free, self._each, self._most_waiting = places, each, waiting
        self._held: Counter[str] = Counter()
        self._queues: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()  # who is first is served next

    async def take(self, client: str) -> None:
        """Wait for a place; `give_back` ends its use.

        Raises:
            TooMany: so many requests of this client wait already.
        """
        queue = self._queues.setdefault(client, deque())
        if len(queue) >= self._most_waiting:
            raise TooMany(
                f"{len(queue)} requests of this client wait already, beside the {self._held[client]} at work; wait for"
                " their replies, then send it again. Nothing was run."
            )
        turn = asyncio.get_running_loop().create_future()
        queue.append(turn)
        self._serve()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                queue.remove(turn)
            else:  # it was served and cancelled in the same moment
                self.give_back(client)
            raise

    def give_back(self, client: str) -> None:
        """A place that this client had taken is free."""
        self._free += 1
        self._held[client] -= 1
        self._serve()

    def _serve(self) -> None:
        self._held = +self._held
        for idle in [client for client, queue in self._queues.items() if not queue]:
            del self._queues[idle]
        while self._free:
            mine = (one for one, queue in self._queues.items() if queue and self._held[one] < self._each)
            if (client := next(mine, None)) is None:
                return
            self._free -= 1
            self._held[client] += 1
            self._queues[client].popleft().set_result(None)
            self._queues.move_to_end(client)
