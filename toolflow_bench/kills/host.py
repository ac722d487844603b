"""The nursery of host processes: `python -m toolflow_bench.kills.host DESCRIPTOR`.

It loads everything that a host needs once, and forks a host for each order that comes over the descriptor, as JSON
lines. A host tells its number, waits for the word to go, and gives its order to a real `Agent` over a real store. It is
killed or ends; then the nursery says so.
"""

from __future__ import annotations

import os
import socket
import sys
import traceback
from collections.abc import Mapping
from contextlib import closing
from json import dumps, loads
from pathlib import Path
from typing import Any, NoReturn

from atc.agent import Agent
from atc.config import Config
from atc.models.scripted import ScriptedModel
from atc.strategies import chain  # noqa: F401 - what every host would import is imported once
from atc.types import Solution
from protocols import transport  # noqa: F401
from protocols.invoke import Invoker
from protocols.sources import load_tools
from protocols.toolbox import Toolbox
from sandbox.choose import open_sandbox
from sandbox.trace import ToolCall
from toolflow_bench.kills.cases import Kill, Moment
from toolflow_bench.kills.mortal import MortalStore

STORE = "runs.sqlite"
"""The store's file in a run's folder."""

REPAIRS = 8
"""The model writes the same program again so often: a read that failed is made again."""


class Channel:
    """JSON lines over one descriptor, ours or the current host's: the other waits meanwhile."""

    def __init__(self, descriptor: int) -> None:
        self._lines = socket.socket(fileno=descriptor).makefile("rw", encoding="utf-8")

    def tell(self, **message: Any) -> None:
        """Send one message."""
        self._lines.write(dumps(message) + "\n")
        self._lines.flush()

    def hear(self) -> dict[str, Any] | None:
        """The next message; None when the harness is gone."""
        line = self._lines.readline()
        return loads(line) if line else None


def main(descriptor: int) -> NoReturn:
    """Fork a host for each order, until the harness closes its end."""
    channel = Channel(descriptor)
    opening = channel.hear()
    if opening is None:
        sys.exit(0)
    toolbox = load_tools(*opening["sources"], invoker=Invoker())
    open_sandbox(opening["sandbox"]).close()  # imported here once, it need not be imported by each host
    channel.tell(tools=len(toolbox))
    while (order := channel.hear()) is not None:
        host = os.fork()
        if host == 0:
            _host(order, toolbox, channel)
        channel.tell(exit=os.waitstatus_to_exitcode(os.waitpid(host, 0)[1]))
    sys.exit(0)


def _host(order: Mapping[str, Any], toolbox: Toolbox, channel: Channel) -> NoReturn:
    """What becomes of a host that nobody kills."""
    try:
        channel.tell(pid=os.getpid())
        channel.hear()
        channel.tell(ended=_ended(carry_out(order, toolbox, channel)))
    except BaseException:  # noqa: BLE001 - the harness must hear of it, and a fork must not go on as its parent
        channel.tell(crashed=traceback.format_exc())
    finally:
        os._exit(0)


def carry_out(order: Mapping[str, Any], toolbox: Toolbox, channel: Channel) -> Solution:
    """Begin the order's run, or go on with it where it has been begun.

    Raises:
        AtcError: our side failed, or the run belongs to another process.
    """
    tools = toolbox.only(order["candidates"])
    folder = Path(order["folder"])

    def told(moment: Moment, call: ToolCall | None) -> None:
        operation = "" if call is None else tools[call.tool].protocol.name
        writes = call is not None and not call.reused and tools[call.tool].protocol.writes
        channel.tell(dies=moment, operation=operation, writes=writes)

    kill = Kill(**order["kill"]) if order["kill"] else None
    config = Config(allow_writes=("all",), samples=1, max_repairs=REPAIRS, settle_seconds=order["settle_seconds"])
    model = ScriptedModel(*[f"```python\n{order['program']}\n```"] * (REPAIRS + 1))
    with (
        closing(open_sandbox(order["sandbox"])) as sandbox,
        MortalStore(folder / STORE, kill=kill, writes=lambda tool: tools[tool].protocol.writes, told=told) as store,
    ):
        sandbox.warm()
        begun = store.list(1)
        agent = Agent(tools, model=model, sandbox=sandbox, config=config, ask_person=lambda *_: True, store=store)
        return agent.resume(begun[0].id) if begun else agent.run(order["task"], seed=0)


def _ended(solution: Solution) -> dict[str, Any]:
    last = solution.attempts[-1] if solution.attempts else None
    failure = last.trace.failure if last is not None and last.trace is not None else None
    fault = last.fault if last is not None else None
    return {
        "status": solution.status,
        "answer": solution.answer,
        "orphans": len(solution.orphans),
        "failure": None if failure is None else f"{failure.kind}: {failure.type}: {failure.message}",
        "fault": None if fault is None else f"{fault.kind}: {fault.message}",
    }


if __name__ == "__main__":
    main(int(sys.argv[1]))
