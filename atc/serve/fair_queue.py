"""Fair shares of a gateway for its clients: whose program runs next, and what a client may keep
open.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Generic, TypeVar

from protocols.errors import AtcError

Thing = TypeVar("Thing", bound=Hashable)


class TooMany(AtcError):
    """Too many requests of one client are waiting."""


class FairQueue:
    """A limited number of places for requests, shared so that one busy client does not block the
    others.

    It belongs to one event loop. A request first waits for one of its client's own places, so of a
    client that sends very many only a few compete for the shared places. A request leaves its place
    while a person is asked and waits for one again afterwards. `parked` is how many requests of all
    clients may be in that state, and `parked_each` how many of one.
    """

    def __init__(
        self, places: int, *, each: int, waiting: int, parked: int = 0, parked_each: int = 0
    ) -> None:
        self._each = each
        self._begun_each = each + parked_each
        self._most = each + waiting
        self._places = asyncio.Semaphore(places)
        self._begun = asyncio.Semaphore(places + parked)
        self._own: dict[str, _ClientPlaces] = {}
        self._requests: Counter[str] = Counter()  # at work, or waiting

    async def take(self, client: str) -> QueuePlace:
        """Return a place for a request, once one is free. Close it when the request is done.

        Raises:
            TooMany: Too many requests of this client wait already.
        """
        if (made := self._requests[client]) >= self._most:
            raise TooMany(
                f"{made} requests of this client are at work or wait already; wait for their replies, then send it"
                " again. Nothing was run."
            )
        self._requests[client] += 1
        own = self._own.setdefault(client, _ClientPlaces(self._each, self._begun_each))
        place = QueuePlace(
            [own.begun, self._begun], [own.places, self._places], lambda: self._leave(client)
        )
        try:
            await place.begin()
        except BaseException:  # the request was cancelled while it waited
            place.close()
            raise
        return place

    def _leave(self, client: str) -> None:
        self._requests[client] -= 1
        if not self._requests[client]:
            del self._requests[client], self._own[client]


class _ClientPlaces:
    """The places of one client, and how many of its requests wait."""

    def __init__(self, each: int, begun_each: int) -> None:
        self.places = asyncio.Semaphore(each)
        self.begun = asyncio.Semaphore(begun_each)


class QueuePlace:
    """The place of one request."""

    def __init__(
        self,
        begun: list[asyncio.Semaphore],
        places: list[asyncio.Semaphore],
        leave: Callable[[], None],
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._begun = begun
        self._places = places
        self._kept = ExitStack()
        self._at_work = ExitStack()
        self._kept.callback(leave)
        self._closed = False

    async def begin(self) -> None:
        """Wait until the request may begin."""
        await _acquire(self._begun, self._kept)
        await self._work()

    @contextmanager
    def vacate(self) -> Iterator[None]:
        """Free the place within the block and wait for one at its end. For threads other than the
        event loop's.
        """
        self._loop.call_soon_threadsafe(self._at_work.close)
        try:
            yield
        finally:
            asyncio.run_coroutine_threadsafe(self._work(), self._loop).result()

    def close(self) -> None:
        """Free the place for good. Called in the event loop."""
        self._closed = True
        self._at_work.close()
        self._kept.close()

    async def _work(self) -> None:
        """Wait for a shared place, unless the request has ended meanwhile."""
        with ExitStack() as held:
            if not self._closed:
                await _acquire(self._places, held)
            if not self._closed:
                self._at_work = held.pop_all()


async def _acquire(semaphores: list[asyncio.Semaphore], held: ExitStack) -> None:
    """Acquire each semaphore in turn; `held` releases those that were acquired."""
    for semaphore in semaphores:
        await semaphore.acquire()
        held.callback(semaphore.release)


class ClientQuota(Generic[Thing]):
    """Limits on what clients keep open: at most `each` of one client and `most` of all.
    Thread-safe.

    Things whose client is not known yet are kept under an empty name; there may be `nobodys` of
    them. Beyond a limit, the thing that has been idle longest is closed: one of the same client, or
    one of the client that keeps the most. A busy one is closed only if all are busy.
    """

    def __init__(
        self,
        give_way: Callable[[Thing], None],
        *,
        each: int,
        most: int,
        nobodys: int = 0,
        busy: Callable[[Thing], bool] = lambda _: False,
    ) -> None:
        self._give_way = give_way
        self._busy = busy
        self._each = each
        self._most = most
        self._nobodys = nobodys
        self._lock = threading.RLock()
        self._kept: dict[
            str, OrderedDict[Thing, None]
        ] = {}  # by client, the one that has been idle longest first
        self._owners: dict[Thing, str] = {}

    def owner(self, thing: Thing) -> str | None:
        """Return the client that keeps a thing; None if the thing is not kept."""
        return self._owners.get(thing)

    def use(self, client: str, thing: Thing) -> None:
        """Record that a client uses a thing now, be it new or kept before."""
        with self._lock:
            if self._owners.get(thing, client) != client:
                self.drop(thing)
            self._owners[thing] = client
            own = self._kept.setdefault(client, OrderedDict())
            own[thing] = None
            own.move_to_end(thing)
            if len(own) > (self._each if client else self._nobodys or self._each):
                self._oldest_gives_way(own)
            elif len(self._owners) > self._most:
                self._oldest_gives_way(max(self._kept.values(), key=len))

    def drop(self, thing: Thing) -> None:
        """Forget a thing that is no longer open."""
        with self._lock:
            client = self._owners.pop(thing, None)
            if client is not None:
                del self._kept[client][thing]
                if not self._kept[client]:
                    del self._kept[client]

    def _oldest_gives_way(self, own: OrderedDict[Thing, None]) -> None:
        *older, newest = own
        idle = (thing for thing in older if not self._busy(thing))
        first = next(idle, older[0] if older else newest)
        self.drop(first)
        self._give_way(first)
