"""The world of a task: ToolFlow's services on loopback, their tools, and the state that a run's writes leave."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from protocols.invoke import Invoker
from protocols.jsontypes import JsonObject
from protocols.sources import load_tools
from protocols.toolbox import Toolbox
from toolflow_bench.services.faults import Faults
from toolflow_bench.services.serve import Served, serve
from toolflow_bench.services.service import NAMES, find_service

Snapshot = dict[str, dict[str, list[JsonObject]]]
"""What writes left: records by service and collection; services and collections without records are left out."""


class World:
    """Services with a state of their own. Each worker of a run has one; close it, or use it as a context manager.

    `toolbox` has the tools of all of them, by operation id; `owners` says which service an operation belongs to.

    `folder` is the cache folder of the data (None: the usual one); `announce` is told before data are built.

    Raises:
        SourceUnavailable: the data or a package is missing, or a service did not start.
    """

    def __init__(
        self, names: Sequence[str] = NAMES, *, folder: Path | None = None, announce: Callable[[str], None] | None = None
    ) -> None:
        self.services: dict[str, Served] = {}
        self.owners: dict[str, str] = {}
        with ExitStack() as stack:
            for name in names:
                service = find_service(name)
                self.owners |= dict.fromkeys((operation.id for operation in service.operations), name)
                app = service.app(service.database(folder, announce=announce))
                self.services[name] = stack.enter_context(serve(app))
            invoker = Invoker()
            stack.callback(invoker.close)
            sources = [f"{name}={served.document_url}" for name, served in self.services.items()]
            self.toolbox: Toolbox = load_tools(*sources, invoker=invoker)
            self._stack = stack.pop_all()

    def reset(self) -> None:
        """Forget what the last task wrote."""
        for served in self.services.values():
            served.app.state.control.reset()

    def set_faults(self, faults: Faults | None) -> None:
        """Let every service fail so, or none."""
        for served in self.services.values():
            served.app.state.control.set_faults(faults)

    def snapshot(self) -> Snapshot:
        """What has been written since the last reset."""
        found = {name: served.app.state.run.snapshot() for name, served in self.services.items()}
        return {name: left for name, left in found.items() if left}

    def close(self) -> None:
        """Stop the services."""
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
