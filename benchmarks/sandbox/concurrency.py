"""Measure programs in the dialects in which models call tools: right answers, and calls at once.

Each sample program must give its answer, with as many calls side by side as it makes. Six calls of
0.3 s are timed in each form. The exit status is 1 if an answer is wrong, except on `monty`, which
lacks parts of Python; or if calls that may run side by side take longer than 0.4 s.
"""

from __future__ import annotations

import statistics
import threading
import time
from contextlib import closing
from functools import partial
from typing import Any

import click

from benchmarks.runner import measure_seconds, suite
from benchmarks.sandbox.dialects import Dialect, dialect_tools, is_right, load_dialects
from benchmarks.sandbox.host import open_backend
from benchmarks.sandbox.shop import run
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox

CALL_SECONDS = 0.3
MOST_SECONDS = 0.4
"""Maximum time of six calls that run side by side, in seconds."""
PATIENCE_SECONDS = 20.0
SIDE_BY_SIDE = {
    "asyncio.gather": "import asyncio\nawait asyncio.gather(*[get_item(id=n) for n in range(6)])",
    "asyncio.to_thread": (
        "import asyncio\ndef fetch(n):\n    return get_item(id=n)\n"
        "await asyncio.gather(*[asyncio.to_thread(fetch, n) for n in range(6)])"
    ),
    "TaskGroup": (
        "import asyncio\nasync with asyncio.TaskGroup() as group:\n"
        "    tasks = [group.create_task(get_item(id=n)) for n in range(6)]"
    ),
    "ThreadPoolExecutor.map": (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor() as pool:\n"
        "    found = list(pool.map(lambda n: get_item(id=n), range(6)))"
    ),
}
ONE_BY_ONE = {
    "awaited one by one": "for n in range(6):\n    await get_item(id=n)",
    "a plain loop": "for n in range(6):\n    get_item(id=n)",
}


def measure_forms(sandbox: Sandbox, repeats: int) -> dict[str, float | str]:
    """Return the median time of six calls of 0.3 s, keyed by the form of the program."""
    tools = dialect_tools(partial(time.sleep, CALL_SECONDS))
    found: dict[str, float | str] = {}
    for name, source in (SIDE_BY_SIDE | ONE_BY_ONE).items():
        times = []
        for _ in range(repeats):
            trace, seconds = measure_seconds(partial(run, sandbox, source, tools))
            times.append(seconds)
            if trace.failure is not None:
                found[name] = f"failed: {trace.failure.message}"
                break
        else:
            found[name] = round(statistics.median(times), 3)
    return found


def find_trouble(dialect: Dialect, sandbox: Sandbox) -> str:
    """Return what is wrong with the run of a sample program, or ""."""
    patience = 1.0 if dialect.monty_lacks and sandbox.name == "monty" else PATIENCE_SECONDS
    meeting = threading.Barrier(dialect.at_once, timeout=patience)
    trace = run(sandbox, dialect.source, dialect_tools(meeting.wait))
    if is_right(dialect, trace):
        return ""
    if sandbox.name == "monty" and dialect.monty_lacks:
        return f"monty lacks: {dialect.monty_lacks}"
    return f"WRONG: {(trace.failure and trace.failure.message) or trace.stdout or trace.value}"


@suite
@click.option("--backend", default="zygote", show_default=True)
@click.option("--repeats", default=5, show_default=True, type=click.IntRange(1))
def main(backend: str, repeats: int) -> dict[str, Any]:
    dialects = load_dialects()
    with closing(open_backend(backend)) as sandbox:
        run(sandbox, "print(1)", Toolbox())  # warm up
        troubles = {one.name: find_trouble(one, sandbox) for one in dialects}
        seconds = measure_forms(sandbox, repeats)
    wrong = {name: why for name, why in troubles.items() if why}
    times = [seconds[name] for name in SIDE_BY_SIDE]
    quick = all(isinstance(one, float) and one <= MOST_SECONDS for one in times)
    is_wrong = any(why.startswith("WRONG") for why in wrong.values())
    return {
        "suite": "dialects",
        "backend": backend,
        "programs": len(dialects),
        "right": len(dialects) - len(wrong),
        "not right": wrong,
        "seconds of six calls of 0.3 s": seconds,
        "passed": not is_wrong and (quick or backend == "monty"),
    }


if __name__ == "__main__":
    main()
