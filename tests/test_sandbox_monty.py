"""The monty sandbox: a subset of Python, interpreters that wait inside layers of the operating system."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from protocols.errors import ToolError
from protocols.toolbox import Toolbox
from sandbox import conformance
from sandbox.conformance import make_tool, run
from sandbox.errors import Paused, SandboxUnavailable
from sandbox.journal import Journal
from sandbox.monty import MontySandbox, Unsupported, unavailable
from sandbox.monty.adapt import adapt
from sandbox.trace import Pins

pytestmark = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="the layers are Linux's")

ROOT = str(Path(__file__).resolve().parent.parent)

LAYERS = ("namespaces", "user", "capabilities", "no_new_privs", "landlock", "seccomp", "limits")

NOT_IN_THE_SUBSET = {
    "a_run_can_be_repeated": "the module uuid",
    "runs_leave_nothing_to_each_other": "the builtin __builtins__",
    "memory_is_limited": "the builtin bytearray",
    "a_call_may_be_waited_for_while_others_are_under_way": "asyncio.create_task",
    "calls_under_way_at_the_end_are_recorded": "asyncio.create_task",
}
"""Checks whose programs monty 1.4 cannot run, and what it lacks; tests below look at the same with other programs."""


@pytest.fixture(scope="module")
def sandbox():
    with MontySandbox() as monty:
        yield monty


@pytest.fixture(scope="module")
def lenient():
    """As one of several sandboxes has it."""
    with MontySandbox(strict=False) as monty:
        yield monty


@pytest.fixture
def own():
    """A sandbox that the test may break."""
    with MontySandbox() as monty:
        yield monty


def descendants():
    """The processes that this one has started and that live, by all its threads."""
    pids = set()
    for task in Path("/proc/self/task").iterdir():
        pids |= {int(pid) for pid in (task / "children").read_text().split()}
    return {pid for pid in pids if ") Z " not in (Path(f"/proc/{pid}") / "stat").read_text()}


def interpreters():
    return {pid for pid in descendants() if b"monty" in Path(f"/proc/{pid}/cmdline").read_bytes()}


def eventually(condition, seconds=10):
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        threading.Event().wait(0.005)
    return condition()


@pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda check: check.__name__)
def test_conforms(sandbox, check):
    lacking = NOT_IN_THE_SUBSET.get(check.__name__)
    if lacking is None:
        check(sandbox)
    else:
        with pytest.raises(AssertionError, match=f"a subset of Python, without {lacking}"):
            check(sandbox)


# What conformance checks in other words, where its own are not in the subset.


def test_memory_is_limited(sandbox):
    failure = run(sandbox, "\nx = []\nwhile True: x.append('a' * 100000 + str(len(x)))", memory_bytes=64 << 20).failure
    assert (failure.kind, failure.type) == ("limit", "memory_bytes")
    assert failure.message == "memory_bytes: the program needed more than 64 MiB of memory"


@pytest.mark.parametrize(
    "source", ["'x' * 60_000_000", "echo(text='x' * 60_000_000)", "raise ValueError('x' * 60_000_000)"]
)
def test_what_is_handed_over_counts_as_memory_too(sandbox, source):
    assert run(sandbox, source, memory_bytes=100 << 20).failure.type == "memory_bytes"


def test_a_run_can_be_repeated(sandbox):
    source = (
        "import random, time, datetime, os\n"
        "print(random.random(), random.Random().random(), os.urandom(4))\n"
        "print(time.time(), time.monotonic(), datetime.datetime.now(), datetime.date.today(), list({'a', 'b', 'c'}))"
    )
    journal = Journal(pins=Pins(seed=7, clock=1_357_000_000.0))
    first, again = run(sandbox, source, journal=journal), run(sandbox, source, journal=journal)
    assert first.failure is None
    assert first.stdout == again.stdout
    assert "2013-01-01" in first.stdout
    other = run(sandbox, source, journal=Journal(pins=Pins(seed=8, clock=1_357_000_000.0)))
    assert other.stdout != first.stdout


def test_time_zone_and_sleep(sandbox):
    source = (
        "import time, datetime\na = time.time()\ntime.sleep(0.01)\n"
        "[datetime.datetime.now().hour, time.time() - a > 0.01]"
    )
    journal = Journal(pins=Pins(clock=0.0, timezone="Europe/Madrid"))
    assert run(sandbox, source, journal=journal).value == [1, True]


def test_runs_leave_nothing_to_each_other(sandbox):
    run(sandbox, "left = 1\nimport random\nrandom.seed(1)\nprint = None")
    trace = run(sandbox, "try:\n    print(left)\nexcept NameError as e:\n    print(e)")
    assert trace.stdout == "name 'left' is not defined\n"


# Limits.


def test_a_flood_of_output_stops_at_the_limit_and_grows_nothing(own):
    import resource

    run(own, "1")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    trace = run(
        own, "while True:\n  try:\n    print('é' * 100_000)\n  except BaseException: pass", output_bytes=1_000_000
    )
    assert trace.failure.message == "output_bytes: the program printed more than 1,000,000 bytes"
    assert 999_000 < len(trace.stdout.encode()) <= 1_000_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # KiB
    assert run(own, "print('next')").stdout == "next\n"


@pytest.mark.parametrize(
    "source",
    [
        "while True: pass",
        "import time\nwhile True:\n  try: time.sleep(9)\n  except BaseException: pass",
        "import asyncio\nasync def f():\n  await asyncio.gather(asyncio.sleep(9), asyncio.sleep(8))\nasyncio.run(f())",
        "while True: echo(text='a')",
        "echo(text='a')\nwhile True: pass",
        "while True:\n  try: nobody\n  except NameError: pass",
        "import time\nwhile True: time.time()",
    ],
)
def test_the_wall_limit_holds_however_time_is_spent(sandbox, source):
    began = time.monotonic()
    trace = run(sandbox, source, wall_seconds=0.2, tool_calls=10**9)
    assert trace.failure.message == "wall_seconds: the program ran longer than 0.2 s"
    assert 0.19 < time.monotonic() - began < 2


def test_processor_time_is_not_wall_time(sandbox):
    failure = run(sandbox, "echo(text='a')\nwhile True: pass", cpu_seconds=0.2).failure
    assert failure.message == "cpu_seconds: the program used more than 0.2 s of processor time"


def test_a_program_cannot_claim_a_limit(sandbox):
    failure = run(sandbox, "raise TimeoutError('feed time limit exceeded: 10s > 10s')").failure
    assert (failure.kind, failure.type) == ("exception", "TimeoutError")


def test_a_wait_on_a_person_does_not_count(sandbox):
    from sandbox.clock import waiting_on_person

    def ask():
        with waiting_on_person():
            threading.Event().wait(0.4)
        return "yes"

    trace = run(sandbox, "print(ask())", Toolbox([make_tool("ask", {}, ask)]), wall_seconds=0.3)
    assert (trace.stdout, trace.failure) == ("yes\n", None)


def test_the_line_of_the_call_where_a_limit_struck(sandbox):
    released = threading.Event()
    tools = Toolbox([make_tool("hang", {}, lambda: released.wait(30))])
    try:
        failure = run(sandbox, "x = 1\nhang()", tools, wall_seconds=0.1).failure
    finally:
        released.set()
    assert (failure.type, failure.line) == ("wall_seconds", 2)


def test_recursion_is_the_programs(sandbox):
    failure = run(sandbox, "def f(n):\n  return f(n + 1)\nf(0)").failure
    assert (failure.type, failure.frames[0].line, len(failure.frames) <= 40) == ("RecursionError", 3, True)


# Calls.


CAUGHT = "try:\n  get_item(id=-1)\nexcept "


@pytest.mark.parametrize(
    ("source", "printed"),
    [
        ("try: get_item(id=-1)\nexcept ToolError as e: print(e.status, e.body)", "404 no item -1"),
        (f"{CAUGHT}(KeyError, ToolError) as e:\n  # why\n\n  print(e, repr(e))", "{0} ToolError(404, 'no item -1')"),
        (f"{CAUGHT}ToolError as e:\n  print(type(e).__name__)", "ToolError"),
        (f"{CAUGHT}Exception as e:\n  if isinstance(e, ToolError):\n    print(f'{{e.status}}')", "404"),
        (f"{CAUGHT}Exception as e:\n  print(getattr(e, 'status', None), e.args)", "404 (404, 'no item -1')"),
        ("try:\n  get_item(id='a')\nexcept ToolError as e:\n  print(e.status)", "None"),
        (
            "try:\n  try: get_item(id=-1)\n  except ToolError as e:\n    raise e\nexcept ToolError as e: print(e.body)",
            "no item -1",
        ),
        (
            "try:\n try: get_item(id=-1)\n except ToolError as e: raise KeyError() from e\nexcept KeyError: print('x')",
            "x",
        ),
        (
            f"{CAUGHT}(ValueError, RuntimeError, OSError, LookupError): print('no')\nexcept ToolError: print('yes')",
            "yes",
        ),
        ("s = '''\nexcept ToolError as e:\n  pass'''\nprint(len(s))", "30"),
        ("try:\n  {}['a']\nexcept KeyError as e:\n  print(e, e.args)", "'a' ('a',)"),
    ],
)
def test_tool_error(sandbox, source, printed):
    trace = run(sandbox, source)
    assert (trace.stdout, trace.failure) == (printed.replace("{0}", "HTTP 404: no item -1") + "\n", None)


def test_lines_are_those_of_the_program_also_where_its_text_was_changed(sandbox):
    source = (
        "try:\n  get_item(id=-1)\nexcept ToolError as e:\n  print(e)\n"  # 1-4
        "def f():\n  get_item(id=-2)\n"  # 5-6
        "try:\n  f()\nexcept ToolError as e:\n  if e.status:\n    {}['x']\n"  # 7-11
    )
    trace = run(sandbox, source)
    assert [call.line for call in trace.calls] == [2, 6]
    assert [frame.line for frame in trace.failure.frames] == [11]
    assert trace.failure.message == "'x'"
    failure = run(sandbox, "\n\ndef f():\n  get_item(id=-2)\n\n\ntry: f()\nexcept ToolError as e: raise e").failure
    assert (failure.type, failure.message, failure.call) == ("ToolError", "HTTP 404: no item -2", 0)
    assert failure.line in (4, 8)


def test_a_program_that_needs_no_change_is_not_changed():
    for source in ("print(1)", "try:\n  1\nexcept KeyError:\n  2", "x = (", "except as ("):
        assert adapt(source).text == source


def test_arguments_that_cannot_be_sent_are_shown(sandbox):
    for text, shown in (
        ("float('nan')", "nan"),
        ("{1: {2}}", "{1: {2}}"),
        ("b'x'", "b'x'"),
        ("10 ** 5000", "<int>"),
    ):
        trace = run(sandbox, f"echo(text={text})")
        assert trace.failure.type == "ToolError"
        assert f"argument 'text' must be a string, got {shown}" in trace.calls[0].error
    trace = run(sandbox, "echo(text='x' * 2_000_000)")
    assert (trace.failure.type, trace.calls) == ("ValueError", ())
    assert "at most 1,048,576 can be sent" in trace.failure.message


@pytest.mark.parametrize("build", ["x = [x, x]", "x = {'a': x, 'b': x}", "x.append(x)"])
def test_values_without_end_are_not_walked_through(sandbox, build):
    source = f"x = []\nfor i in range(60):\n  {build}\n"
    started = time.monotonic()
    trace = run(sandbox, source + "echo(text=x)")
    assert "argument 'text' must be a string" in trace.failure.message or trace.failure.type == "ValueError"
    trace = run(sandbox, source + "x")
    assert trace.failure is None
    assert len(str(trace.value)) < 1_000_000
    assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    ("last", "value"),
    [
        ("(1, [2.5, None], {'a': True})", [1, [2.5, None], {"a": True}]),
        ("{3, 1, 2}", [1, 2, 3]),
        ("float('inf')", "inf"),
        ("{1: 'a', (1, 2): 'b'}", {"1": "a", "(1, 2)": "b"}),
        ("import datetime\ndatetime.date(2013, 1, 1)", "2013-01-01"),
        ("from decimal import Decimal\n[Decimal('1.50')]", ["1.50"]),
        ("x = 5", None),
    ],
)
def test_the_value_as_json(sandbox, last, value):
    assert run(sandbox, last).value == value


def test_a_large_value_is_its_beginning(sandbox):
    value = run(sandbox, "list(range(100_000))").value
    assert (value[:9], len(value)) == ("[0, 1, 2,", 200_000)


def test_an_instance_is_told_by_its_class(sandbox):
    assert "A" in run(sandbox, "class A:\n  def __init__(self): self.me = self\nA()").value


def test_a_program_that_ends_itself(sandbox):
    assert run(sandbox, "print(1)\nexit()\nprint(2)").stdout == "1\n"
    failure = run(sandbox, "exit(3)").failure
    assert (failure.type, failure.message) == ("SystemExit", "3")


def test_what_goes_to_the_error_stream_is_dropped(sandbox, capfd):
    trace = run(sandbox, "import sys\nprint('a', file=sys.stderr)\nprint('b')\nx = 'x' * 10**12")
    assert trace.stdout == "b\n"
    run(sandbox, "'x' * 60_000_000", memory_bytes=100 << 20)
    assert capfd.readouterr() == ("", "")


# Hostile results.


@pytest.mark.parametrize(
    ("result", "source", "printed"),
    [
        ("\ud800", "print(f())", "?"),
        ({"\ud800": ["\udfff"]}, "print(f())", "{'?': ['?']}"),
        (10**4000, "print(f() > 1)", "True"),
        ("a\x00b\x1b[0m", "print(len(f()))", "7"),
        ({"__class__": 1, "status": 404}, "print(f()['__class__'])", "1"),
        ("'); import os; ('", "print(f())", "'); import os; ('"),
    ],
    ids=["surrogate", "surrogate key", "integer", "control", "dunder", "quotes"],
)
def test_hostile_results(sandbox, result, source, printed):
    trace = run(sandbox, source, Toolbox([make_tool("f", {}, lambda: result)]))
    assert (trace.stdout, trace.failure) == (printed + "\n", None)


def test_a_deep_result_harms_nobody(sandbox):
    deep: object = []
    for _ in range(900):
        deep = [deep]
    source = "x = f()\nn = 0\nwhile x:\n  x = x[0]\n  n += 1\nprint(n)"
    assert run(sandbox, source, Toolbox([make_tool("f", {}, lambda: deep)])).stdout == "900\n"


def test_hostile_errors(sandbox):
    def fail():
        raise ToolError(None, "HTTP 200: \ud800 fine\nfeed time limit exceeded")

    trace = run(sandbox, "f()", Toolbox([make_tool("f", {}, fail)]))
    assert (trace.failure.type, trace.failure.kind) == ("ToolError", "exception")


# What monty has not.


@pytest.mark.parametrize(
    ("source", "what", "line"),
    [
        ("class A: pass\n\nclass B(A): pass", "class inheritance", 3),
        ("x = 1\ndel x", "the 'del' statement", 2),
        ("\nimport statistics", "the module statistics", 2),
        ("try:\n  import statistics\nexcept ImportError:\n  pass", "the module statistics", 2),
        ("from collections import ChainMap", "collections.ChainMap", 1),
        ("import asyncio\nasyncio.create_task", "asyncio.create_task", 2),
        ("print(globals())", "the builtin globals", 1),
        ("f = vars", "the builtin vars", 1),
        ("list(map(lambda n: get_item(id=n), [1]))", "cannot suspend", 1),
    ],
)
def test_unsupported_before_the_first_call(sandbox, lenient, source, what, line):
    failure = run(sandbox, source).failure
    assert (failure.kind, failure.type, failure.line) == ("policy", "Unsupported", line)
    assert what in failure.message
    assert "zygote" in failure.message
    with pytest.raises(Unsupported) as caught:
        run(lenient, source)
    assert what in caught.value.what
    assert caught.value.line == line
    assert isinstance(caught.value, SandboxUnavailable)


def test_a_doubtful_failure_is_left_to_the_next_sandbox_unless_there_is_none(sandbox, lenient):
    assert run(sandbox, "'a'.no_such_method()").failure.type == "AttributeError"
    with pytest.raises(Unsupported, match="no_such_method"):
        run(lenient, "'a'.no_such_method()")
    assert run(lenient, "1 / 0").failure.type == "ZeroDivisionError"
    assert run(lenient, "x = = 1").failure.kind == "syntax"
    assert run(lenient, "echo(text='a')\n'a'.no_such_method()").failure.type == "AttributeError"


def test_unsupported_after_a_call_is_a_failure(lenient):
    failure = run(lenient, "echo(text='a')\nimport statistics").failure
    assert (failure.kind, failure.type, failure.line) == ("policy", "Unsupported", 2)
    caught = run(lenient, "echo(text='a')\ntry:\n  import statistics\nexcept ImportError:\n  print('without')")
    assert (caught.stdout, caught.failure) == ("without\n", None)


def test_a_module_that_python_has_not_either_is_the_programs_affair(sandbox):
    assert run(sandbox, "try:\n  import numpy\nexcept ImportError:\n  print('none')").stdout == "none\n"
    assert run(sandbox, "import numpy").failure.type == "ModuleNotFoundError"


# Processes.


@on_linux
def test_an_interpreter_that_dies_is_the_programs_crash_and_is_replaced(own):
    run(own, "1")

    def kill():
        for pid in interpreters() - set(own.spare_pids()):
            os.kill(pid, signal.SIGKILL)

    tools = Toolbox([make_tool("kill", {}, kill)])
    failure = run(own, "kill()\nprint('on')", tools).failure
    assert (failure.kind, failure.type) == ("exception", "Crash")
    assert run(own, "1 + 1").value == 2


@on_linux
def test_interpreters_that_die_while_they_wait_are_replaced(own):
    run(own, "1")
    assert eventually(lambda: len(own.spare_pids()) >= 2)
    for pid in interpreters():
        os.kill(pid, signal.SIGKILL)
    assert [run(own, f"{n} + 1").value for n in range(4)] == [1, 2, 3, 4]


@on_linux
def test_every_process_that_is_not_at_work_waits_for_a_program(own):
    for seconds in (1.0, 2.0, 1.0):
        run(own, "1", wall_seconds=seconds)
        assert eventually(lambda: len(own.spare_pids()) >= 2 and set(own.spare_pids()) == interpreters())
    run(own, "while True: print('x' * 1000)")  # its process is killed
    assert eventually(lambda: len(own.spare_pids()) >= 2 and set(own.spare_pids()) == interpreters())


def test_nothing_of_a_run_is_kept(sandbox):
    import gc

    sources = ("get_item(id=1)", "import statistics", "try: get_item(id=-1)\nexcept ToolError as e: print(e)", "1 / 0")

    def kept():
        gc.collect()
        return sum(type(item).__name__ in ("Run", "Calls", "Answers") for item in gc.get_objects())

    for source in sources:
        run(sandbox, source)
    before = kept()
    for source in sources * 5:
        run(sandbox, source)
    assert kept() <= before + 1  # a thread that has just become idle may still hold the last


@on_linux
def test_closing_leaves_nothing():
    before, descriptors = descendants(), len(list(Path("/proc/self/fd").iterdir()))
    monty = MontySandbox()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: run(monty, f"print({n})\nget_item(id={n})"), range(8)))
    run(monty, "while True: print('x' * 1000)")
    assert descendants() > before
    monty.close()
    assert eventually(lambda: descendants() <= before)
    assert len(list(Path("/proc/self/fd").iterdir())) <= descriptors
    monty.close()
    with pytest.raises(SandboxUnavailable, match="was closed"):
        run(monty, "1")
    with pytest.raises(SandboxUnavailable, match="was closed"):
        monty.warm()


@on_linux
def test_a_forgotten_sandbox_ends_its_interpreters():
    before = descendants()
    monty = MontySandbox()
    run(monty, "1")
    assert descendants() > before
    del monty
    assert eventually(lambda: descendants() <= before)


@on_linux
def test_the_interpreters_end_with_their_host():
    host = f"""
        import os, sys
        sys.path.insert(0, {ROOT!r})
        from sandbox.monty import MontySandbox
        from sandbox.conformance import run
        sandbox = MontySandbox()
        run(sandbox, "1")
        print(*sandbox.spare_pids(), flush=True)
        sys.stdin.read()
        os._exit(1)  # without any clean-up
    """
    command = [sys.executable, "-c", textwrap.dedent(host)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        pids = process.stdout.readline().split()
    assert pids
    assert eventually(lambda: not any(Path(f"/proc/{int(pid)}").exists() for pid in pids))


def test_closing_ends_runs_that_are_under_way(own):
    started = threading.Event()
    tools = Toolbox([make_tool("started", {}, started.set)])
    caught = []

    def work(source):
        try:
            run(own, source, tools)
        except SandboxUnavailable as error:
            caught.append(error)

    sources = ("started()\nwhile True: pass", "import time\nstarted()\ntime.sleep(60)", "while True: pass")
    threads = [threading.Thread(target=work, args=(source,)) for source in sources]
    for thread in threads:
        thread.start()
    assert started.wait(20)
    own.close()
    for thread in threads:
        thread.join(20)
    assert len(caught) == 3


def test_ctrl_c_while_a_tool_works(own):
    released = threading.Event()

    def slow():
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        released.wait(20)

    try:
        with pytest.raises(KeyboardInterrupt):
            run(own, "slow()", Toolbox([make_tool("slow", {}, slow)]))
    finally:
        released.set()
    assert run(own, "1 + 1").value == 2


def test_a_tool_that_hangs_keeps_no_run(own):
    released = threading.Event()
    tools = Toolbox([make_tool("hang", {}, lambda: released.wait(30), writes=True)])
    try:
        for _ in range(3):
            trace = run(own, "hang()", tools, wall_seconds=0.1)
            assert (trace.failure.type, trace.calls[0].outcome) == ("wall_seconds", "unknown")
        assert run(own, "1 + 1").value == 2
    finally:
        released.set()


def test_a_pause_among_calls_made_at_once(own):
    def gate(n):
        raise Paused("needs consent")

    source = (
        "import asyncio\n"
        "async def main():\n"
        "    await asyncio.gather(*[asyncio.to_thread(buy, n=n) for n in range(3)])\n"
        "asyncio.run(main())"
    )
    tools = Toolbox([make_tool("buy", {"n": {"type": "integer"}}, gate, writes=True)])
    trace = run(own, source, tools, concurrent_calls=1)
    assert (trace.failure.kind, [call.outcome for call in trace.calls]) == ("paused", ["not_run"] * 3)


# Layers.


@on_linux
def test_all_layers_are_in_force_here_or_named(own):
    run(own, "1")
    status = Path(f"/proc/{own.spare_pids()[0]}/status").read_text()
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert (fields["NoNewPrivs"], fields["Seccomp"], int(fields["CapEff"], 16)) == ("1", "2", 0)
    assert own.boundary
    assert "seccomp" in " ".join(own.layers)
    pid = own.spare_pids()[0]
    if "user" not in own.missing:
        assert fields["Uid"].split()[0] != "0"
    if "namespaces" not in own.missing:
        assert (Path(f"/proc/{pid}/ns/net").readlink()) != Path("/proc/self/ns/net").readlink()
    limits = Path(f"/proc/{pid}/limits").read_text()
    assert [line.split()[3] for line in limits.splitlines() if line.startswith("Max file size")] == ["0"]


@on_linux
def test_an_interpreter_has_no_environment_and_only_its_streams(own, monkeypatch):
    monkeypatch.setenv("ATC_TEST_SECRET", "s3cret")
    run(own, "1")
    pid = own.spare_pids()[0]
    assert Path(f"/proc/{pid}/environ").read_bytes() == b""
    assert {path.name for path in Path(f"/proc/{pid}/fd").iterdir()} == {"0", "1", "2"}


@on_linux
@pytest.mark.parametrize("layer", LAYERS)
def test_each_layer_can_be_switched_off_and_is_then_named(layer):
    with MontySandbox(without=[layer]) as monty:
        assert run(monty, "print(get_item(id=1)['id'])").stdout == "1\n"
        assert monty.missing[layer] == "switched off"
        assert monty.boundary == (layer not in ("capabilities", "no_new_privs", "seccomp", "limits"))


def test_an_unknown_layer_is_refused():
    with pytest.raises(ValueError, match="no layer 'walls'"):
        MontySandbox(without=["walls"])


@on_linux
def test_without_any_layer_it_says_that_it_is_no_boundary():
    with MontySandbox(without=LAYERS) as monty:
        assert run(monty, "1 + 1").value == 2
        assert not monty.boundary
        assert len(monty.layers) == 1


@on_linux
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("open('/etc/passwd').read()", "PermissionError"),
        ("import socket\nsocket.socket()", "OSError"),
        ("os.fork()", "OSError"),
        ("os.execv('/bin/true', ['true'])", "OSError"),
        ("os.open('/tmp/atc-monty-test', os.O_CREAT | os.O_WRONLY)", "OSError"),
        ("os.write(1, b'x' * ((16 << 20) + 1))", "OSError"),
        ("os.kill(os.getppid(), 0)", "OSError"),
    ],
)
def test_what_the_layers_refuse(source, said):
    # Python itself in the interpreter's place: it may do what that may, and no more.
    attempt = f"""
        import ctypes, errno, os, socket, sys
        sys.path.insert(0, {ROOT!r})
        from sandbox.monty import confine, syscalls
        executable = os.open('/bin/true', os.O_PATH)
        missing = confine.confine(executable, [], [], lambda missing: None)
        if confine.refuses(missing):
            os.write(2, repr(missing).encode())
            os._exit(3)
        try:
            {source.replace(chr(10), chr(10) + "            ")}
        except OSError as error:
            os.write(2, b'refused ' + type(error).__name__.encode())
        else:
            os.write(2, b'done')
        os._exit(0)
    """
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(attempt)], capture_output=True, timeout=30)
    assert ended.stderr.startswith(b"refused "), ended.stderr


def test_elsewhere_the_reason_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr("sandbox.monty.host.find_binary", lambda: (_ for _ in ()).throw(FileNotFoundError("monty")))
    assert "pip install --force-reinstall pydantic-monty" in unavailable()
    with MontySandbox() as monty, pytest.raises(SandboxUnavailable, match="pydantic-monty-runtime"):
        run(monty, "1")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert unavailable() == "the monty sandbox needs pydantic-monty; pip install 'automatic-tool-chain[monty]'"


@on_linux
def test_an_interpreter_that_does_not_start_is_told(monkeypatch):
    monkeypatch.setattr("sandbox.monty.script.find_binary", lambda: "/bin/false")
    with MontySandbox() as monty, pytest.raises(SandboxUnavailable, match="cannot start its interpreter"):
        run(monty, "1")
