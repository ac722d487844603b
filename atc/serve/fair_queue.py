"""Fair sharing of a gateway: which client's program runs next, and how much a client keeps open."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Generic, TypeVar

from protocols.errors import AtcError

Resource = TypeVar("Resource", bound=Hashable)


class TooMany(AtcError):
    """Too many requests of one client are waiting."""


class FairQueue:
    """A limited number of places for requests, so that one busy client does not block the others.

    It belongs to one event loop. A request first waits for one of its client's own `each` places,
    so only a few requests of a very busy client compete for the shared `places`. At most `waiting`
    requests of a client wait. A request leaves its place while a person is asked, and waits for one
    again afterwards. `parked` requests of all clients, and `parked_each` of one, may be in that
    state.
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
        self._requests: Counter[str] = Counter()  # running or waiting, by client

    async def take(self, client: str) -> QueuePlace:
        """Wait for a place for a request, and return it. Close it when the request is done.

        Raises:
            TooMany: Too many requests of this client wait already.
        """
        if (number := self._requests[client]) >= self._most:
            raise TooMany(
                f"{number} requests of this client are at work or wait already; wait for their"
                " replies, then send it again. Nothing was run."
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
        """Stop counting a request of a client."""
        self._requests[client] -= 1
        if not self._requests[client]:
            del self._requests[client], self._own[client]


class _ClientPlaces:
    """The places of one client, and its requests that have begun."""

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
        """Free the place within the block, and wait for a place at its end.

        Not for the thread of the event loop.
        """
        self._loop.call_soon_threadsafe(self._at_work.close)
        try:
            yield
        finally:
            asyncio.run_coroutine_threadsafe(self._work(), self._loop).result()

    def close(self) -> None:
        """Free the place for good. Call it in the event loop."""
        self._closed = True
        self._at_work.close()
        self._kept.close()

    async def _work(self) -> None:
        """Wait for a shared place, unless the request has ended."""
        with ExitStack() as acquired:
            if not self._closed:
                await _acquire(self._places, acquired)
            if not self._closed:
                self._at_work = acquired.pop_all()


async def _acquire(semaphores: list[asyncio.Semaphore], acquired: ExitStack) -> None:
    """Acquire each semaphore in turn; `acquired` releases them."""
    for semaphore in semaphores:
        await semaphore.acquire()
        acquired.callback(semaphore.release)


class ClientQuota(Generic[Resource]):
    """Limits on open resources such as connections: `each` of one client, `most` in all.

    Resources of a client that is not known yet have an empty name; there may be `anonymous` of
    them. Beyond a limit, the resource that has been idle longest is closed: one of the same client,
    or one of the client that keeps the most. A busy one is closed only if all are busy.
    Thread-safe.
    """

    def __init__(
        self,
        give_way: Callable[[Resource], None],
        *,
        each: int,
        most: int,
        anonymous: int = 0,
        busy: Callable[[Resource], bool] = lambda _: False,
    ) -> None:
        self._give_way = give_way
        self._busy = busy
        self._each = each
        self._most = most
        self._anonymous = anonymous
        self._lock = threading.RLock()
        # By client; the resource that has been idle longest comes first.
        self._kept: dict[str, OrderedDict[Resource, None]] = {}
        self._owners: dict[Resource, str] = {}

    def owner(self, resource: Resource) -> str | None:
        """Return the client that has a resource open; None if it is not open."""
        return self._owners.get(resource)

    def use(self, client: str, resource: Resource) -> None:
        """Record that a client uses a resource now, which may be new."""
        with self._lock:
            if self._owners.get(resource, client) != client:
                self.drop(resource)
            self._owners[resource] = client
            own = self._kept.setdefault(client, OrderedDict())
            own[resource] = None
            own.move_to_end(resource)
            limit = self._each if client else self._anonymous or self._each
            if len(own) > limit:
                self._close_oldest(own)
            elif len(self._owners) > self._most:
                self._close_oldest(max(self._kept.values(), key=len))

    def drop(self, resource: Resource) -> None:
        """Forget a resource that is no longer open."""
        with self._lock:
            client = self._owners.pop(resource, None)
            if client is not None:
                del self._kept[client][resource]
                if not self._kept[client]:
                    del self._kept[client]

    def _close_oldest(self, own: OrderedDict[Resource, None]) -> None:
        """Close the resource that has been idle longest; if all are busy, the oldest one."""
        *older, newest = own
        idle = (resource for resource in older if not self._busy(resource))
        first = next(idle, older[0] if older else newest)
        self.drop(first)
        self._give_way(first)
