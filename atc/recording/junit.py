"""Results of replays as a JUnit report, which every CI service reads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from xml.etree import ElementTree

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
    detail: str = ""


def junit(cases: Sequence[Case], *, name: str = "atc runs test") -> str:
    """The report, as XML text. Characters that XML cannot hold become U+FFFD."""
    failures = sum(case.problem is not None and case.failed for case in cases)
    errors = sum(case.problem is not None and not case.failed for case in cases)
    figures = {
        "name": name,
        "tests": str(len(cases)),
        "failures": str(failures),
        "errors": str(errors),
        "skipped": "0",
        "time": f"{sum(case.seconds for case in cases):.3f}",
    }
    root = ElementTree.Element("testsuites", {key: value for key, value in figures.items() if key != "skipped"})
    stamp = datetime.now(UTC).replace(microsecond=0, tzinfo=None).isoformat()
    suite = ElementTree.SubElement(root, "testsuite", figures | {"timestamp": stamp})
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
        problem.text = _writable("\n".join(filter(None, [case.problem, case.detail])))


def _writable(text: str) -> str:
    return _NOT_IN_XML.sub("\ufffd", text)
