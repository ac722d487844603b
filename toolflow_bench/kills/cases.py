"""What is killed when: the runs of the test, drawn by seed."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from protocols.errors import AtcError
from toolflow_bench.services.operation import Operation
from toolflow_bench.task import Task

Moment = Literal[
    "asked", "intended", "working", "dropped", "late", "applied", "replied", "stored", "attempted", "finished"
]
"""When the host process is killed, in the order of a call's life:

`asked` the program has asked for the call, and its intent is not stored yet; `intended` it is stored, and nothing was
sent; `working` the service has the request, and carries it out although nobody waits for it; `dropped` the same, but
the service never carries it out; `late` the same, but it is carried out only while the run is being resumed already;
`applied` it was carried out, and the reply is lost; `replied` the reply has arrived, and the outcome is not stored;
`stored` the outcome is stored, and the next call was not asked for; `attempted` the program has ended, and that is not
stored; `finished` it is stored, but not how the run ended."""

Class = Literal[Moment, "resuming"]
"""`resuming`: a second kill, while the run that was killed first goes on."""

WriteKind = Literal["key", "read", "neither"]
"""What tells whether a write whose answer was lost took effect: its idempotency key, a read, or nothing."""

SERVICE_MOMENTS: frozenset[Moment] = frozenset({"working", "dropped", "late", "applied"})
"""Moments that the service sees; the others are the host's own."""

BETWEEN: frozenset[Moment] = frozenset({"intended", "working", "dropped", "late", "applied", "replied"})
"""Moments between the intent of a call and its stored outcome."""

_CYCLE: tuple[Class, ...] = (
    "applied", "intended", "stored", "working", "replied", "asked", "dropped", "resuming", "attempted", "applied",
    "late", "finished",
)  # fmt: skip
"""The order of the classes: of any number of first ones, at least half are between intent and outcome."""


class NoSuchWrite(AtcError):
    """There is no task with a write of the kind that is to be interrupted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """When one process is killed: at this moment of its `nth` call, counted from 0."""

    moment: Moment
    nth: int = 0
    writes: bool = True
    """Whether only calls that write are counted, those that the journal answers left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One run: its task, and the kills of its first process, of the second, …"""

    number: int
    task: Task
    group: Class
    aim: WriteKind
    """The kind of the write that the first kill is to interrupt."""
    kills: tuple[Kill, ...]
    seed: int
    """What the services' faults are drawn by."""


def kind_of(operation: Operation) -> WriteKind:
    """What tells whether a write of this operation took effect."""
    return "key" if operation.takes_key else "read" if operation.verified_by else "neither"


def draw_cases(tasks: Sequence[Task], operations: Mapping[str, Operation], *, runs: int, seed: int) -> tuple[Case, ...]:
    """So many runs. Every class meets every kind of write in turn; the task and its write are drawn.

    Raises:
        NoSuchWrite: no task has a write of some kind.
    """
    places = {kind: _places(tasks, operations, kind) for kind in get_args(WriteKind)}
    return tuple(_case(places, number, seed) for number in range(runs))


_Places = Sequence[tuple[Task, Sequence[int]]]
"""Tasks, each with the numbers of some of its writes among all of them."""


def _case(places: Mapping[WriteKind, _Places], number: int, seed: int) -> Case:
    rng = random.Random(f"{seed} {number}")  # noqa: S311 - must repeat
    group = _CYCLE[number % len(_CYCLE)]
    kinds = get_args(WriteKind)
    kind = kinds[(number + number // len(_CYCLE)) % len(kinds)]
    task, writes = rng.choice(places[kind])
    first = rng.choice(sorted(BETWEEN)) if group == "resuming" else group
    kills = [Kill(moment=first, nth=rng.choice(writes))]
    if group == "resuming":
        kills.append(Kill(moment=rng.choice([m for m in get_args(Moment) if m != "late"]), writes=False))
    return Case(number=number, task=task, group=group, aim=kind, kills=tuple(kills), seed=rng.randrange(1 << 30))


def _places(tasks: Sequence[Task], operations: Mapping[str, Operation], kind: WriteKind) -> _Places:
    found = []
    for task in tasks:
        writes = [operations[name] for name in task.operations if operations[name].writes]
        if numbers := [number for number, operation in enumerate(writes) if kind_of(operation) == kind]:
            found.append((task, numbers))
    if not found:
        raise NoSuchWrite(f"no task has a write that is told by {kind!r}; give tasks of all services.")
    return found
