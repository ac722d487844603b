"""ToolFlow's services on the loopback interface, their tools, and the state that a run writes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from protocols.client import Invoker
from protocols.sources import load_tools
from protocols.toolbox import Toolbox
from toolflow_bench.final_state import Snapshot
from toolflow_bench.services.faults import Faults
from toolflow_bench.services.serve import RunningService, serve
from toolflow_bench.services.service import NAMES, find_service


class World(ExitStack):
    """Running services with their own state, and the tools that call them.

    Each worker of a benchmark opens one. Close it, or use it as a context manager. `toolbox` has
    the tools of all services, keyed by operation id. `owners` maps operation ids to services.
    `faults`, if not None, are injected; they are drawn anew for each task. `folder` is the cache
    folder of the data (None: the default one). `announce` is called with a sentence before data is
    built.

    Raises:
        SourceUnavailable: the data or a package is missing, or a service did not start.
    """

    def __init__(
        self,
        names: Sequence[str] = NAMES,
        *,
        folder: Path | None = None,
        announce: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__()
        self.services: dict[str, RunningService] = {}
        self.owners: dict[str, str] = {}
        self.faults: Faults | None = None
        with ExitStack() as opened:  # closed if one of them cannot be opened
            for name in names:
                service = find_service(name)
                self.owners |= dict.fromkeys(
                    (operation.id for operation in service.operations), name
                )
                app = service.app(service.database(folder, announce=announce))
                self.services[name] = opened.enter_context(serve(app))
            sources = [f"{name}={served.document_url}" for name, served in self.services.items()]
            self.toolbox: Toolbox = load_tools(*sources, invoker=opened.enter_context(Invoker()))
            self.enter_context(opened.pop_all())

    def reset(self, draw: str = "") -> None:
        """Discard what the last task wrote, and use `draw` as the seed of the faults."""
        seed = int.from_bytes(hashlib.sha256(draw.encode()).digest()[:4])
        for served in self.services.values():
            served.app.state.control.reset()
            if self.faults is not None:
                served.app.state.control.set_faults(replace(self.faults, seed=seed))

    def snapshot(self) -> Snapshot:
        """Return the records written since the last reset, grouped by service and collection."""
        found = {name: served.app.state.run.snapshot() for name, served in self.services.items()}
        return {name: left for name, left in found.items() if left}
