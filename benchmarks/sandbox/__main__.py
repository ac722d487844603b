"""Run programs in every sandbox, and measure containment and cost."""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict
from itertools import pairwise, zip_longest
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import click

from atc.core.version import __version__
from benchmarks import local
from benchmarks.runner import measure_seconds, percentile, suite
from benchmarks.sandbox.canaries import Canaries, find_leaked_secrets, says_escaped, strings
from benchmarks.sandbox.containment import SampleProgram, measure_containment
from benchmarks.sandbox.host import (
    PROGRAMS,
    changes,
    count_resources,
    open_backend,
    process_state,
    spare_ready,
)
from benchmarks.sandbox.shop import run, shop
from protocols.errors import AtcError
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.choose import NAMES
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.trace import Trace

CALLS = 1000
FLAT_BYTES = 6 * 2**20
"""How much the host's memory may grow during a soak test, in bytes.

The last quarter of the runs is compared with the first.
"""
SHORT = Limits(
    wall_seconds=0.3, cpu_seconds=1.0, memory_bytes=128 * 2**20, output_bytes=2**16, tool_calls=20
)


def measure_ordinary(programs: Sequence[SampleProgram], sandbox: Sandbox) -> dict[str, Any]:
    """Count the programs that print and end as they do in CPython, and describe each difference."""
    reasons = {program.name: compare(program.source, sandbox) for program in programs}
    differing = {name: reason for name, reason in reasons.items() if reason}
    return {
        "programs": len(programs),
        "same": len(programs) - len(differing),
        "differing": differing,
    }


def compare(source: str, sandbox: Sandbox) -> str:
    """Describe the first difference between the runs of a program in the sandbox and in CPython.

    Return "" if they are equal.
    """
    try:
        trace = run(sandbox, source)
    except AtcError as error:
        return f"{type(error).__name__}: {error}"
    failure = trace.failure
    ended = failure and (
        failure.type
        if failure.kind in ("exception", "syntax")
        else f"{failure.kind} {failure.type}"
    )
    stdout, should_end = run_unsandboxed(source)
    if (trace.stdout, ended) == (stdout, should_end):
        return ""
    pairs = zip_longest(trace.stdout.splitlines(), stdout.splitlines(), fillvalue="nothing")
    differing = (
        f"{one[:100]!r} where CPython prints {other[:100]!r}; "
        for one, other in pairs
        if one != other
    )
    return (
        f"{next(differing, '')}it ends with {ended} ({failure and failure.message}), CPython with "
        f"{should_end}"
    )


def run_unsandboxed(source: str) -> tuple[str, str | None]:
    """Run `source` in a new interpreter without a sandbox.

    Return its output and the class of the exception that ended it, or None.
    """
    reading, writing = os.pipe()
    with (
        tempfile.TemporaryDirectory(prefix="atc-bench-") as folder,
        os.fdopen(reading, "rb") as ended,
    ):
        path = Path(folder) / "program.py"
        path.write_text(source, encoding="utf-8", newline="\n")
        command = [
            sys.executable,
            "-s",
            "-P",
            "-B",
            "-c",
            PROGRAMS["plain"],
            str(path),
            str(writing),
        ]
        variables = {
            "PYTHONPATH": str(local.ROOT),
            "LANG": "C.UTF-8",
            "PYTHONHASHSEED": "0",
            "PYTHONUTF8": "1",
        }
        variables |= {"TZ": "UTC", "PATH": os.defpath}
        pipes: dict[str, Any] = {
            "stdout": subprocess.PIPE,
            "stderr": subprocess.DEVNULL,
            "stdin": subprocess.DEVNULL,
        }
        with subprocess.Popen(
            command, env=variables, cwd=folder, pass_fds=[writing], **pipes
        ) as process:
            os.close(writing)
            stdout, _ = process.communicate(timeout=60.0)
        told = ended.read()
    return stdout.decode("utf-8", "replace"), json.loads(told)[
        "failure"
    ] if told else f"exit code {process.returncode}"


def measure_latency(backend: str, without: Sequence[str], runs: int) -> dict[str, Any]:
    with closing(open_backend(backend, without)) as sandbox:
        run(sandbox, "print(1)", Toolbox())
        found = {
            "print(1), one after another, ms": _quantiles([_print_ms(sandbox) for _ in range(runs)])
        }
        if waiting := [
            _print_ms(sandbox) for _ in range(runs) if spare_ready(sandbox, seconds=5.0)
        ]:
            found["print(1), child waiting, ms"] = _quantiles(waiting)
        source = f"for n in range({CALLS}):\n    echo(text=str(n))"
        trace = run(sandbox, source, shop().only(["echo"]), tool_calls=CALLS)
        found["one tool call, µs"] = _quantiles(
            [(b.started - a.started) * 1e6 for a, b in pairwise(trace.calls)]
        )
    return found


def _quantiles(values: Sequence[float]) -> dict[str, float]:
    found = {"minimum": min(values), "p50": percentile(values, 50), "p95": percentile(values, 95)}
    return found | {"maximum": max(values), "count": len(values)}


def _print_ms(sandbox: Sandbox) -> float:
    trace, seconds = measure_seconds(lambda: run(sandbox, "print(1)", Toolbox()))
    assert trace.stdout == "1\n", trace.failure
    return seconds * 1e3


def measure_soak(
    backend: str,
    without: Sequence[str],
    runs: int,
    jobs: int,
    seed: int,
    hostile: Sequence[SampleProgram] = (),
) -> dict[str, Any]:
    """Make many runs in one sandbox, `jobs` at a time (a soak test). A tenth of them are hostile.

    Return the failures, the growth of memory, and everything that is left behind afterwards.
    """
    known = local.existing_processes()
    with local.adopt_descendants(), Canaries() as canaries, ThreadPoolExecutor(jobs) as pool:
        attacks = [(one.name, canaries.fill(one.source)) for one in hostile]
        sandbox = open_backend(backend, without)
        soak = _Soak(sandbox, canaries)
        planned = _plan_soak(runs, seed, attacks or list(PROGRAMS["hostile"].items()))
        list(pool.map(soak.run, planned[: 20 * jobs]))  # the first runs fill threads and caches
        first = len(soak.resident)
        inside = process_state()
        had = count_resources()
        soak.ends.clear()
        began = time.monotonic()
        list(pool.map(soak.run, planned))
        seconds = time.monotonic() - began
        left = changes(inside, had)
        sandbox.close()
        survivors = local.descendants(known)
        local.kill_all(known)
        if survivors:
            left.append(f"{len(survivors)} processes: {local.name_processes(survivors)}")
        left += canaries.changes()
        left += [f"{name} was reached" for name in canaries.reached]
        left += canaries.leftovers()
    kept = soak.resident[first:]
    quarter = max(len(kept) // 4, 1)
    early = int(statistics.median(kept[:quarter]))
    late = int(statistics.median(kept[-quarter:]))
    flat = late - early <= FLAT_BYTES
    return {
        "runs": runs,
        "jobs": jobs,
        "seed": seed,
        "seconds": seconds,
        "runs_per_second": runs / seconds,
        "ends": dict(sorted(soak.ends.items())),
        "troubles": soak.troubles[:5],
        "trouble": len(soak.troubles),
        "leaks": left,
        "resident_first_bytes": early,
        "resident_last_bytes": late,
        "flat": flat,
        "flat_bytes": FLAT_BYTES,
        "passed": flat and not left and not soak.troubles,
    }


class _SoakJob(NamedTuple):
    """A program for a soak test, and the text that it must print (None: a hostile program)."""

    name: str
    source: str
    expected: str | None


def _plan_soak(runs: int, seed: int, attacks: Sequence[tuple[str, str]]) -> list[_SoakJob]:
    """Draw the programs of a soak test.

    Every tenth is one of `attacks`, pairs of name and source.
    """
    draw = random.Random(seed)
    planned = []
    for number in range(runs):
        n = draw.randrange(40)
        page = draw.randrange(6)
        if number % 10 == 9:
            planned.append(_SoakJob(*draw.choice(attacks), None))
            continue
        rows = [page * 10 + row for row in range(10)] if page < 5 else []
        total = sum(k * 1.5 for k in range(n))
        add = f"print(sum(get_item(id=n)['price'] for n in range({n})))"
        listing = f"print([row['id'] for row in list_items(page={page})])"
        fail = "try: get_item(id=-1)\nexcept ToolError as e: print(echo(text=str(e.status)))"
        ordinary = [
            _SoakJob("print", f"print({n})", f"{n}\n"),
            _SoakJob("sum", add, f"{total}\n"),
            _SoakJob("list", listing, f"{rows}\n"),
            _SoakJob("error", fail, "404\n"),
        ]
        planned.append(draw.choice(ordinary))
    return planned


class _Soak:
    """Runs jobs in one sandbox, and records how they ended, what went wrong, and the memory."""

    def __init__(self, sandbox: Sandbox, canaries: Canaries) -> None:
        self._sandbox = sandbox
        self._canaries = canaries
        self.ends: Counter[str] = Counter()
        self.troubles: list[str] = []
        self.resident: list[int] = []
        """Resident memory of this process after each run, in bytes."""

    def run(self, job: _SoakJob) -> None:
        """Run one job. Several threads may call this method at the same time."""
        limits = SHORT if job.expected is None else Limits(wall_seconds=60.0)
        trace = self._sandbox.run(job.source, shop(), limits=limits, journal=Journal())
        kind = "hostile" if job.expected is None else "ordinary"
        self.ends[f"{kind} {trace.failure.type if trace.failure else 'finished'}"] += 1
        if trouble := self._find_trouble(job, trace, limits):
            self.troubles.append(f"{job.name}: {trouble}")
        self.resident.append(local.resident_bytes(os.getpid()))

    def _find_trouble(self, job: _SoakJob, trace: Trace, limits: Limits) -> str:
        """Return what went wrong in a run, or "" if nothing did."""
        if job.expected is None:
            texts = [*strings(asdict(trace))]
            leaked = find_leaked_secrets(texts, self._canaries.secrets)
            if leaked or says_escaped(trace.stdout, job.source):
                return "ESCAPED"
        elif trace.failure is not None or trace.stdout != job.expected:
            printed = f"{trace.stdout[:100]!r} where it prints {job.expected!r}"
            return f"{printed} ({trace.failure})"[:300]
        over = trace.seconds - limits.wall_seconds
        # With several runs at a time, the machine itself may be late by a moment.
        return f"{over:.1f} s over its wall limit" if over > 2.0 else ""


_FOLDER = click.Path(path_type=Path)


@suite
@click.option(
    "--backend",
    "names",
    multiple=True,
    default=["zygote"],
    help=f"{', '.join(NAMES)}, or MODULE:FACTORY.",
)
@click.option(
    "--without", multiple=True, metavar="LAYER", help="Switch this layer off; repeatable."
)
@click.option(
    "--hostile",
    type=_FOLDER,
    metavar="DIR",
    help="Programs that must be contained; docs/how/security.md.",
)
@click.option(
    "--ordinary",
    type=_FOLDER,
    metavar="DIR",
    help="Programs that must run as in CPython, one a *.py file.",
)
@click.option(
    "--runs",
    type=click.IntRange(0),
    default=200,
    show_default=True,
    help="For each latency; 0: none.",
)
@click.option(
    "--soak", type=click.IntRange(0), default=0, help="Runs of the soak, a tenth hostile."
)
@click.option(
    "--jobs",
    type=click.IntRange(1, 64),
    default=8,
    show_default=True,
    help="Runs of the soak at once.",
)
@click.option("--seed", default=0, show_default=True, help="What the soak's programs are drawn by.")
def main(
    names: tuple[str, ...], hostile: Path | None, ordinary: Path | None, **plan: Any
) -> dict[str, Any]:
    """Run programs in every sandbox, and measure containment and cost.

    Each hostile program gets a host process, secrets and listeners of its own. Exit status 1 if one
    is not contained, an ordinary program behaves differently from CPython, or the soak leaves
    anything behind.
    """
    plan |= {"hostile": load_programs(hostile), "ordinary": load_programs(ordinary)}
    backends = {name: measure(name, SimpleNamespace(**plan)) for name in names}
    passed = all(one["passed"] for one in backends.values())
    about = {
        "suite": "sandbox",
        "version": __version__,
        "seed": plan["seed"],
        "without": plan["without"],
    }
    return {**about, "passed": passed, "backends": backends}


def load_programs(folder: Path | None) -> list[SampleProgram]:
    paths = sorted(folder.glob("*.py")) if folder else []
    if folder and not paths:
        raise click.UsageError(
            f"{str(folder)!r} holds no *.py file; give a folder of programs, one a file."
        )
    return [SampleProgram(path.stem, path.read_text(encoding="utf-8")) for path in paths]


def measure(backend: str, plan: Any) -> dict[str, Any]:
    """Return the description of one backend, and the results of the measurements in `plan`."""
    found: dict[str, Any] = {"passed": True}
    with closing(open_backend(backend, plan.without)) as sandbox:
        run(sandbox, "print(1)", Toolbox())  # some sandboxes know their layers only after a run
        found |= {"layers": ", ".join(sandbox.layers), "boundary": sandbox.boundary}
        if plan.ordinary:
            found["ordinary"] = measure_ordinary(plan.ordinary, sandbox)
            found["passed"] &= found["ordinary"]["same"] == len(plan.ordinary)
    if plan.runs:
        found["latency"] = measure_latency(backend, plan.without, plan.runs)
    if plan.hostile:
        found["containment"] = measure_containment(plan.hostile, backend, plan.without)
        found["passed"] &= found["containment"]["contained"] == len(plan.hostile)
    if plan.soak:
        found["soak"] = measure_soak(
            backend, plan.without, plan.soak, plan.jobs, plan.seed, plan.hostile
        )
        found["passed"] &= found["soak"]["passed"]
    return found


if __name__ == "__main__":
    main()
