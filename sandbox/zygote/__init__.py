"""The default backend on Linux: full CPython in a child forked from a warm, clean process."""

from __future__ import annotations

from sandbox.zygote.host import ZygoteSandbox, unavailable

__all__ = ["ZygoteSandbox", "unavailable"]
