"""The conformance checks, the ordinary programs and the sample programs on the zygote."""

from __future__ import annotations

import contextlib
import io
import json
from dataclasses import asdict, replace
from typing import Any

import pytest

from benchmarks.sandbox import shop
from benchmarks.shared_data import folder
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.trace import Pins, Trace
from sandbox.zygote import unavailable
from tests.labs import sandbox_checks
from tests.labs.paths import DATA

SNIPPETS = sorted(folder("snippets").glob("*.py"))
PROGRAMS = sorted((DATA / "programs").glob("*.py"))
pytestmark = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))
NEW_YEAR = Pins(seed=1, clock=1_357_000_000.0)


@pytest.mark.parametrize("check", sandbox_checks.CHECKS, ids=lambda check: check.__name__)
def test_conforms(sandbox, check):
    check(sandbox)


@pytest.mark.data("snippets")
@pytest.mark.parametrize("path", SNIPPETS or [folder("snippets")], ids=lambda path: path.stem)
def test_ordinary_program_prints_what_cpython_prints(sandbox, path):
    source = path.read_text(encoding="utf-8")
    tools = {
        alias: lambda tool=tool, **arguments: tool.unwrap(tool.call(arguments))
        for alias, tool in shop.shop().items()
    }
    expected = io.StringIO()
    with contextlib.redirect_stdout(expected):
        exec(compile(source, str(path), "exec"), {"__name__": "__main__", **tools})
    trace = shop.run(sandbox, source)
    assert trace.failure is None
    assert trace.stdout == expected.getvalue() != ""


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_sample_program_leaves_its_trace(sandbox, path):
    journal = Journal(pins=NEW_YEAR)
    trace = sandbox.run(
        path.read_text(encoding="utf-8"), shop.shop(), limits=Limits(), journal=journal
    )
    expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert _timeless(trace) == expected


def _timeless(trace: Trace) -> Any:
    """The trace as JSON, without times, and without columns and hints, which not every backend has."""
    calls = tuple(replace(call, started=0.0, seconds=0.0) for call in trace.calls)
    document = json.loads(json.dumps(asdict(replace(trace, calls=calls, seconds=0.0))))
    if (failure := document["failure"]) is not None:
        del failure["hints"]
        failure["frames"] = [
            {name: frame[name] for name in ("line", "function")} for frame in failure["frames"]
        ]
    return document
