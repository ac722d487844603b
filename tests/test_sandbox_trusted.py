"""The backend in this process: programs run as everywhere else, and the host stays as it was."""

from __future__ import annotations

import contextlib
import gc
import io
import json
import logging
import random
import re
import subprocess
import sys
import threading
import time
import warnings
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from protocols.errors import AtcError, ToolError
from protocols.toolbox import Toolbox
from sandbox import conformance
from sandbox.conformance import make_tool, run, shop
from sandbox.errors import SandboxUnavailable
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.trace import Pins, trace_to_json
from sandbox.trusted import LEFT, WARNING, TrustedSandbox, unavailable

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
CHECKS = {check.__name__: check for check in conformance.CHECKS}


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


class Within:
    """`sandbox` with less wall time, and for the check of memory with less of it."""

    name = "trusted"

    def __init__(self, sandbox):
        self.sandbox = sandbox

    def run(self, source, tools, *, limits, journal):
        limits = replace(limits, wall_seconds=min(limits.wall_seconds, 0.5))
        return self.sandbox.run(source.replace("1 << 26", "1 << 6"), tools, limits=limits, journal=journal)


@pytest.mark.parametrize("name", [name for name in CHECKS if name not in CANNOT])
def test_conforms(sandbox, name):
    CHECKS[name](sandbox)


@pytest.mark.parametrize("name", CANNOT)
def test_does_not_conform(sandbox, name):
    with pytest.raises(AssertionError):
        CHECKS[name](Within(sandbox))
    wait_for_threads()


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


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_sample_program_leaves_the_trace_of_the_zygote(sandbox, path):
    journal = Journal(pins=Pins(seed=1, clock=1_357_000_000.0))
    trace = sandbox.run(path.read_text("utf-8"), shop(), limits=Limits(), journal=journal)
    calls = tuple(replace(call, started=0.0, seconds=0.0) for call in trace.calls)
    expected = json.loads(path.with_suffix(".json").read_text("utf-8"))
    got = json.loads(json.dumps(trace_to_json(replace(trace, calls=calls, seconds=0.0))))
    if got["failure"] is not None:  # the files have no columns, which not every backend tells
        del got["failure"]["hints"]
        got["failure"]["frames"] = [{"line": f["line"], "function": f["function"]} for f in got["failure"]["frames"]]
    assert got == {**expected, "backend": "trusted"}


def test_it_says_once_that_it_is_no_boundary(capsys):
    with TrustedSandbox() as own:
        run(own, "1")
        run(own, "2")
        assert (own.boundary, own.name) == (False, "trusted")
    said = capsys.readouterr().err
    assert said == f"warning: {WARNING}\n"
    assert "no boundary" in said
    assert "zygote" in said


def test_a_program_that_the_policy_refuses_does_not_run(sandbox):
    made = []
    tools = Toolbox([make_tool("f", {}, lambda: made.append(1))])
    trace = run(sandbox, "f()\nimport os", tools)
    assert (made, trace.calls, trace.backend) == ([], (), "trusted")
    assert (trace.failure.kind, trace.failure.type, trace.failure.line) == ("policy", "Refused", 2)


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


def test_modules_are_each_programs_own(sandbox):
    first = "import json, random\n[setattr(m, 'left', 1) for m in [json, random]]\nprint(hasattr(json, 'left'))"
    assert run(sandbox, first).stdout == "True\n"
    assert (
        run(sandbox, "import json, random\nprint(hasattr(json, 'left'), hasattr(random, 'left'))").stdout
        == "False False\n"
    )
    walk = (
        "import json, re, asyncio\n"
        "print([getattr(m, n, 0) for m, n in [(json, 'co' + str('decs')), (re, 'en' + str('um'))]], asyncio.__name__)"
    )
    assert run(sandbox, walk).stdout == "[0, 0] asyncio\n"


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


def test_a_limit_names_the_line_where_the_program_stood(sandbox):
    for _ in range(10):  # where this machine is too busy, a program's last word does not come in time
        trace = run(sandbox, "import time\ndef f():\n    time.sleep(60)\n\nf()", wall_seconds=0.1)
        if trace.failure.frames:
            break
    assert [(frame.line, frame.function) for frame in trace.failure.frames] == [(5, "<module>"), (3, "f")]
    for _ in range(10):
        trace = run(sandbox, "x = 1\nwhile True:\n    print('x' * 100)", output_bytes=10_000)
        if trace.failure.frames:
            break
    assert (trace.failure.type, trace.failure.line in (2, 3)) == ("output_bytes", True)
    wait_for_threads()


def test_what_was_printed_before_a_call_that_never_returns_is_not_lost(sandbox):
    answered = threading.Event()
    tools = Toolbox([make_tool("hang", {}, lambda: answered.wait(30))])
    trace = run(sandbox, "print('before')\nhang()", tools, wall_seconds=0.1)
    answered.set()
    assert (trace.stdout, trace.failure.type) == ("before\n", "wall_seconds")
    wait_for_threads()


def test_tools_are_called_at_the_same_time(sandbox):
    both = threading.Barrier(2)
    tools = Toolbox([make_tool("meet", {"n": {"type": "integer"}}, lambda n: [n, both.wait(10) >= 0])])
    source = "import asyncio\nawait asyncio.gather(asyncio.to_thread(meet, n=1), asyncio.to_thread(meet, n=2))"
    assert run(sandbox, source, tools).value == [[1, True], [2, True]]


def test_what_our_side_fails_at_reaches_the_caller(sandbox):
    def broken():
        raise AtcError("the replay left its recording")

    with pytest.raises(AtcError, match="left its recording"):
        run(sandbox, "try:\n    f()\nexcept BaseException:\n    pass", Toolbox([make_tool("f", {}, broken)]))
    wait_for_threads()


@pytest.mark.parametrize(
    ("source", "kind", "message", "line"),
    [
        ("x = 1\nreturn x", "SyntaxError", "'return' outside function", 2),
        ("\n\nraise SystemExit(3)", "SystemExit", "3", 3),
        ("import sys\nsys.exit('no items')", "SystemExit", "no items", 2),
        ("print('\\ud800')", "UnicodeEncodeError", "surrogates not allowed", 1),
        ("def f(n): return f(n + 1)\nf(0)", "RecursionError", "maximum recursion depth exceeded", 1),
        ("print(1, file=3)", "AttributeError", "'int' object has no attribute 'write'", 1),
        ("x.y", "NameError", "name 'x' is not defined", 1),
        ("exit(0)", None, "", None),
    ],
)
def test_an_end_is_told_as_everywhere(sandbox, source, kind, message, line):
    failure = run(sandbox, source).failure
    assert (failure and failure.type, failure and failure.line) == (kind, line)
    assert message in (failure.message if failure else "")


def test_the_programs_text_is_in_its_own_tracebacks(sandbox):
    source = (
        "import traceback\ndef f():\n    return 1 / 0\n"
        "try:\n    f()\nexcept Exception:\n    print(traceback.format_exc())"
    )
    shown = run(sandbox, source).stdout
    assert shown.startswith('Traceback (most recent call last):\n  File "<program>", line 5, in <module>\n    f()\n')
    assert '  File "<program>", line 3, in f\n    return 1 / 0\n' in shown
    assert shown.endswith("ZeroDivisionError: division by zero\n\n")
    assert "sandbox" not in shown


def test_a_task_that_nobody_waits_for_says_nothing_on_the_hosts_error_stream(sandbox, capfd, caplog):
    source = (
        "import asyncio\n"
        "async def fails(): 1 / 0\n"
        "async def main():\n"
        "    asyncio.create_task(fails())\n"
        "    await asyncio.sleep(0)\n"
        "    gathered = asyncio.gather(fails())\n"
        "    await asyncio.sleep(0.01)\n"
        "asyncio.run(main())"
    )
    assert run(sandbox, source).failure is None
    gc.collect()
    assert (capfd.readouterr().err, caplog.records) == ("", [])


def test_annotations_of_its_own_classes_can_be_read(sandbox):
    source = (
        "from __future__ import annotations\nimport typing, dataclasses\n"
        "@dataclasses.dataclass\nclass A:\n    b: B | None = None\n    c: typing.ClassVar[int] = 1\n"
        "class B: pass\n"
        "print([f.name for f in dataclasses.fields(A)], typing.get_type_hints(A)['b'] == (B | None))"
    )
    assert run(sandbox, source).stdout == "['b'] True\n"


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


def test_once_closed_it_runs_nothing():
    own = TrustedSandbox(lambda text: None)
    own.close()
    with pytest.raises(SandboxUnavailable, match="was closed; make a new one"):
        run(own, "1")


def test_it_is_available_on_cpython_alone(monkeypatch):
    assert unavailable() is None
    monkeypatch.setattr(sys, "implementation", SimpleNamespace(name="pypy"))
    assert unavailable() == "the trusted sandbox needs CPython, and this is pypy; use the docker sandbox"


def test_importing_it_is_cheap():
    late = "{'RestrictedPython', 'sandbox.trusted.program'}"
    code = f"import sys, sandbox.trusted; sys.exit(bool({late} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
