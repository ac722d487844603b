"""The host process of one hostile program: `python -m toolflow_bench.sandboxes.host DESCRIPTOR`.

It opens the sandbox, holds secrets and tools as a real host does, runs the program between two runs of a probe, and
tells its parent over the descriptor, as JSON lines, what happened. What can be seen from outside, the parent looks at
itself: a program that took this process over could make it say anything.
"""

from __future__ import annotations

import sys
import threading
import time
from typing import Any, NoReturn

from protocols.errors import AtcError
from protocols.toolbox import Toolbox
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.trace import Trace, trace_to_json
from toolflow_bench.sandboxes import state
from toolflow_bench.sandboxes.backends import open_backend
from toolflow_bench.sandboxes.inhabitants import FAILING, HOLD_SECONDS, PROBE, SIMPLE_PROBE, Sibling, ToolHost
from toolflow_bench.sandboxes.isolation import confine, isolate
from toolflow_bench.sandboxes.parent import Parent

API_KEY = ""
"""A secret in memory, under the name that a program would look for."""


class Host:
    """One sandbox with its tools and probes."""

    def __init__(self, order: dict[str, Any]) -> None:
        self._limits = order["limits"]
        self.sandbox = open_backend(order["backend"], order["without"])
        self.tools = ToolHost(order["admin_secret"])
        self.lead = 0.0
        """Seconds that a short program takes, most of it the sandbox's own work before and after."""

    def run(self, source: str, tools: Toolbox, **changed: Any) -> Trace:
        """Run a program within the order's limits, some of them changed."""
        return self.sandbox.run(source, tools, limits=Limits(**{**self._limits, **changed}), journal=Journal())

    def probe(self, source: str) -> dict[str, Any]:
        """What a program of ours gives now."""
        began = time.monotonic()
        try:
            trace = self.run(source, ToolHost("").toolbox())
        except Exception as error:  # noqa: BLE001 - that the next run fails is a finding
            return {"error": f"{type(error).__name__}: {error}"}
        self.lead = time.monotonic() - began
        failure = trace.failure and [trace.failure.kind, trace.failure.type, trace.failure.message]
        calls = [[call.tool, call.arguments, call.result, call.error] for call in trace.calls]
        return {"stdout": trace.stdout, "failure": failure, "calls": calls}

    def warm_up(self) -> tuple[str, dict[str, Any]]:
        """Run once what later runs may need. Gives the probe that works here, and what it said."""
        source, said = PROBE, self.probe(PROBE)
        if said.get("failure"):
            source, said = SIMPLE_PROBE, self.probe(SIMPLE_PROBE)
        self.run("while True:\n    pass", self.tools.toolbox(), wall_seconds=0.1)
        return source, said

    def start_sibling(self) -> Sibling | None:
        """A program that goes on beside others; None where this sandbox runs one at a time."""
        sibling = Sibling(lambda source, tools: self.run(source, tools, wall_seconds=HOLD_SECONDS))
        beside = threading.Thread(target=self.probe, args=(FAILING,), daemon=True)
        beside.start()
        beside.join(5.0)
        if not beside.is_alive() and sibling.holding.is_set() and sibling.said is None:
            return sibling
        sibling.release()
        beside.join(30.0)
        return None


def main(descriptor: int) -> NoReturn:
    """Take the order, and carry it out."""
    global API_KEY
    parent = Parent(descriptor)
    order = parent.order
    API_KEY = order["memory_secret"]
    try:
        if order["isolate"]:
            confine(order["host_memory_bytes"])
            isolate()
        host = Host(order)
        source, before = host.warm_up()
    except (AtcError, OSError) as error:
        parent.tell(unavailable=f"{order['backend']}: {error}")
        sys.exit(3)
    sibling = host.start_sibling()
    inside = state.settled()
    tools = host.tools.toolbox()
    parent.tell(sibling=sibling is not None, lead=host.lead)
    parent.await_word(host.sandbox)
    try:
        ended: dict[str, Any] = {"trace": trace_to_json(host.run(order["source"], tools))}
    except AtcError as error:
        ended = {"lost": f"{type(error).__name__}: {error}"}
    parent.tell(**ended, made=host.tools.made, odd=host.tools.odd)
    parent.await_word(host.sandbox)
    changed = state.settled_difference(inside)
    if sibling is not None:
        sibling.release()
    after = host.probe(source)
    parent.tell(
        changed=changed,
        sibling=sibling and sibling.trouble(),
        probe=None if before == after else [before, after],
        wiped=host.tools.wiped,
        made=host.tools.made,
    )
    host.sandbox.close()
    sys.exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
