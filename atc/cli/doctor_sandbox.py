"""The part of `atc doctor` that tries each sandbox."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Literal

from sandbox.base import Sandbox
from sandbox.choose import NAMES, automatic, availability, open_sandbox
from sandbox.errors import SandboxUnavailable
from sandbox.journal import Journal
from sandbox.limits import Limits

RUNS = 5
SPARE_SECONDS = 3.0


State = Literal["ok", "missing", "failed"]


def sandboxes() -> Iterator[tuple[str, State, str]]:
    """For each backend its name, `ok`, `missing` or `failed`, and what there is to say about it.

    One that this machine cannot have is `missing`, and so is the one that is no boundary; where none of `auto` can be
    had, the first of them has `failed`.
    """
    reports = [(name, *_try(name)) for name in NAMES]
    chosen = next((name for name in automatic() if (name, "ok") in [report[:2] for report in reports]), None)
    for name, state, detail in reports:
        if name == chosen:
            first, _, rest = detail.partition("; ")
            yield name, state, f"{first}, auto takes this one; {rest}"
        elif chosen is None and name == automatic()[0]:
            yield name, "failed", detail
        else:
            yield name, state, detail


def _try(name: str) -> tuple[State, str]:
    if name == "trusted":
        return "ok", "no boundary: runs programs inside this process, for development only"
    reason = availability(name).reason
    if reason is not None:
        return "missing", reason
    try:
        sandbox = open_sandbox(name)
        try:
            return _measured(sandbox)
        finally:
            sandbox.close()
    except SandboxUnavailable as error:
        return "missing", str(error)


def _measured(sandbox: Sandbox) -> tuple[State, str]:
    from protocols.toolbox import Toolbox

    taken = []
    for _ in range(1 + RUNS):
        begun = time.perf_counter()
        trace = sandbox.run("print(1)", Toolbox(), limits=Limits(), journal=Journal())
        taken.append((time.perf_counter() - begun) * 1000)
        if trace.stdout != "1\n":
            why = trace.failure.message if trace.failure else f"it printed {trace.stdout!r}"
            return "failed", f"did not run print(1): {why}"
        _await_spare(sandbox)  # as between two programs of a model, which is when the next one is made ready
    first, *others = taken
    missing: dict[str, str] = dict(getattr(sandbox, "missing", {}))
    without = "".join(f"; without {layer} ({why})" for layer, why in missing.items())
    kind = "" if sandbox.boundary else "NO BOUNDARY; "
    times = f"print(1) in {sorted(others)[RUNS // 2]:.1f} ms, the first in {first:.0f} ms"
    return "ok", f"{kind}{times}; {'; '.join(sandbox.layers)}{without}"


def _await_spare(sandbox: Sandbox) -> None:
    ready = getattr(sandbox, "spares_ready", None)
    until = time.monotonic() + SPARE_SECONDS
    while ready is not None and not ready() and time.monotonic() < until:
        time.sleep(0.001)
