"""Code that reads one response: with the response alone, in the sandbox, beside the run."""

from __future__ import annotations

import pytest

from atc.strategies.programs.conclusion import conclusion
from atc.strategies.turns.extracting import extracted
from atc.types import Program
from protocols.toolbox import Toolbox
from sandbox.zygote import ZygoteSandbox
from tests.acting_lab import Lab, World

DATA = {"people": [{"name": "Ann", "age": 41}, {"name": "Bo", "age": None}], "note": "a\"'''\n\\"}


@pytest.fixture(scope="module")
def sandbox():
    with ZygoteSandbox() as running:
        yield running


@pytest.fixture
def read(sandbox):
    """What programs print of `DATA`, beside a run that does nothing else."""
    lab = Lab(World(), sandbox)

    def read(*sources, **settings):
        found = []

        def solve(task, parts):
            meter = parts.meter()
            found.extend(extracted(Program(source), DATA, parts, meter) for source in sources)
            assert (parts.journal.execution, parts.journal.completed()) == (-1, [])
            return conclusion(task, [], Toolbox(), parts, meter, answer=None, limit=None)

        solution, _ = lab(solve, **settings)
        assert (solution.attempts, lab.world.sent) == ((), [])
        return found

    return read


def test_it_is_what_the_program_prints(read) -> None:
    assert read(
        "print(*[person['name'] for person in data['people']])",
        "print(repr(data['note']))\n",
        "import json\nprint(json.dumps(data, sort_keys=True) == json.dumps(data, sort_keys=True))",
    ) == ["Ann Bo", repr(DATA["note"]), "True"]


def test_what_fails_or_prints_nothing_gives_nothing(read) -> None:
    fails, half = "print(data['persons'])", "print('so far')\nprint(1 // 0)"
    assert read(fails, half, "data['people']", "print(' ')", "print(") == [None] * 5


def test_it_can_call_no_tool(read) -> None:
    assert read("print(list_people())", "print(response())", "add_mark(person='p0')\nprint('done')") == [None] * 3


def test_it_gets_no_more_than_the_run_has_left(read) -> None:
    """A second, where less is left."""
    assert read("while True: pass", max_seconds=0.001) == [None]
