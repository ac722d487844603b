"""What is killed when, drawn by seed, and whether a run that was killed and resumed did what it should."""

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
"""When the host process is killed, in the order of a call's life:

`asked` the program has asked for the call, and its intent is not stored yet; `intended` it is stored, and nothing was
sent; `working` the service has the request, and carries it out although nobody waits for it; `dropped` the same, but
the service never carries it out; `late` the same, but it is carried out only while the run is being resumed already;
`applied` it was carried out, and the reply is lost; `replied` the reply has arrived, and the outcome is not stored;
`stored` the outcome is stored, and the next call was not asked for; `attempted` the program has ended, and that is not
stored; `finished` it is stored, but not how the run ended."""
BY_SERVICE = frozenset({"working", "dropped", "late", "applied"})
"""Moments that the service sees; the others are the host's own."""
BETWEEN = frozenset({"intended", "working", "dropped", "late", "applied", "replied"})
"""Moments between the intent of a call and its stored outcome."""
RESUMING = "resuming"  # a second kill, while the run that was killed first goes on
_CYCLE = (
    "applied", "intended", "stored", "working", "replied", "asked", "dropped", RESUMING, "attempted", "applied",
    "late", "finished",
)  # fmt: skip
"""The order of the groups: of any number of first ones, at least half are between intent and outcome."""
KINDS = ("key", "read", "neither")
"""What tells whether a write whose answer was lost took effect: its idempotency key, a read, or nothing."""


class Kill(NamedTuple):
    """When one process is killed: at this moment of its `nth` call; of those that write alone, with `writes`."""

    moment: str
    nth: int = 0
    writes: bool = True


class KillRecord(NamedTuple):
    """A kill that came to pass, the call that it interrupted (empty between calls), and whether that really writes."""

    moment: str
    operation: str = ""
    writes: bool = False


@dataclass(frozen=True, slots=True)
class KillCase:
    """One run: its task, and the kills of its first process, of the second; `kind` of write the first is to hit."""

    number: int
    task: Task
    group: str
    kind: str
    kills: tuple[Kill, ...]
    seed: int


def write_kind(operation: Operation) -> str:
    return "key" if operation.takes_key else "read" if operation.verified_by else "neither"


def draw_cases(
    tasks: Sequence[Task], operations: Mapping[str, Operation], *, runs: int, seed: int
) -> list[KillCase]:
    """So many runs. Every group meets every kind of write in turn; the task and its write are drawn."""
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
    """What a run left behind: the services' logs and state, how the host says that it ended, and its answer."""

    log: Mapping[str, Sequence[RequestRecord]]
    state: Snapshot
    status: str
    answer: str | None

    def writes(self, service: str) -> list[tuple[str, str]]:
        """The writes that took effect, in order: operations with their arguments as text."""
        done = (one for one in self.log.get(service, ()) if one.wrote)
        return [(one.operation, json.dumps(one.arguments, sort_keys=True)) for one in done]


def judge_run(
    left: RunRemains, gold: RunRemains, struck: Sequence[KillRecord], kinds: Mapping[str, str]
) -> dict[str, Any]:
    """Hold what a run left against what its program leaves undisturbed; `kinds` are those of the writing operations.

    `repeated` counts writes beyond the gold program's, `lost` those that never took effect although the run went on.
    `expected` is how it had to end: `paused` where nothing tells whether a write took effect, `either` where one was
    busy. `wrong` is the first law that was broken, in words.
    """
    extra: Counter[tuple[str, str]] = Counter()
    lost = 0
    for service in left.log.keys() | gold.log.keys():
        there = Counter(left.writes(service))
        wanted = gold.writes(service)
        extra += there - Counter(wanted)
        missing = []
        for number, write in enumerate(wanted):
            missing += [number] if not there[write] else []
            there[write] -= bool(there[write])
        done = len(wanted) - len(missing)
        lost += (
            len(missing) if left.status == "solved" else sum(number < done for number in missing)
        )
    expected = _expected(left, struck, kinds)
    wrong = None
    if extra:
        (operation, arguments), count = extra.most_common(1)[0]
        wrong = f"{operation} was done {count} times too often, with {arguments}"
    elif lost:
        wrong = f"{lost} writes were lost"
    elif left.status not in ("solved", "paused"):
        wrong = f"it ended {left.status}"
    elif left.status == "paused" and expected == "solved":
        wrong = "it paused although a key or a read told all outcomes"
    elif left.status == "solved" and expected == "paused":
        wrong = "it guessed the outcome of a write with neither key nor read"
    elif left.status == "solved":
        wrong = find_difference(left.state, gold.state) or None
        if not wrong and (left.answer or "").strip() != (gold.answer or "").strip():
            wrong = f"it answered {left.answer!r}, not {gold.answer!r}"
    return {"repeated": extra.total(), "lost": lost, "expected": expected, "wrong": wrong}


def _expected(left: RunRemains, struck: Sequence[KillRecord], kinds: Mapping[str, str]) -> str:
    """How the run must end, by what its host could know."""
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


SLOW_SECONDS = (
    0.02  # a write waits so long before it is carried out, and again before it is answered
)


class Trap:
    """The kill of one process, shared by the gates of all services. `struck` says what came of it.

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
        """Wait for the request that `kill` tells of; None, or a moment of the host's own: no request springs it."""
        with self._changed:
            self.struck = None
            self._end = end
            self._seen = 0
            self._kill = kill if kill is not None and kill.moment in BY_SERVICE else None

    def disarm(self) -> None:
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
        """Wait until no request is open, so long at most; whether none is."""
        with self._changed:
            return self._changed.wait_for(lambda: self._open == 0, seconds)


class Gate:
    """Stands before a service. A `late` write waits for another request after the kill, `late_seconds` at most."""

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
