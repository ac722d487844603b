"""Which sandbox runs the programs: by name, or the best that this machine has."""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import count, islice
from typing import Any

from protocols.errors import docs_page
from protocols.toolbox import Toolbox
from sandbox.base import Closing, Sandbox
from sandbox.errors import SandboxUnavailable, Unsupported
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.trace import Trace

AUTO = "auto"
"""The best that this machine has: never `trusted`, which is no boundary."""

_CLASSES = {"zygote": "ZygoteSandbox", "docker": "DockerSandbox", "monty": "MontySandbox", "trusted": "TrustedSandbox"}
NAMES = tuple(_CLASSES)
_LAYERED = frozenset({"zygote", "docker"})


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a backend can be had on this machine. `reason` says why not, and what to do; None where it can."""

    name: str
    reason: str | None


def automatic() -> tuple[str, ...]:
    """The order in which `auto` tries on this system. On Linux, what has layers of the system or nothing."""
    return ("zygote", "docker") if sys.platform == "linux" else ("docker", "monty")


def named(text: str) -> tuple[str, ...]:
    """The backends that `text` names, in order: one, or several with commas between them.

    Raises:
        ValueError: one of them does not exist. The message names those that do.
    """
    names = tuple(part.strip() for part in text.split(","))
    for name in names:
        if name not in NAMES:
            raise ValueError(f"no sandbox named {name!r}; there are {AUTO} and {', '.join(NAMES)}")
    return names


def availability(name: str) -> Availability:
    """Look whether the backend of this name can be had, without starting it for good."""
    return Availability(name, _module(name).unavailable())


def open_sandbox(name: str = AUTO, *, policy: bool = False, without: Collection[str] = ()) -> Sandbox:
    """The sandbox of this name; nothing is started yet.

    `auto` is the best that this machine has. Several names with commas between them are tried in that order for each
    program: the next one runs what the one before cannot, as long as no call was made. `policy` reviews each program
    first. `without` switches layers off, where the backend can.

    Raises:
        ValueError: there is no such name, or no such layer.
        SandboxUnavailable: `auto` found none that can be had.
    """
    opened = [_open(part, without) for part in named(name)] if name != AUTO else _available(without)
    sandbox = opened[0] if isinstance(opened, list) and len(opened) == 1 else InOrder(opened)
    if policy:
        from sandbox.policy import Policed

        return Policed(sandbox)
    return sandbox


class InOrder(Closing):
    """Several sandboxes: what one of them cannot run here goes to the next before any call was made.

    A trace says which one ran it. All but the first are taken from `sandboxes` when they are needed: to look for an
    engine of containers takes a tenth of a second.
    """

    def __init__(self, sandboxes: Iterable[Sandbox]) -> None:
        self._rest = iter(sandboxes)
        self._opened = [next(self._rest)]
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[Sandbox]:
        for place in count():
            with self._lock:
                if place == len(self._opened):
                    self._opened += islice(self._rest, 1)
            if place == len(self._opened):
                return
            yield self._opened[place]

    @property
    def name(self) -> str:
        """That of the first; a trace has the name of the one that ran it."""
        return self._opened[0].name

    @property
    def layers(self) -> tuple[str, ...]:
        """Those of the first."""
        return self._opened[0].layers

    @property
    def boundary(self) -> bool:
        """Whether every one of them is meant to hold a hostile program."""
        return all(sandbox.boundary for sandbox in self)

    def run(self, source: str, tools: Toolbox, *, limits: Limits, journal: Journal) -> Trace:
        """See `sandbox.base.Sandbox.run`."""
        refusals = []
        for sandbox in self:
            try:
                return sandbox.run(source, tools, limits=limits, journal=journal)
            except Unsupported as refusal:
                refusals.append(f"{sandbox.name}: {refusal}")
        raise Unsupported(f"no sandbox here runs this program ({'; '.join(refusals)})")

    def warm(self) -> None:
        """Start the first."""
        self._opened[0].warm()

    def close(self) -> None:
        """Close all that were opened."""
        for sandbox in self._opened:
            sandbox.close()


def _available(without: Collection[str]) -> Iterator[Sandbox]:
    """The sandboxes that `auto` finds, best first."""
    reasons = []
    for name in automatic():
        reason = availability(name).reason
        if reason is None:
            yield _open(name, without)
        else:
            reasons.append(f"{name}: {reason}")
    if len(reasons) == len(automatic()):
        needs = docs_page("guides/sandboxes#which-one-runs")
        raise SandboxUnavailable(f"no sandbox can be had here ({'; '.join(reasons)}); {needs} has what each needs")


def _open(name: str, without: Collection[str]) -> Sandbox:
    make: Callable[..., Any] = getattr(_module(name), _CLASSES[name])
    if without and name not in _LAYERED:
        raise ValueError(f"the {name} sandbox has no layers that could be left out; zygote and docker have some")
    options: dict[str, Any] = {"without": without} if without else {}
    sandbox: Sandbox = make(**options)
    return sandbox


def _module(name: str) -> Any:
    return importlib.import_module(f"sandbox.{name}")
