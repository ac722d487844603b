"""The backend without isolation, for development only: programs run with the user's own rights.

The source policy checks each program. If it has no violations, it runs in a process of the zygote
backend, but without the layers that isolate it. Only this check protects the user's files and
network.
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
    """Runs each program in a separate process that is not isolated.

    It prints a warning to standard error when it is created.
    """

    def __init__(self) -> None:
        inner = zygote.ZygoteSandbox(without=LAYERS.keys() - {"limits"})
        inner.name = "unconfined"
        super().__init__(inner)
        self.layers = (LAYER, "a process of its own, with your rights")
        print(f"warning: {WARNING}", file=sys.stderr, flush=True)


def unavailable() -> str | None:
    """Return why this machine cannot use this backend, or None if it can."""
    reason = zygote.unavailable()
    return reason and reason.replace("zygote", "unconfined")
