"""Opening the sandboxes that are measured, by name."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from protocols.errors import AtcError
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.choose import NAMES, availability, open_sandbox
from sandbox.errors import SandboxUnavailable
from sandbox.journal import Journal
from sandbox.limits import Limits
from toolflow_bench.suites import UnknownSuite


class UnknownBackend(UnknownSuite):
    """No sandbox of this name; the message names those that exist."""


def check_name(name: str) -> None:
    """Raise `UnknownBackend` unless `name` is one of ours or `MODULE:FACTORY` of another's."""
    if name not in NAMES and ":" not in name:
        near = get_close_matches(name, NAMES, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there is {', '.join(NAMES)}, or MODULE:FACTORY of your own."
        raise UnknownBackend(f"no sandbox named {name!r}; {hint}")


def open_backend(name: str, without: Sequence[str] = ()) -> Sandbox:
    """The sandbox of this name, layers of the names in `without` switched off.

    Raises:
        UnknownBackend: there is none.
        SandboxUnavailable: it cannot be had here.
    """
    check_name(name)
    if name in NAMES:
        try:
            return open_sandbox(name, without=without)
        except (TypeError, ValueError) as error:
            raise UnknownBackend(f"the sandbox {name!r} cannot go without {', '.join(without)}: {error}") from error
    if without:
        raise UnknownBackend(f"the layers of {name!r} cannot be switched off from here; leave out --without.")
    module, _, factory = name.partition(":")
    try:
        made: Sandbox = getattr(import_module(module), factory)()
    except (ImportError, AttributeError) as error:
        raise UnknownBackend(f"no sandbox {name!r}: {error}; give MODULE:FACTORY as Python can import it.") from error
    return made


def why_not(name: str, without: Sequence[str] = ()) -> str | None:
    """Why the sandbox cannot be measured here, found by running a program in it; None where it can."""
    if sys.platform != "linux":
        return f"sandboxes are measured through Linux's /proc, and this is {sys.platform}; run it in a Linux container"
    try:
        if name in NAMES and (reason := availability(name).reason) is not None:
            return reason
        sandbox = open_backend(name, without)
        try:
            trace = sandbox.run("print(1)", Toolbox(), limits=Limits(), journal=Journal())
        finally:
            sandbox.close()
    except SandboxUnavailable as error:
        return str(error)
    except AtcError:
        raise
    except ImportError as error:
        return str(error)
    if trace.stdout != "1\n":
        return f"it does not run print(1): {trace.failure.message if trace.failure else repr(trace.stdout)}"
    return None


def described(sandbox: Sandbox) -> dict[str, Any]:
    """Its name, and what it says of itself."""
    return {
        "name": sandbox.name,
        "layers": list(getattr(sandbox, "layers", ())),
        "boundary": bool(getattr(sandbox, "boundary", False)),
    }


def open_on_demand(name: str, without: Sequence[str] = ()) -> Callable[[], Sandbox] | None:
    """What makes a sandbox of this name that keeps no child waiting; None where there is no such choice."""
    if name != "zygote":
        return None
    from sandbox.zygote import ZygoteSandbox

    return lambda: ZygoteSandbox(spares=0, without=tuple(without))


def containers_of(name: str, pid: int) -> list[str]:
    """The containers that a host process of this number, which has ended, left on the engine; none but for `docker`."""
    if name != "docker":
        return []
    from sandbox.docker.engine import connect
    from sandbox.docker.leftovers import LABEL

    client = connect()
    try:
        found = client.containers.list(all=True, filters={"label": LABEL}, ignore_removed=True)
        return [f"container {one.short_id}" for one in found if json.loads(one.labels[LABEL])[2] == pid]
    finally:
        client.close()
