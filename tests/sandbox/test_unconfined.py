"""The backend without a boundary: programs run as everywhere else, in a process that ends with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import local
from benchmarks.sandbox.shop import run
from sandbox import workers
from sandbox.unconfined import WARNING, UnconfinedSandbox
from tests.labs import sandbox_checks

REFUSED = {  # by the policy, for what the check imports
    "runs_leave_nothing_to_each_other": "builtins",
    "no_environment_reaches_a_program": "os",
}
CHECKS = [check for check in sandbox_checks.CHECKS if check.__name__ not in REFUSED]


@pytest.fixture(scope="module")
def sandbox():
    with UnconfinedSandbox() as unconfined:
        unconfined.warm()
        yield unconfined


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_conforms(sandbox, check):
    check(sandbox)


def test_it_says_once_that_it_is_no_boundary(capsys):
    with UnconfinedSandbox() as own:
        run(own, "1")
        run(own, "2")
        assert (own.boundary, own.name) == (False, "unconfined")
    said = capsys.readouterr().err
    assert said == f"warning: {WARNING}\n"
    assert "no boundary" in said
    assert "zygote" in said


def test_ended_programs_leave_nothing():
    ignores = "while True:\n    try:\n        while True: pass\n    except BaseException: pass"
    workers._finish()  # what an earlier test's sandbox still forks ahead would count
    descriptors, before = len(list(Path("/proc/self/fd").iterdir())), local.existing_processes()
    with UnconfinedSandbox() as sandbox:
        for source in (
            "1",
            "1 / 0",
            "x = = 1",
            "import os",
            "get_item(id=-1)",
            ignores,
            "import time\ntime.sleep(60)",
        ):
            trace = run(sandbox, source, wall_seconds=0.5)
    assert trace.failure.type == "wall_seconds"
    assert len(list(Path("/proc/self/fd").iterdir())) <= descriptors
    assert local.descendants(before) == set()
