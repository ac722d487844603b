"""The docker sandbox: a container a program, what its walls hold, and nothing left of either."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tarfile
import textwrap
import threading
import time
from contextlib import closing
from io import BytesIO
from pathlib import Path

import pytest

from protocols.toolbox import Toolbox
from sandbox import conformance
from sandbox.conformance import make_tool, run
from sandbox.docker import DockerSandbox, base, container, engine, image, leftovers, unavailable
from sandbox.docker.stream import AttachedStream
from sandbox.errors import SandboxUnavailable
from sandbox.limits import Limits

ROOT = Path(__file__).resolve().parent.parent
TEST_BASE = "atc-python:test"
RUNTIME = "runc"


@pytest.fixture(scope="module")
def client():
    if reason := unavailable():
        pytest.skip(reason)
    with closing(engine.connect()) as connected:
        yield connected


@pytest.fixture(scope="module")
def base_image(client):
    """The tests need no registry: without a base of the user's they make one."""
    if os.environ.get(image.BASE_VARIABLE) or client.images.list(base.LOCAL_BASE):
        yield None
        return
    yield base.import_base(client, TEST_BASE)
    client.images.remove(TEST_BASE, force=True)


@pytest.fixture(scope="module")
def sandbox(base_image):
    with DockerSandbox(base=base_image, runtime=RUNTIME, spares=2) as docker:
        docker.warm()
        yield docker


@pytest.fixture
def own(base_image):
    """A sandbox that the test may break. It has no spares, and starts containers when they are needed."""
    with DockerSandbox(base=base_image, runtime=RUNTIME, spares=0) as docker:
        yield docker


def containers(client, status=None):
    """Containers of this process."""
    filters = {"label": f"{leftovers.LABEL}={leftovers.host_label()}"} | ({"status": status} if status else {})
    return client.api.containers(all=True, filters=filters)


def spare_of(sandbox):
    sandbox.warm()
    return sandbox._pool._spares[0].result()


@pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda check: check.__name__)
def test_conforms(sandbox, check):
    check(sandbox)


# What the container holds by itself, with the filters inside it off.

LOOK = """
    import ctypes, errno, os, socket
    libc = ctypes.CDLL(None, use_errno=True)

    def attempt(function, *arguments):
        try:
            return str(function(*arguments))
        except OSError as error:
            return errno.errorcode[error.errno]

    def call(name, *arguments):
        return attempt(lambda: _checked(getattr(libc, name)(*arguments)))

    def _checked(result):
        if result < 0:
            raise OSError(ctypes.get_errno(), "")
        return result

    def connect(host):
        with socket.socket() as client:
            client.settimeout(2)
            client.connect((host, @PORT@))
            return "connected"

    {
        "status": dict(line.strip().split(":\\t", 1) for line in open("/proc/self/status") if ":\\t" in line),
        "interfaces": [line.split(":")[0].strip() for line in open("/proc/net/dev") if ":" in line],
        "processes": [name for name in os.listdir("/proc") if name.isdigit()],
        "connect": [attempt(connect, host) for host in ("127.0.0.1", "@ADDRESS@")],
        "pair": attempt(lambda: [end.close() for end in socket.socketpair()]),
        "write": [attempt(os.open, path, os.O_CREAT | os.O_WRONLY) for path in ("/x", "/tmp/x", "/dev/x")],
        "fork": attempt(os.fork),
        "unshare": call("unshare", 0x10000000),
        "mount": call("mount", b"none", b"/tmp", b"tmpfs", 0, None),
        "ptrace": call("ptrace", 0, 0, 0, 0),
        "io_uring": call("syscall", 425, 1, None),
        "bpf": call("syscall", 321, 0, None, 0),
        "keyctl": call("syscall", 250, 0, 0, 0),
    }
"""


def look(base_image, *without):
    with socket.create_server(("0.0.0.0", 0)) as listener:
        port = str(listener.getsockname()[1])
        source = textwrap.dedent(LOOK).replace("@PORT@", port).replace("@ADDRESS@", own_address())
        with DockerSandbox(base=base_image, runtime=RUNTIME, spares=0, without=without) as docker:
            trace = run(docker, source)
            assert trace.failure is None, trace
            return trace.value


def own_address():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing
            return probe.getsockname()[0]
        except OSError:
            return "127.0.0.1"


@pytest.fixture(scope="module")
def bare(base_image):
    """What a program sees with every filter of system calls off."""
    return look(base_image, "seccomp", "landlock", "filter")


@pytest.fixture(scope="module")
def profiled(base_image):
    """What a program sees with the engine's filter alone."""
    return look(base_image, "landlock", "filter")


def test_there_is_no_network(bare):
    assert bare["interfaces"] == ["lo"]
    assert set(bare["connect"]) <= {"ECONNREFUSED", "ENETUNREACH"}


def test_nothing_can_be_written(bare):
    assert set(bare["write"]) <= {"EROFS", "EACCES", "ENOENT"}


def test_it_is_alone_nobody_and_without_rights(bare):
    assert bare["processes"] == ["1"]
    assert set(bare["status"]["Uid"].split() + bare["status"]["Gid"].split()) == {"65534"}
    assert {int(bare["status"][name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {0}
    assert bare["status"]["NoNewPrivs"] == "1"
    assert bare["fork"] == "EAGAIN"
    assert bare["mount"] == "EPERM"


def test_the_profile_refuses_what_python_does_not_need(profiled):
    assert profiled["status"]["Seccomp"] == "2"
    assert profiled["connect"] == ["EPERM", "EPERM"]
    for name in ("fork", "unshare", "mount", "ptrace", "io_uring", "bpf", "keyctl"):
        assert profiled[name] == "EPERM", name
    assert profiled["pair"] == "[None, None]"  # how an event loop wakes itself


def test_the_layers_inside_are_there_too(sandbox):
    assert run(sandbox, "open('/proc/self/status')").failure.type == "PermissionError"
    assert len(sandbox.layers) >= 6


def test_the_profile_is_small_and_names_each_call_once():
    rules = json.loads(container.SECCOMP_PROFILE.read_text())["syscalls"]
    names = [name for rule in rules for name in rule["names"] if "args" not in rule]
    assert len(names) == len(set(names)) < 140
    assert not {"socket", "ptrace", "bpf", "io_uring_setup", "mount", "unshare", "setns", "keyctl"} & set(names)


# One program a container.


def test_a_spare_is_used_once_and_replaced(sandbox, client):
    first = spare_of(sandbox)
    assert run(sandbox, "1 + 1").value == 2
    deadline = time.monotonic() + 20
    while (second := spare_of(sandbox)).id == first.id or first.id in {c["Id"] for c in containers(client)}:
        assert time.monotonic() < deadline
    assert second.id != first.id


def test_a_container_gets_the_limits_of_the_run(own, client):
    waiting = own._current()._start(Limits())
    assert waiting.fits(Limits(cpu_seconds=1))
    assert not waiting.fits(Limits(cpu_seconds=1e6))
    waiting.confine(Limits(memory_bytes=300 << 20))
    settings = client.api.inspect_container(waiting.id)["HostConfig"]
    assert {settings["Memory"], settings["MemorySwap"]} == {(300 << 20) + container.MARGIN_BYTES}


def test_memory_beyond_the_containers_is_the_limit(own, monkeypatch):
    monkeypatch.setattr(container, "MARGIN_BYTES", -(400 << 20))
    trace = run(own, "x = bytearray(300 << 20)\nfor i in range(0, len(x), 4096): x[i] = 1", memory_bytes=512 << 20)
    assert (trace.failure.kind, trace.failure.type) == ("limit", "memory_bytes")


def test_a_program_that_ignores_the_processors_limit_is_killed(own):
    source = "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass"
    assert run(own, source, cpu_seconds=1).failure.type == "cpu_seconds"


@pytest.mark.parametrize(
    ("source", "type_"),
    [
        ("import os\nos._exit(3)", "ProcessExit"),
        ("import ctypes\nctypes.string_at(8)", "Crash"),
        ("import os\nwhile True: os.write(4, b'x' * 65536)", "ProtocolViolation"),
        ('import os\nwhile True: os.write(4, b\'{"stdout":"x"}\\n\' * 4096)', "ProtocolViolation"),
        ("while True: print('x' * 65536)", "output_bytes"),
    ],
)
def test_odd_ends_and_floods(sandbox, source, type_):
    began = time.monotonic()
    assert run(sandbox, source).failure.type == type_
    assert time.monotonic() - began < 15


def test_a_program_is_stopped_in_time_and_its_line_known(sandbox):
    spare_of(sandbox)
    trace = run(sandbox, "\nwhile True: pass", wall_seconds=0.5)
    assert (trace.failure.type, trace.seconds < 1.5) == ("wall_seconds", True)
    assert trace.failure.line == 2


@pytest.mark.parametrize(
    ("source", "type_"),
    [("while True: pass", "wall_seconds"), ("import os\nos._exit(3)", "ProcessExit"), ("1 / 0", "ZeroDivisionError")],
)
def test_where_its_process_is_out_of_sight_the_engine_signals_it(own, monkeypatch, source, type_):
    monkeypatch.setattr(container, "_open_pid", lambda pid, name: -1)
    trace = run(own, source, wall_seconds=0.5)
    assert (trace.failure.type, trace.seconds < 3) == (type_, True)


def test_a_forgotten_sandbox_removes_its_containers(base_image, client):
    host = f"""
        import sys
        sys.path.insert(0, {str(ROOT)!r})
        from sandbox.docker import DockerSandbox, leftovers
        from sandbox.conformance import run
        sandbox = DockerSandbox(base={base_image!r}, runtime={RUNTIME!r})
        assert run(sandbox, "1 + 1").value == 2
        print(leftovers.host_label())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(host)], check=True, capture_output=True, text=True, timeout=60
    )
    filters = {"label": f"{leftovers.LABEL}={done.stdout.strip()}"}
    assert client.api.containers(all=True, filters=filters) == []


def test_a_container_that_dies_while_it_waits_is_replaced(sandbox, client):
    client.api.kill(spare_of(sandbox).id)
    assert run(sandbox, "1 + 1").value == 2


def test_a_container_that_somebody_kills_is_no_verdict(own, client):
    def kill():
        for found in containers(client):
            client.api.kill(found["Id"])

    with pytest.raises(SandboxUnavailable, match="killed from outside"):
        run(own, "kill()\nwhile True: pass", Toolbox([make_tool("kill", {}, kill)]))


def test_closing_ends_runs_that_are_under_way_and_leaves_nothing(base_image, client):
    with DockerSandbox(base=base_image, runtime=RUNTIME) as docker:
        before = {found["Id"] for found in containers(client)}
        started = threading.Event()
        caught = []

        def work():
            try:
                run(docker, "started()\nwhile True: pass", Toolbox([make_tool("started", {}, started.set)]))
            except SandboxUnavailable as error:
                caught.append(error)

        thread = threading.Thread(target=work)
        docker.warm()
        thread.start()
        assert started.wait(20)
        docker.close()
        thread.join(20)
        assert len(caught) == 1
        assert {found["Id"] for found in containers(client)} - before == set()
        docker.close()
        with pytest.raises(SandboxUnavailable, match="was closed"):
            run(docker, "1")


def test_runs_leave_no_descriptors(base_image):
    before = len(list(Path("/proc/self/fd").iterdir()))
    with DockerSandbox(base=base_image, runtime=RUNTIME) as docker:
        for source in ("1 / 0", "import os\nos._exit(1)", "import time\ntime.sleep(60)"):
            run(docker, source, wall_seconds=0.5)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


# What a crash leaves.


def test_what_a_killed_host_left_is_removed_and_what_a_living_one_has_is_not(base_image, client):
    host = f"""
        import sys
        sys.path.insert(0, {str(ROOT)!r})
        from protocols.toolbox import Toolbox
        from sandbox.conformance import make_tool, run
        from sandbox.docker import DockerSandbox, leftovers
        def started():
            print(leftovers.host_label(), flush=True)
            sys.stdin.read()
        sandbox = DockerSandbox(base={base_image!r}, runtime={RUNTIME!r}, spares=0)
        run(sandbox, "started()", Toolbox([make_tool("started", {{}}, started)]), wall_seconds=60)
    """
    command = [sys.executable, "-c", textwrap.dedent(host)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        filters = {"label": f"{leftovers.LABEL}={process.stdout.readline().strip()}"}
        leftovers.remove_leftovers(client)
        assert len(client.api.containers(all=True, filters=filters)) == 1
        process.kill()
    assert len(client.api.containers(all=True, filters=filters)) == 1
    leftovers.remove_leftovers(client)
    assert client.api.containers(all=True, filters=filters) == []


def test_only_a_host_that_is_certainly_dead_counts_as_dead():
    boot, namespace, pid, started = json.loads(leftovers.host_label())
    for label, dead in (
        ([boot, namespace, pid, started], False),
        ([boot, namespace, pid, "1"], True),  # the number is another process's now
        ([boot, namespace, 1 << 22, "1"], True),
        (["another start", namespace, pid, "1"], False),
        ([boot, "another namespace", pid, "1"], False),
        (["", "", pid, "1"], False),
    ):
        assert leftovers._host_is_dead(json.dumps(label)) is dead, label
    assert leftovers._host_is_dead("1") is leftovers._host_is_dead("?") is False


def test_what_ended_long_ago_is_nobodys():
    state = {"Status": "exited", "FinishedAt": "2020-01-01T00:00:00.123456789Z"}
    assert leftovers._long_over(state)
    assert not leftovers._long_over({**state, "Status": "running"})
    assert not leftovers._long_over({**state, "FinishedAt": "2999-01-01T00:00:00.123456789Z"})


# The image.


def test_an_image_is_built_when_what_is_in_it_changes(sandbox, base_image, client, monkeypatch):
    tag = image.ensure_image(client, base_image)
    built = client.images.get(tag)
    assert image.ensure_image(client, base_image) == tag
    assert client.images.get(tag).id == built.id
    files = image.context_files()
    files["sandbox/zygote/child.py"] += b"# changed\n"
    monkeypatch.setattr(image, "context_files", lambda: files)
    other = image.ensure_image(client, base_image)
    assert other != tag
    built.tag(other)  # somebody has given its name to another one
    again = image.ensure_image(client, base_image)
    assert again == other
    assert client.images.get(again).id != built.id
    client.images.remove(other, force=True)


def test_the_image_has_the_childs_code_and_none_of_the_hosts():
    names = set(image.context_files())
    assert {"Dockerfile", "sandbox/zygote/child.py", "sandbox/docker/inside.py"} <= names
    assert not {"sandbox/zygote/host.py", "sandbox/docker/host.py", "sandbox/rpc.py"} & names


def test_a_base_that_cannot_be_had_is_told_with_the_way_out(client):
    with pytest.raises(SandboxUnavailable, match=r"ATC_DOCKER_BASE.*sandbox\.docker\.image import"):
        image.ensure_image(client, "127.0.0.1:1/no/such:image")


def test_a_base_without_python_is_told(client):
    out = BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("empty"))
    client.api.import_image_from_data(out.getvalue(), repository="atc-empty", tag="test")
    try:
        with DockerSandbox(base="atc-empty:test", runtime=RUNTIME, spares=0) as docker:
            with pytest.raises(SandboxUnavailable, match=r"could not start a container.*python3"):
                run(docker, "1")
            tag = docker._pool._kind.image
        client.images.remove(tag)
    finally:
        client.images.remove("atc-empty:test")


def test_a_base_of_the_running_python_is_small(tmp_path):
    with (tmp_path / "base.tar").open("w+b") as file:
        base.write_base(file)
        file.seek(0)
        with tarfile.open(fileobj=file) as tar:
            names = tar.getnames()
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    assert {f"usr/local/bin/{version}", "usr/local/bin/python3", f"usr/local/lib/{version}/os.py"} <= set(names)
    assert [name for name in names if "site-packages" in name or "/test/" in name or "home" in name] == []
    assert any(name.split("/")[-1].startswith(("libc.so", "libc.musl")) for name in names)


# The engine.


def test_gvisor_is_used_where_there_is_one(client, base_image):
    if engine.GVISOR not in client.info()["Runtimes"]:
        pytest.skip("the engine has no runtime runsc")
    with DockerSandbox(base=base_image, spares=0) as docker:
        assert run(docker, "echo(text='a')").value == "a"
        assert docker.layers[0].startswith("gVisor")


def test_a_runtime_that_is_not_there_is_told(client):
    with pytest.raises(SandboxUnavailable, match="no runtime 'nonesuch'; it has"):
        engine.choose_runtime(client, "nonesuch")


def test_a_missing_engine_is_told(monkeypatch, tmp_path):
    pytest.importorskip("docker")
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/docker.sock")
    assert "cannot reach an engine" in unavailable()
    assert "DOCKER_HOST" in unavailable()
    with DockerSandbox() as docker, pytest.raises(SandboxUnavailable, match="start Docker"):
        docker.warm()


def test_a_missing_sdk_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "docker", None)
    assert "pip install 'automatic-tool-chain[docker]'" in unavailable()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, None),
        ({"ApiVersion": "1.24"}, "too old"),
        ({"OSType": "windows"}, "Linux containers"),
        ({"MemoryLimit": False}, "cannot limit memory"),
        ({"PidsLimit": False}, "cannot limit processes"),
        ({"SecurityOptions": ["name=apparmor"]}, "no seccomp"),
    ],
)
def test_an_engine_that_cannot_hold_a_program_is_refused(change, said):
    about = {
        "ApiVersion": "1.41", "Version": "20.10.24", "OSType": "linux",
        "MemoryLimit": True, "PidsLimit": True, "SecurityOptions": ["name=seccomp,profile=default"],
    }  # fmt: skip
    problem = engine._problem({**about, **change}, {**about, **change})
    assert problem is None if said is None else said in problem


def test_a_layer_that_is_not_there_cannot_be_left_out():
    with pytest.raises(ValueError, match="no layer 'moat'"):
        DockerSandbox(without=["moat"])


# The stream.


def framed(kind, data):
    return bytes([kind, 0, 0, 0]) + len(data).to_bytes(4, "big") + data


@pytest.mark.parametrize("piece", [1, 3, 8, 9, 4096])
def test_the_engines_headers_are_taken_out(piece):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        stream = AttachedStream(ours)
        stream.expected = b"locked\n"
        sent = framed(1, b"loc") + framed(2, b"warning") + framed(1, b"ked\nab") + framed(1, b"") + framed(1, b"c" * 70)
        for start in range(0, len(sent), piece):
            theirs.sendall(sent[start : start + piece])
        theirs.shutdown(socket.SHUT_WR)
        received = b""
        while data := stream.recv(16):
            received += data
        assert (received, stream.errors) == (b"ab" + b"c" * 70, b"warning")
        stream.sendall(b"x")
        assert theirs.recv(4) == b"x"
        stream.close()


def test_what_is_not_expected_ends_the_stream():
    for sent in (framed(1, b"Lock"), b""):
        ours, theirs = socket.socketpair()
        with theirs:
            stream = AttachedStream(ours)
            stream.expected = b"locked\n"
            theirs.sendall(sent)
            theirs.shutdown(socket.SHUT_WR)
            with pytest.raises(OSError, match="did not say"):
                stream.recv(100)
            assert stream.expected
            stream.close()


def test_a_stream_waits_no_longer_than_it_is_told():
    ours, theirs = socket.socketpair()
    with theirs:
        stream = AttachedStream(ours)
        stream.settimeout(0.01)
        with pytest.raises(TimeoutError):
            stream.recv(1)
        stream.close()
