"""The zygote: one warm process, a child a program, and nothing left of either."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from protocols.toolbox import Toolbox
from sandbox.conformance import make_tool, run
from sandbox.errors import SandboxUnavailable
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.zygote import ZygoteSandbox, unavailable

pytestmark = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))

ROOT = str(Path(__file__).resolve().parent.parent)


@pytest.fixture(scope="module")
def sandbox():
    with ZygoteSandbox() as zygote:
        yield zygote


@pytest.fixture
def own():
    """A sandbox that the test may break."""
    with ZygoteSandbox() as zygote:
        yield zygote


def pid_of(sandbox):
    return sandbox._zygote._process.pid


def children_of(pid):
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def until(condition, seconds=10):
    """Whether the condition comes true in time."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        select.select([], [], [], 0.005)
    return condition()


def settled_children(sandbox):
    """The children that are left when those that were killed are dead, and the next one waits for its program."""
    pid = pid_of(sandbox)
    assert until(lambda: sandbox.spares_ready() == 1 and len(children_of(pid)) == 1)
    return children_of(pid)


def gone(pidfd, seconds=10):
    """Whether the process ends in time."""
    return bool(select.select([pidfd], [], [], seconds)[0])


def test_the_zygote_is_reused_and_ends_with_the_sandbox(own):
    own.warm()
    first = pid_of(own)
    assert run(own, "1 + 1").value == 2
    assert run(own, "1 + 2").value == 3
    assert pid_of(own) == first
    pidfd = os.pidfd_open(first)
    own.close()
    assert gone(pidfd)
    os.close(pidfd)
    own.close()
    with pytest.raises(SandboxUnavailable, match="was closed"):
        run(own, "1")


def test_a_forgotten_sandbox_ends_its_zygote():
    zygote = ZygoteSandbox()
    zygote.warm()
    pidfd = os.pidfd_open(pid_of(zygote))
    del zygote
    assert gone(pidfd)
    os.close(pidfd)


def test_the_zygote_ends_with_its_host():
    host = f"""
        import os, sys
        sys.path.insert(0, {ROOT!r})
        from sandbox.zygote import ZygoteSandbox
        sandbox = ZygoteSandbox()
        sandbox._current().await_ready()
        print(sandbox._zygote._process.pid, flush=True)
        sys.stdin.read()
        os._exit(1)  # without any clean-up
    """
    command = [sys.executable, "-c", textwrap.dedent(host)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        pidfd = os.pidfd_open(int(process.stdout.readline()))
    assert gone(pidfd)
    os.close(pidfd)


def test_a_zygote_that_died_between_runs_is_replaced(own):
    run(own, "1")
    first = pid_of(own)
    own._zygote._process.kill()
    own._zygote._process.wait()
    assert run(own, "1 + 1").value == 2
    assert pid_of(own) != first


def test_a_zygote_that_dies_during_a_run_is_replaced_and_no_call_repeated(own):
    made = []

    def kill_once(n):
        made.append(n)
        if n == 1:
            own._zygote._process.kill()
            own._zygote._process.wait()
        return n

    tools = Toolbox([make_tool("f", {"n": {"type": "integer"}}, kill_once, writes=True)])
    trace = run(own, "[f(n=0), f(n=1), f(n=2)]", tools)
    assert (trace.value, made) == ([0, 1, 2], [0, 1, 2])
    assert [call.reused for call in trace.calls] == [True, True, False]


def test_a_zygote_that_dies_again_is_no_verdict(own):
    def kill(n):
        own._zygote._process.kill()
        own._zygote._process.wait()
        return n

    tools = Toolbox([make_tool("f", {"n": {"type": "integer"}}, kill)])
    with pytest.raises(SandboxUnavailable, match="died while it ran"):
        run(own, "f(n=0)\nf(n=1)\nf(n=2)", tools)
    assert run(own, "1 + 1").value == 2


def test_a_python_that_does_not_start_is_told(monkeypatch):
    for executable, said in (("/bin/false", "did not start"), ("/no/such/python", "cannot start")):
        monkeypatch.setattr(sys, "executable", executable)
        with ZygoteSandbox() as zygote, pytest.raises(SandboxUnavailable, match=said):
            run(zygote, "1")


def test_elsewhere_than_linux_the_reason_is_told(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    with ZygoteSandbox() as zygote, pytest.raises(SandboxUnavailable, match="needs Linux, and this is darwin"):
        zygote.warm()


def test_nothing_is_left_of_runs_however_they_end(sandbox):
    run(sandbox, "1")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for source in (
        "1",
        "1 / 0",
        "x = =",
        "import os; os._exit(3)",
        "import ctypes; ctypes.string_at(0)",
        "get_item(id=0)",
    ):
        run(sandbox, source)
    run(sandbox, "while True: pass", wall_seconds=0.1)
    assert len(settled_children(sandbox)) == 1  # the one that waits for the next program
    for _ in range(20):
        run(sandbox, "1")  # lets go of those that ended meanwhile
        open_now = len(list(Path("/proc/self/fd").iterdir()))
        if open_now <= before + 3:  # the last one may still be dying, on a busy machine more than one
            break
    assert open_now <= before + 3


def test_a_program_cannot_start_processes_or_threads(sandbox):
    assert run(sandbox, "import os\nos.fork()").failure.type == "PermissionError"
    failure = run(sandbox, "import threading\nthreading.Thread(target=print).start()").failure
    assert (failure.type, "asyncio.to_thread" in failure.message) == ("RuntimeError", True)


def test_orphans_are_swept():
    # Where the limit on processes does not bind, a program may leave some that left its process group.
    leave_an_orphan = f"""
        import ctypes, os, sys, time
        sys.path.insert(0, {ROOT!r})
        from sandbox.zygote import server
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            if os.fork() == 0:
                os.setsid()
                os.write(writer, b"up")
                time.sleep(60)
            os._exit(0)
        os.read(reader, 2)
        os.waitpid(child, 0)
        assert len(server._children()) == 1
        server._sweep(frozenset())
        assert server._children() == set()
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(leave_an_orphan)], check=True, timeout=30)


def test_a_child_has_one_live_descriptor_and_no_place(own):
    run(own, "1")
    (pid,) = settled_children(own)
    descriptors = Path(f"/proc/{pid}/fd")
    assert until(lambda: [entry.name for entry in descriptors.iterdir()] == ["3"])
    assert str((descriptors / "3").readlink()).startswith("socket:")
    trace = run(own, "import os, sys\n[os.getuid(), os.getpid() == 1, sys.stdin.read(), sys.argv]")
    assert trace.value == [65534, "namespaces" not in own.missing, "", ["<program>"]]


def test_none_of_our_modules_is_inside(sandbox):
    trace = run(sandbox, "import sys\n[name for name in sys.modules if name.startswith(('sandbox', 'protocols'))]")
    assert trace.value == []


@pytest.mark.parametrize(
    ("source", "type_"),
    [
        ("import os\nos._exit(3)", "ProcessExit"),
        ("import os\nos.kill(os.getpid(), 9)", "PermissionError"),
        ("import os\nos.close(3)", "PermissionError"),
        ("import ctypes\nctypes.string_at(0)", "Crash"),
        ("import os\nos.write(3, b'{}\\n')\nwhile True: pass", "ProtocolViolation"),
        ("import os\nos.write(3, b'A' * 4000)\nprint('x' * 100000)", "ProtocolViolation"),
        ("raise SystemExit('bad')", "SystemExit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("class E(BaseException):\n    def __str__(self): 1 / 0\nraise E", "E"),
        ("x = '\\ud800'\nprint(x)", "UnicodeEncodeError"),
        ("raise type('E' * 2_000_000, (Exception,), {})('m' * 9_000_000)", "E" * 99 + "…"),
        ("x = '\\ud800'\nraise ValueError(x)", "ValueError"),
    ],
)
def test_odd_ends(sandbox, source, type_):
    assert run(sandbox, source).failure.type == type_


@pytest.mark.parametrize(
    "source", ["x = '\ud800'", "x = 1\0", "(" * 5000, "x = " + "-" * 100_000 + "1", "def f(:\n  pass", "await = 1"]
)
def test_what_cannot_be_compiled_is_a_syntax_error(sandbox, source):
    trace = run(sandbox, source)
    assert (trace.failure.kind, trace.failure.line) == ("syntax", 1)


def test_the_line_where_a_limit_struck_is_known(sandbox):
    source = "def spin():\n    while True:\n        pass\n\n\nprint('kept')\nspin()"
    trace = run(sandbox, source, wall_seconds=0.2)
    assert (trace.failure.type, trace.failure.frames[0].line, trace.failure.frames[1].function) == (
        "wall_seconds", 7, "spin",
    )  # fmt: skip
    assert trace.stdout == "kept\n"
    assert run(sandbox, source, cpu_seconds=1).failure.frames[-1].function == "spin"
    assert run(sandbox, "\nx = [0] * 10**9", memory_bytes=256 << 20).failure.line == 2


def test_a_program_that_ignores_its_end_is_killed(sandbox):
    source = (
        "import signal\n"
        "for s in range(1, 65):\n"
        "    try: signal.signal(s, signal.SIG_IGN)\n"
        "    except Exception: pass\n"
        "while True: pass"
    )
    trace = run(sandbox, source, wall_seconds=0.2)
    assert (trace.failure.type, trace.seconds < 2) == ("wall_seconds", True)


def test_memory_taken_by_many_small_things_is_told_too(sandbox):
    trace = run(sandbox, "x = []\nwhile True: x.append([])", memory_bytes=192 << 20)
    assert trace.failure.type == "memory_bytes"  # without a line: there was no memory left to note it


def test_a_caught_memory_error_is_the_programs_affair(sandbox):
    assert run(sandbox, "try: [0] * 10**10\nexcept MemoryError: print('caught')").stdout == "caught\n"


def test_output_as_python_gives_it(sandbox):
    source = """
        import contextlib, io, sys, traceback, warnings
        sys.stdout.write("no newline;")
        print("err", file=sys.stderr)
        warnings.warn("nobody sees it")
        with contextlib.redirect_stdout(io.StringIO()) as kept:
            print("inner")
        print(kept.getvalue(), end="")
        try:
            {}["x"]
        except KeyError:
            print(traceback.format_exc(), end="")
        print("é" * 20_000)
    """
    expected = (
        "no newline;inner\nTraceback (most recent call last):\n"
        '  File "<program>", line 10, in <module>\n    {}["x"]\n    ~~^^^^^\nKeyError: \'x\'\n'
    )
    assert run(sandbox, textwrap.dedent(source)).stdout == expected + "é" * 20_000 + "\n"


def test_closing_standard_output_is_no_fault(sandbox):
    trace = run(sandbox, "import sys\nprint('a')\nsys.stdout.close()\n5")
    assert (trace.value, trace.failure) == (5, None)


def test_large_results_and_values(sandbox):
    tools = Toolbox([make_tool("big", {}, lambda: "é" * 1_000_000)])
    assert run(sandbox, "len(big())", tools).value == 1_000_000
    trace = run(sandbox, "list(range(100_000))")
    assert trace.value.startswith("[0, 1, 2")
    assert len(trace.value) == 200_000


def test_arguments_that_are_too_large_are_not_sent(sandbox):
    trace = run(sandbox, "echo(text='x' * 2_000_000)")
    assert (trace.failure.type, trace.calls) == ("ValueError", ())
    assert "at most 1,048,576 can be sent" in trace.failure.message
    assert run(sandbox, "len(echo(text='x' * 1_000_000))").value == 1_000_000


def test_arguments_that_cannot_be_sent_are_shown(sandbox):
    for text, shown in (
        ("float('nan')", "nan"),
        ("'\\ud800'", "'\\ud800'"),
        ("{1: {2}}", "{1: {2}}"),
        ("get_item", "<"),
    ):
        trace = run(sandbox, f"echo(text={text})")
        assert trace.failure.type == "ToolError"
        assert f"argument 'text' must be a string, got {shown}" in trace.calls[0].error
        assert trace.calls[0].arguments["text"].startswith(shown)


def test_a_write_of_a_failed_attempt_is_not_repeated_and_a_read_after_another_write_is(sandbox):
    made = []

    def call(x):
        made.append(x)
        return len(made)

    text = {"x": {"type": "string"}}
    tools = Toolbox([make_tool("write", text, call, writes=True), make_tool("read", text, call)])
    journal = Journal()
    assert run(sandbox, "write(x='a')\nread(x='b')\n1/0", tools, journal=journal).failure.type == "ZeroDivisionError"
    trace = run(sandbox, "write(x='a')\nread(x='b')\nwrite(x='c')\n(read(x='b'))", tools, journal=journal)
    assert made == ["a", "b", "c", "b"]
    assert trace.value == 4


def test_ctrl_c_while_a_tool_works_kills_the_child(sandbox):
    released = threading.Event()

    def slow():
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        released.wait(20)

    with pytest.raises(KeyboardInterrupt):
        run(sandbox, "slow()", Toolbox([make_tool("slow", {}, slow)]))
    released.set()
    assert len(settled_children(sandbox)) == 1


def test_closing_ends_runs_that_are_under_way(own):
    started = threading.Event()
    tools = Toolbox([make_tool("started", {}, started.set)])
    caught = []

    def work():
        try:
            run(own, "import time\nstarted()\ntime.sleep(60)", tools)
        except SandboxUnavailable as error:
            caught.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    assert started.wait(20)
    own.close()
    thread.join(20)
    assert len(caught) == 1


def test_the_terminals_interrupt_does_not_reach_the_zygote(own):
    own._current().await_ready()
    assert os.getsid(pid_of(own)) == pid_of(own) != os.getsid(0)


def test_a_top_up_that_comes_after_the_end_does_nothing(own):
    zygote = own._current()
    for _ in range(3):
        run(own, "1")
    own.close()
    zygote.top_up(Limits())
    assert zygote.spare_pids() == []


def test_a_zygote_that_does_not_answer_is_replaced(own, monkeypatch):
    for module in ("offspring", "warm"):
        monkeypatch.setattr(f"sandbox.zygote.{module}.DEATH_SECONDS", 0.3)
    run(own, "1")
    os.kill(pid_of(own), signal.SIGSTOP)
    trace = run(own, "5", wall_seconds=0.2)
    assert trace.value == 5


def test_time_zone_and_preloaded_modules(sandbox):
    from sandbox.trace import Pins

    journal = Journal(pins=Pins(clock=0.0, timezone="Europe/Madrid"))
    trace = sandbox.run(
        "import time, datetime, zoneinfo, sqlite3 if False else csv", Toolbox(), limits=Limits(), journal=journal
    )
    assert trace.failure.kind == "syntax"
    trace = sandbox.run(
        "import datetime, time\n[datetime.datetime.now().hour, time.tzname[0]]",
        Toolbox(), limits=Limits(), journal=journal,
    )  # fmt: skip
    assert trace.value == [1, "CET"]
