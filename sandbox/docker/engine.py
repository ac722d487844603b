"""The Docker engine: connects to it, checks that it can limit a program, and gets the image."""

from __future__ import annotations

import importlib
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from sandbox.base import SandboxUnavailable

GVISOR = "runsc"
"""Name of gVisor's runtime, which has a separate kernel for each container."""
LABEL = "org.atc.sandbox"
"""Name of the label of each container. Its value begins with the id of the owner's process."""
USUAL_BASE = "python:3.12-slim"
LOCAL_BASE = "atc-python:local"
"""Name of an image that is preferred to `USUAL_BASE` if the engine has it. It is never pulled."""
BASE_VARIABLE = "ATC_DOCKER_BASE"
_REPLY_SECONDS = 60


def connect() -> Any:
    """Return a client of the engine that DOCKER_HOST names, or of the one on this machine.

    Raises:
        SandboxUnavailable: there is no engine, or it cannot limit and isolate a program.
    """
    docker = import_docker_sdk()
    where = os.environ.get("DOCKER_HOST") or "this machine"
    scheme, _, path = (os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock").partition(
        "://"
    )
    try:
        if scheme == "unix" and os.name == "posix":
            # If nobody listens, the SDK would leave its own socket open.
            with socket.socket(socket.AF_UNIX) as trial:
                trial.connect(path)
        client = docker.from_env(timeout=_REPLY_SECONDS)
    except (docker.errors.DockerException, OSError) as error:
        raise SandboxUnavailable(
            f"the docker sandbox cannot reach an engine on {where} ({error}); start Docker, "
            "set DOCKER_HOST, or add this user to the group docker"
        ) from error
    # An engine has no proxy, and looking for one races with changes of os.environ.
    client.api.trust_env = False
    try:
        with translate_engine_errors("ask its engine what it can do"):
            info = client.info()
        unlimited = [what for ability, what in _ABILITIES.items() if not info.get(ability)]
        if unlimited:
            problem = (
                f"it cannot limit {unlimited[0]}; give it control groups "
                "(for a rootless engine: by systemd)"
            )
        elif not any("seccomp" in option for option in info.get("SecurityOptions") or ()):
            problem = "it has no seccomp; use one that is built with it"
        else:
            return client
        message = f"the docker sandbox cannot use the engine on {where}: {problem}"
        raise SandboxUnavailable(message)  # noqa: TRY301
    except BaseException:
        client.close()
        raise


_ABILITIES = {"MemoryLimit": "memory", "PidsLimit": "processes"}


@contextmanager
def translate_engine_errors(purpose: str) -> Iterator[None]:
    """Turn errors of the Docker SDK inside the block into `SandboxUnavailable`.

    `purpose` completes the sentence "the docker sandbox could not …".
    """
    try:
        yield
    except (import_docker_sdk().errors.DockerException, OSError) as error:
        reason = getattr(error, "explanation", None) or error
        raise SandboxUnavailable(f"the docker sandbox could not {purpose}: {reason}") from error


def import_docker_sdk() -> Any:
    """Import the Docker SDK for Python, an optional dependency.

    Raises:
        SandboxUnavailable: the Docker SDK is not installed.
    """
    try:
        docker: Any = importlib.import_module("docker")
        docker.from_env  # noqa: B018 - a folder called docker is importable too
    except (ImportError, AttributeError) as error:
        install = "pip install 'automatic-tool-chain[docker]'"
        raise SandboxUnavailable(
            f"the docker sandbox needs the Docker SDK for Python: {install}"
        ) from error
    return docker


def ensure_image(client: Any, base: str | None = None) -> str:
    """Return the name of the image for containers, and pull the image if necessary.

    The image is the first of these: `base`, the value of the environment variable ATC_DOCKER_BASE,
    `LOCAL_BASE` if the engine has it, `USUAL_BASE`. It must have Python 3.11 or newer as `python3`.

    Raises:
        SandboxUnavailable: the image is not available.
    """
    base = base or os.environ.get(BASE_VARIABLE)
    try:
        for name in [base] if base else [LOCAL_BASE, USUAL_BASE]:
            with (
                translate_engine_errors(f"look for the image {name}"),
                suppress(import_docker_sdk().errors.ImageNotFound),
            ):
                client.images.get(name)
                return name
        with translate_engine_errors(f"pull the image {name!r}"):
            client.images.pull(name)
    except SandboxUnavailable as error:
        raise SandboxUnavailable(
            f"{error}; name another image with Python 3.11 or newer in {BASE_VARIABLE}"
        ) from error
    return name
