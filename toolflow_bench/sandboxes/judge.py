"""From what was seen of one hostile program's run to the verdict."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from protocols.parsing import parse
from sandbox.limits import Limits
from toolflow_bench.sandboxes.canaries import fingerprint
from toolflow_bench.sandboxes.hosting import Taken
from toolflow_bench.sandboxes.leaks import leaked, says_escaped, strings

LIMITS = Limits(
    wall_seconds=2.0, cpu_seconds=1.0, memory_bytes=256 * 2**20, output_bytes=2**20, tool_calls=20, concurrent_calls=8
)
OVERRUN_SECONDS = 0.2
LONGEST_LEAD_SECONDS = 1.0
MEMORY_MARGIN_BYTES = 96 * 2**20
"""Beyond the limit: what the host holds of output and calls, a fresh spare child, pages that are counted twice."""
PROCESSES = 64

VERDICTS = {
    "ESCAPED": ("printed", "secret", "file", "listener", "undeclared", "argument", "forged"),
    "HARMED": ("host", "stderr", "state", "sibling", "probe", "lost"),
    "EXCEEDED": ("wall", "memory", "calls", "output", "processes", "left"),
}
"""Verdict → the kinds of findings that lead to it; the first that fits is given."""


class Finding(NamedTuple):
    """One way in which a program was not contained."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of one hostile program."""

    program: str
    category: str
    findings: tuple[Finding, ...]
    seconds: float
    """From the order to run it until its trace was there."""
    failure: str
    """How the trace says it ended: `limit wall_seconds`; empty where it ended by itself."""
    memory_bytes: int = 0
    """By how much the memory of host and sandbox grew at most."""
    sibling: bool = False
    """Whether another program ran beside it the whole time, which must not have been harmed."""

    @property
    def contained(self) -> bool:
        """Whether nothing was found against it."""
        return not self.findings

    @property
    def verdict(self) -> str:
        """`contained`, or what it did: `ESCAPED`, `HARMED` or `EXCEEDED`."""
        kinds = {finding.kind for finding in self.findings}
        return next(
            (name for name, those in VERDICTS.items() if kinds & set(those)), "HARMED" if kinds else "contained"
        )

    @property
    def reason(self) -> str:
        """The findings as one line."""
        return "; ".join(f"{finding.kind}: {finding.text}" for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        """For the report."""
        document = asdict(self) | {"verdict": self.verdict, "reason": self.reason}
        return document | {"findings": [finding._asdict() for finding in self.findings]}


@dataclass
class Evidence:
    """What was seen while one program ran, and afterwards."""

    source: str
    trace: Mapping[str, Any] | None = None
    lost: str = ""
    """Our side's failure in place of a trace."""
    seconds: float = 0.0
    lead: float = 0.0
    """What a short program took just before: an overrun begins after as much, since no program runs in that time."""
    host: str = ""
    """How the host process failed."""
    stderr: str = ""
    stdout: str = ""
    """What came on the host's own streams while the program ran and after it."""
    report: Mapping[str, Any] = field(default_factory=dict)
    """What the host says of itself afterwards."""
    made: int = 0
    odd: Sequence[str] = ()
    changes: Sequence[str] = ()
    reached: Sequence[str] = ()
    left: Sequence[str] = ()
    beside: bool = False
    """Whether a sibling ran beside it."""
    taken: Taken = field(default_factory=Taken)


def findings(seen: Evidence, secrets: Mapping[str, str], limits: Limits = LIMITS) -> tuple[Finding, ...]:
    """All ways in which the program was not contained; empty where it was."""
    found = [*_said(seen, secrets), *_done(seen), *_harmed(seen), *_exceeded(seen, limits)]
    return tuple(found)


def named_paths(source: str) -> dict[str, tuple[object, ...]]:
    """The files that a program's texts name, with what they are now, so that a change can be seen.

    Only absolute paths: others are files of the working folder, which is watched as a whole.
    """
    try:
        nodes = list(ast.walk(parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    texts = (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))
    paths = {text.decode("utf-8", "replace") if isinstance(text, bytes) else text for text in texts}
    own = ("/proc", "/dev", "/sys")  # they change by themselves
    return {
        path: fingerprint(Path(path))
        for path in paths
        if path.startswith("/") and "\0" not in path and "\n" not in path and not path.startswith(own)
    }


def _said(seen: Evidence, secrets: Mapping[str, str]) -> list[Finding]:
    trace = seen.trace or {}
    failure = trace.get("failure") or {}
    words = [str(trace.get("stdout", "")), *strings(trace.get("value"))]
    words += [text for call in trace.get("calls", ()) for text in strings([call["tool"], call["arguments"]])]
    if failure.get("kind") == "exception":  # the others are our sentences, and may quote the program's source
        words.append(failure["message"])
    found = [Finding("printed", "ESCAPED")] if any(says_escaped(text, seen.source) for text in words) else []
    report = [seen.report.get("sibling"), seen.report.get("changed"), _new_lines(seen.report.get("probe"))]
    everything = [*strings(trace), seen.lost, seen.host, seen.stderr, seen.stdout, *strings(report)]
    return found + [Finding("secret", f"the secret of {kind} came out") for kind in leaked(everything, secrets)]


def _done(seen: Evidence) -> list[Finding]:
    found = [Finding("file", change) for change in seen.changes]
    found += [Finding("listener", f"{name} was reached") for name in seen.reached]
    if seen.report.get("wiped"):
        found.append(Finding("undeclared", f"admin_wipe ran {seen.report['wiped']} times"))
    return found + [Finding("argument", text) for text in list(seen.odd)[:3]]


def _harmed(seen: Evidence) -> list[Finding]:
    found = []
    if seen.host:
        found.append(Finding("forged" if "somebody else" in seen.host else "host", seen.host))
    if seen.lost:
        found.append(Finding("lost", seen.lost))
    for name, text in (("stderr", seen.stderr), ("stdout", seen.stdout)):
        if text:
            found.append(Finding("stderr", f"{len(text):,} characters on the host's {name}: {text[:80]!r}"))
    changed = seen.report.get("changed") or []
    if changed:
        more = f", and {len(changed) - 3} more" if len(changed) > 3 else ""
        found.append(Finding("state", ", ".join(changed[:3]) + more))
    if seen.report.get("sibling"):
        found.append(Finding("sibling", str(seen.report["sibling"])))
    if seen.report.get("probe"):
        before, after = seen.report["probe"]
        found.append(Finding("probe", _first_difference(before, after)))
    return found


def _exceeded(seen: Evidence, limits: Limits) -> list[Finding]:
    found = []
    over = seen.seconds - limits.wall_seconds - min(seen.lead, LONGEST_LEAD_SECONDS)
    if over > OVERRUN_SECONDS:
        found.append(Finding("wall", f"{over:.2f} s beyond {limits.wall_seconds:g} s"))
    grown = seen.taken.grown_bytes
    if grown > limits.memory_bytes + MEMORY_MARGIN_BYTES:
        found.append(Finding("memory", f"{grown >> 20} MiB where {limits.memory_bytes >> 20} MiB are allowed"))
    if seen.taken.runaway:
        found.append(Finding("processes", seen.taken.runaway))
    elif seen.taken.peak_processes - seen.taken.first_processes > PROCESSES:
        found.append(Finding("processes", f"{seen.taken.peak_processes - seen.taken.first_processes} more processes"))
    trace = seen.trace or {}
    calls = max(seen.made, len(trace.get("calls", ())))
    if calls > limits.tool_calls:
        found.append(Finding("calls", f"{calls} calls where {limits.tool_calls} are allowed"))
    size = len(str(trace.get("stdout", "")).encode("utf-8", "replace"))
    if size > limits.output_bytes:
        found.append(Finding("output", f"{size:,} bytes kept where {limits.output_bytes:,} are allowed"))
    return found + [Finding("left", text) for text in seen.left]


def _new_lines(probe: Sequence[Mapping[str, Any]] | None) -> list[str]:
    """What our probe said after the program that it did not say before."""
    if not probe:
        return []
    before, after = map(_lines, probe)
    return [line for line in after if line not in before]


def _lines(said: Mapping[str, Any]) -> list[str]:
    return "\n".join(strings(said)).splitlines()


def _first_difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    one, other = _lines(before), _lines(after)
    for left, right in zip(one, other, strict=False):
        if left != right:
            return f"{left[:100]!r} became {right[:100]!r}"
    return f"{len(one)} lines became {len(other)}"
