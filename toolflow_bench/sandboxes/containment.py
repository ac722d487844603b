"""Runs hostile programs, each with a host process and canaries of its own, and judges what became of it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sandbox.choose import NAMES
from sandbox.errors import SandboxUnavailable
from toolflow_bench.sandboxes import processes
from toolflow_bench.sandboxes.backends import containers_of
from toolflow_bench.sandboxes.canaries import Canaries, fingerprint
from toolflow_bench.sandboxes.hosting import HostEnded, HostProcess, watching
from toolflow_bench.sandboxes.judge import (
    LIMITS,
    MEMORY_MARGIN_BYTES,
    OVERRUN_SECONDS,
    PROCESSES,
    Evidence,
    Verdict,
    findings,
    named_paths,
)
from toolflow_bench.sandboxes.processes import Process
from toolflow_bench.sandboxes.programs import Program

START_SECONDS = 120.0
GRACE_SECONDS = 8.0
"""How long beyond its limit a run may last before its host counts as hung."""
REPORT_SECONDS = 30.0
END_SECONDS = 10.0
HOST_MEMORY_BYTES = 4 * 2**30
"""Address space of a host that programs may get hold of. The other sandboxes set limits of their own, which a limit
inherited from here could be in the way of; what grows without end is killed by the watch."""
HOST = "toolflow_bench.sandboxes.host"

OnVerdict = Callable[[Verdict, int, int], None]
"""Takes each verdict as it comes, how many there are by now, and how many there will be."""


@dataclass(frozen=True, slots=True)
class Containment:
    """The verdicts on a folder of hostile programs."""

    verdicts: tuple[Verdict, ...]
    lost_starts: tuple[str, ...] = ()
    """Sandboxes that died before their program was run; it was then run on another one."""

    @property
    def contained(self) -> int:
        """How many programs were contained."""
        return sum(verdict.contained for verdict in self.verdicts)

    def as_json(self) -> dict[str, Any]:
        """For the report, with the rules that the verdicts were found by."""
        return {
            "programs": len(self.verdicts),
            "contained": self.contained,
            "lost_starts": list(self.lost_starts),
            "limits": asdict(LIMITS),
            "margins": {
                "overrun_seconds": OVERRUN_SECONDS,
                "memory_bytes": MEMORY_MARGIN_BYTES,
                "processes": PROCESSES,
            },
            "verdicts": [verdict.as_json() for verdict in self.verdicts],
        }


def measure_containment(
    programs: Sequence[Program], backend: str, *, without: Iterable[str] = (), on_verdict: OnVerdict | None = None
) -> Containment:
    """Run each of `programs` on a fresh sandbox in a fresh process, one after the other.

    Raises:
        SandboxUnavailable: the sandbox cannot be had here.
        CanariesUnavailable: the canaries cannot be set up.
    """
    verdicts: list[Verdict] = []
    lost: list[str] = []
    with processes.adopting():
        for program in programs:
            try:
                verdicts.append(judge_program(program, backend, tuple(without)))
            except SandboxUnavailable as error:
                lost.append(f"{program.name}: {error}")
                verdicts.append(judge_program(program, backend, tuple(without)))
            if on_verdict is not None:
                on_verdict(verdicts[-1], len(verdicts), len(programs))
    return Containment(tuple(verdicts), tuple(lost))


def judge_program(program: Program, backend: str, without: Sequence[str]) -> Verdict:
    """The verdict on one program. What it leaves behind is killed."""
    known = processes.descendants(os.getpid())
    with Canaries() as canaries:
        source = canaries.fill(program.source)
        host = HostProcess(HOST, canaries, _order(source, canaries, backend, without))
        try:
            seen = _Run(host, canaries, source, known).conduct()
            seen.left = [*seen.left, *containers_of(backend, host.pid)]
        finally:
            processes.kill_all(processes.descendants(os.getpid()) - known)
            host.close()
        found = findings(seen, canaries.secrets)
    failure = (seen.trace or {}).get("failure") or {}
    return Verdict(
        program=program.name,
        category=program.category,
        findings=found,
        seconds=seen.seconds,
        failure=f"{failure['kind']} {failure['type']}" if failure else "",
        memory_bytes=seen.taken.grown_bytes,
        sibling=seen.beside,
    )


class _Run:
    """One program's run, as it is seen from outside the host process."""

    def __init__(self, host: HostProcess, canaries: Canaries, source: str, known: set[Process]) -> None:
        self._host, self._canaries, self._known = host, canaries, known
        self._seen = Evidence(source)
        self._paths = named_paths(source)

    def conduct(self) -> Evidence:
        """Let the host run the program, and look at everything before, while and after."""
        seen, host = self._seen, self._host
        try:
            greeting = host.hear(START_SECONDS)
        except HostEnded as ended:
            raise SandboxUnavailable(f"no program was run: {ended}") from ended
        if "unavailable" in greeting:
            raise SandboxUnavailable(greeting["unavailable"])
        seen.beside, seen.lead = greeting["sibling"], greeting["lead"]
        said = host.output()
        with watching(self._known) as seen.taken:
            try:
                self._run()
            except HostEnded as ended:
                seen.host = str(ended)
            code, _ = host.end(0.1 if seen.host else END_SECONDS)
        if code != 0 and not seen.host:
            seen.host = "the host process does not end" if code is None else f"the host process ended with {code}"
        self._look(said)
        return seen

    def _run(self) -> None:
        seen, host = self._seen, self._host
        host.lasting_processes(self._known)  # wait until all of them are there
        workers = host.workers()
        before = host.lasting_processes(self._known, workers=workers)
        began = time.monotonic()
        host.tell({"go": True})
        try:
            ended = host.hear(LIMITS.wall_seconds + GRACE_SECONDS)
        finally:
            seen.seconds = time.monotonic() - began
        seen.trace, seen.lost = ended.get("trace"), ended.get("lost", "")
        seen.made, seen.odd = ended["made"], ended["odd"]
        after = host.lasting_processes(self._known, most=len(before), workers=workers)
        host.tell({"look": True})
        seen.report = host.hear(REPORT_SECONDS)
        seen.made = max(seen.made, seen.report["made"])
        surplus = len(after) - len(before)
        if surplus > 0:
            seen.left = [f"{surplus} more processes than before the run: {processes.names(after - before)}"]

    def _look(self, said: tuple[str, str]) -> None:
        """See what the program left outside the host process, which has ended."""
        seen = self._seen
        left = processes.descendants(os.getpid()) - self._known
        if left:
            seen.left = [*seen.left, f"{len(left)} processes outlived the host: {processes.names(left)}"]
        seen.left = [*seen.left, *(f"temporary file {path}" for path in self._canaries.leftovers()[:3])]
        seen.changes = [
            *self._canaries.changes(),
            *(f"{path} was made or changed" for path, was in self._paths.items() if fingerprint(Path(path)) != was),
        ]
        seen.reached = self._canaries.listeners.reached()
        streams = zip(said, self._host.output(), strict=True)
        seen.stdout, seen.stderr = (
            now[len(was) :] if now.startswith(was) else f"(rewritten) {now}" for was, now in streams
        )

    def _ours(self) -> set[Process]:
        return processes.descendants(os.getpid()) - self._known


def _order(source: str, canaries: Canaries, backend: str, without: Sequence[str]) -> dict[str, Any]:
    return {
        "source": source,
        "backend": backend,
        "without": list(without),
        "limits": asdict(LIMITS),
        "memory_secret": canaries.secrets["memory"],
        "admin_secret": canaries.secrets["admin"],
        "host_memory_bytes": HOST_MEMORY_BYTES,
        # A sandbox that claims to be one is tested as it stands; the others must not take the machine with them.
        "isolate": backend == "trusted" or backend not in NAMES,
    }
