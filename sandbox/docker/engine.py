"""The Docker engine: how it is reached, what it must be able to do, and what a crashed host left on it."""

from __future__ import annotations

import importlib
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sandbox.errors import SandboxUnavailable

INSTALL = "pip install 'automatic-tool-chain[docker]'"

GVISOR = "runsc"
"""The runtime that is chosen where the engine has it: a kernel of its own for each container."""

LABEL = "org.atc.sandbox"
"""On each container; its value begins with the number of the process whose it is."""

LEFTOVER_AGE = "10m"
"""What was made longer ago and has ended is nobody's: a living host removes what it used at once."""

REPLY_SECONDS = 60


def unavailable() -> str | None:
    """Why programs cannot run in containers here; `None` where they can. Asks the engine, builds nothing."""
    try:
        connect().close()
    except SandboxUnavailable as error:
        return str(error)
    return None


def connect() -> Any:
    """A client of the engine that DOCKER_HOST names, or of the one on this machine.

    Raises:
        SandboxUnavailable: there is none, or not one that can hold a program.
    """
    docker = sdk()
    where = os.environ.get("DOCKER_HOST") or "this machine"
    scheme, _, path = (os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock").partition("://")
    try:
        if scheme == "unix" and os.name == "posix":
            with socket.socket(socket.AF_UNIX) as trial:  # where nobody listens, the SDK leaves its own open
                trial.connect(path)
        client = docker.from_env(timeout=REPLY_SECONDS)
    except (docker.errors.DockerException, OSError) as error:
        raise SandboxUnavailable(
            f"the docker sandbox cannot reach an engine on {where} ({error}); start Docker, set DOCKER_HOST, or add "
            "this user to the group docker"
        ) from error
    client.api.trust_env = False  # an engine has no proxy; looking for one races with changes of os.environ
    try:
        with speaking_to_engine("ask its engine what it can do"):
            problem = _problem(client.info())
        if problem is not None:
            raise SandboxUnavailable(f"the docker sandbox cannot use the engine on {where}: {problem}")  # noqa: TRY301
    except BaseException:
        client.close()
        raise
    return client


@contextmanager
def speaking_to_engine(purpose: str) -> Iterator[None]:
    """Within the block, what the SDK raises becomes `SandboxUnavailable`; `purpose` says what could not be done."""
    try:
        yield
    except (sdk().errors.DockerException, OSError) as error:
        reason = getattr(error, "explanation", None) or error
        raise SandboxUnavailable(f"the docker sandbox could not {purpose}: {reason}") from error


def sdk() -> Any:
    """The Docker SDK for Python, which is an extra. Raises `SandboxUnavailable` where it is not installed."""
    try:
        docker: Any = importlib.import_module("docker")
        docker.from_env  # noqa: B018 - a folder called docker is importable too
    except (ImportError, AttributeError) as error:
        raise SandboxUnavailable(f"the docker sandbox needs the Docker SDK for Python: {INSTALL}") from error
    return docker


def choose_runtime(client: Any) -> str:
    """The runtime of the containers: gVisor, else the engine's own."""
    with speaking_to_engine("ask for its runtimes"):
        info = client.info()
    return GVISOR if GVISOR in (info.get("Runtimes") or {}) else str(info.get("DefaultRuntime") or "runc")


def _problem(info: dict[str, Any]) -> str | None:
    for ability, what in (("MemoryLimit", "memory"), ("PidsLimit", "processes")):
        if not info.get(ability):
            return f"it cannot limit {what}; give it control groups (for a rootless engine: delegation by systemd)"
    if not any("seccomp" in option for option in info.get("SecurityOptions") or ()):
        return "it has no seccomp; use one that is built with it"
    return None


def remove_leftovers(client: Any) -> None:
    """Remove what crashed hosts left. Their containers ended when nobody held their input any more.

    Raises:
        SandboxUnavailable: the engine does not answer.
    """
    with speaking_to_engine("look for containers that a crash left behind"):
        client.containers.prune(filters={"label": LABEL, "until": LEFTOVER_AGE})
