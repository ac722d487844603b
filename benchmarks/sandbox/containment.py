"""Runs hostile programs, each with its own host process and canaries, and judges the outcome."""

import ast
import json
import os
import secrets
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import click

from benchmarks import local
from benchmarks.sandbox.canaries import (
    Canaries,
    environment,
    file_state,
    find_leaked_secrets,
    says_escaped,
    strings,
)
from protocols.python_source import parse_python
from sandbox.base import SandboxUnavailable
from sandbox.choose import NAMES
from sandbox.docker.engine import LABEL, connect
from sandbox.limits import Limits

LIMITS = Limits(
    wall_seconds=2.0, cpu_seconds=1.0, memory_bytes=256 * 2**20, output_bytes=2**20, tool_calls=20
)
OVERRUN_SECONDS = 0.2
LONGEST_LEAD_SECONDS = 1.0
MEMORY_MARGIN_BYTES = (
    96 * 2**20
)  # of output and calls that the host holds, a spare child, pages counted twice
PROCESSES = 64
RUNAWAY_BYTES = 1536 * 2**20
RUNAWAY_PROCESSES = 256
START_SECONDS = 120.0
GRACE_SECONDS = 8.0
REPORT_SECONDS = 30.0
SETTLE_SECONDS = 2.0
SAMPLE_SECONDS = 0.02
VERDICTS = {
    "ESCAPED": ("printed", "secret", "file", "listener", "undeclared", "argument", "forged"),
    "HARMED": ("host", "stderr", "state", "sibling", "probe", "lost"),
    "EXCEEDED": ("wall", "memory", "calls", "output", "processes", "left"),
}
"""Verdict → the kinds of findings that lead to it. The first verdict that applies is given."""


class SampleProgram(NamedTuple):
    """One file of a folder, named without `.py`."""

    name: str
    source: str

    @property
    def category(self) -> str:
        """The text of its line `# category: …`; empty if it has no such line."""
        lines = (
            line.partition("category:") for line in self.source.splitlines() if line.startswith("#")
        )
        return next((said.strip() for _, found, said in lines if found), "")


@dataclass
class RunEvidence:
    """Observations while one program ran, and afterwards.

    `lead` is the time of a short program just before: start-up time that is not counted as an
    overrun. `output` is what appeared on the host's own stdout and stderr during and after the run.
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


class HostEnded(Exception):
    """The host process ended, or did not answer in time. The message says which."""


def measure_containment(
    programs: Sequence[SampleProgram], backend: str, without: Sequence[str] = ()
) -> dict[str, Any]:
    """Run each program on a fresh sandbox in a fresh process, and return the report.

    Verdicts are printed to stderr as they come.
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
    """Run one program and return the verdict. Processes that it leaves behind are killed."""
    known = local.existing_processes()
    with Canaries() as canaries:
        seen = RunEvidence(canaries.fill(program.source))
        host = _Host(canaries, seen.source, backend, without)
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
        found = [*_escapes(seen, canaries.secrets), *_harms(seen), *_excesses(seen)]
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
    verdict["verdict"] = next(
        (name for name, those in VERDICTS.items() if kinds & set(those)), "contained"
    )
    return verdict | {"reason": "; ".join(f"{kind}: {text}" for kind, text in found)}


class _Host:
    """The host process, with secrets in its environment, and the channel to it."""

    def __init__(
        self, canaries: Canaries, source: str, backend: str, without: Sequence[str]
    ) -> None:
        self._nonce = secrets.token_hex(16)
        self._root = canaries.root
        self._received = b""
        self._channel, theirs = socket.socketpair()
        # Real sandboxes run as they are. Others get a PID namespace, so that their programs cannot
        # kill processes of this machine.
        isolate = backend == "unconfined" or backend not in NAMES
        command = ["unshare", "--pid", "--fork", "--kill-child"] if isolate else []
        command += [
            sys.executable,
            "-P",
            "-s",
            "-B",
            "-m",
            "benchmarks.sandbox.host",
            str(theirs.fileno()),
        ]
        passed = ("PATH", "LANG", "XDG_RUNTIME_DIR", "ATC_DOCKER_BASE", "DOCKER_HOST")
        variables = {name: os.environ[name] for name in passed if name in os.environ}
        variables |= environment(canaries.secrets["environment"])
        variables["PYTHONPATH"] = os.pathsep.join(
            filter(None, [str(local.ROOT), os.environ.get("PYTHONPATH")])
        )
        variables |= {"HOME": str(canaries.home), "TMPDIR": str(canaries.temporary)}
        with (
            theirs,
            (self._root / "stdout").open("wb") as out,
            (self._root / "stderr").open("wb") as err,
        ):
            pipes: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": err}
            place: dict[str, Any] = {
                "cwd": canaries.work,
                "env": variables,
                "pass_fds": [theirs.fileno()],
            }
            # A session of its own: a program that signals its process group must not end us.
            self.process = subprocess.Popen(command, start_new_session=True, **pipes, **place)
        known = {
            "memory_secret": canaries.secrets["memory"],
            "admin_secret": canaries.secrets["admin"],
        }
        order = {
            "source": source,
            "backend": backend,
            "without": list(without),
            "limits": asdict(LIMITS),
        }
        self.tell({"nonce": self._nonce, "isolate": isolate, **order, **known})

    def tell(self, message: Mapping[str, Any]) -> None:
        """Send one message. `hear` detects if the host has ended."""
        with suppress(OSError):
            self._channel.sendall((json.dumps(message) + "\n").encode())

    def hear(self, seconds: float) -> dict[str, Any]:
        """Return the host's next message.

        Raises:
            HostEnded: none came in time, or one that is not the host's.
        """
        until = time.monotonic() + seconds
        while b"\n" not in self._received:
            self._channel.settimeout(max(until - time.monotonic(), 0.001))
            try:
                data = self._channel.recv(1 << 20)
            except TimeoutError:
                raise HostEnded(
                    f"the host process said nothing for {seconds:.1f} s: it hangs"
                ) from None
            except OSError:
                data = b""
            if not data:
                raise HostEnded(f"the host process died ({self.describe_end(2.0)})")
            self._received += data
        line, _, self._received = self._received.partition(b"\n")
        try:
            message: dict[str, Any] = json.loads(line)
            genuine = message.pop("nonce") == self._nonce
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
            genuine = False
        if not genuine:
            raise HostEnded("somebody else than the host wrote to its descriptor")
        return message

    def describe_end(self, seconds: float) -> str:
        """Describe how the host ended, or that it did not end in time."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return "it does not end"
        return f"exit code {code}" if code >= 0 else f"signal {-code}"

    def output(self) -> list[str]:
        return [(self._root / name).read_text("utf-8", "replace") for name in ("stdout", "stderr")]

    def close(self) -> None:
        self._channel.close()
        self.process.kill()
        self.process.wait()


def _conduct(seen: RunEvidence, host: _Host, canaries: Canaries, known: set[int]) -> bool:
    """Let the host run the program, and record evidence before, during and after the run.

    Return True if a sibling program ran beside it.
    """
    paths = _named_paths(seen.source)
    try:
        greeting = host.hear(START_SECONDS)
    except HostEnded as ended:
        raise SandboxUnavailable(
            f"no program was run: {ended}; {host.output()[1][-300:]}"
        ) from ended
    if "unavailable" in greeting:
        raise SandboxUnavailable(greeting["unavailable"])
    seen.lead = greeting["lead"]
    said = host.output()
    done = threading.Event()
    before = _wait_until_settled(known, RUNAWAY_PROCESSES)
    held = sum(
        map(local.resident_bytes, before)
    )  # by now: on a busy machine the first sample may come late
    watch = threading.Thread(
        target=_watch, args=(seen, known, done, held, len(before)), daemon=True
    )
    watch.start()
    try:
        began = time.monotonic()
        host.tell({"go": True})
        try:
            host.hear(LIMITS.wall_seconds + GRACE_SECONDS)
        finally:
            seen.seconds = time.monotonic() - began
        ended_as = host.hear(REPORT_SECONDS)
        seen.trace = ended_as["trace"] or {}
        seen.lost = ended_as["lost"]
        seen.made = ended_as["made"]
        seen.odd = ended_as["odd"]
        after = _wait_until_settled(known, len(before))
        if len(after) > len(before):
            new = local.name_processes(after - before)
            seen.left = [f"{len(after) - len(before)} more processes than before the run: {new}"]
        host.tell({"look": True})
        seen.report = host.hear(REPORT_SECONDS)
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
    seen.output = [now[len(was) :] for was, now in zip(said, host.output(), strict=True)]
    return bool(greeting["sibling"])


def _wait_until_settled(known: set[int], most: int) -> set[int]:
    """Return the host's processes, once their number is stable and not above `most`."""
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
    seen: RunEvidence, known: set[int], done: threading.Event, held_before: int, before: int
) -> None:
    """Record the growth of memory and processes; kill all if it is unbounded."""
    while not done.wait(SAMPLE_SECONDS):
        pids = local.descendants(known)
        held = sum(map(local.resident_bytes, pids))
        seen.grown_bytes = max(seen.grown_bytes, held - held_before)
        seen.more_processes = max(seen.more_processes, len(pids) - before)
        if seen.grown_bytes > RUNAWAY_BYTES or len(pids) > RUNAWAY_PROCESSES:
            seen.runaway = f"{held >> 20} MiB, {len(pids)} processes: all were killed"
            local.kill_all(known)
            return


def _named_paths(source: str) -> dict[str, tuple[object, ...]]:
    """Return the absolute paths in a program's strings with the present state of their files."""
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


def _escapes(seen: RunEvidence, known: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    trace = seen.trace
    report = seen.report
    failure = trace.get("failure") or {}
    words = [str(trace.get("stdout", "")), *strings(trace.get("value"))]
    words += [
        text
        for call in trace.get("calls", ())
        for text in strings([call["tool"], call["arguments"]])
    ]
    if (
        failure.get("kind") == "exception"
    ):  # the others are our sentences, and may quote the program's source
        words.append(failure["message"])
    if any(says_escaped(text, seen.source) for text in words):
        yield "printed", "ESCAPED"
    before, after = ["\n".join(strings(said)) for said in report.get("probe") or ("", "")]
    new = [line for line in after.splitlines() if line not in before.splitlines()]
    everything = [*strings(trace), seen.lost, seen.host, *seen.output, *new]
    everything += strings([report.get("sibling"), report.get("changed")])
    yield from (
        ("secret", f"the secret of {kind} came out")
        for kind in find_leaked_secrets(everything, known)
    )
    yield from (("file", change) for change in seen.changes)
    yield from (("listener", f"{name} was reached") for name in seen.reached)
    if report.get("wiped"):
        yield "undeclared", f"admin_wipe ran {report['wiped']} times"
    yield from (("argument", text) for text in seen.odd)


def _harms(seen: RunEvidence) -> Iterator[tuple[str, str]]:
    report = seen.report
    if seen.host:
        yield "forged" if "somebody else" in seen.host else "host", seen.host
    if seen.lost:
        yield "lost", seen.lost
    for name, text in zip(("stdout", "stderr"), seen.output, strict=True):
        if text:
            yield "stderr", f"{len(text):,} characters on the host's {name}: {text[:80]!r}"
    if changed := report.get("changed"):
        yield (
            "state",
            ", ".join(changed[:3]) + (f", and {len(changed) - 3} more" if changed[3:] else ""),
        )
    if report.get("sibling"):
        yield "sibling", str(report["sibling"])
    if report.get("probe"):
        one, other = ("\n".join(strings(said)).splitlines() for said in report["probe"])
        pairs = (
            f"{a[:100]!r} became {b[:100]!r}" for a, b in zip(one, other, strict=False) if a != b
        )
        yield "probe", next(pairs, f"{len(one)} lines became {len(other)}")


def _excesses(seen: RunEvidence) -> Iterator[tuple[str, str]]:
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
