"""Running recordings again, saying whether each gave the same, also as a JUnit report, which every CI service reads."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Self
from xml.etree import ElementTree

from atc.recording.recording import Recording
from sandbox.base import Sandbox
from sandbox.choose import AUTO, automatic, availability, open_sandbox
from sandbox.errors import Diverged
from sandbox.replay import Redacted, replay


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What came of running a recording again: the same, or where it departed. `seconds` is wall time."""

    recording: Recording
    backend: str
    departure: Diverged | None = None
    seconds: float = 0.0

    @property
    def same(self) -> bool:
        """Whether it made the recorded calls and came to the recorded end."""
        return self.departure is None

    @property
    def kind(self) -> str:
        """`same`, `diverged`, or `redacted`: it needs characters that the recording does not hold."""
        return "same" if self.same else "redacted" if isinstance(self.departure, Redacted) else "diverged"


class Replayer:
    """Runs recordings again, each in the sandbox of `name`, or where that is `auto` in the recorded one if it is here.

    A context manager: sandboxes are opened once, and closed with it. A recording never chooses one that is no boundary.
    """

    def __init__(self, name: str = AUTO) -> None:
        self._name = name
        self._opened: dict[tuple[str, bool], Sandbox] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.close()

    def rerun(self, recording: Recording) -> Verdict:
        """Run the program with its calls answered from the recording.

        Raises:
            SandboxUnavailable: no sandbox of that name is here, or it cannot run this program.
        """
        sandbox = self._sandbox(recording)
        began = time.monotonic()
        departure, backend = None, sandbox.name
        try:
            backend = replay(
                recording.program,
                recording.toolbox,
                recording.trace,
                sandbox=sandbox,
                limits=recording.limits,
                secrets=recording.secrets,
            ).backend
        except Diverged as error:
            departure = error
        return Verdict(recording=recording, backend=backend, departure=departure, seconds=time.monotonic() - began)

    def _sandbox(self, recording: Recording) -> Sandbox:
        recorded = recording.trace.backend
        here = self._name == AUTO and recorded in automatic() and availability(recorded).reason is None
        key = (recorded if here else self._name, recording.policy)
        if key not in self._opened:
            sandbox = open_sandbox(key[0], policy=key[1])
            self._stack.callback(sandbox.close)
            self._opened[key] = sandbox
        return self._opened[key]


_NOT_IN_XML = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]|[\\x7f-\\x84\\x86-\\x9f]")
"""What XML 1.0 has no way to write, and the controls that it had better not hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One replay. `problem` is None where it gave the same; `failed` tells a departure from one that could not run."""

    suite: str
    name: str
    file: str
    seconds: float
    problem: str | None = None
    failed: bool = False


def junit(cases: Sequence[Case], *, name: str = "atc runs test") -> str:
    """The report, as XML text. Characters that XML cannot hold become U+FFFD."""
    failures = sum(case.problem is not None and case.failed for case in cases)
    errors = sum(case.problem is not None and not case.failed for case in cases)
    counts = {"tests": str(len(cases)), "failures": str(failures), "errors": str(errors)}
    figures = {"name": name, **counts, "time": f"{sum(case.seconds for case in cases):.3f}"}
    root = ElementTree.Element("testsuites", figures)
    stamp = datetime.now(UTC).replace(microsecond=0, tzinfo=None).isoformat()
    suite = ElementTree.SubElement(root, "testsuite", figures | {"skipped": "0", "timestamp": stamp})
    for case in cases:
        _add(suite, case)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _add(suite: ElementTree.Element, case: Case) -> None:
    about = {"classname": case.suite, "name": case.name, "file": case.file, "time": f"{case.seconds:.3f}"}
    element = ElementTree.SubElement(suite, "testcase", {key: _writable(value) for key, value in about.items()})
    if case.problem is not None:
        kind = {"message": _writable(case.problem), "type": "Diverged" if case.failed else "CannotReplay"}
        problem = ElementTree.SubElement(element, "failure" if case.failed else "error", kind)
        problem.text = _writable(case.problem)


def _writable(text: str) -> str:
    return _NOT_IN_XML.sub("\ufffd", text)
