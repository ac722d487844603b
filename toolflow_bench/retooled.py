"""A world whose tools are others, over the same state."""

from __future__ import annotations

from dataclasses import dataclass

from protocols.toolbox import Toolbox
from toolflow_bench.final_state import Snapshot
from toolflow_bench.workers import WorldLike


@dataclass(frozen=True)
class Retooled:
    """`world` with another `toolbox`."""

    world: WorldLike
    toolbox: Toolbox

    def reset(self) -> None:
        """Forget what the last task wrote."""
        self.world.reset()

    def snapshot(self) -> Snapshot:
        """What has been written since."""
        return self.world.snapshot()
