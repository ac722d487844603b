"""Kill cases drawn by seed, the trap and gate that trigger kills, and the judgement of runs."""

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
"""When the host process is killed, in the order of a call's life.

`asked`: the program has asked for the call, and its intent is not stored yet. `intended`: the
intent is stored, and nothing was sent. `working`: the service has the request and carries it out
without a client. `dropped`: the same, but the service never carries it out. `late`: the same, but
it is carried out only while the run is being resumed. `applied`: it was carried out, and the reply
is lost. `replied`: the reply has arrived, and the outcome is not stored. `stored`: the outcome is
stored, and the next call was not asked for. `attempted`: the program has ended, which is not
stored. `finished`: the attempt is stored, but not how the run ended.
"""
BY_SERVICE = frozenset({"working", "dropped", "late", "applied"})
"""Moments that the service detects. The host detects the others."""
BETWEEN = frozenset({"intended", "working", "dropped", "late", "applied", "replied"})
"""Moments between the intent of a call and its stored outcome."""
RESUMING = "resuming"
"""A second kill, while the run is resumed after the first one."""
_CYCLE = (
    "applied", "intended", "stored", "working", "replied", "asked", "dropped", RESUMING,
    "attempted", "applied", "late", "finished",
)  # fmt: skip
"""The order of the groups. Of any first part of it, at least half are in `BETWEEN`."""
KINDS = ("key", "read", "neither")
"""Kinds of writes, by how the outcome of a lost one is found out.

It is known from an idempotency key, from a verifying read, or not at all.
"""


class Kill(NamedTuple):
    """A planned kill of one process, at a moment of its `nth` call.

    With `writes`, only writes count.
    """

    moment: str
    nth: int = 0
    writes: bool = True


class KillRecord(NamedTuple):
    """A kill that happened, the interrupted call (empty between calls), and if that call writes."""

    moment: str
    operation: str = ""
    writes: bool = False


@dataclass(frozen=True, slots=True)
class KillCase:
    """One run: its task and the kills of its first and second process.

    The first kill aims at a write of `kind`.
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
    """Draw the cases of `runs` runs.

    Every group meets every kind of write in turn; task and write are random.
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
    """The remains of a run: logs and state of the services, its status and its answer."""

    log: Mapping[str, Sequence[RequestRecord]]
    state: Snapshot
    status: str
    answer: str | None

    def writes(self, service: str) -> list[tuple[str, str]]:
        """Return the writes that took effect, in order: operations with their arguments as text."""
        done = (one for one in self.log.get(service, ()) if one.wrote)
        return [(one.operation, json.dumps(one.arguments, sort_keys=True)) for one in done]


def judge_run(
    left: RunRemains, gold: RunRemains, struck: Sequence[KillRecord], kinds: Mapping[str, str]
) -> dict[str, Any]:
    """Compare the remains of a run with those of the undisturbed gold program.

    `kinds` are those of the writing operations. `repeated` counts writes beyond the gold program's;
    `lost` counts those that never took effect although the run went on. `expected` is how the run
    had to end: `paused` if the outcome of a write cannot be known, `either` if a service answered
    such a write with 429. `wrong` describes the first violation.
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
    """Return the number of wanted writes that did not take effect.

    If the run was not solved, only those count that are followed by a write that took effect.
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
    """Return what is wrong with the status, the state or the answer of a run, or None."""
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
    """Return how the run must end, given what its host could know."""
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
"""Delay of a write before it is carried out, and again before it is answered."""


class Trap:
    """The planned kill of one process, shared by the gates of all services. `struck` records it.

    `end` kills the process, and returns when it is dead.
    """

    def __init__(self) -> None:
        self.struck: KillRecord | None = None
        self.left = 0
        self._kill: Kill | None = None
        self._end: Callable[[], object] = lambda: None
        self._seen = self._open = 0
        self._changed = threading.Condition()

    def arm(self, kill: Kill | None, end: Callable[[], object]) -> None:
        """Wait for the request that `kill` describes.

        If it is None, or its moment is detected by the host, no request triggers the trap.
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

        Return the moment at which it triggers the kill, or None.
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
        """Wait until no request is open, and return True; return False after `seconds`."""
        with self._changed:
            return self._changed.wait_for(lambda: self._open == 0, seconds)


class Gate:
    """ASGI middleware before a service.

    A `late` write waits for another request after the kill, for at most `late_seconds`.
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
