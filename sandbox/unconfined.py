"""The backend without a boundary, for development only: programs run with the user's own rights.

The policy reviews the source. A program that passes runs with the code of the zygote backend, but
without its layers, so only that review protects the user's files and network.
"""

from __future__ import annotations

import sys

from sandbox import zygote
from sandbox.layers.names import LAYERS
from sandbox.policy import LAYER, PolicySandbox

WARNING = (
    "the unconfined sandbox is no boundary: programs run as you, with your files and your network; "
    "use the zygote, docker or monty sandbox for programs that you did not write"
)


class UnconfinedSandbox(PolicySandbox):
    """Runs each program in a separate process.

    Runs may overlap, from any threads. Warns once on stderr.
    """

    def __init__(self) -> None:
        inner = zygote.ZygoteSandbox(without=LAYERS.keys() - {"limits"})
        inner.name = "unconfined"
        super().__init__(inner)
        self.layers = (LAYER, "a process of its own, with your rights")
        print(f"warning: {WARNING}", file=sys.stderr, flush=True)


def unavailable() -> str | None:
    """Return why this machine cannot run it, or None if it can."""
    reason = zygote.unavailable()
    return reason and reason.replace("zygote", "unconfined")
