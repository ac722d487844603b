"""Containers that a crashed host process left behind: told by their labels, removed when the next one starts."""

from __future__ import annotations

import datetime
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from sandbox.docker.engine import not_found, speaking_to_engine

LABEL = "org.atc.sandbox"
"""On each container; its value tells which host process it is of."""

FORGOTTEN_SECONDS = 3600
"""A container that ended so long ago is removed whosever it was."""


def host_label() -> str:
    """What tells others whether this process lives."""
    return json.dumps([_boot(), _pid_namespace(), os.getpid(), _start_time(os.getpid())])


def remove_leftovers(client: Any) -> None:
    """Remove the containers of host processes that are certainly dead.

    Raises:
        SandboxUnavailable: the engine does not answer.
    """
    with speaking_to_engine("look for containers that a crash left behind"):
        found = client.containers.list(all=True, filters={"label": LABEL}, ignore_removed=True)
        for container in found:
            if _host_is_dead(container.labels[LABEL]) or _long_over(container.attrs["State"]):
                with suppress(not_found()):
                    container.remove(force=True, v=True)


def _host_is_dead(label: str) -> bool:
    """Whether that process is over; False where it cannot be known from here."""
    try:
        boot, namespace, pid, started = json.loads(label)
    except (ValueError, TypeError):
        return False
    if not boot or (boot, namespace) != (_boot(), _pid_namespace()):
        return False
    return str(started) != _start_time(int(pid))


def _long_over(state: dict[str, Any]) -> bool:
    if state.get("Status") not in ("exited", "dead"):
        return False
    ended = datetime.datetime.fromisoformat(state["FinishedAt"][:19] + "+00:00")
    return (datetime.datetime.now(datetime.UTC) - ended).total_seconds() > FORGOTTEN_SECONDS


def _boot() -> str:
    return _read("/proc/sys/kernel/random/boot_id").strip()


def _pid_namespace() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""


def _start_time(pid: int) -> str:
    """In ticks since the machine started; empty when there is no such process."""
    fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return fields[19] if len(fields) > 19 and fields[0] not in "ZX" else ""


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
