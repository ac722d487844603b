"""Runs ordinary programs in a sandbox and in CPython alone, and compares what they print."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from protocols.errors import AtcError
from sandbox.base import Sandbox
from sandbox.conformance import shop
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.trace import Failure
from toolflow_bench.sandboxes.programs import Program

LIMITS = Limits(wall_seconds=20.0, cpu_seconds=10.0)
PLAIN = Path(__file__).with_name("plain.py")

State = Literal["same", "differs", "varies"]


class Said(NamedTuple):
    """What a program printed, and the class of the exception that ended it (None: nothing did)."""

    stdout: str
    failure: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One ordinary program: `same` as CPython, `differs`, or `varies` (CPython itself gives two different outputs)."""

    program: str
    state: State
    reason: str = ""
    """The first line that differs, or why there is none."""
    seconds: float = 0.0
    """In the sandbox."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """All comparisons of a folder."""

    comparisons: tuple[Comparison, ...]

    @property
    def same(self) -> int:
        """How many programs gave what CPython gives."""
        return sum(comparison.state == "same" for comparison in self.comparisons)

    @property
    def differing(self) -> int:
        """How many gave something else."""
        return sum(comparison.state == "differs" for comparison in self.comparisons)

    def as_json(self) -> dict[str, Any]:
        """For the report."""
        counts = {"programs": len(self.comparisons), "same": self.same, "differing": self.differing}
        return {**counts, "comparisons": [asdict(comparison) for comparison in self.comparisons]}


def measure_coverage(
    programs: Sequence[Program], sandbox: Sandbox, *, on_comparison: Callable[[Comparison, int, int], None]
) -> Coverage:
    """Compare every program. `on_comparison` is told of each, how many there are by now, and how many there will be."""
    comparisons: list[Comparison] = []
    for program in programs:
        comparisons.append(compare(program, sandbox))
        on_comparison(comparisons[-1], len(comparisons), len(programs))
    return Coverage(tuple(comparisons))


def compare(program: Program, sandbox: Sandbox) -> Comparison:
    """Run one program in both."""
    try:
        trace = sandbox.run(program.source, shop(), limits=LIMITS, journal=Journal())
    except AtcError as error:
        return Comparison(program=program.name, state="differs", reason=f"{type(error).__name__}: {error}")
    ours = Said(trace.stdout, _class_of(trace.failure))
    theirs = plain(program.source)
    if ours == theirs:
        return Comparison(program=program.name, state="same", seconds=trace.seconds)
    if plain(program.source) != theirs:
        reason = "CPython itself prints something else each time"
        return Comparison(program=program.name, state="varies", reason=reason, seconds=trace.seconds)
    reason = first_difference(ours, theirs, trace.failure)
    return Comparison(program=program.name, state="differs", reason=reason, seconds=trace.seconds)


def plain(source: str) -> Said:
    """What a fresh interpreter without any sandbox makes of `source`."""
    reading, writing = os.pipe()
    with tempfile.TemporaryDirectory(prefix="atc-bench-") as folder, os.fdopen(reading, "rb") as ended:
        path = Path(folder) / "program.py"
        path.write_text(source, encoding="utf-8", newline="\n")
        command = [sys.executable, "-s", "-P", "-B", str(PLAIN), str(path), str(writing)]
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and file
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"LANG": "C.UTF-8", "PYTHONHASHSEED": "0", "PYTHONUTF8": "1", "TZ": "UTC", "PATH": os.defpath},
            cwd=folder,
            pass_fds=[writing],
        )
        os.close(writing)
        try:
            stdout, _ = process.communicate(timeout=60.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return Said("", "a minute was too short")
        told = ended.read()
    failure = json.loads(told)["failure"] if told else f"exit code {process.returncode}"
    return Said(stdout.decode("utf-8", "replace"), failure)


def first_difference(ours: Said, theirs: Said, failure: Failure | None) -> str:
    """Where the sandbox first departs from CPython, as one line."""
    message = f"{failure.type}: {failure.message}" if failure else "no failure"
    one, other = ours.stdout.splitlines(), theirs.stdout.splitlines()
    for number, (left, right) in enumerate(zip(one, other, strict=False), 1):
        if left != right:
            return f"line {number}: {left[:100]!r} where CPython prints {right[:100]!r}"
    if len(one) < len(other):
        return f"line {len(one) + 1} is missing: {other[len(one)][:100]!r} ({message})"
    if len(one) > len(other):
        return f"line {len(other) + 1} is too much: {one[len(other)][:100]!r}"
    if ours.failure != theirs.failure:
        return f"it ends with {message} where CPython ends with {theirs.failure or 'no failure'}"
    return "the ends of lines differ"


def _class_of(failure: Failure | None) -> str | None:
    if failure is None:
        return None
    return failure.type if failure.kind in ("exception", "syntax") else f"{failure.kind} {failure.type}"
