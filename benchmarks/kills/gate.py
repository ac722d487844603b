"""What stands before a service: it slows writes down, and kills the host at a chosen moment of a request."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, MutableMapping
from typing import Any

from benchmarks.kills.cases import BY_SERVICE, Kill, Struck
from toolflow_bench.services.operation import Operation, Refusal
from toolflow_bench.services.reply import close_connection
from toolflow_bench.services.rest import Routes
from toolflow_bench.services.serve import CLOSE

SLOW_SECONDS = 0.02
"""A write waits so long before it is carried out, and again before it is answered."""
LATE_SECONDS = 1.5
"""The longest that a service works on a write when its host was killed."""


class Trap:
    """The kill of one process, shared by the gates of all services. `struck` says what came of it.

    `end` kills the process, and returns when it is dead.
    """

    def __init__(self) -> None:
        self.struck: Struck | None = None
        self.left = 0
        self._kill: Kill | None = None
        self._end: Callable[[], object] = lambda: None
        self._seen = self._open = 0
        self._changed = threading.Condition()

    def arm(self, kill: Kill | None, end: Callable[[], object]) -> None:
        """Wait for the request that `kill` tells of; None, or a moment of the host's own: no request springs it."""
        with self._changed:
            self.struck, self._end, self._seen = None, end, 0
            self._kill = kill if kill is not None and kill.moment in BY_SERVICE else None

    def disarm(self) -> None:
        """No request springs it any more."""
        with self._changed:
            self._kill = None

    def enter(self, operation: Operation) -> str | None:
        """A request has arrived whole; the moment at which it springs the trap, if it does."""
        with self._changed:
            self._open += 1
            if self._kill is None or (self._kill.writes and not operation.writes):
                return None
            self._seen += 1
            return self._kill.moment if self._seen - 1 == self._kill.nth else None

    def strike(self, moment: str, operation: Operation) -> None:
        """Kill the process, once."""
        with self._changed:
            armed, self._kill = self._kill is not None, None
            if armed:
                self.struck = Struck(moment, operation.id, operation.writes)
        if armed:
            self._end()

    def leave(self) -> None:
        """A request is over."""
        with self._changed:
            self._open, self.left = self._open - 1, self.left + 1
            self._changed.notify_all()

    def settle(self, seconds: float) -> bool:
        """Wait until no request is open, so long at most; whether none is."""
        with self._changed:
            return self._changed.wait_for(lambda: self._open == 0, seconds)


class Gate:
    """An ASGI application before that of a service, in the same event loop. A `late` write is carried out when another
    request has been answered after the kill, but no later than `late_seconds` after it.
    """

    def __init__(
        self,
        app: Any,
        routes: Routes,
        trap: Trap,
        *,
        slow_seconds: float = SLOW_SECONDS,
        late_seconds: float = LATE_SECONDS,
    ) -> None:
        self._app, self._routes, self._trap = app, routes, trap
        self._slow, self._late = slow_seconds, late_seconds

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        try:
            path = scope.get("raw_path") or scope["path"].encode() if scope["type"] == "http" else b""
            operation = self._routes.find(scope["method"], path)[0] if path else None
        except Refusal:
            operation = None
        if operation is None:
            await self._app(scope, receive, send)
            return
        messages = [await receive()]
        while messages[-1]["type"] == "http.request" and messages[-1].get("more_body", False):
            messages.append(await receive())

        async def again() -> Any:
            return messages.pop(0) if messages else await receive()

        moment = self._trap.enter(operation)
        try:
            await self._pass(operation, moment, scope, again, send)
        finally:
            self._trap.leave()

    async def _pass(self, operation: Operation, moment: str | None, scope: Any, receive: Any, send: Any) -> None:
        slow = self._slow if operation.writes else 0.0
        await asyncio.sleep(slow)
        if moment is not None and moment != "applied":
            await asyncio.to_thread(self._trap.strike, moment, operation)
            if moment == "dropped":
                await close_connection(scope, receive)
                return
            before, until = self._trap.left, time.monotonic() + self._late
            while moment == "late" and self._trap.left == before and time.monotonic() < until:
                await asyncio.sleep(0.01)

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
        await self._app({**scope, "extensions": {**scope["extensions"], CLOSE: close}}, receive, answer)
