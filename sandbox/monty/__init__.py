"""The portable backend: pydantic-monty, a subset of Python, interpreted in Rust, ready in a fraction of a millisecond.

A program has nothing but the language: no file, no socket, no process, no real clock; what it asks of the outside
suspends it and the host answers. On Linux the interpreter's process stands inside layers of the operating system too.
"""

from __future__ import annotations

from sandbox.monty.host import MontySandbox, unavailable
from sandbox.monty.subset import Unsupported

__all__ = ["MontySandbox", "Unsupported", "unavailable"]
