"""One container: it waits for a program, runs it, and is never used again."""

from __future__ import annotations

import json
import math
import os
import select
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox import workers
from sandbox.docker.engine import GVISOR, not_found, speaking_to_engine
from sandbox.docker.inside import LIMITS_BYTES, LOCKED
from sandbox.docker.leftovers import LABEL, host_label
from sandbox.docker.stream import AttachedStream
from sandbox.errors import SandboxUnavailable
from sandbox.limits import Limits
from sandbox.rpc import Exit

START_SECONDS = 60.0
DEATH_SECONDS = 10.0

MARGIN_BYTES = 64 << 20
"""Memory of a container beyond the limit of the program's address space: page tables, pipes, files read."""
GVISOR_MARGIN_BYTES = 256 << 20
"""The same where a kernel of its own lives in the container's memory too."""

START_CPU_SECONDS = 10
"""Processor time that loading Python may take before the program's own begins."""

PROCESSES, GVISOR_PROCESSES = 16, 512
"""The threads of runc before Python takes their place, which may not start any; those of gVisor."""

SECCOMP_PROFILE = Path(__file__).with_name("seccomp.json")

SIGNALLED = 128
"""An exit code above it tells the signal."""


@dataclass(frozen=True)
class Kind:
    """What the containers of one sandbox have in common. `without` names layers that are switched off."""

    client: Any
    image: str
    runtime: str
    without: frozenset[str] = frozenset()


class Container:
    """A started container (`sandbox.rpc.Child`).

    `missing` are the layers that it has not; `out_of_memory` is whether the kernel killed it for the memory that it
    took, known after `end`.
    """

    def __init__(self, kind: Kind, limits: Limits) -> None:
        """Start one, and wait until it has loaded what runs a program.

        Raises:
            SandboxUnavailable: the engine does not start it.
        """
        self.out_of_memory = False
        self._kind, self._api = kind, kind.client.api
        self._limits, self._memory = limits, _memory(kind, limits)
        self._began = 0.0
        self._pidfd = -1
        self._removed = False
        with speaking_to_engine("create a container"):
            self.id: str = self._api.create_container(**_options(kind, limits))["Id"]
        try:
            with speaking_to_engine("start a container"):
                # Attached before it starts, so that nothing it says is missed.
                attached = self._api.attach_socket(self.id, {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1})
                self.channel = AttachedStream(attached)
                self._api.start(self.id)
                self.missing = self._hear_missing()
                self._pidfd = _open_pid(self._api.inspect_container(self.id)["State"]["Pid"], self.id)
        except BaseException:
            self.remove()
            raise

    def fits(self, limits: Limits) -> bool:
        """Whether it lives, and may hold a program within `limits`."""
        return limits.cpu_seconds <= self._limits.cpu_seconds and not self._is_dead()

    def confine(self, limits: Limits) -> None:
        """Have it put every layer on, and wait for its program within `limits`.

        Raises:
            SandboxUnavailable: it is gone.
        """
        memory = _memory(self._kind, limits)
        told = {"memory_bytes": limits.memory_bytes, "cpu_seconds": limits.cpu_seconds}
        with speaking_to_engine("prepare a container"):
            if memory != self._memory:
                self._api.update_container(self.id, mem_limit=memory, memswap_limit=memory)
            self.channel.expected = LOCKED  # not waited for here: the program can be on its way meanwhile
            self.channel.sendall(json.dumps(told).encode("ascii").ljust(LIMITS_BYTES))
        self._limits, self._memory = limits, memory
        self._began = time.monotonic()

    def interrupt(self) -> None:
        """Ask it where it stands. gVisor takes longer to pass the question on than anybody waits for the answer."""
        if self._kind.runtime == GVISOR:
            return
        if self._pidfd >= 0:
            with suppress(OSError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGALRM)
        else:
            workers.start(lambda: self._kill_by_engine("SIGALRM"))

    def end(self) -> Exit:
        """Kill it, and learn from the engine how it ended."""
        if self._removed:
            raise SandboxUnavailable("the docker sandbox was closed while it ran the program")
        was_dead = self._is_dead()
        self.finish()
        with speaking_to_engine("learn how a container ended"):
            self._api.wait(self.id, timeout=DEATH_SECONDS)
            state = self._api.inspect_container(self.id)["State"]
        self.out_of_memory = bool(state["OOMKilled"])
        if self.channel.expected and not self.out_of_memory:
            raise SandboxUnavailable(f"a container could not put its layers on (exit code {state['ExitCode']})")
        code = int(state["ExitCode"])
        number = code - SIGNALLED if code > SIGNALLED else None
        cpu_seconds = 0.0
        if number == signal.SIGKILL and was_dead and not self.out_of_memory:
            # A program cannot kill process 1, which it is; the kernel does when it took all its processor time.
            cpu_seconds = self._limits.cpu_seconds
            if time.monotonic() - self._began < cpu_seconds:
                raise SandboxUnavailable("the program's container was killed from outside; see the engine's log")
        return Exit(code if number is None else None, number, cpu_seconds)

    def finish(self) -> None:
        """Kill it. Nothing of the program is executed any more; what the kernel still holds, `remove` waits for."""
        if self._pidfd >= 0:
            with suppress(OSError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        elif not self._removed:
            self._kill_by_engine("SIGKILL")
        self.channel.close()  # before anybody waits for the engine: it may be waiting for us to read

    def remove(self) -> None:
        """Leave nothing of it. Raises `SandboxUnavailable` where the engine does not do so."""
        self._removed = True
        if hasattr(self, "channel"):
            self.channel.close()
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1
        with speaking_to_engine("remove a container"), suppress(not_found()):
            self._api.remove_container(self.id, force=True, v=True)

    def _hear_missing(self) -> tuple[str, ...]:
        self.channel.settimeout(START_SECONDS)
        said = b""
        while not said.endswith(b"\n") and (data := self.channel.recv(1024)):
            said += data
        self.channel.settimeout(None)
        try:
            return tuple(json.loads(said))
        except ValueError:
            state = self._api.inspect_container(self.id)["State"]
            told = self.channel.errors.decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise SandboxUnavailable(
                f"a container of the image {self._kind.image} did not start Python (runtime {self._kind.runtime}, "
                f"exit code {state['ExitCode']}, {told or 'no message'}); its base image must have Python 3.11 or "
                "newer as python3"
            ) from None

    def _is_dead(self) -> bool:
        if self._pidfd < 0:
            with speaking_to_engine("ask after a container"):
                return not self._api.inspect_container(self.id)["State"]["Running"]
        poll = select.poll()
        poll.register(self._pidfd, select.POLLIN)
        return bool(poll.poll(0))

    def _kill_by_engine(self, name: str) -> None:
        with suppress(SandboxUnavailable), speaking_to_engine("signal a container"):  # it may be dead already
            self._api.kill(self.id, name)


def _options(kind: Kind, limits: Limits) -> dict[str, Any]:
    """What the engine is asked for."""
    memory = _memory(kind, limits)
    profile = "unconfined" if "seccomp" in kind.without else SECCOMP_PROFILE.read_text(encoding="utf-8")
    cpu = math.ceil(min(limits.cpu_seconds, 1 << 30)) + START_CPU_SECONDS
    # No limit on processes among these: it would count all of this user's on the machine, in every container.
    ulimits = {"cpu": cpu, "core": 0, "fsize": 0, "nofile": 64}
    return {
        "image": kind.image,
        "command": sorted(kind.without),
        "user": "65534:65534",
        "hostname": "sandbox",
        "working_dir": "/",
        "environment": ["LANG=C.UTF-8", "PYTHONHASHSEED=0", "TZ=UTC"],
        "labels": {LABEL: host_label()},
        "stdin_open": True,  # until we hang up, which ends a container that waits
        "stop_signal": "SIGKILL",
        "healthcheck": {"test": ["NONE"]},
        "host_config": kind.client.api.create_host_config(
            network_mode="none",
            read_only=True,
            cap_drop=["ALL"],
            security_opt=["no-new-privileges:true", f"seccomp={profile}"],
            mem_limit=memory,
            memswap_limit=memory,
            oom_score_adj=1000,
            pids_limit=GVISOR_PROCESSES if kind.runtime == GVISOR else PROCESSES,
            ipc_mode="none",
            ulimits=[{"Name": name, "Soft": value, "Hard": value} for name, value in ulimits.items()],
            log_config={"Type": "none", "Config": {}},
            runtime=kind.runtime,
        ),
    }


def _memory(kind: Kind, limits: Limits) -> int:
    return limits.memory_bytes + (GVISOR_MARGIN_BYTES if kind.runtime == GVISOR else MARGIN_BYTES)


def _open_pid(pid: int, container: str) -> int:
    """A pidfd of the container's first process, or -1 where we do not see it (another machine) or may not signal it."""
    try:
        pidfd = os.pidfd_open(pid)
    except (AttributeError, OSError):
        return -1
    try:
        # The number may mean somebody else here; the control group tells.
        if container in Path(f"/proc/{pid}/cgroup").read_text(encoding="ascii"):
            signal.pidfd_send_signal(pidfd, 0)
            return pidfd
    except (OSError, ValueError):
        pass
    os.close(pidfd)
    return -1
