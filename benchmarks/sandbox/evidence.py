"""The evidence that one program's run leaves, and the verdict on it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.sandbox.canaries import find_leaked_secrets, says_escaped, strings
from sandbox.limits import Limits

LIMITS = Limits(
    wall_seconds=2.0, cpu_seconds=1.0, memory_bytes=256 * 2**20, output_bytes=2**20, tool_calls=20
)
OVERRUN_SECONDS = 0.2
LONGEST_LEAD_SECONDS = 1.0
MEMORY_MARGIN_BYTES = 96 * 2**20
"""Memory that the host may use beyond the program's limit.

It covers output and calls in the host, a spare child process, and pages that are counted twice.
"""
PROCESSES = 64
VERDICTS = {
    "ESCAPED": ("printed", "secret", "file", "listener", "undeclared", "argument", "forged"),
    "HARMED": ("host", "stderr", "state", "sibling", "probe", "lost"),
    "EXCEEDED": ("wall", "memory", "calls", "output", "processes", "left"),
}
"""The kinds of findings that lead to each verdict. The first verdict that applies is chosen."""


@dataclass
class RunEvidence:
    """Observations while one program ran, and afterwards.

    `lead` is the duration in seconds of a short program that ran just before. It is mostly the
    start-up time of the sandbox, and so does not count as an overrun of the time limit. `output` is
    what the host itself wrote to its stdout and stderr during and after the run.
    """

    source: str
    trace: Mapping[str, Any] = field(default_factory=dict)
    lost: str = ""
    seconds: float = 0.0
    lead: float = 0.0
    host: str = ""
    output: Sequence[str] = ("", "")
    report: Mapping[str, Any] = field(default_factory=dict)
    made: int = 0
    odd: Sequence[str] = ()
    changes: Sequence[str] = ()
    reached: Sequence[str] = ()
    left: Sequence[str] = ()
    grown_bytes: int = 0
    more_processes: int = 0
    runaway: str = ""


def iter_findings(seen: RunEvidence, secrets: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the kind and text of each finding.

    `secrets` maps kinds to the secrets that were planted.
    """
    yield from _escapes(seen, secrets)
    yield from _harms(seen)
    yield from _excesses(seen)


def verdict_of(kinds: Collection[str]) -> str:
    """Return the verdict on a program, given the kinds of the findings about its run.

    The kinds are those that `iter_findings` yields, such as "secret" or "memory". The verdict is
    the first key of `VERDICTS` that lists one of them, such as "ESCAPED". If none does, it is
    "contained": the sandbox withstood the program.
    """
    return next((name for name, those in VERDICTS.items() if {*kinds} & {*those}), "contained")


def _escapes(seen: RunEvidence, secrets: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the signs that the program reached something outside its sandbox."""
    trace = seen.trace
    report = seen.report
    if any(says_escaped(text, seen.source) for text in _program_texts(trace)):
        yield "printed", "ESCAPED"
    before, after = ["\n".join(strings(said)) for said in report.get("probe") or ("", "")]
    new = [line for line in after.splitlines() if line not in before.splitlines()]
    everything = [*strings(trace), seen.lost, seen.host, *seen.output, *new]
    everything += strings([report.get("sibling"), report.get("changed")])
    yield from (
        ("secret", f"the secret of {kind} came out")
        for kind in find_leaked_secrets(everything, secrets)
    )
    yield from (("file", change) for change in seen.changes)
    yield from (("listener", f"{name} was reached") for name in seen.reached)
    if report.get("wiped"):
        yield "undeclared", f"admin_wipe ran {report['wiped']} times"
    yield from (("argument", text) for text in seen.odd)


def _program_texts(trace: Mapping[str, Any]) -> Iterator[str]:
    """Yield those texts in a trace that the program wrote, such as its output and arguments."""
    yield str(trace.get("stdout", ""))
    yield from strings(trace.get("value"))
    for call in trace.get("calls", ()):
        yield from strings([call["tool"], call["arguments"]])
    failure = trace.get("failure") or {}
    # The messages of other failures are ours, and may quote the program's source.
    if failure.get("kind") == "exception":
        yield failure["message"]


def _harms(seen: RunEvidence) -> Iterator[tuple[str, str]]:
    """Yield the signs that the program damaged its host or another program."""
    report = seen.report
    if seen.host:
        yield "forged" if "somebody else" in seen.host else "host", seen.host
    if seen.lost:
        yield "lost", seen.lost
    for name, text in zip(("stdout", "stderr"), seen.output, strict=True):
        if text:
            yield "stderr", f"{len(text):,} characters on the host's {name}: {text[:80]!r}"
    if changed := report.get("changed"):
        more = f", and {len(changed) - 3} more" if changed[3:] else ""
        yield "state", ", ".join(changed[:3]) + more
    if report.get("sibling"):
        yield "sibling", str(report["sibling"])
    if report.get("probe"):
        one, other = ("\n".join(strings(said)).splitlines() for said in report["probe"])
        pairs = (
            f"{a[:100]!r} became {b[:100]!r}" for a, b in zip(one, other, strict=False) if a != b
        )
        yield "probe", next(pairs, f"{len(one)} lines became {len(other)}")


def _excesses(seen: RunEvidence) -> Iterator[tuple[str, str]]:
    """Yield the limits that the program exceeded."""
    over = seen.seconds - LIMITS.wall_seconds - min(seen.lead, LONGEST_LEAD_SECONDS)
    if over > OVERRUN_SECONDS:
        yield "wall", f"{over:.2f} s beyond {LIMITS.wall_seconds:g} s"
    if seen.grown_bytes > LIMITS.memory_bytes + MEMORY_MARGIN_BYTES:
        yield (
            "memory",
            f"{seen.grown_bytes >> 20} MiB where {LIMITS.memory_bytes >> 20} MiB are allowed",
        )
    if seen.runaway or seen.more_processes > PROCESSES:
        yield "processes", seen.runaway or f"{seen.more_processes} more processes"
    calls = max(seen.made, len(seen.trace.get("calls", ())))
    if calls > LIMITS.tool_calls:
        yield "calls", f"{calls} calls where {LIMITS.tool_calls} are allowed"
    size = len(str(seen.trace.get("stdout", "")).encode("utf-8", "replace"))
    if size > LIMITS.output_bytes:
        yield "output", f"{size:,} bytes kept where {LIMITS.output_bytes:,} are allowed"
    yield from (("left", text) for text in seen.left)
