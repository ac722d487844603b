"""What the tasks must come to as a whole, so that a figure over them says something about long chains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from toolflow_bench.services.service import NAMES, find_service
from toolflow_bench.task import Task

MOST_OF_ONE_PATTERN = 4
LEAST_CALLS = 7
"""Of a long task, as in the paper (section 5)."""
SHORT_CLASSES = ((1, 2), (3, 4), (5, 6))

_LONG: tuple[tuple[str, int, Callable[[Task], bool]], ...] = (
    ("long tasks", 224, lambda _: True),
    *((f"long tasks of {name} alone", 50, lambda task, name=name: task.services == (name,)) for name in NAMES),
    ("long tasks across services", 20, lambda task: len(task.services) > 1),
    (
        "long tasks of 4 operations and a depth of 3",
        150,
        lambda task: len(set(task.operations)) >= 4 and task.depth >= 3,
    ),
    (
        "long tasks of 6 operations and a depth of 6",
        60,
        lambda task: len(set(task.operations)) >= 6 and task.depth >= 6,
    ),
    ("long tasks that write", 30, lambda task: task.writes),
    ("long tasks without an answer to be found", 20, lambda task: task.type == "none"),
)


def shortfalls(tasks: Sequence[Task]) -> Iterator[str]:
    """A sentence for each total that `tasks`, all of ToolFlow's, do not reach."""
    long = [task for task in tasks if task.split == "long"]
    short = [task for task in tasks if task.split == "short"]
    for name, least, belongs in _LONG:
        if (found := sum(map(belongs, long))) < least:
            yield f"{found} {name}, at least {least} are wanted"
    if (found := sum(task.state == {} for task in tasks)) < 20:
        yield f"{found} tasks that cannot be done and must leave nothing, at least 20 are wanted"
    for low, high in SHORT_CLASSES:
        if (found := sum(low <= task.calls <= high for task in short)) < 40:
            yield f"{found} short tasks of {low} to {high} calls, at least 40 are wanted"
    for task in tasks:
        fits = task.calls >= LEAST_CALLS if task.split == "long" else task.calls <= SHORT_CLASSES[-1][1]
        if not fits:
            yield f"{task.id}: {task.calls} calls do not fit the split {task.split!r}"
    yield from _repeated(long)


def _repeated(long: Sequence[Task]) -> Iterator[str]:
    """Data flows that too many long tasks have, and operations that too few need."""
    for pattern, count in Counter(task.pattern for task in long).items():
        if count > MOST_OF_ONE_PATTERN:
            names = ", ".join(task.id for task in long if task.pattern == pattern)
            yield f"{count} long tasks have one data flow, at most {MOST_OF_ONE_PATTERN} may: {names}"
    users = Counter(operation for task in long for operation in set(task.operations))
    for name in NAMES:
        for operation in find_service(name).operations:
            if users[operation.id] < 2:
                yield f"{operation.id} is needed by {users[operation.id]} long tasks, at least 2 are wanted"
