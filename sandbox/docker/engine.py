"""The Docker engine: how it is reached, and what it must be able to do."""

from __future__ import annotations

import importlib
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sandbox.errors import SandboxUnavailable

INSTALL = "pip install 'automatic-tool-chain[docker]'"

OLDEST_API = (1, 40)
"""That of Docker 19.03."""

GVISOR = "runsc"
"""The runtime that is chosen where the engine has it: a kernel of its own for each container."""

RUNTIME_VARIABLE = "ATC_DOCKER_RUNTIME"

REPLY_SECONDS = 60

_USUAL_HOST = "unix:///var/run/docker.sock" if os.name == "posix" else "npipe:////./pipe/docker_engine"


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
    docker = _sdk()
    where = os.environ.get("DOCKER_HOST") or _USUAL_HOST
    try:
        _knock(where)
        client = docker.from_env(timeout=REPLY_SECONDS)
        client.api.trust_env = False  # an engine has no proxy; looking for one races with changes of os.environ
    except PermissionError as error:
        raise SandboxUnavailable(
            f"the docker sandbox may not speak to the engine at {where}; add this user to the group docker"
        ) from error
    except (docker.errors.DockerException, OSError) as error:
        raise SandboxUnavailable(
            f"the docker sandbox cannot reach an engine at {where} ({_reason(error)}); start Docker, or set DOCKER_HOST"
        ) from error
    try:
        _check(client, where)
    except BaseException:
        client.close()
        raise
    return client


@contextmanager
def speaking_to_engine(purpose: str) -> Iterator[None]:
    """Within the block, what the SDK raises becomes `SandboxUnavailable`; `purpose` says what could not be done."""
    try:
        yield
    except (_sdk().errors.DockerException, OSError) as error:
        raise SandboxUnavailable(f"the docker sandbox could not {purpose}: {_reason(error)}") from error


def not_found() -> type[Exception]:
    """What the SDK raises for an image or a container that is not there."""
    error: type[Exception] = _sdk().errors.NotFound
    return error


def choose_runtime(client: Any, wanted: str | None = None) -> str:
    """The runtime of the containers: `wanted`, else what ATC_DOCKER_RUNTIME names, else gVisor, else the engine's own.

    Raises:
        SandboxUnavailable: the engine has no such runtime.
    """
    with speaking_to_engine("ask for its runtimes"):
        info = client.info()
    known = info.get("Runtimes") or {}
    wanted = wanted or os.environ.get(RUNTIME_VARIABLE)
    if wanted and wanted not in known:
        raise SandboxUnavailable(
            f"the Docker engine has no runtime {wanted!r}; it has {', '.join(sorted(known)) or 'none'}"
        )
    return wanted or (GVISOR if GVISOR in known else str(info.get("DefaultRuntime") or "runc"))


def _knock(where: str) -> None:
    """Raises `OSError` where nobody listens. The SDK would say so too, and leave a socket open."""
    scheme, _, path = where.partition("://")
    if scheme == "unix":
        with socket.socket(socket.AF_UNIX) as probe:
            probe.connect(path)


def _sdk() -> Any:
    try:
        docker: Any = importlib.import_module("docker")
        docker.from_env  # noqa: B018 - a folder called docker is importable too
    except (ImportError, AttributeError) as error:
        raise SandboxUnavailable(f"the docker sandbox needs the Docker SDK for Python: {INSTALL}") from error
    return docker


def _check(client: Any, where: str) -> None:
    with speaking_to_engine("ask its engine what it can do"):
        problem = _problem(client.version(), client.info())
    if problem is not None:
        raise SandboxUnavailable(f"the docker sandbox cannot use the engine at {where}: {problem}")


def _problem(version: dict[str, Any], info: dict[str, Any]) -> str | None:
    api = tuple(int(part) for part in version.get("ApiVersion", "0").split("."))
    if api < OLDEST_API:
        return f"Docker {version.get('Version')} is too old; it takes 19.03 or newer"
    if info.get("OSType") != "linux":
        return "it runs Windows containers; switch it to Linux containers"
    for ability, what in (("MemoryLimit", "memory"), ("PidsLimit", "processes")):
        if not info.get(ability):
            return f"it cannot limit {what}; give it control groups (for a rootless engine: delegation by systemd)"
    if not any("seccomp" in option for option in info.get("SecurityOptions") or ()):
        return "it has no seccomp; use one that is built with it"
    return None


def _reason(error: BaseException) -> str:
    return str(getattr(error, "explanation", None) or error)
