"""Containers of a Docker engine, one a program, with gVisor where the engine has it. Needs the extra `docker`."""

from __future__ import annotations

from sandbox.docker.engine import unavailable
from sandbox.docker.host import DockerSandbox

__all__ = ["DockerSandbox", "unavailable"]
