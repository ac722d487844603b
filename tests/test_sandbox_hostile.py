"""Hostile programs on every sandbox that is a boundary, one sandbox for all of them.

`python -m benchmarks.sandbox --hostile DIR` looks closer: each in a host process of its own.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from benchmarks.sandbox.canaries import Canaries, environment, leaked, says_escaped, strings
from benchmarks.sandbox.containment import Program
from protocols.toolbox import Toolbox
from sandbox.choose import availability, open_sandbox
from sandbox.conformance import make_tool, run, shop
from sandbox.trace import trace_to_json

FOLDER = Path(__file__).resolve().parent.parent.parent / "shared" / "redteam"
PROGRAMS = sorted(FOLDER.glob("*.py"))
API_KEY = ""  # a secret in the host's memory, where programs look for it

pytestmark = pytest.mark.skipif(not PROGRAMS, reason="../shared/redteam is not here")

PROBE = "import json, random, math\nprint(random.random(), json.dumps([1]), math.pi, get_item(id=3)['name'])"


@pytest.fixture(scope="module")
def canaries():
    with Canaries() as placed:
        known = environment(placed.secrets["environment"])
        before = {name: os.environ.get(name) for name in known}
        os.environ.update(known)
        globals()["API_KEY"] = placed.secrets["memory"]
        yield placed
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@pytest.fixture(scope="module", params=["zygote", "zygote without namespaces", "monty", "docker"])
def sandbox(request, canaries):
    name, _, without = request.param.partition(" without ")
    if reason := availability(name).reason:
        pytest.skip(reason)
    opened = open_sandbox(name, without=[without] if without else ())
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def probed(sandbox):
    return run(sandbox, PROBE).stdout


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_it_is_contained(sandbox, canaries, probed, path):
    wiped, chance = [], random.getstate()
    tools = Toolbox([*shop().values()])
    undeclared = make_tool("admin_wipe", {}, lambda: wiped.append(1), writes=True)
    source = canaries.fill(path.read_text(encoding="utf-8"))
    # What only uses up time does so in half a second as well; other programs have time to do their work.
    wall = 0.5 if Program(path.stem, source).category == "cpu" else 1.0
    trace = run(sandbox, source, tools, wall_seconds=wall, cpu_seconds=1.0, memory_bytes=256 * 2**20, tool_calls=20)
    said = list(strings({**trace_to_json(trace), "backend": ""}))
    assert leaked(said, canaries.secrets) == []
    assert not any(says_escaped(text, source) for text in (trace.stdout, str(trace.value)))
    assert (canaries.changes(), list(canaries.reached)) == ([], [])
    assert (wiped, undeclared.protocol.name in tools, len(trace.calls) <= 20) == ([], False, True)
    assert random.getstate() == chance
    assert trace.failure is None or trace.failure.type != "wall_seconds" or trace.seconds < wall + 1.0


def test_the_next_program_finds_everything_as_it_was(sandbox, probed):
    assert "item 3" in probed
    assert run(sandbox, PROBE).stdout == probed
