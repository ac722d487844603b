"""The backend without a boundary: a program runs in an ordinary Python process, as you, for development only.

The policy reviews the source. What passes runs as in the zygote, by the same code, but with no layer around it: nothing
but that review keeps a program from your files and your network.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from protocols.toolbox import Toolbox
from sandbox.journal import Journal
from sandbox.layers.names import LAYERS
from sandbox.limits import Limits
from sandbox.policy import LAYER, refused, review
from sandbox.trace import Trace
from sandbox.zygote import host

WARNING = (
    "the trusted sandbox is no boundary: programs run as you, with your files and your network; "
    "use the zygote, docker or monty sandbox for programs that you did not write"
)


def _say(text: str) -> None:
    print(f"warning: {text}", file=sys.stderr, flush=True)


class TrustedSandbox(host.ZygoteSandbox):
    """Runs each program in a process of its own. Runs may overlap, from any threads.

    `say` is told in one line, once, that this is no boundary.
    """

    name = "trusted"

    def __init__(self, say: Callable[[str], None] = _say) -> None:
        super().__init__(without=LAYERS.keys() - {"limits"})
        say(WARNING)

    @property
    def layers(self) -> tuple[str, ...]:
        """What stands between a program and this machine."""
        return (LAYER, "a process of its own, with your rights")

    def run(self, source: str, tools: Toolbox, *, limits: Limits, journal: Journal) -> Trace:
        """See `sandbox.base.Sandbox.run`. Of a program that the policy refuses nothing runs."""
        if violations := review(source):
            return refused(violations, backend=self.name, pins=journal.open())
        return super().run(source, tools, limits=limits, journal=journal)


def unavailable() -> str | None:
    """Why this machine cannot run it; `None` where it can."""
    reason = host.unavailable()
    return reason and reason.replace("zygote", "trusted")
