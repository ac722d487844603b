"""The docker sandbox: a container a program, what its walls hold, and nothing left of either."""

from __future__ import annotations

import os
import runpy
import socket
import subprocess
import sys
import textwrap
import time
from contextlib import closing

import pytest

from benchmarks.sandbox.shop import run
from protocols.toolbox import Toolbox
from sandbox.base import SandboxUnavailable
from sandbox.docker import DockerSandbox, engine, unavailable
from sandbox.testing import make_tool
from tests.labs import sandbox_checks
from tests.labs.paths import ROOT
from tests.labs.patience import PATIENCE

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
    if os.environ.get(engine.BASE_VARIABLE) or client.images.list(engine.LOCAL_BASE):
        yield None
        return
    yield runpy.run_path(f"{ROOT}/.ci/docker_base.py")["import_base"](client, TEST_BASE)
    client.images.remove(TEST_BASE, force=True)


@pytest.fixture(scope="module")
def sandbox(base_image):
    with DockerSandbox(base=base_image, runtime=RUNTIME) as docker:
        docker.warm()
        yield docker


@pytest.fixture
def own(base_image):
    """A sandbox that the test may break."""
    with DockerSandbox(base=base_image, runtime=RUNTIME) as docker:
        yield docker


def containers(client):
    """Containers of this process."""
    return of_host(client, f"{os.getpid()} ")


def of_host(client, label):
    found = client.api.containers(all=True, filters={"label": engine.LABEL})
    return [one for one in found if one["Labels"][engine.LABEL].startswith(label)]


CHECKS = [  # each starts containers, which take a second: a sample, and all the others at night
    pytest.param(check, id=check.__name__, marks=[pytest.mark.nightly] if number % 5 else [])
    for number, check in enumerate(sandbox_checks.CHECKS)
]


@pytest.mark.parametrize("check", CHECKS)
def test_conforms(sandbox, check):
    check(sandbox)


# One program a container.


def test_nothing_is_left_of_a_run(sandbox, client):
    assert run(sandbox, "1 + 1").value == 2
    deadline = time.monotonic() + PATIENCE
    while containers(client):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_memory_beyond_the_containers_is_the_limit(own, monkeypatch):
    monkeypatch.setattr("sandbox.docker.USUAL_MARGIN_BYTES", -(400 << 20))
    trace = run(
        own,
        "x = bytearray(300 << 20)\nfor i in range(0, len(x), 4096): x[i] = 1",
        memory_bytes=512 << 20,
    )
    assert (trace.failure.kind, trace.failure.type) == ("limit", "memory_bytes")


@pytest.mark.parametrize(
    ("source", "type_"),
    [
        ("import os\nos._exit(3)", "ProcessExit"),
        ("import ctypes\nctypes.string_at(8)", "Crash"),
        ("import os\nwhile True: os.write(4, b'x' * 65536)", "ProtocolViolation"),
        ('import os\nwhile True: os.write(4, b\'{"stdout":"x"}\\n\' * 4096)', "ProtocolViolation"),
    ],
)
def test_odd_ends_and_floods(sandbox, source, type_):
    assert run(sandbox, source, wall_seconds=600).failure.type == type_


def test_a_container_that_somebody_kills_is_no_verdict(own, client):
    def kill():
        for found in containers(client):
            client.api.kill(found["Id"])

    with pytest.raises(SandboxUnavailable, match="killed from outside"):
        run(own, "kill()\nwhile True: pass", Toolbox([make_tool("kill", {}, kill)]))


def test_closing_ends_runs_and_leaves_nothing(own, client):
    owner = own._current().owner
    sandbox_checks.closing_ends_a_run(own)
    assert of_host(client, owner) == []
    own.close()
    with pytest.raises(SandboxUnavailable, match="was closed"):
        run(own, "1")


# What a crash leaves.


def test_what_a_killed_host_left_ends(base_image, client):
    host = f"""
        import os, sys
        sys.path.insert(0, {str(ROOT)!r})
        from protocols.toolbox import Toolbox
        from benchmarks.sandbox.shop import run
        from sandbox.testing import make_tool
        from sandbox.docker import DockerSandbox
        def started():
            print(os.getpid(), flush=True)
            sys.stdin.read()
        sandbox = DockerSandbox(base={base_image!r}, runtime={RUNTIME!r})
        run(sandbox, "started()", Toolbox([make_tool("started", {{}}, started)]), wall_seconds=600)
    """
    command = [sys.executable, "-c", textwrap.dedent(host)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        label = process.stdout.readline().strip() + " "
        assert [one["State"] for one in of_host(client, label)] == ["running"]
        process.kill()
    deadline = time.monotonic() + PATIENCE
    while any(one["State"] == "running" for one in of_host(client, label)):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    for left in of_host(client, label):
        client.api.remove_container(left["Id"])


# The image.


def test_a_missing_base_says_the_way_out(client):
    with pytest.raises(SandboxUnavailable, match=r"pull the image.*ATC_DOCKER_BASE"):
        engine.ensure_image(client, "127.0.0.1:1/no/such:image")


# The engine.


@pytest.mark.parametrize("left_behind", [False, True])
def test_a_missing_engine_is_told(monkeypatch, tmp_path, left_behind):
    pytest.importorskip("docker")
    if left_behind:  # by an engine that was killed
        with socket.socket(socket.AF_UNIX) as engine:
            engine.bind(f"{tmp_path}/docker.sock")
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/docker.sock")
    assert "cannot reach an engine" in unavailable()
    assert "DOCKER_HOST" in unavailable()
    with DockerSandbox() as docker, pytest.raises(SandboxUnavailable, match="start Docker"):
        docker.warm()
