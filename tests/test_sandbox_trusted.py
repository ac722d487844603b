"""The backend in this process: programs run as everywhere else, and the host stays as it was."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import random
import re
import sys
import threading
import time
import warnings
from pathlib import Path
from types import ModuleType

import pytest

from protocols.errors import ToolError
from protocols.toolbox import Toolbox
from sandbox.conformance import make_tool, run, shop
from sandbox.journal import Journal
from sandbox.trace import Pins
from sandbox.trusted import LEFT, WARNING, TrustedSandbox
from tests import sandbox_checks

ROOT = Path(__file__).resolve().parent.parent
PARTS = re.split(r"^#### (\w+)\n", (ROOT / "tests/policy_programs/ordinary.txt").read_text("utf-8"), flags=re.MULTILINE)
SNIPPETS = sorted((ROOT.parent / "shared" / "snippets").glob("*.py"))
ORDINARY = dict(zip(PARTS[1::2], PARTS[2::2], strict=True)) | {path.stem: path.read_text("utf-8") for path in SNIPPETS}
SAMPLES = sorted((ROOT / "tests" / "programs").glob("*.py"))

CANNOT = {
    "processor_time_is_limited": "a thread of a process has no limit of its own: wall time ends it",
    "memory_is_limited": "a thread has no memory of its own",
    "a_run_can_be_repeated": "the check imports os, which the policy refuses",
    "runs_leave_nothing_to_each_other": "the check imports builtins, which the policy refuses",
}
CHECKS = {check.__name__: check for check in sandbox_checks.CHECKS}


@pytest.fixture(scope="module")
def sandbox():
    with TrustedSandbox(lambda text: None) as trusted:
        trusted.warm()
        yield trusted


def threads():
    return [thread for thread in threading.enumerate() if thread.name == "trusted-program"]


def wait_for_threads():
    """Join the threads of programs that are left behind."""
    for thread in threads():
        thread.join(20)
    assert threads() == []


@pytest.mark.parametrize("name", [name for name in CHECKS if name not in CANNOT])
def test_conforms(sandbox, name):
    CHECKS[name](sandbox)


@pytest.mark.parametrize("name", ORDINARY)
def test_an_ordinary_program_prints_what_cpython_prints(sandbox, name, monkeypatch):
    source, main, expected = ORDINARY[name], ModuleType("__main__"), io.StringIO()
    for alias, tool in shop().items():
        setattr(main, alias, lambda tool=tool, **arguments: tool.unwrap(tool.call(arguments)))
    main.ToolError = ToolError
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "__main__", main)
        # The host of the comparison is this process, which must not keep what a program sets up.
        patch.setattr(logging.root, "handlers", [])
        patch.setattr(logging.root, "level", logging.root.level)
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(expected):
            warnings.simplefilter("ignore")
            with contextlib.suppress(SystemExit):
                exec(compile(source, name, "exec", dont_inherit=True), vars(main))
    trace = run(sandbox, source)
    assert trace.failure is None
    assert trace.stdout == expected.getvalue() != ""


def test_it_says_once_that_it_is_no_boundary(capsys):
    with TrustedSandbox() as own:
        run(own, "1")
        run(own, "2")
        assert (own.boundary, own.name) == (False, "trusted")
    said = capsys.readouterr().err
    assert said == f"warning: {WARNING}\n"
    assert "no boundary" in said
    assert "zygote" in said


def test_the_host_stays_as_it_was(sandbox, capfd):
    source = """
        import random, logging, warnings, sys, json, math, traceback
        import decimal, secrets, uuid, statistics, pprint, calendar
        random.seed(12345); random.random(); random.shuffle([1, 2, 3]); secrets.token_hex(); uuid.uuid4()
        statistics.NormalDist().samples(3)
        logging.basicConfig(level=logging.DEBUG); logging.getLogger("x").error("logged")
        warnings.simplefilter("ignore"); warnings.warn("a warning")
        sys.setrecursionlimit(123)
        print("out"); print("err", file=sys.stderr); sys.stdout.write("out\\n")
        pprint.pprint([1]); calendar.prmonth(2024, 2)
        try: 1 / 0
        except ZeroDivisionError: traceback.print_exc()
        [setattr(module, "pi", 3) for module in [math]]
        [setattr(module, "loads", None) for module in [json]]
        print(math.pi, json.loads)
    """
    source = "\n".join(line[8:] for line in source.splitlines())
    handlers, filters, limit = list(logging.root.handlers), list(warnings.filters), sys.getrecursionlimit()
    level, state, out = logging.root.level, random.getstate(), sys.stdout
    trace = run(sandbox, source)
    assert trace.failure is None
    assert trace.stdout.startswith("out\nout\n[1]\n   February 2024\n")
    assert trace.stdout.endswith("3 None\n")
    assert (logging.root.handlers, logging.root.level, "x" in logging.root.manager.loggerDict) == (
        handlers,
        level,
        False,
    )
    assert (warnings.filters, sys.getrecursionlimit(), random.getstate(), sys.stdout) == (filters, limit, state, out)
    assert json.loads("[3]") == [3]
    assert run(sandbox, "import math, json\nprint(math.pi > 3.1, json.loads('[1]'))").stdout == "True [1]\n"
    assert capfd.readouterr() == ("", "")


def test_a_run_can_be_repeated(sandbox):
    source = (
        "import random, uuid, time, datetime, secrets, statistics, asyncio\n"
        "print(random.random(), random.Random().random(), uuid.uuid4(), uuid.uuid1(), secrets.token_hex(4))\n"
        "print(time.time(), datetime.datetime.now(), datetime.date.today(), time.strftime('%c'), time.localtime())\n"
        "time.sleep(0.01)\n"
        "now = datetime.datetime.now\n"
        "print(now(datetime.timezone.utc), type(now()) is datetime.datetime, time.monotonic(), random.getrandbits(8))"
    )
    journal = Journal(pins=Pins(seed=7, clock=1_357_000_000.0))
    first, again = run(sandbox, source, journal=journal), run(sandbox, source, journal=journal)
    assert (first.failure, first.stdout) == (None, again.stdout)
    assert "2013-01-01 00:26:40" in first.stdout
    other = run(sandbox, source, journal=Journal(pins=Pins(seed=8, clock=1_357_000_000.0)))
    assert other.stdout != first.stdout
    east = Journal(pins=Pins(seed=7, clock=1_357_000_000.0, timezone="Asia/Tokyo"))
    assert "2013-01-01 09:26:40" in run(sandbox, source, journal=east).stdout


@pytest.mark.parametrize(
    "body",
    [
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "while True:\n    try: time.sleep(60)\n    except: pass",
        "import asyncio\nasyncio.run(asyncio.sleep(60))",
        "import asyncio\nloop = asyncio.get_event_loop()\nloop.run_until_complete(asyncio.sleep(60))",
        "import asyncio\nasync def f():\n    try: await asyncio.sleep(60)\n    except BaseException: pass\nawait f()",
        "try:\n    while True: pass\nfinally:\n    while True: pass",
        "while True: echo(text='a')",
    ],
)
def test_a_program_is_stopped_in_time_and_its_thread_ends(sandbox, body):
    began = time.monotonic()
    trace = run(sandbox, "import time\nprint('before')\n" + body, wall_seconds=0.2, tool_calls=10**9)
    assert trace.seconds < 1 > time.monotonic() - began - 0.2
    assert (trace.failure.kind, trace.failure.type) == ("limit", "wall_seconds")
    assert trace.stdout in ("", "before\n")  # what is still buffered in a program that is stopped may be lost
    wait_for_threads()


def test_a_program_that_does_not_stop_is_left_without_tools_and_said_so(capsys):
    said, made = [], []
    tools = Toolbox([make_tool("f", {}, lambda: made.append(1))])
    with TrustedSandbox(said.append) as own:
        source = (
            "import contextlib\n"
            "for _ in range(12):\n"
            "    with contextlib.suppress(BaseException):\n"
            "        for _ in range(3 * 10**6): pass\n"
            "print('late')\n"
            "f()"
        )
        trace = run(own, source, tools, wall_seconds=0.05)
        assert trace.failure.type == "wall_seconds"
        assert said == [WARNING, LEFT]
        wait_for_threads()
    assert (made, trace.stdout, capsys.readouterr().out) == ([], "", "")


def test_no_thread_and_no_descriptor_is_left_of_many_runs(sandbox):
    def descriptors():
        folder = Path("/proc/self/fd")
        return len(list(folder.iterdir())) if folder.exists() else 0

    sources = ("1", "1 / 0", "import asyncio\nasyncio.run(asyncio.sleep(0))", "x = = 1", "import os", "get_item(id=-1)")
    for source in sources:
        run(sandbox, source)
    before = descriptors()
    for source in sources * 5:
        run(sandbox, source)
    wait_for_threads()
    assert descriptors() == before
