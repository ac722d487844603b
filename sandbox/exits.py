"""The end of a child process, and the failure of the program that follows from it."""

from __future__ import annotations

import signal
from typing import NamedTuple

from sandbox.limits import Limits
from sandbox.trace import Failure


class Exit(NamedTuple):
    """The end of a child process: its exit code or signal, and the processor time that it used.

    One of `code` and `signal` is None. `cpu_seconds` is 0.0 if unknown.
    """

    code: int | None
    signal: int | None
    cpu_seconds: float


def kernel_limit(name: str, limits: Limits) -> Failure:
    """Return the failure of a program that exceeded a limit which the kernel enforces.

    `name` is "memory_bytes" or "cpu_seconds".
    """
    if name == "memory_bytes":
        text = f"the program needed more than {limits.memory_bytes / 2**20:,.0f} MiB of memory"
    else:
        text = f"the program used more than {limits.cpu_seconds:g} s of processor time"
    return Failure(kind="limit", type=name, message=f"{name}: {text}")


def explain_exit(exit_: Exit, limits: Limits) -> Failure:
    """Return the failure of a program whose process ended without reporting a reason."""
    if exit_.signal == signal.SIGXCPU or exit_.cpu_seconds >= limits.cpu_seconds:
        return kernel_limit("cpu_seconds", limits)
    if exit_.signal in (
        signal.SIGSEGV,
        signal.SIGBUS,
        signal.SIGABRT,
        signal.SIGFPE,
        signal.SIGILL,
        signal.SIGSYS,
    ):
        name = signal.Signals(exit_.signal).name
        return Failure(
            kind="exception", type="Crash", message=f"the program crashed the interpreter ({name})"
        )
    how = f"exit code {exit_.code}" if exit_.signal is None else f"signal {exit_.signal}"
    return Failure(
        kind="exception", type="ProcessExit", message=f"the program ended its own process ({how})"
    )
