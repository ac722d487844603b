"""Names and descriptions of the zygote backend's layers. This module can be imported anywhere."""

from __future__ import annotations

LAYERS = {
    "namespaces": "empty namespaces (user, mount, network, IPC, UTS, processes) "
    "and an empty read-only root",
    "user": "an unprivileged user",
    "capabilities": "no capabilities",
    "no_new_privs": "no new privileges",
    "landlock": "Landlock: no files, no network",
    "seccomp": "seccomp: some thirty system calls, none that opens, connects, starts or executes",
    "limits": "limits kept by the kernel",
}
"""Descriptions of all layers, keyed by the layer's name."""

REQUIRED = frozenset(
    {"capabilities", "no_new_privs", "seccomp", "limits"}
)  # without these nothing runs
SWITCHED_OFF = "switched off"
