"""Chooses the sandbox backend: the one with a given name, or the best one on this machine."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from protocols.documentation import docs_page
from sandbox.base import Sandbox, SandboxUnavailable

AUTO = "auto"
"""Name that selects the best available backend, but never `unconfined`."""
_CLASSES = {
    "zygote": "ZygoteSandbox",
    "docker": "DockerSandbox",
    "monty": "MontySandbox",
    "unconfined": "UnconfinedSandbox",
}
NAMES = tuple(_CLASSES)


class Availability(NamedTuple):
    """The name of a sandbox backend, and the reason if it is not available on this machine."""

    name: str
    reason: str | None
    """Why the backend is not available, and what the user can do. None if it is available."""


def automatic() -> tuple[str, ...]:
    """Return the names of the backends that the setting `auto` tries on this system, best first.

    On Linux, these are only backends in which the operating system isolates the program.
    """
    return ("zygote", "docker") if sys.platform == "linux" else ("docker", "monty")


def availability(name: str) -> Availability:
    """Return whether a backend is available on this machine, and why not. Nothing is started."""
    return Availability(name, importlib.import_module(f"sandbox.{name}").unavailable())


def open_sandbox(
    name: str = AUTO, *, policy: bool = False, without: Collection[str] = ()
) -> Sandbox:
    """Return the sandbox of this name. Nothing is started yet.

    Args:
        name: a backend, or `auto`.
        policy: True to check the source of each program before it runs, see `sandbox.policy`.
        without: names of layers of the zygote backend that are switched off.

    Raises:
        ValueError: there is no such backend, or no such layer.
        SandboxUnavailable: `auto` found no available backend.
    """
    if name == AUTO:
        reasons = []
        for name in automatic():
            if (reason := availability(name).reason) is None:
                break
            reasons.append(f"{name}: {reason}")
        else:
            all_reasons = "; ".join(reasons)
            needs = docs_page("guides/sandboxes#which-one-runs")
            raise SandboxUnavailable(
                f"no sandbox can be had here ({all_reasons}); {needs} has what each needs"
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
