"""Runs hostile programs, each with its own host process and canaries, and judges the outcome."""

import ast
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import click

from benchmarks import local
from benchmarks.sandbox.canaries import Canaries, file_state
from benchmarks.sandbox.evidence import (
    LIMITS,
    MEMORY_MARGIN_BYTES,
    OVERRUN_SECONDS,
    PROCESSES,
    RunEvidence,
    iter_findings,
    verdict_of,
)
from benchmarks.sandbox.host_process import HostEnded, HostProcess
from protocols.python_source import parse_python
from sandbox.base import SandboxUnavailable
from sandbox.docker.engine import LABEL, connect

RUNAWAY_BYTES = 1536 * 2**20
RUNAWAY_PROCESSES = 256
START_SECONDS = 120.0
GRACE_SECONDS = 8.0
REPORT_SECONDS = 30.0
SETTLE_SECONDS = 2.0
SAMPLE_SECONDS = 0.02


class SampleProgram(NamedTuple):
    """A program from a folder of programs. `name` is its file name without `.py`."""

    name: str
    source: str

    @property
    def category(self) -> str:
        """The text of the program's line `# category: …`, or "" if it has no such line."""
        lines = (
            line.partition("category:") for line in self.source.splitlines() if line.startswith("#")
        )
        return next((said.strip() for _, found, said in lines if found), "")


def measure_containment(
    programs: Sequence[SampleProgram], backend: str, without: Sequence[str] = ()
) -> dict[str, Any]:
    """Run each program in a new sandbox in a new process, and return the report.

    Each verdict is printed to stderr when it is known.
    """
    verdicts: list[dict[str, Any]] = []
    with local.adopt_descendants():
        for program in programs:
            try:
                verdict = judge_program(program, backend, without)
            except SandboxUnavailable:  # it died before the program was run
                verdict = judge_program(program, backend, without)
            verdicts.append(verdict)
            click.echo(
                "{verdict:<9} {seconds:5.2f} s  {program}  {reason}".format(**verdict), err=True
            )
    margins = {
        "overrun_seconds": OVERRUN_SECONDS,
        "memory_bytes": MEMORY_MARGIN_BYTES,
        "processes": PROCESSES,
    }
    contained = sum(not verdict["findings"] for verdict in verdicts)
    return {
        "contained": contained,
        "limits": asdict(LIMITS),
        "margins": margins,
        "verdicts": verdicts,
    }


def judge_program(program: SampleProgram, backend: str, without: Sequence[str]) -> dict[str, Any]:
    """Run one program and return the verdict on it. Processes that it leaves behind are killed."""
    known = local.existing_processes()
    with Canaries() as canaries:
        seen = RunEvidence(canaries.fill(program.source))
        host = HostProcess(canaries, seen.source, backend, without)
        try:
            sibling = _conduct(seen, host, canaries, known)
        finally:
            local.kill_all(known)
            host.close()
        if backend == "docker":
            client = connect()
            every = client.containers.list(all=True, filters={"label": LABEL}, ignore_removed=True)
            ours = [
                one.short_id
                for one in every
                if one.labels[LABEL].split()[0] == str(host.process.pid)
            ]
            seen.left = [*seen.left, *(f"container {name}" for name in ours)]
            client.close()
        found = list(iter_findings(seen, canaries.secrets))
    failure = seen.trace.get("failure")
    kinds = {kind for kind, _ in found}
    verdict: dict[str, Any] = {
        "program": program.name,
        "category": program.category,
        "sibling": sibling,
    }
    verdict |= {
        "findings": [{"kind": kind, "text": text} for kind, text in found],
        "seconds": seen.seconds,
    }
    verdict |= {
        "failure": f"{failure['kind']} {failure['type']}" if failure else "",
        "memory_bytes": seen.grown_bytes,
    }
    verdict["verdict"] = verdict_of(kinds)
    return verdict | {"reason": "; ".join(f"{kind}: {text}" for kind, text in found)}


def _conduct(seen: RunEvidence, host: HostProcess, canaries: Canaries, known: set[int]) -> bool:
    """Let the host process run a hostile program, and record evidence of what the program does.

    Evidence is recorded in `seen` before, during and after the run. Return True if a second program
    (the sibling) ran in the same sandbox at the same time.
    """
    paths = _named_paths(seen.source)
    try:
        greeting = host.receive(START_SECONDS)
    except HostEnded as ended:
        raise SandboxUnavailable(
            f"no program was run: {ended}; {host.output()[1][-300:]}"
        ) from ended
    if "unavailable" in greeting:
        raise SandboxUnavailable(greeting["unavailable"])
    seen.lead = greeting["lead"]
    printed_before = host.output()
    done = threading.Event()
    before = _wait_until_settled(known, RUNAWAY_PROCESSES)
    # Measured here, because on a busy machine the first sample may come late.
    resident = sum(map(local.resident_bytes, before))
    watch = threading.Thread(
        target=_watch, args=(seen, known, done, resident, len(before)), daemon=True
    )
    watch.start()
    try:
        began = time.monotonic()
        host.send({"go": True})
        try:
            host.receive(LIMITS.wall_seconds + GRACE_SECONDS)
        finally:
            seen.seconds = time.monotonic() - began
        ended_as = host.receive(REPORT_SECONDS)
        seen.trace = ended_as["trace"] or {}
        seen.lost = ended_as["lost"]
        seen.made = ended_as["made"]
        seen.odd = ended_as["odd"]
        after = _wait_until_settled(known, len(before))
        if len(after) > len(before):
            new = local.name_processes(after - before)
            seen.left = [f"{len(after) - len(before)} more processes than before the run: {new}"]
        host.send({"look": True})
        seen.report = host.receive(REPORT_SECONDS)
        seen.made = max(seen.made, seen.report["made"])
        if (how := host.describe_end(10.0)) != "exit code 0":
            seen.host = f"the host process ended otherwise: {how}"
    except HostEnded as ended:
        seen.host = str(ended)
    finally:
        done.set()
        watch.join()
    if not seen.host and (left := local.descendants(known)):
        seen.left = [
            *seen.left,
            f"{len(left)} processes outlived the host: {local.name_processes(left)}",
        ]
    seen.left = [*seen.left, *(f"temporary file {path}" for path in canaries.leftovers()[:3])]
    changed = (path for path, was in paths.items() if file_state(Path(path)) != was)
    seen.changes = [*canaries.changes(), *(f"{path} was made or changed" for path in changed)]
    seen.reached = list(canaries.reached)
    seen.output = [now[len(was) :] for was, now in zip(printed_before, host.output(), strict=True)]
    return bool(greeting["sibling"])


def _wait_until_settled(known: set[int], most: int) -> set[int]:
    """Return the host's processes, as soon as their number is stable and at most `most`.

    After `SETTLE_SECONDS`, return them in any case.
    """
    until = time.monotonic() + SETTLE_SECONDS
    steady = 0
    before = -1
    while True:
        now = local.descendants(known)
        steady = steady + 1 if len(now) == before and len(now) <= most else 0
        if steady == 5 or time.monotonic() > until:
            return now
        before = len(now)
        time.sleep(SAMPLE_SECONDS)


def _watch(
    seen: RunEvidence, known: set[int], done: threading.Event, resident_before: int, before: int
) -> None:
    """Record how memory and processes grow; kill all processes if they grow without limit.

    The growth is recorded in `seen`.
    """
    while not done.wait(SAMPLE_SECONDS):
        pids = local.descendants(known)
        resident = sum(map(local.resident_bytes, pids))
        seen.grown_bytes = max(seen.grown_bytes, resident - resident_before)
        seen.more_processes = max(seen.more_processes, len(pids) - before)
        if seen.grown_bytes > RUNAWAY_BYTES or len(pids) > RUNAWAY_PROCESSES:
            seen.runaway = f"{resident >> 20} MiB, {len(pids)} processes: all were killed"
            local.kill_all(known)
            return


def _named_paths(source: str) -> dict[str, tuple[object, ...]]:
    """Return the absolute paths in a program's strings, each with the present state of the file."""
    try:
        nodes = list(ast.walk(parse_python(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    texts = (
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )
    paths = {text.decode("utf-8", "replace") if isinstance(text, bytes) else text for text in texts}
    named = (path for path in paths if path.startswith("/") and not {"\0", "\n"} & set(path))
    return {
        path: file_state(Path(path))
        for path in named
        if not path.startswith(("/proc", "/dev", "/sys"))
    }
