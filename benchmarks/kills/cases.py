"""Kill cases drawn with a seed, the trap that triggers a kill, and the judgement of killed runs.

A kill case is a run with the moments at which its host processes are to be killed.
"""

from __future__ import annotations

import asyncio
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from toolflow_bench.final_state import Snapshot, find_difference
from toolflow_bench.services.control import RequestRecord
from toolflow_bench.services.operation import Operation, Refusal
from toolflow_bench.services.reply import close_connection
from toolflow_bench.services.rest import Routes
from toolflow_bench.services.serve import CLOSE
from toolflow_bench.task import Task

MOMENTS = (
    "asked",
    "intended",
    "working",
    "dropped",
    "late",
    "applied",
    "replied",
    "stored",
    "attempted",
    "finished",
)
"""The moments at which a host process is killed, in the order in which a call goes through them.

`asked`: the program has requested the call, and its intent is not stored yet. `intended`: the
intent is stored, and nothing was sent. `working`: the service has the request and carries it out
although the client is dead. `dropped`: the service has the request and never carries it out.
`late`: the service has the request and carries it out only while the run is being resumed.
`applied`: the call was carried out, and the reply is lost. `replied`: the reply has arrived, and
the outcome is not stored. `stored`: the outcome is stored, and the next call was not requested.
`attempted`: the program has ended, which is not stored. `finished`: the attempt is stored, but not
how the run ended.
"""
BY_SERVICE = frozenset({"working", "dropped", "late", "applied"})
"""Moments that the middleware of a service detects. The host detects the others."""
BETWEEN = frozenset({"intended", "working", "dropped", "late", "applied", "replied"})
"""Moments after the intent of a call was stored and before its outcome is stored."""
RESUMING = "resuming"
"""The group of cases with a second kill, which happens while the run is resumed after the first."""
_CYCLE = (
    "applied", "intended", "stored", "working", "replied", "asked", "dropped", RESUMING,
    "attempted", "applied", "late", "finished",
)  # fmt: skip
"""The groups of the cases in order; the first case takes the first group.

However many cases there are, at least half of them are killed at a moment in `BETWEEN`.
"""
KINDS = ("key", "read", "neither")
"""Kinds of writes, named after the means of finding out the outcome of a write without a reply.

`key`: an idempotency key. `read`: a read that verifies the write. `neither`: the outcome cannot be
found out.
"""


class Kill(NamedTuple):
    """A planned kill of one process, at a moment of its `nth` call (counted from 0).

    If `writes` is True, only calls that write are counted.
    """

    moment: str
    nth: int = 0
    writes: bool = True


class KillRecord(NamedTuple):
    """A kill that happened, with the interrupted call and whether this call writes.

    `operation` is empty if the kill happened between calls.
    """

    moment: str
    operation: str = ""
    writes: bool = False


@dataclass(frozen=True, slots=True)
class KillCase:
    """One run: its task, and the planned kills of its first and second process.

    The first kill aims at a write of the kind `kind`.
    """

    number: int
    task: Task
    group: str
    kind: str
    kills: tuple[Kill, ...]
    seed: int


def write_kind(operation: Operation) -> str:
    if operation.takes_key:
        return "key"
    return "read" if operation.verified_by else "neither"


def draw_cases(
    tasks: Sequence[Task], operations: Mapping[str, Operation], *, runs: int, seed: int
) -> list[KillCase]:
    """Draw the cases for `runs` runs: for each, a task and the moments at which its host is killed.

    Each case belongs to a group, which determines when its host is killed. The groups and the kinds
    of writes are combined in turn. The task and the write are drawn at random.
    """
    places: dict[str, list[tuple[Task, list[int]]]] = {kind: [] for kind in KINDS}
    for task in tasks:
        writes = [
            write_kind(operations[name]) for name in task.operations if operations[name].writes
        ]
        for kind in dict.fromkeys(writes):
            places[kind].append(
                (task, [number for number, one in enumerate(writes) if one == kind])
            )
    cases = []
    for number in range(runs):
        rng = random.Random(f"{seed} {number}")
        group = _CYCLE[number % len(_CYCLE)]
        kind = KINDS[(number + number // len(_CYCLE)) % len(KINDS)]
        task, numbers = rng.choice(places[kind])
        first = rng.choice(sorted(BETWEEN)) if group == RESUMING else group
        kills = [Kill(first, rng.choice(numbers))]
        if group == RESUMING:
            kills.append(
                Kill(rng.choice([moment for moment in MOMENTS if moment != "late"]), writes=False)
            )
        cases.append(KillCase(number, task, group, kind, tuple(kills), rng.randrange(1 << 30)))
    return cases


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRemains:
    """The traces of a run: the logs and state of the services, its status and its answer."""

    log: Mapping[str, Sequence[RequestRecord]]
    state: Snapshot
    status: str
    answer: str | None

    def writes(self, service: str) -> list[tuple[str, str]]:
        """Return the writes that took effect in a service, in order.

        Each is a pair of an operation and its arguments as JSON text.
        """
        done = (one for one in self.log.get(service, ()) if one.wrote)
        return [(one.operation, json.dumps(one.arguments, sort_keys=True)) for one in done]


def judge_run(
    left: RunRemains, gold: RunRemains, struck: Sequence[KillRecord], kinds: Mapping[str, str]
) -> dict[str, Any]:
    """Compare what a run left behind with what the undisturbed gold program left behind.

    `kinds` maps writing operations to their kinds. In the result, `repeated` counts writes in
    excess of the gold program's. `lost` counts writes that never took effect although the run
    continued. `expected` is how the run had to end: `paused` if the outcome of a write cannot be
    known, `either` if a service rejected such a write with status 429, else `solved`. `wrong`
    describes the first violation, or is None.
    """
    extra: Counter[tuple[str, str]] = Counter()
    lost = 0
    for service in left.log.keys() | gold.log.keys():
        done = left.writes(service)
        wanted = gold.writes(service)
        extra += Counter(done) - Counter(wanted)
        lost += _count_lost(done, wanted, solved=left.status == "solved")
    expected = _expected(left, struck, kinds)
    if extra:
        (operation, arguments), count = extra.most_common(1)[0]
        wrong: str | None = f"{operation} was done {count} times too often, with {arguments}"
    elif lost:
        wrong = f"{lost} writes were lost"
    else:
        wrong = _find_wrong_end(left, gold, expected)
    return {"repeated": extra.total(), "lost": lost, "expected": expected, "wrong": wrong}


def _count_lost(
    done: Sequence[tuple[str, str]], wanted: Sequence[tuple[str, str]], *, solved: bool
) -> int:
    """Return the number of writes in `wanted` that did not take effect.

    If the run was not solved, a missing write counts only if a later write took effect.
    """
    left = Counter(done)
    missing = []
    for number, write in enumerate(wanted):
        if left[write]:
            left[write] -= 1
        else:
            missing.append(number)
    made = len(wanted) - len(missing)
    return len(missing) if solved else sum(number < made for number in missing)


def _find_wrong_end(left: RunRemains, gold: RunRemains, expected: str) -> str | None:
    """Return what is wrong with the final status, the state or the answer of a run, or None."""
    if left.status not in ("solved", "paused"):
        return f"it ended {left.status}"
    if left.status == "paused":
        if expected == "solved":
            return "it paused although a key or a read told all outcomes"
        return None
    if expected == "paused":
        return "it guessed the outcome of a write with neither key nor read"
    if difference := find_difference(left.state, gold.state):
        return difference
    if (left.answer or "").strip() != (gold.answer or "").strip():
        return f"it answered {left.answer!r}, not {gold.answer!r}"
    return None


def _expected(left: RunRemains, struck: Sequence[KillRecord], kinds: Mapping[str, str]) -> str:
    """Return how the run must end ("paused", "solved" or "either").

    The result depends on what the run's host could know about the interrupted writes.
    """
    bare = [
        one.fault
        for records in left.log.values()
        for one in records
        if kinds.get(one.operation) == "neither"
    ]
    unknown = any(
        one.moment in BETWEEN and one.writes and kinds[one.operation] == "neither" for one in struck
    )
    if unknown or {"500", "drop", "drop_after", "truncated"} & {*bare}:
        return "paused"
    return "either" if "429" in bare else "solved"


SLOW_SECONDS = 0.02
"""Delay before a write is carried out, and again before its reply is sent."""


class Trap:
    """The planned kill of one process: a certain request to a service triggers it.

    The gates (middleware) of all services share one trap. `struck` records the kill once it has
    happened. The function that is passed to `arm` as `end` kills the process and returns when the
    process is dead.
    """

    def __init__(self) -> None:
        self.struck: KillRecord | None = None
        self.left = 0
        self._kill: Kill | None = None
        self._end: Callable[[], object] = lambda: None
        self._seen = self._open = 0
        self._changed = threading.Condition()

    def arm(self, kill: Kill | None, end: Callable[[], object]) -> None:
        """Set the trap for the request that `kill` describes.

        If `kill` is None, or the host itself detects the moment, no request triggers the trap.
        """
        with self._changed:
            self.struck = None
            self._end = end
            self._seen = 0
            self._kill = kill if kill is not None and kill.moment in BY_SERVICE else None

    def disarm(self) -> None:
        with self._changed:
            self._kill = None

    def enter(self, operation: Operation) -> str | None:
        """Record that a complete request has arrived.

        Return the moment at which this request must trigger the kill, or None if it must not.
        """
        with self._changed:
            self._open += 1
            if self._kill is None or (self._kill.writes and not operation.writes):
                return None
            self._seen += 1
            return self._kill.moment if self._seen - 1 == self._kill.nth else None

    def strike(self, moment: str, operation: Operation) -> None:
        with self._changed:
            armed = self._kill is not None
            self._kill = None
            if armed:
                self.struck = KillRecord(moment, operation.id, operation.writes)
        if armed:
            self._end()

    def leave(self) -> None:
        with self._changed:
            self._open = self._open - 1
            self.left = self.left + 1
            self._changed.notify_all()

    def wait_until_idle(self, seconds: float) -> bool:
        """Wait until no request is open, and return True; return False after `seconds` seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: self._open == 0, seconds)


class Gate:
    """ASGI middleware before a service that triggers the kill of the host at a certain request.

    If the moment of the kill is `late`, the request is carried out only after another request has
    ended, or after `late_seconds` seconds.
    """

    def __init__(
        self,
        app: Any,
        routes: Routes,
        trap: Trap,
        *,
        slow_seconds: float = SLOW_SECONDS,
        late_seconds: float = 1.5,
    ) -> None:
        self._app = app
        self._routes = routes
        self._trap = trap
        self._slow = slow_seconds
        self._late = late_seconds

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            path = (
                scope.get("raw_path") or scope["path"].encode() if scope["type"] == "http" else b""
            )
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

    async def _pass(
        self, operation: Operation, moment: str | None, scope: Any, receive: Any, send: Any
    ) -> None:
        slow = self._slow if operation.writes else 0.0
        await asyncio.sleep(slow)
        if moment is not None and moment != "applied":
            await asyncio.to_thread(self._trap.strike, moment, operation)
            if moment == "dropped":
                await close_connection(scope, receive)
                return
            before = self._trap.left
            until = time.monotonic() + self._late
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
        await self._app(
            {**scope, "extensions": {**scope["extensions"], CLOSE: close}}, receive, answer
        )
