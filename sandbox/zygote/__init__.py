"""The default backend on Linux: full CPython in a child forked from a warm, clean process.

Not yet a boundary: the child has a clean environment, limits, no user rights and no descriptor but its channel,
and can still read what anybody may read and open sockets.
"""

from __future__ import annotations

from sandbox.zygote.host import ZygoteSandbox, unavailable

__all__ = ["ZygoteSandbox", "unavailable"]
