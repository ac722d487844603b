"""Each layer with the others switched off, and what happens where the system does not allow one."""

from __future__ import annotations

import contextlib
import ctypes
import ctypes.util
import errno
import os
import platform
import socket
import struct
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.sandbox.shop import run
from protocols.toolbox import Toolbox
from sandbox.layers import seccomp
from sandbox.layers.names import LAYERS
from sandbox.layers.seccomp import AUDIT_ARCH, NUMBERS
from sandbox.testing import make_tool
from sandbox.zygote import ZygoteSandbox, unavailable
from tests.labs.paths import ROOT

pytestmark = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))

ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x80000000


def alone(*layers):
    """A sandbox with these layers and no other; skips where the machine does not allow one of them."""
    sandbox = ZygoteSandbox(without=set(LAYERS) - set(layers))
    run(sandbox, "1")
    for layer in set(layers) & set(sandbox.missing):
        why = sandbox.missing[layer]
        sandbox.close()
        pytest.skip(f"{layer}: {why}")
    return sandbox


def outcome(sandbox, source):
    """The program's value, or the name of its exception and its error number."""
    trace = run(sandbox, textwrap.dedent(source))
    if trace.failure is None:
        return trace.value
    return f"{trace.failure.type} {trace.failure.message[:11]}"


@pytest.fixture(scope="module")
def listener():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture(scope="module")
def abstract():
    name = f"\0atc-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()
        yield name


NOTHING = {
    "open('/etc/hostname').read()": str,
    "import os\nlen(os.listdir('/'))": int,
    "import os\nos.getpid() > 1": bool,
}


def test_with_no_layer_a_program_reaches_the_machine(listener, abstract):
    # What the other tests find refused is refused by the layer, not by chance.
    with alone() as bare:
        assert not bare.boundary
        assert bare.layers == ()
        for source, kind in NOTHING.items():
            assert isinstance(outcome(bare, source), kind)
        assert (
            outcome(
                bare, f"import socket\nsocket.create_connection(('127.0.0.1', {listener})).close()"
            )
            is None
        )
        assert (
            outcome(bare, f"import socket\nsocket.socket(socket.AF_UNIX).connect({abstract!r})")
            is None
        )
        assert outcome(bare, "import os\nos.waitpid(os.fork() or os._exit(7), 0)[1] >> 8") == 7
        assert outcome(bare, "import os\nos.kill(os.getppid(), 0)") is None


def test_seccomp_alone_stops_descriptors_processes_and_code():
    with alone("seccomp", "no_new_privs") as sandbox:
        for source in (
            "open('/etc/hostname')",
            "import os\nos.listdir('/')",
            "import socket\nsocket.socket()",
            "import os\nos.fork()",
            "import os\nos.pipe()",
            "import os\nos.dup(3)",
            "import os\nos.memfd_create('x')",
            "import os\nos.kill(os.getppid(), 0)",
            "import os\nos.write(1, b'x')",
            "import os\nos.read(0, 1)",
            "import mmap\nmmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)",
            "import resource\nresource.setrlimit(resource.RLIMIT_AS, (-1, -1))",
            "import os\nos.setuid(0)",
            "import os\nos.chroot('/')",
        ):
            assert outcome(sandbox, source).startswith(
                ("PermissionError [Errno 1]", "ValueError not allowed")
            ), source
        for name, number in (
            ("ptrace", 101),
            ("bpf", 321),
            ("io_uring_setup", 425),
            ("unshare", 272),
            ("execve", 59),
        ):
            if platform.machine() != "x86_64":
                break
            source = f"import ctypes as c\n[c.CDLL(None, use_errno=True).syscall({number}, 0, 0, 0), c.get_errno()]"
            assert outcome(sandbox, source) == [-1, errno.EPERM], name


@pytest.mark.skipif(
    platform.machine() != "x86_64", reason="x86_64 alone has a second set of numbers"
)
def test_the_numbers_of_another_architecture_kill():
    with alone("seccomp", "no_new_privs") as sandbox:
        trace = run(sandbox, "import ctypes\nctypes.CDLL(None).syscall(0x40000000 + 39)")
        assert (trace.failure.type, "SIGSYS" in trace.failure.message) == ("Crash", True), (
            trace.failure
        )


def test_namespaces_alone_are_empty(listener, abstract):
    with alone("namespaces") as sandbox:
        assert outcome(sandbox, "import os\n[os.listdir('/'), os.getpid()]") == [[], 1]
        assert outcome(sandbox, "open('/x', 'w')").startswith("OSError [Errno 30]")  # read-only
        assert outcome(sandbox, "import os\nos.mkdir('/x')").startswith("OSError [Errno 30]")
        connect = f"import socket\nsocket.create_connection(('127.0.0.1', {listener}), timeout=5)"
        assert outcome(sandbox, connect).startswith(
            "OSError"
        )  # the network has not even a loopback
        assert outcome(
            sandbox, f"import socket\nsocket.socket(socket.AF_UNIX).connect({abstract!r})"
        ).startswith("ConnectionRefusedError")
        assert outcome(sandbox, "import os\nos.kill(2, 9)").startswith("ProcessLookupError")


def test_namespaces_alone_end_what_a_program_started():
    name = f"orphan-{os.getpid()}"
    source = f"""
        import ctypes, os, time
        reader, writer = os.pipe()
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                ctypes.CDLL(None).prctl(15, b"{name}", 0, 0, 0)  # PR_SET_NAME
                os.write(writer, b"up")
                time.sleep(600)
            os._exit(0)
        os.wait()
        os.read(reader, 2)
        began()
    """
    seen = []
    with alone("namespaces") as sandbox:
        tools = Toolbox([make_tool("began", {}, lambda: seen.extend(named(name)))])
        assert run(sandbox, textwrap.dedent(source), tools).failure is None
        assert len(seen) == 1  # while the program ran it was there
        sandbox.close()
        assert named(name) == []


def named(name):
    """The processes of this name, wherever they are."""
    found = []
    for comm in Path("/proc").glob("[0-9]*/comm"):
        with contextlib.suppress(OSError):
            found += [comm] if comm.read_text().strip() == name else []
    return found


def test_landlock_alone_refuses_files_and_networks(listener, abstract):
    from sandbox.layers.process import landlock_version

    with alone("landlock", "no_new_privs") as sandbox:
        assert outcome(sandbox, "open('/etc/hostname')").startswith("PermissionError [Errno 13]")
        assert outcome(sandbox, "import os\nos.listdir('/')").startswith(
            "PermissionError [Errno 13]"
        )
        assert outcome(sandbox, "import os\nos.mkdir('/tmp/atc-never')").startswith(
            "PermissionError [Errno 13]"
        )
        if landlock_version() >= 4:
            connect = f"import socket\nsocket.create_connection(('127.0.0.1', {listener}))"
            assert outcome(sandbox, connect).startswith("PermissionError [Errno 13]")
        if landlock_version() >= 6:
            connect = f"import socket\nsocket.socket(socket.AF_UNIX).connect({abstract!r})"
            assert outcome(sandbox, connect).startswith("PermissionError [Errno 1]")
            assert outcome(sandbox, "import os\nos.kill(os.getppid(), 0)").startswith(
                "PermissionError [Errno 1]"
            )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has rights to lose")
def test_user_and_capabilities_alone():
    rights = "dict(line.split(':\\t') for line in open('/proc/self/status').read().splitlines() if ':\\t' in line)"
    with alone("capabilities") as sandbox:
        status = outcome(sandbox, rights)
        assert (status["CapEff"], status["CapPrm"], status["Uid"].split()) == (
            "0" * 16,
            "0" * 16,
            ["0"] * 4,
        )
        assert outcome(sandbox, "import os\nos.chroot('/')").startswith("PermissionError")
    with alone("user") as sandbox:
        status = outcome(sandbox, rights)
        assert (status["CapEff"], status["Uid"].split(), status["Groups"].split()) == (
            "0" * 16,
            ["65534"] * 4,
            [],
        )
    with alone("no_new_privs") as sandbox:
        assert outcome(sandbox, rights)["NoNewPrivs"] == "1"


def test_limits_alone():
    with alone("limits", "user") as sandbox:
        names = ("AS", "CPU", "FSIZE", "CORE", "NPROC", "NOFILE")
        source = f"import resource as r\n[r.getrlimit(getattr(r, 'RLIMIT_' + name))[1] for name in {names}]"
        assert outcome(sandbox, source) == [512 * 2**20, 11, 0, 0, 0, 4]


# ---- what the filter says, without a kernel


def judge(program, number, arguments=(), arch=None):
    """Run a BPF program over one system call, as the kernel would."""
    arch = AUDIT_ARCH["x86_64"] if arch is None else arch
    data = struct.pack(
        "=IIQ6Q", number & 0xFFFFFFFF, arch, 0, *arguments, *[0] * (6 - len(arguments))
    )
    code = list(struct.iter_unpack("=HBBI", program))
    accumulator = at = 0
    while True:
        operation, if_true, if_false, value = code[at]
        at += 1
        if operation == 0x20:
            (accumulator,) = struct.unpack_from("=I", data, value)
        elif operation == 0x06:
            return value
        else:
            test = {
                0x15: accumulator == value,
                0x35: accumulator >= value,
                0x45: bool(accumulator & value),
            }[operation]
            at += if_true if test else if_false


@pytest.mark.parametrize("machine", list(NUMBERS))
@given(number=st.integers(0, 600), argument=st.integers(0, 8) | st.integers(0, 2**64 - 1))
def test_the_filter_allows_its_list_and_nothing_else(machine, number, argument):
    program = seccomp.program(machine, NUMBERS[machine], reader=3, writer=4)
    names = {number: name for name, number in NUMBERS[machine].items()}
    verdict = judge(program, number, (argument, argument, argument), AUDIT_ARCH[machine])
    match names.get(number):
        case None:
            assert verdict == REFUSE
        case "read" | "write" as name:
            assert verdict == (
                ALLOW if argument & 0xFFFFFFFF == {"read": 3, "write": 4}[name] else REFUSE
            )
        case "mmap" | "mprotect":
            assert verdict == (REFUSE if argument & seccomp.PROT_EXEC else ALLOW)
        case "futex":
            assert verdict == (ALLOW if argument & seccomp.FUTEX_PRIVATE_FLAG else REFUSE)
        case "clock_gettime" | "clock_getres" | "clock_nanosleep":
            assert verdict == (REFUSE if argument & seccomp.OTHER_CLOCK else ALLOW)
        case _:
            assert verdict == ALLOW


@pytest.mark.parametrize("machine", list(NUMBERS))
def test_another_architecture_is_killed(machine):
    program = seccomp.program(machine, NUMBERS[machine], reader=3, writer=4)
    for number in range(500):
        assert judge(program, number, (), 0x40000003) == KILL  # i386
    if machine == "x86_64":
        assert judge(program, 0x40000000) == KILL


def test_the_numbers_are_those_of_libseccomp():
    name = ctypes.util.find_library("seccomp")
    if name is None:
        pytest.skip("libseccomp is not here")
    resolve = ctypes.CDLL(name).seccomp_syscall_resolve_name_arch
    for machine, numbers in NUMBERS.items():
        for call, number in numbers.items():
            assert resolve(ctypes.c_uint32(AUDIT_ARCH[machine]), call.encode()) == number, (
                machine,
                call,
            )


# ---- a system that refuses


def host_under(refusals, body):
    """Run a host whose system calls of these (number, first argument or None) fail with EPERM; gives what it prints."""
    script = f"""
        import struct, sys
        sys.path.insert(0, {str(ROOT)!r})
        from sandbox.layers import process, seccomp
        load, jump, give = seccomp._load, seccomp._jump, seccomp._return
        code = b""
        for number, first in {refusals!r}:
            if first is None:
                code += load(0) + jump(0x15, number, 0, 1) + give({REFUSE})
            else:
                code += load(0) + jump(0x15, number, 0, 3) + load(16) + jump(0x15, first, 0, 1) + give({REFUSE})
        process.no_new_privileges()
        seccomp.install(code + give({ALLOW}))
        from benchmarks.sandbox.shop import run
        from sandbox.base import SandboxUnavailable
        from sandbox.zygote import ZygoteSandbox
    """
    source = textwrap.dedent(script) + textwrap.dedent(body)
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


PRCTL, UNSHARE = {"x86_64": (157, 272), "aarch64": (167, 97)}.get(platform.machine(), (0, 0))


def test_a_required_layer_that_is_refused_means_unavailable():
    said = host_under(
        [(PRCTL, 22)],  # as where seccomp filters are not compiled in
        """
        # The refusal itself was installed before it took effect.
        with ZygoteSandbox() as sandbox:
            try:
                run(sandbox, "print('ran')")
            except SandboxUnavailable as error:
                print(error)
        """,
    )
    assert "cannot have seccomp" in said
    assert "Operation not permitted" in said
    assert "use --sandbox docker" in said
    assert "ran" not in said.splitlines()


def test_without_namespaces_the_others_hold():
    said = host_under(
        [(UNSHARE, None)],  # as in a container
        """
        with ZygoteSandbox() as sandbox:
            trace = run(sandbox, "try: open('/etc/hostname')\\nexcept PermissionError as e: print(e.errno)")
            print(trace.stdout.strip(), sandbox.boundary, dict(sandbox.missing))
        """,
    )
    assert said == "1 True {'namespaces': 'unshare: Operation not permitted'}\n"


def test_a_layer_that_does_not_exist_is_told():
    with pytest.raises(ValueError, match="no layer 'selinux'; there are namespaces"):
        ZygoteSandbox(without=["selinux"])
