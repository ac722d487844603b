"""Hostile programs on every sandbox that is a boundary, one sandbox for all of them.

`python -m benchmarks.sandbox --hostile DIR` looks closer: each in a host process of its own.
"""

from __future__ import annotations

import os
import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict

import pytest

from benchmarks.sandbox.canaries import (
    Canaries,
    environment,
    find_leaked_secrets,
    says_escaped,
    strings,
)
from benchmarks.sandbox.containment import SampleProgram
from benchmarks.sandbox.shop import run, shop
from benchmarks.shared_data import folder
from protocols.toolbox import Toolbox
from sandbox.choose import availability, open_sandbox
from sandbox.testing import make_tool

PROGRAMS = sorted(folder("redteam").glob("*.py"))
API_KEY = ""  # a secret in the host's memory, where programs look for it

pytestmark = pytest.mark.data("redteam")

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


NIGHTLY = [
    pytest.param(name, marks=pytest.mark.nightly)
    for name in ("zygote without namespaces", "docker")
]


@pytest.fixture(scope="module", params=["zygote", "monty", *NIGHTLY])
def sandbox(request, canaries):
    name, _, without = request.param.partition(" without ")
    if reason := availability(name).reason:
        pytest.skip(reason)
    opened = open_sandbox(name, without=[without] if without else ())
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def before(sandbox):
    """What the probe prints, and the state of chance, before any of the programs."""
    return run(sandbox, PROBE).stdout, random.getstate()


@pytest.fixture(scope="module")
def runs(sandbox, canaries, before):
    """By program: its source, its trace, the most that it may take, and what of the canaries had changed after it."""
    wiped = []
    undeclared = make_tool("admin_wipe", {}, lambda: wiped.append(1), writes=True)
    tools = Toolbox([*shop().values()])
    assert undeclared.alias not in tools

    def attempt(path):
        source = canaries.fill(path.read_text(encoding="utf-8"))
        # What only uses up time does so in half a second as well; other programs have time to do their work.
        wall = 0.5 if SampleProgram(path.stem, source).category == "cpu" else 1.0
        trace = run(
            sandbox,
            source,
            tools,
            wall_seconds=wall,
            cpu_seconds=1.0,
            memory_bytes=256 * 2**20,
            tool_calls=20,
        )
        return source, trace, wall, [*canaries.changes(), *canaries.reached, *wiped]

    with ThreadPoolExecutor(4) as pool:
        return dict(zip(PROGRAMS, pool.map(attempt, PROGRAMS), strict=True))


def harm(source, trace, wall, changes, secrets):
    """What one program did that it should not have."""
    told = [
        *changes,
        *find_leaked_secrets(list(strings({**asdict(trace), "backend": ""})), secrets),
    ]
    told += [text for text in (trace.stdout, str(trace.value)) if says_escaped(text, source)]
    if len(trace.calls) > 20:
        told.append(f"{len(trace.calls)} calls")
    # Twelve of them may run at once on two cores.
    if (
        trace.failure is not None
        and trace.failure.type == "wall_seconds"
        and trace.seconds >= wall + 4.0
    ):
        told.append(f"{trace.seconds:.1f} s instead of {wall} s")
    return told


def test_every_program_is_contained(runs, canaries):
    done = {path.stem: harm(*ran, canaries.secrets) for path, ran in runs.items()}
    assert {name: told for name, told in done.items() if told} == {}


def test_the_next_program_finds_everything_as_it_was(sandbox, before, runs, canaries):
    stdout, chance = before
    assert "item 3" in stdout
    assert run(sandbox, PROBE).stdout == stdout
    assert random.getstate() == chance
    assert (canaries.changes(), list(canaries.reached)) == ([], [])
