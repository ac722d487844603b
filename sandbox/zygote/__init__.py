"""The default backend on Linux: full CPython in a child forked from a warm, clean process.

`server` is the warm process and puts the layers on; `channel`, `child`, `program` and `pins` are what runs inside.
"""

from __future__ import annotations

from sandbox.zygote.host import ZygoteSandbox, unavailable

__all__ = ["ZygoteSandbox", "unavailable"]
