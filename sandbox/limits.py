"""What one run of a program may use."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Caps on one run. Exceeding any of them ends the run with a `Failure` that names the limit and its value.

    Wall time includes waits on tools, but not on people. `result_bytes` is the size (as JSON) above which a tool's
    response reaches the program as a preview instead of in full.
    """

    wall_seconds: float = 120.0
    cpu_seconds: float = 30.0
    memory_bytes: int = 512 * 2**20
    output_bytes: int = 1 * 2**20
    tool_calls: int = 500
    concurrent_calls: int = 8
    result_bytes: int = 8 * 2**20
