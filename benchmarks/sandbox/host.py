"""The host process of one hostile program: `python -m benchmarks.sandbox.host DESCRIPTOR`.

It holds secrets and tools as a real host does, runs a probe program before and after the hostile
program, and reports to its parent in JSON lines. The parent checks all it can on its own, because a
program that has taken over this process could send false reports.
"""

import os
import random
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict
from importlib import import_module
from json import dumps, loads  # kept: a program in this process may replace them in the module
from pathlib import Path
from typing import Any, NoReturn

import yaml

from benchmarks.sandbox.shop import shop
from protocols.errors import AtcError
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.choose import NAMES, open_sandbox
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.testing import make_tool
from sandbox.trace import Trace

HOLD_SECONDS = 300.0
SETTLE_SECONDS = 2.0
"""Time after a run within which its threads and file descriptors must be gone, in seconds."""
CHILD_SECONDS = 0.005
"""Time that a forked child process gets to set up its layers of isolation, in seconds."""
SPARE = {"threads": 8, "descriptors": 8}
"""Numbers of additional threads and file descriptors that do not count as leaks.

Idle threads, and sockets of a dead child process, may remain until the next run.
"""
HOST_MEMORY_BYTES = 4 * 2**30
API_KEY = ""  # a secret in memory, under the name that a program would look for

PROGRAMS: dict[str, Any] = yaml.safe_load(
    Path(__file__).with_name("programs.yaml").read_text(encoding="utf-8")
)
_SHARED = [
    (place.st_dev, place.st_ino)
    for place in map(os.stat, filter(os.path.exists, ("/tmp", "/dev/shm")))
]
PROBE = f"shared = {_SHARED}\n{PROGRAMS['probe']}"


def open_backend(name: str, without: Sequence[str] = ()) -> Sandbox:
    """Open the sandbox with this name, or that `MODULE:FACTORY` creates.

    The layers of isolation in `without` are switched off.
    """
    if name in NAMES:
        return open_sandbox(name, without=without)
    module, _, factory = name.partition(":")
    made: Sandbox = getattr(import_module(module), factory)()
    return made


def spare_ready(sandbox: Sandbox, *, seconds: float) -> bool:
    """Wait until a spare child process is ready, and return True.

    Return False if the sandbox keeps none, or none is ready in time.
    """
    zygote: Any = getattr(sandbox, "_runner", None)
    until = time.monotonic() + seconds
    while hasattr(zygote, "_waiting") and time.monotonic() < until:
        if zygote._waiting is not None:  # noqa: SLF001 - nobody else asks
            time.sleep(CHILD_SECONDS)
            return True
        time.sleep(0.0005)
    return False


class ToolHost:
    """The declared tools and an undeclared one, with counts of the calls that reached them."""

    def __init__(self, admin_secret: str = "") -> None:
        self._shop = shop()
        self._admin_secret = admin_secret
        self.made = self.wiped = 0
        self.odd: list[str] = []  # arguments that are no plain JSON values

    def t_admin_wipe(self, arguments: Any = None) -> str:  # noqa: ARG002 - takes anything
        """Count a call of the undeclared tool. No program should be able to call it."""
        self.wiped += 1
        return self._admin_secret

    def toolbox(self) -> Toolbox:
        return self._shop.map(
            lambda tool: Tool(tool.protocol, lambda given: self._make(tool, given), tool.alias)
        )

    def _make(self, tool: Tool, arguments: Any) -> Any:
        self.made += 1
        kinds = (dict, list, str, int, float, bool, type(None))
        for value in (arguments, *arguments.keys(), *arguments.values()):
            if type(value) not in kinds:
                self.odd.append(f"{tool.alias} was given a {type(value).__name__}")
        return tool.call(arguments)


class Sibling:
    """A program that runs in the same sandbox as the hostile one, at the same time.

    It waits in a tool call until it is released.
    """

    def __init__(self, host: "SandboxHost") -> None:
        self._host = host
        self.calls = 0
        self.said: Any = None
        self._released = threading.Event()
        self.holding = threading.Event()
        self._thread = threading.Thread(target=self._go, daemon=True)
        self._thread.start()
        self.holding.wait(10.0)

    def trouble(self) -> str | None:
        """Release the program, wait for its end, and describe what went wrong; None if nothing."""
        self._released.set()
        self._thread.join(10.0)
        as_it_should = self.said == ("held\n", None) and self.calls == 1
        return (
            None
            if as_it_should
            else f"it made {self.calls} calls of 1 and ended with {self.said!r}"
        )

    def _go(self) -> None:
        try:
            tools = Toolbox([make_tool("hold", {}, self._hold)])
            trace = self._host.run("print(hold())", tools, wall_seconds=HOLD_SECONDS)
            self.said = (trace.stdout, trace.failure and trace.failure.message)
        except BaseException as error:  # noqa: BLE001 - whatever it is, the sibling was harmed
            self.said = f"{type(error).__name__}: {error}"

    def _hold(self) -> str:
        self.calls += 1
        self.holding.set()
        self._released.wait(HOLD_SECONDS)
        return "held"


class SandboxHost:
    """One sandbox, and the limits within which it runs programs and probes.

    Both are set in `order`, the instructions from the parent process.
    """

    def __init__(self, order: dict[str, Any]) -> None:
        self._limits = order["limits"]
        self.sandbox = open_backend(order["backend"], order["without"])
        self.lead = 0.0  # seconds of a short program, mostly the sandbox's own start and end

    def run(self, source: str, tools: Toolbox, **changed: Any) -> Trace:
        """Run a program within the usual limits, some of which `changed` replaces."""
        return self.sandbox.run(
            source, tools, limits=Limits(**{**self._limits, **changed}), journal=Journal()
        )

    def probe(self, source: str) -> dict[str, Any]:
        began = time.monotonic()
        try:
            trace = self.run(source, ToolHost().toolbox())
        except Exception as error:  # noqa: BLE001 - that the next run fails is a finding
            return {"error": f"{type(error).__name__}: {error}"}
        self.lead = time.monotonic() - began
        failure = trace.failure and [trace.failure.kind, trace.failure.type, trace.failure.message]
        calls = [[call.tool, call.arguments, call.result, call.error] for call in trace.calls]
        return {"stdout": trace.stdout, "failure": failure, "calls": calls}

    def start_sibling(self) -> Sibling | None:
        """Start a second program (a `Sibling`) that runs at the same time as the hostile one.

        Return None if this sandbox cannot run two programs at once.
        """
        sibling = Sibling(self)
        beside = threading.Thread(target=self.probe, args=(PROGRAMS["failing"],), daemon=True)
        beside.start()
        beside.join(5.0)
        if not beside.is_alive() and sibling.holding.is_set() and sibling.said is None:
            return sibling
        sibling.trouble()
        beside.join(30.0)
        return None


def process_state() -> dict[str, object]:
    """Return those parts of this process's state that sandboxed programs must not change."""
    watched = ("builtins", "json", "math", "os", "random", "re", "sys", "sandbox", "protocols")
    functions: dict[str, object] = {
        f"{name} attribute {key}": id(value)
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] in watched
        for key, value in list(getattr(module, "__dict__", {}).items())
        if callable(value)
    }
    modules = {f"module {name}": True for name in sys.modules}
    state = {
        "random state": random.getstate(),
        "environment": dict(os.environ),
        "working folder": str(Path.cwd()),
    }
    handlers = {"signal handlers": [str(signal.getsignal(number)) for number in range(1, 32)]}
    return functions | modules | state | handlers


def count_resources() -> dict[str, int]:
    return {
        "threads": threading.active_count(),
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
    }


def changes(was: dict[str, object], had: dict[str, int]) -> list[str]:
    """Describe how the state of this host process has changed, after its threads had time to end.

    `was` is an earlier result of `process_state`, `had` an earlier one of `count_resources`.
    """
    until = time.monotonic() + SETTLE_SECONDS
    while True:
        now = process_state()
        has = count_resources()
        found = [f"{what} is new" for what in sorted(now.keys() - was.keys())]
        found += [f"{what} changed" for what in was if now.get(what) != was[what]]
        found += [
            f"{has[what]} {what}, from {had[what]}"
            for what in had
            if has[what] > had[what] + SPARE[what]
        ]
        if not found or time.monotonic() > until:
            return found
        time.sleep(0.02)


def main(descriptor: int) -> NoReturn:
    """Read the parent's instructions (the order) and carry them out.

    Each message to the parent contains the nonce from the order. A program that sends forged
    messages does not know the nonce.
    """
    global API_KEY
    os.set_inheritable(descriptor, False)
    channel = socket.socket(fileno=descriptor)
    reader = channel.makefile("r", encoding="utf-8")
    order = loads(reader.readline())

    def send(**message: Any) -> None:
        channel.sendall((dumps({"nonce": order["nonce"], **message}) + "\n").encode())

    API_KEY = order["memory_secret"]
    try:
        if order["isolate"]:  # for programs without a sandbox; sandboxes set their own limits
            resource.setrlimit(resource.RLIMIT_AS, (HOST_MEMORY_BYTES, HOST_MEMORY_BYTES))
        host = SandboxHost(order)
        source = PROBE
        before = host.probe(PROBE)
        if before.get("failure"):
            source = PROGRAMS["simple_probe"]
            before = host.probe(source)
        host.run("while True:\n    pass", Toolbox(), wall_seconds=0.1)
    except (AtcError, OSError) as error:
        send(unavailable=f"{order['backend']}: {error}")
        sys.exit(3)
    sibling = host.start_sibling()
    tools = ToolHost(order["admin_secret"])
    declared = tools.toolbox()
    spare_ready(host.sandbox, seconds=60.0)  # starting a child is not part of the program's time
    inside = process_state()
    had = count_resources()
    send(sibling=sibling is not None, lead=host.lead)
    reader.readline()
    trace = None
    lost = ""
    try:
        trace = host.run(order["source"], declared)
    except AtcError as error:
        lost = f"{type(error).__name__}: {error}"
    send(ended=True)  # the rest is not part of the sandbox's time
    send(trace=trace and asdict(trace), lost=lost, made=tools.made, odd=tools.odd[:3])
    reader.readline()
    changed = changes(inside, had)
    trouble = sibling and sibling.trouble()
    after = host.probe(source)
    probe = None if before == after else [before, after]
    send(changed=changed, sibling=trouble, probe=probe, wiped=tools.wiped, made=tools.made)
    host.sandbox.close()
    sys.exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
