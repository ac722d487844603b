"""Checks: what a program may do, and what is told of its end."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from sandbox.base import Sandbox
from sandbox.conformance.shop import failure_of, run
from sandbox.journal import Journal
from sandbox.trace import Pins


def prints_and_gives_a_value(sandbox: Sandbox) -> None:
    """Output and the last expression's value are in the trace."""
    trace = run(sandbox, "print('one', 2)\nprint('zwei é 🛫')\nx = 3\n{'x': (x, x + 1)}")
    assert (trace.stdout, trace.value, trace.failure) == ("one 2\nzwei é 🛫\n", {"x": [3, 4]}, None), trace
    assert trace.backend == sandbox.name


def an_empty_program_is_fine(sandbox: Sandbox) -> None:
    """Nothing in, nothing out."""
    trace = run(sandbox, "")
    assert (trace.calls, trace.stdout, trace.value, trace.failure) == ((), "", None, None), trace


def an_exception_is_the_programs(sandbox: Sandbox) -> None:
    """Type, message and frames; what was called and printed before is kept."""
    trace = run(sandbox, "x = get_item(id=3)\nprint('before')\nx['nolan']")
    failure = failure_of(trace)
    assert (failure.kind, failure.type, failure.message, failure.line) == ("exception", "KeyError", "'nolan'", 3)
    assert trace.stdout == "before\n"
    assert len(trace.calls) == 1


def a_syntax_error_is_the_programs(sandbox: Sandbox) -> None:
    """Nothing runs, and the line is named."""
    trace = run(sandbox, "get_item(id=1)\nx = = 2\n")
    failure = failure_of(trace)
    assert (failure.kind, failure.line, trace.calls) == ("syntax", 2, ()), trace


def a_run_can_be_repeated(sandbox: Sandbox) -> None:
    """Clock, chance, identifiers and the order of sets are pinned, the same in each execution."""
    source = (
        "import random, uuid, time, datetime, os, secrets\n"
        "print(random.random(), random.Random().random(), uuid.uuid4(), uuid.uuid1(), secrets.token_hex(4))\n"
        "print(time.time(), datetime.datetime.now(), datetime.date.today(), list({'a', 'b', 'c', 'd'}), time.tzname)"
    )
    journal = Journal(pins=Pins(seed=7, clock=1_357_000_000.0))
    first, again = run(sandbox, source, journal=journal), run(sandbox, source, journal=journal)
    assert first.stdout == again.stdout
    assert run(sandbox, source).stdout == run(sandbox, source).stdout, "with the default pins too"
    assert "2013-01-01" in first.stdout, first
    assert first.pins == journal.pins
    other = run(sandbox, source, journal=Journal(pins=Pins(seed=8, clock=1_357_000_000.0)))
    assert other.stdout != first.stdout


def runs_leave_nothing_to_each_other(sandbox: Sandbox) -> None:
    """What one program changes, the next does not see."""
    run(sandbox, "import builtins, json, math\nbuiltins.left = math.pi = 3\njson.loads = None\nleft = 1")
    trace = run(sandbox, "import json, math\nprint('left' in dir(__builtins__), math.pi > 3.1, json.loads('[1]'))")
    assert trace.stdout == "False True [1]\n", trace


def runs_may_overlap(sandbox: Sandbox) -> None:
    """Each has its own calls, output and verdict."""
    source = "x = get_item(id={0})\nprint(x['id'], [get_item(id=n)['id'] for n in range(5)])"
    with ThreadPoolExecutor(4) as pool:
        traces = list(pool.map(lambda n: run(sandbox, source.format(n)), range(8)))
    assert [trace.stdout for trace in traces] == [f"{n} [0, 1, 2, 3, 4]\n" for n in range(8)], traces
    assert {len(trace.calls) for trace in traces} == {6}


def no_environment_reaches_a_program(sandbox: Sandbox) -> None:
    """Nothing of the host's environment, where credentials are."""
    trace = run(sandbox, "import os\nprint(sorted(set(os.environ) - {'LANG', 'LC_CTYPE', 'PYTHONHASHSEED', 'TZ'}))")
    assert trace.stdout == "[]\n" or trace.failure is not None, trace  # or it has no `os` at all


def input_is_refused(sandbox: Sandbox) -> None:
    """Nobody is there to answer."""
    failure = failure_of(run(sandbox, "input('name? ')"))
    assert "input()" in failure.message, failure


CHECKS = (
    prints_and_gives_a_value,
    an_empty_program_is_fine,
    an_exception_is_the_programs,
    a_syntax_error_is_the_programs,
    a_run_can_be_repeated,
    runs_leave_nothing_to_each_other,
    runs_may_overlap,
    no_environment_reaches_a_program,
    input_is_refused,
)
