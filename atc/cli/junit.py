"""Results of `atc runs test` as JUnit XML, which GitHub, GitLab and Jenkins read."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

from atc.core.quoting import escape_hidden

_HEAD = '<?xml version="1.0" encoding="utf-8"?>\n'
_SUITE = "atc runs test"
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""A character that XML 1.0 does not allow, not even as a reference."""
_ELEMENTS = {"failed": "failure", "error": "error"}
"""The element of a test case that did not pass, keyed by its state."""


def junit_xml(results: Sequence[Mapping[str, Any]], *, began: float, seconds: float) -> str:
    """Return the results as a JUnit document with one test case for each recording.

    `results` are the objects that `atc runs test --json` prints. `began` is the Unix time of the
    start, `seconds` the duration of the whole test. A recording that cannot be read or run is an
    `error`, one that gave another answer a `failure`.
    """
    states = [one["state"] for one in results]
    counts = {
        "tests": str(len(results)),
        "failures": str(states.count("failed")),
        "errors": str(states.count("error")),
        "skipped": "0",
        "time": f"{seconds:.3f}",
    }
    root = ET.Element("testsuites", {"name": _SUITE, **counts})
    start = datetime.fromtimestamp(began, UTC).replace(tzinfo=None).isoformat(timespec="seconds")
    suite = ET.SubElement(root, "testsuite", {"name": _SUITE, **counts, "timestamp": start})
    for result in results:
        _add_case(suite, result)
    ET.indent(root)
    return f"{_HEAD}{ET.tostring(root, encoding='unicode')}\n"


def _add_case(suite: ET.Element, result: Mapping[str, Any]) -> None:
    """Add the test case of one recording: its name is the file, its class the folder."""
    file = _legal(result["file"])
    path = PurePath(file)
    attributes = {
        "classname": _legal(".".join(part for part in path.parent.parts if part != path.anchor)),
        "name": path.name,
        "file": file,
        "time": f"{result.get('seconds', 0.0):.3f}",
    }
    attributes["classname"] = attributes["classname"] or _SUITE
    case = ET.SubElement(suite, "testcase", attributes)
    if result["state"] not in _ELEMENTS:
        return
    problem = _legal(result["problem"])
    kind = "different" if result["state"] == "failed" else "unusable"
    element = ET.SubElement(case, _ELEMENTS[result["state"]], {"message": problem, "type": kind})
    element.text = problem


def _legal(text: str) -> str:
    """Return a text in which characters that control a terminal or break XML are escaped."""
    return _ILLEGAL.sub(lambda match: f"\\u{ord(match[0]):04x}", escape_hidden(text))
