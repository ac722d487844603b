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

from benchmarks.sandbox.shop import run
from protocols.toolbox import Toolbox
from sandbox.base import SandboxUnavailable
from sandbox.testing import make_tool
from sandbox.zygote import ZygoteSandbox, unavailable
from tests.labs import sandbox_checks
from tests.labs.paths import ROOT
from tests.labs.patience import PATIENCE

pytestmark = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))


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
    return sandbox._runner._process.pid


def children_of(pid):
    """The processes of programs: all children but the first, which is the template that they are forked from."""
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[1:]


def until(condition, seconds=PATIENCE):
    """Whether the condition comes true in time."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        select.select([], [], [], 0.005)
    return condition()


def settled_children(sandbox):
    """The children that are left when those that were killed are dead, and the next one waits for its program."""
    pid = pid_of(sandbox)
    assert until(
        lambda: (
            (one := sandbox._runner._waiting)
            and one.alive()
            and [str(one.reports.get("pid"))] == children_of(pid)
        )
    )
    return children_of(pid)


def gone(pidfd, seconds=PATIENCE):
    """Whether the process ends in time."""
    return bool(select.select([pidfd], [], [], seconds)[0])


def test_the_zygote_is_reused_until_closed(own):
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


def test_the_zygote_ends_with_its_host():
    host = f"""
        import os, sys
        sys.path.insert(0, {str(ROOT)!r})
        from sandbox.zygote import ZygoteSandbox
        sandbox = ZygoteSandbox()
        sandbox._current().await_ready()
        print(sandbox._runner._process.pid, flush=True)
        sys.stdin.read()
        os._exit(1)  # without any clean-up
    """
    command = [sys.executable, "-c", textwrap.dedent(host)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        pidfd = os.pidfd_open(int(process.stdout.readline()))
    assert gone(pidfd)
    os.close(pidfd)


def test_a_dead_zygote_is_replaced_without_repetition(own):
    made = []

    def kill_once(n):
        made.append(n)
        if n == 1:
            own._runner._process.kill()
            own._runner._process.wait()
        return n

    tools = Toolbox([make_tool("f", {"n": {"type": "integer"}}, kill_once, writes=True)])
    trace = run(own, "[f(n=0), f(n=1), f(n=2)]", tools)
    assert (trace.value, made) == ([0, 1, 2], [0, 1, 2])
    assert [call.reused for call in trace.calls] == [True, True, False]


def test_a_zygote_that_dies_again_is_no_verdict(own):
    def kill(n):
        own._runner._process.kill()
        own._runner._process.wait()
        return n

    tools = Toolbox([make_tool("f", {"n": {"type": "integer"}}, kill)])
    with pytest.raises(SandboxUnavailable, match="died while it ran"):
        run(own, "f(n=0)\nf(n=1)\nf(n=2)", tools)
    assert run(own, "1 + 1").value == 2


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
        if (
            open_now <= before + 3
        ):  # the last one may still be dying, on a busy machine more than one
            break
    assert open_now <= before + 3


def test_a_child_has_one_descriptor_and_thread(own):
    run(own, "1")
    (pid,) = settled_children(own)
    descriptors = Path(f"/proc/{pid}/fd")
    assert until(lambda: [entry.name for entry in descriptors.iterdir()] == ["3"])
    assert str((descriptors / "3").readlink()).startswith("socket:")
    ours = "[name for name in sys.modules if name.startswith(('sandbox', 'protocols'))]"
    assert run(own, f"import sys\n{ours}").value == []
    failure = run(own, "import threading\nthreading.Thread(target=print).start()").failure
    assert (failure.type, "ThreadPoolExecutor" in failure.message) == ("RuntimeError", True)
    trace = run(own, "import os, sys\n[os.getuid(), os.getpid() == 1, sys.stdin.read(), sys.argv]")
    assert trace.value == [65534, "namespaces" not in own.missing, "", ["<program>"]]


@pytest.mark.parametrize(
    ("source", "type_"),
    [
        ("import os\nos._exit(3)", "ProcessExit"),
        ("import os\nos.close(3)", "PermissionError"),
        ("import ctypes\nctypes.string_at(0)", "Crash"),
        ("import os\nos.write(3, b'{}\\n')\nwhile True: pass", "ProtocolViolation"),
        ("import os\nos.write(3, b'A' * 4000)\nprint('x' * 100000)", "ProtocolViolation"),
        ("raise SystemExit('bad')", "SystemExit"),
        ("class E(BaseException):\n    def __str__(self): 1 / 0\nraise E", "E"),
        ("x = '\\ud800'\nprint(x)", "UnicodeEncodeError"),
        ("raise type('E' * 2_000_000, (Exception,), {})('m' * 9_000_000)", "E" * 99 + "…"),
    ],
)
def test_odd_ends(sandbox, source, type_):
    assert run(sandbox, source).failure.type == type_


def test_a_program_that_ignores_its_end_is_killed(sandbox):
    source = (
        "import signal\n"
        "for s in range(1, 65):\n"
        "    try: signal.signal(s, signal.SIG_IGN)\n"
        "    except Exception: pass\n"
        "while True: pass"
    )
    trace = run(sandbox, source, wall_seconds=0.2)
    assert (trace.failure.type, trace.seconds < PATIENCE) == ("wall_seconds", True)


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


def test_ctrl_c_kills_the_child_of_a_call(sandbox):
    released = threading.Event()

    def slow():
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        released.wait(PATIENCE)

    with pytest.raises(KeyboardInterrupt):
        run(sandbox, "slow()", Toolbox([make_tool("slow", {}, slow)]))
    released.set()
    assert len(settled_children(sandbox)) == 1


def test_closing_ends_runs_that_are_under_way(own):
    sandbox_checks.closing_ends_a_run(own)


def test_a_zygote_that_does_not_answer_is_replaced(own, monkeypatch):
    monkeypatch.setattr("sandbox.zygote.DEATH_SECONDS", 1.0)
    run(own, "1")
    os.kill(pid_of(own), signal.SIGSTOP)
    trace = run(own, "5", wall_seconds=3.0)  # and as long again in the new one
    assert trace.value == 5
