"""Fair sharing of a gateway between its clients.

`FairQueue` decides whose request runs next. `ClientQuota` limits how many resources, such as
connections, each client keeps open.
"""

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
    """A client has too many requests that run or wait."""


class FairQueue:
    """Limits how many requests run at the same time, so one busy client does not block the others.

    At most `places` requests run at the same time, and at most `each` of one client. A request
    waits for its client's limit first, so only `each` requests of a busy client compete with those
    of others. At most `waiting` requests of a client wait.

    A request is parked while a person is asked about it: it does not count as running, and waits
    again afterwards. At most `parked` requests are parked, and at most `parked_each` of one client.
    A queue belongs to one event loop.
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
        self._requests: Counter[str] = Counter()  # running or waiting ones, keyed by client

    async def take(self, client: str) -> QueuePlace:
        """Wait until a request of `client` may run, and return its `QueuePlace`.

        The caller must close the returned object when the request is done.

        Raises:
            TooMany: Too many requests of this client run or wait already.
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
        """Count one request less for a client, and forget the client if it was the last one."""
        self._requests[client] -= 1
        if not self._requests[client]:
            del self._requests[client], self._own[client]


class _ClientPlaces:
    """The semaphores that limit one client's requests.

    `places` counts the client's running requests, `begun` its running and parked ones. A request is
    parked while a person is asked about it.
    """

    def __init__(self, each: int, begun_each: int) -> None:
        self.places = asyncio.Semaphore(each)
        self.begun = asyncio.Semaphore(begun_each)


class QueuePlace:
    """One request in a `FairQueue`. It waits to run, runs, may be parked, and ends.

    A request is parked, that is, does not count as running, while a person is asked about it.
    `begun` are the semaphores that count running and parked requests, `places` those that count
    only running ones. Each list has the semaphore of the client, then that of the queue.
    """

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
        """Wait until the request may run. Call it once."""
        await _acquire(self._begun, self._kept)
        await self._work()

    @contextmanager
    def vacate(self) -> Iterator[None]:
        """Within the block, do not count the request as running; then wait until it may run again.

        This blocks, so it must not be used in the thread of the event loop.
        """
        self._loop.call_soon_threadsafe(self._at_work.close)
        try:
            yield
        finally:
            asyncio.run_coroutine_threadsafe(self._work(), self._loop).result()

    def close(self) -> None:
        """End the request, so that another one may run. Call it in the event loop."""
        self._closed = True
        self._at_work.close()
        self._kept.close()

    async def _work(self) -> None:
        """Wait until the request may run, and count it as running.

        If the request has ended already, return at once.
        """
        with ExitStack() as acquired:
            if not self._closed:
                await _acquire(self._places, acquired)
            if not self._closed:
                self._at_work = acquired.pop_all()


async def _acquire(semaphores: list[asyncio.Semaphore], acquired: ExitStack) -> None:
    """Acquire the semaphores one after another. They are released when `acquired` is closed."""
    for semaphore in semaphores:
        await semaphore.acquire()
        acquired.callback(semaphore.release)


class ClientQuota(Generic[Resource]):
    """Limits how many resources, such as connections, are open: `each` per client, `most` in all.

    If a client exceeds its limit, its resource that has been idle longest must be closed. If the
    total is exceeded, a resource of the client with the most resources must be closed. The function
    `give_way` is called with this resource, and must close it. A resource for which `busy` returns
    True is closed only if all are busy.

    If it is not known yet to which client a resource belongs, the client is "", and `anonymous` is
    the limit (0 means `each`). Thread-safe.
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
        # Keyed by client; the resource that has been idle longest comes first.
        self._kept: dict[str, OrderedDict[Resource, None]] = {}
        self._owners: dict[Resource, str] = {}

    def owner(self, resource: Resource) -> str | None:
        """Return the client to which an open resource belongs, or None if it is not open."""
        return self._owners.get(resource)

    def use(self, client: str, resource: Resource) -> None:
        """Record that a client uses a resource now, which may be a new one.

        If a new resource exceeds a limit, another resource is closed.
        """
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
        """Stop counting a resource, because it is closed."""
        with self._lock:
            client = self._owners.pop(resource, None)
            if client is not None:
                del self._kept[client][resource]
                if not self._kept[client]:
                    del self._kept[client]

    def _close_oldest(self, own: OrderedDict[Resource, None]) -> None:
        """Close the resource in `own` that has been idle longest, among those that are not busy.

        `own` are the resources of one client, in the order of last use. If all are busy, close the
        one that was used least recently. The resource that was used last is closed only if the
        client has no other.
        """
        *older, newest = own
        idle = (resource for resource in older if not self._busy(resource))
        first = next(idle, older[0] if older else newest)
        self.drop(first)
        self._give_way(first)
