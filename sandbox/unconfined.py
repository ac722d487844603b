"""The backend without a boundary: a program runs in an ordinary Python process, as you, for development only.

The policy reviews the source. What passes runs as in the zygote, by the same code, but with no layer around it: nothing
but that review keeps a program from your files and your network.
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
    """Runs each program in a process of its own. Runs may overlap, from any threads. Warns once on stderr."""

    def __init__(self) -> None:
        inner = zygote.ZygoteSandbox(without=LAYERS.keys() - {"limits"})
        inner.name = "unconfined"
        super().__init__(inner)
        self.layers = (LAYER, "a process of its own, with your rights")
        print(f"warning: {WARNING}", file=sys.stderr, flush=True)


def unavailable() -> str | None:
    """Why this machine cannot run it; `None` where it can."""
    reason = zygote.unavailable()
    return reason and reason.replace("zygote", "unconfined")
