"""What stands before a service: it slows writes down, and kills the host at a chosen moment of a request."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import threading
import time
from collections.abc import MutableMapping
from contextlib import suppress
from types import TracebackType
from typing import Any, NamedTuple, Self

from toolflow_bench.kills.cases import SERVICE_MOMENTS, Kill, Moment
from toolflow_bench.services.operation import Operation, Refusal
from toolflow_bench.services.reply import Receive, Scope, Send, close_connection
from toolflow_bench.services.routes import Routes
from toolflow_bench.services.serve import CLOSE

_GLANCE_SECONDS = 0.01


class Victim:
    """A process, by a descriptor that no other process can come to stand for."""

    def __init__(self, pid: int) -> None:
        self._descriptor: int | None = os.pidfd_open(pid)
        self._lock = threading.Lock()

    def kill(self) -> None:
        """End it by SIGKILL, and return when it has ended."""
        with self._lock:
            if self._descriptor is not None:
                with suppress(ProcessLookupError):  # it has ended by itself
                    signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)
                select.select([self._descriptor], [], [])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:  # never while somebody waits for its end
            if self._descriptor is not None:
                os.close(self._descriptor)
            self._descriptor = None


class Struck(NamedTuple):
    """A kill that came to pass, and the call that it interrupted; `operation` is empty between calls."""

    moment: Moment
    operation: str = ""
    writes: bool = False
    """Whether the call writes and was really made."""


class Trap:
    """The kill of one process, shared by the gates of all services. `struck` says what came of it."""

    def __init__(self) -> None:
        self.struck: Struck | None = None
        self._kill: Kill | None = None
        self._victim: Victim | None = None
        self._seen = self._open = self._left = 0
        self._changed = threading.Condition()

    def arm(self, kill: Kill | None, victim: Victim) -> None:
        """Wait for the request that `kill` tells of; None, or a moment of the host's own: no request springs it."""
        with self._changed:
            self.struck, self._victim, self._seen = None, victim, 0
            self._kill = kill if kill is not None and kill.moment in SERVICE_MOMENTS else None

    def disarm(self) -> None:
        """No request springs it any more."""
        with self._changed:
            self._kill = self._victim = None

    def enter(self, operation: Operation) -> Moment | None:
        """A request has arrived whole; the moment at which it springs the trap, if it does."""
        with self._changed:
            self._open += 1
            if self._kill is None or (self._kill.writes and not operation.writes):
                return None
            self._seen += 1
            return self._kill.moment if self._seen - 1 == self._kill.nth else None

    def strike(self, moment: Moment, operation: Operation) -> None:
        """Kill the process, which is dead when this returns."""
        with self._changed:
            victim = self._victim
            if victim is None or self._kill is None:
                return
            self.struck, self._kill = Struck(moment, operation.id, operation.writes), None
        victim.kill()

    def leave(self) -> None:
        """A request is over."""
        with self._changed:
            self._open -= 1
            self._left += 1
            self._changed.notify_all()

    @property
    def left(self) -> int:
        """How many requests are over."""
        return self._left

    def settle(self, seconds: float) -> bool:
        """Wait until no request is open, so long at most; whether none is."""
        with self._changed:
            return self._changed.wait_for(lambda: self._open == 0, seconds)


class Gate:
    """An ASGI application before that of a service, in the same event loop.

    Each write waits `slow_seconds` before it is carried out, and as long again before it is answered. A `late` one is
    carried out when another request has been answered after the kill, but no later than `late_seconds` after it.
    """

    def __init__(self, app: Any, routes: Routes, trap: Trap, *, slow_seconds: float, late_seconds: float) -> None:
        self._app, self._routes, self._trap = app, routes, trap
        self._slow, self._late = slow_seconds, late_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        operation = self._operation(scope)
        if operation is None:
            await self._app(scope, receive, send)
            return
        messages = await _whole(receive)
        moment = self._trap.enter(operation)
        try:
            await self._pass(operation, moment, scope, _replayed(messages, receive), send)
        finally:
            self._trap.leave()

    async def _pass(
        self, operation: Operation, moment: Moment | None, scope: Scope, receive: Receive, send: Send
    ) -> None:
        slow = self._slow if operation.writes else 0.0
        await asyncio.sleep(slow)
        if moment is not None and moment != "applied":
            await asyncio.to_thread(self._trap.strike, moment, operation)
            if moment == "dropped":
                await close_connection(scope, receive)
                return
            if moment == "late":
                await self._overtaken()

        async def answer(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                if moment == "applied":
                    await asyncio.to_thread(self._trap.strike, moment, operation)
                await asyncio.sleep(slow)
            await send(message)

        def close() -> None:
            if moment == "applied":
                self._trap.strike(moment, operation)
            hang_up()

        hang_up = scope["extensions"][CLOSE]
        scope = {**scope, "extensions": {**scope["extensions"], CLOSE: close}}
        await self._app(scope, receive, answer)

    async def _overtaken(self) -> None:
        before, until = self._trap.left, time.monotonic() + self._late
        while self._trap.left == before and time.monotonic() < until:
            await asyncio.sleep(_GLANCE_SECONDS)

    def _operation(self, scope: Scope) -> Operation | None:
        if scope["type"] != "http":
            return None
        try:
            return self._routes.find(scope["method"], scope.get("raw_path") or scope["path"].encode())[0]
        except Refusal:
            return None


async def _whole(receive: Receive) -> list[MutableMapping[str, Any]]:
    """The messages of a request's body, to its end."""
    messages = [await receive()]
    while messages[-1]["type"] == "http.request" and messages[-1].get("more_body", False):
        messages.append(await receive())
    return messages


def _replayed(messages: list[MutableMapping[str, Any]], receive: Receive) -> Receive:
    """`receive` with `messages` before what is to come."""
    waiting = iter(messages)

    async def again() -> MutableMapping[str, Any]:
        message = next(waiting, None)
        return await receive() if message is None else message

    return again
