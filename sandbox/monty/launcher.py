"""What is executed in the interpreter's place: it puts the layers on itself and executes the interpreter.

Standard library and `sandbox.layers` alone; it runs in a Python of its own, once for each process of the pool.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NoReturn

from sandbox.monty import confine


def main(options: dict[str, Any], arguments: Sequence[str]) -> NoReturn:
    """Become `options["binary"]` with these arguments, an empty environment and nothing open but the two pipes.

    The pipe at `options["report"]` gets a line that names the layers that are missing, `{name: reason}`.
    """
    with suppress(PermissionError):  # we lead our session already
        os.setsid()
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    os.close(nothing)
    os.chdir("/")
    pipe = os.open(options["report"], os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    executable = os.open(options["binary"], os.O_PATH | os.O_CLOEXEC)

    def report(missing: dict[str, str]) -> None:
        with suppress(BlockingIOError):  # nobody reads; then nobody asks
            os.write(pipe, json.dumps(missing).encode("ascii") + b"\n")

    missing = confine.confine(executable, options["files"], options["without"], report)
    if "seccomp" in missing:
        report(missing)
    if confine.refuses(missing):
        os._exit(1)
    os.execve(executable, [options["binary"], *arguments], {})  # noqa: S606 - what we are here for
