"""A host process: an `Agent` with a real store, which may kill itself at a planned moment."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, cast

from atc.core import events
from atc.serve.gateway import Gateway
from atc.store import RunStore, Store
from atc.store.postgres import PostgresStore
from atc.store.stored import StoredRun
from atc.strategies import chain  # noqa: F401 - what every host would import is imported once
from benchmarks.kills.cases import Kill, KillRecord
from benchmarks.runner import scripted_agent
from protocols.client import Invoker
from protocols.http import transport  # noqa: F401
from protocols.sources import load_tools
from protocols.toolbox import Toolbox
from sandbox.choose import open_sandbox
from sandbox.lost_writes import WriteRecovery
from sandbox.trace import ToolCall

LEASE_SECONDS = 2.0
"""Lease of a host in PostgreSQL. Other hosts may take over its runs after the lease expired."""
REPAIRS = 8
"""Maximum number of times that the model writes the same program again after a failed read."""


def mortal_store(
    place: str,
    kill: Kill | None,
    tools: Toolbox,
    die: Callable[[KillRecord], object],
    taken: Callable[[], object] = int,
) -> RunStore:
    """Open a store that calls `die` at the moment of `kill`.

    `place` is the path of an SQLite file or the address of a PostgreSQL database. `taken` is called
    when a run was taken over from another host.
    """
    shared = place.startswith("postgresql://")
    reach = _KillSwitch(kill, tools, die).reach

    class Mortal(PostgresStore if shared else Store):  # type: ignore[misc]
        def take(self, name: str, *, ended: bool = False) -> StoredRun:
            stored: StoredRun = super().take(name, ended=ended)
            taken()
            return stored

        def observer(self, run: str) -> events.Observer:
            stored = super().observer(run)

            def observe(event: events.Event) -> None:
                if isinstance(event, events.AttemptEnded):
                    reach("attempted")
                if not isinstance(event, events.ToolCalled):
                    stored(event)
                    return
                if event.call.outcome != "not_run":  # it was never sent: there is no reply
                    reach("replied" if event.complete else "asked", event.call)
                stored(event)
                reach("stored" if event.complete else "intended", event.call)

            return observe

        def finish(self, *given: Any, **named: Any) -> None:
            reach("finished")
            super().finish(*given, **named)

    return Mortal(place, lease_seconds=LEASE_SECONDS) if shared else Mortal(Path(place))


class _KillSwitch:
    """Calls the function `die` once, at the moment that the planned `kill` names."""

    def __init__(
        self, kill: Kill | None, tools: Toolbox, die: Callable[[KillRecord], object]
    ) -> None:
        self._kill = kill
        self._tools = tools
        self._die = die
        self._seen = 0

    def reach(self, moment: str, call: ToolCall | None = None) -> None:
        """Call `die` if this is the planned moment of the planned call."""
        kill = self._kill
        if kill is None or moment != kill.moment:
            return
        struck = _kill_record(moment, call, self._tools)
        self._seen += struck.writes or not kill.writes
        is_other = (kill.writes and not struck.writes) or self._seen - 1 != kill.nth
        if call is not None and is_other:
            return
        self._kill = None
        self._die(struck)


def _kill_record(moment: str, call: ToolCall | None, tools: Toolbox) -> KillRecord:
    if call is None:
        return KillRecord(moment)
    protocol = tools[call.tool].protocol
    return KillRecord(moment, protocol.name, protocol.writes and not call.reused)


def serve_forks(harness: Connection, sources: Sequence[str]) -> None:
    """Load what every host needs, and fork a host for each order (instructions) that is received.

    Return when the connection is closed.
    """
    with Invoker() as invoker:
        tools = load_tools(*sources, invoker=invoker)
        while True:
            try:
                order, kill = harness.recv()
            except EOFError:
                return
            child = multiprocessing.get_context("fork").Process(
                target=_host, args=(order, kill, tools, harness)
            )
            child.start()
            harness.send({"pid": child.pid})
            child.join()
            harness.send({"over": True})


def _host(order: Mapping[str, Any], kill: Kill | None, tools: Toolbox, harness: Connection) -> None:
    """Start or resume a run, and send the result over the connection.

    `order` has the instructions for this host process, among them the run.
    """
    harness.recv()  # waits until the trap is armed
    try:
        harness.send({"ended": _carry_out(order, kill, tools.only(order["candidates"]), harness)})
    except BaseException:  # noqa: BLE001 - the harness must hear of it
        harness.send({"crashed": traceback.format_exc()})


def _carry_out(
    order: Mapping[str, Any], kill: Kill | None, tools: Toolbox, harness: Connection
) -> dict[str, Any]:
    def die(struck: KillRecord) -> None:
        harness.send({"struck": struck})
        os.kill(os.getpid(), signal.SIGSTOP if order.get("cut") else signal.SIGKILL)

    right = time.time
    skew = order.get("skew", 0.0)  # this process's clock is wrong by so many seconds
    time.time = lambda: right() + skew
    cast("dict[str, Any]", WriteRecovery.__init__.__kwdefaults__)["now"] = (
        time.time
    )  # its default argument was evaluated when the class was created
    with (
        closing(open_sandbox(order["sandbox"])) as sandbox,
        mortal_store(
            order["store"], kill, tools, die, lambda: harness.send({"taken": True})
        ) as store,
    ):
        begun = store.list(1)
        while (
            begun and begun[0].status == "running"
        ):  # the lease of the killed host has not expired
            time.sleep(0.02)
            begun = store.list(1)
        how: dict[str, Any] = {
            "strategy": "auto",
            "settle_seconds": order["settle_seconds"],
            "store": store,
        }
        programs = [order["program"]] * (REPAIRS + 1)
        agent = scripted_agent(tools, sandbox, *programs, ask_person=lambda _: True, **how)
        if order.get("gateway"):
            _send_program(Gateway(agent), order["program"], begun[0].run_id if begun else None)
        else:
            agent.resume(begun[0].run_id) if begun else agent.run(order["task"], seed=0)
        stored = store.load("last")
    last = stored.attempts[-1] if stored.attempts else None
    failure = last.trace.failure if last is not None and last.trace is not None else None
    said = f"{failure.kind}: {failure.type}: {failure.message}" if failure is not None else ""
    return {"status": stored.summary.status, "answer": stored.summary.answer, "detail": said}


def _send_program(gateway: Gateway, program: str, begun: str | None) -> None:
    """Act as the client of a gateway: send the program, and send it again if a read failed.

    `begun` is the id of the program's run, or None if the run has not begun.
    """
    handle = gateway.handle_of(begun) if begun else ""
    for _ in range(REPAIRS + 1):
        reply = gateway.run_program(program, handle, ask_person=lambda _: True)
        handle = str(reply["run"])
        if reply["status"] != "failed":
            return
