"""Which sandbox runs the programs: by name, or the best that this machine has."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from protocols.documentation import docs_page
from sandbox.base import Sandbox, SandboxUnavailable

AUTO = "auto"  # the best that this machine has: never `unconfined`, which is no boundary
_CLASSES = {
    "zygote": "ZygoteSandbox",
    "docker": "DockerSandbox",
    "monty": "MontySandbox",
    "unconfined": "UnconfinedSandbox",
}
NAMES = tuple(_CLASSES)


class Availability(NamedTuple):
    """Whether a backend can be had on this machine. `reason` says why not, and what to do; None where it can."""

    name: str
    reason: str | None


def automatic() -> tuple[str, ...]:
    """The order in which `auto` looks on this system. On Linux, what has layers of the system or nothing."""
    return ("zygote", "docker") if sys.platform == "linux" else ("docker", "monty")


def availability(name: str) -> Availability:
    """Look whether the backend of this name can be had, without starting it for good."""
    return Availability(name, importlib.import_module(f"sandbox.{name}").unavailable())


def open_sandbox(
    name: str = AUTO, *, policy: bool = False, without: Collection[str] = ()
) -> Sandbox:
    """The sandbox of this name; nothing is started yet.

    `policy` reviews each program first. `without` switches layers of zygote off.

    Raises:
        ValueError: there is no such name, or no such layer.
        SandboxUnavailable: `auto` found none that can be had.
    """
    if name == AUTO:
        reasons = []
        for name in automatic():
            if (reason := availability(name).reason) is None:
                break
            reasons.append(f"{name}: {reason}")
        else:
            told = "; ".join(reasons)
            needs = docs_page("guides/sandboxes#which-one-runs")
            raise SandboxUnavailable(
                f"no sandbox can be had here ({told}); {needs} has what each needs"
            )
    if name not in NAMES:
        raise ValueError(f"no sandbox named {name!r}; there are {AUTO} and {', '.join(NAMES)}")
    if without and name != "zygote":
        raise ValueError(
            f"the {name} sandbox has no layers that could be left out; zygote has some"
        )
    make: Callable[..., Any] = getattr(importlib.import_module(f"sandbox.{name}"), _CLASSES[name])
    sandbox: Sandbox = make(without=without) if without else make()
    if policy:
        from sandbox.policy import PolicySandbox

        return PolicySandbox(sandbox)
    return sandbox
