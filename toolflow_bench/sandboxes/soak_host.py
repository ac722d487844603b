"""The host process of a soak: `python -m toolflow_bench.sandboxes.soak_host DESCRIPTOR`.

Thousands of runs, some of them hostile, several at a time on one sandbox object.
"""

from __future__ import annotations

import os
import random
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from typing import NamedTuple, NoReturn

from protocols.errors import AtcError
from sandbox.base import Sandbox
from sandbox.conformance import shop
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.trace import Trace, trace_to_json
from toolflow_bench.sandboxes import processes, state
from toolflow_bench.sandboxes.backends import open_backend
from toolflow_bench.sandboxes.leaks import leaked, says_escaped, strings
from toolflow_bench.sandboxes.parent import Parent

ORDINARY = Limits(wall_seconds=60.0, cpu_seconds=10.0)
HOSTILE = Limits(wall_seconds=0.3, cpu_seconds=1.0, memory_bytes=128 * 2**20, output_bytes=64 * 2**10, tool_calls=20)
BUILT_IN = {
    "fork": "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
    "memory": "x = []\nwhile True: x.append('A' * 10_000_000)",
    "flood": "while True: print('x' * 1000)",
    "wall": "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    "sleep": "import time\ntime.sleep(60)",
    "calls": "while True:\n    try: echo(text='a')\n    except BaseException: pass",
    "frames": "import os\nfor fd in range(64):\n    try: os.write(fd, b'{[' * 9999 + b'\\n')\n    except OSError: pass",
    "syntax": "x = = 1",
    "exit": "import os\nos._exit(7)",
    "raise": "raise SystemExit('no')",
}
"""Hostile programs for when no folder of them is given."""
LONGEST_REPORT = 5


class Job(NamedTuple):
    """One run of the soak."""

    name: str
    source: str
    hostile: bool
    expected: str
    """What an ordinary program must print."""


def jobs(runs: int, hostile: list[tuple[str, str]], seed: int) -> list[Job]:
    """`runs` jobs, a tenth of them drawn from `hostile`, in an order that `seed` decides."""
    draw = random.Random(seed)  # noqa: S311 - to be the same each time is its purpose
    chosen: list[Job] = []
    for number in range(runs):
        if hostile and number % 10 == 9:
            name, source = draw.choice(hostile)
            chosen.append(Job(name, source, True, ""))
        else:
            chosen.append(ordinary(draw.randrange(4), draw.randrange(40)))
    draw.shuffle(chosen)
    return chosen


def ordinary(kind: int, number: int) -> Job:
    """A small program with tool calls, and what it prints."""
    match kind:
        case 0:
            return Job("print", f"print({number})", False, f"{number}\n")
        case 1:
            source = f"print(sum(get_item(id=n)['price'] for n in range({number})))"
            return Job("sum", source, False, f"{sum(n * 1.5 for n in range(number))}\n")
        case 2:
            source = f"rows = list_items(page={number % 6})\nprint([row['id'] for row in rows])"
            page = number % 6
            return Job("list", source, False, f"{[page * 10 + row for row in range(10)] if page < 5 else []}\n")
        case _:
            source = (
                f"try:\n    get_item(id=-{number + 1})\nexcept ToolError as e:\n    print(echo(text=str(e.status)))"
            )
            return Job("error", source, False, "404\n")


class Soak:
    """Counts what came of the runs."""

    def __init__(self, sandbox: Sandbox, secrets: dict[str, str]) -> None:
        self._sandbox, self._secrets, self._tools = sandbox, secrets, shop()
        self._lock = threading.Lock()
        self.done = 0
        self.ends: Counter[str] = Counter()
        self.resident: list[int] = []
        self.trouble: list[str] = []
        """Runs that gave something else than they should, all kinds."""

    def work(self, todo: Iterator[Job]) -> None:
        """Do what is left to do, as one of several threads."""
        while True:
            with self._lock:
                job = next(todo, None)
            if job is None:
                return
            self.run(job)

    def run(self, job: Job) -> None:
        """One run, and what there is to say against it."""
        limits = HOSTILE if job.hostile else ORDINARY
        try:
            trace = self._sandbox.run(job.source, self._tools, limits=limits, journal=Journal())
        except Exception as error:  # noqa: BLE001 - whatever else comes out of a sandbox is the soak's to find
            end, trouble = type(error).__name__, f"{job.name}: {type(error).__name__}: {error}"
        else:
            end = trace.failure.type if trace.failure else "finished"
            trouble = self._hostile(job, trace) if job.hostile else _ordinary(job, trace)
            over = trace.seconds - limits.wall_seconds
            if job.hostile and over > 2.0:  # with several at a time, a moment late is the machine's doing
                trouble = f"{job.name}: {over:.1f} s over its wall limit"
        with self._lock:
            self.done += 1
            self.ends[f"{'hostile' if job.hostile else 'ordinary'} {end}"] += 1
            self.resident.append(processes.resident(os.getpid()))
            if trouble:
                self.trouble.append(trouble[:300])

    def _hostile(self, job: Job, trace: Trace) -> str:
        words = [
            trace.stdout,
            *strings(trace.value),
            *(text for call in trace.calls for text in strings(call.arguments)),
        ]
        secrets = leaked(strings(trace_to_json(trace)), self._secrets)
        if secrets or any(says_escaped(text, job.source) for text in words):
            return f"{job.name}: ESCAPED {', '.join(secrets)}"
        return ""


def _ordinary(job: Job, trace: Trace) -> str:
    if trace.failure is None and trace.stdout == job.expected:
        return ""
    said = trace.failure.message if trace.failure else repr(trace.stdout[:100])
    return f"{job.name}: {said} where it prints {job.expected[:100]!r}"


def main(descriptor: int) -> NoReturn:
    """Take the order, and carry it out."""
    parent = Parent(descriptor)
    order = parent.order
    with ThreadPoolExecutor(order["jobs"]) as pool:
        try:
            sandbox = open_backend(order["backend"], order["without"])
            warm = Soak(sandbox, {})
            list(pool.map(warm.run, jobs(min(20 * order["jobs"], order["runs"]), list(BUILT_IN.items()), 0)))
        except AtcError as error:
            parent.tell(unavailable=str(error))
            sys.exit(3)
        inside = state.settled()
        parent.tell(ready=True)
        parent.await_word(sandbox)
        soak = Soak(sandbox, order["secrets"])
        planned = jobs(order["runs"], [(name, source) for name, source in order["hostile"]], order["seed"])
        began = time.monotonic()
        todo = iter(planned)
        working = [pool.submit(soak.work, todo) for _ in range(order["jobs"])]
        while wait(working, timeout=1.0).not_done:
            parent.tell(done=soak.done)
        for future in working:
            future.result()
        seconds = time.monotonic() - began
        changed = state.settled_difference(inside)
    parent.tell(
        done=soak.done,
        seconds=seconds,
        ends=dict(soak.ends),
        trouble=len(soak.trouble),
        troubles=soak.trouble[:LONGEST_REPORT],
        resident=quarters(soak.resident),
        changed=changed,
    )
    parent.await_word(sandbox)
    sandbox.close()
    sys.exit(0)


def quarters(values: list[int]) -> list[int]:
    """The medians of the first and the last quarter."""
    quarter = max(len(values) // 4, 1)
    return [int(statistics.median(part)) for part in (values[:quarter], values[-quarter:])]


if __name__ == "__main__":
    main(int(sys.argv[1]))
