"""Process 1 of a container: loads what programs import, and runs one program. Standard library alone.

Its standard input and output are the channel. They are moved to other numbers and closed under their own, so that what
a program writes to its standard descriptors cannot be taken for frames. It says on one line which layers it cannot have
(a JSON list), takes the limits (JSON in `LIMITS_BYTES` bytes), puts its layers on, says `LOCKED`, and runs the program.
Arguments name layers to leave out.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import time
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NoReturn

LOCKED = b"locked\n"
LIMITS_BYTES = 128

READER, WRITER = 3, 4


def main(without: list[str]) -> NoReturn:
    """Serve one program and end with it."""
    processor_time = time.process_time  # a program's own does not tell
    for name in set(os.environ) - {"LANG", "PYTHONHASHSEED", "TZ"}:
        del os.environ[name]  # the image's own
    os.dup2(0, READER, inheritable=False)
    os.dup2(1, WRITER, inheritable=False)
    for name in ("sandbox", "sandbox.docker", "sandbox.zygote", "sandbox.layers"):
        module = sys.modules[name] = types.ModuleType(name)  # without their __init__, which may import the host's side
        module.__path__ = [str(Path(__file__).resolve().parent.parent.joinpath(*name.split(".")[1:]))]
    missing, lock_down = _layers(without)
    from sandbox.zygote.server import load

    run = load([])
    os.closerange(0, READER)
    os.write(WRITER, json.dumps(missing).encode("ascii") + b"\n")
    limits = _limits()
    # The kernel counts from the start of this process, a program's limit from the start of the program.
    lock_down({**limits, "cpu_seconds": limits["cpu_seconds"] + processor_time()})
    os.write(WRITER, LOCKED)
    run(READER, WRITER)
    os._exit(0)


def _limits() -> dict[str, float]:
    data = b""
    while len(data) < LIMITS_BYTES:
        part = os.read(READER, LIMITS_BYTES - len(data))
        if not part:
            os._exit(0)  # the host is gone, or does not need this container
        data += part
    limits: dict[str, float] = json.loads(data)
    return limits


def _layers(without: list[str]) -> tuple[list[str], Callable[[Mapping[str, float]], None]]:
    """The layers that cannot be had, and what puts the others on: it takes from this process all but the channel.

    The container stands around it, so that what its kernel does not know (gVisor has no Landlock) is done without.
    """
    from sandbox.layers import landlock, privileges, seccomp, syscalls

    numbers = dict(syscalls.NUMBERS.get(platform.machine(), {}))
    present = {"landlock": landlock.version() > 0, "filter": bool(numbers)}
    missing = [name for name, is_there in present.items() if name in without or not is_there]
    filter_ = b""
    if "filter" not in missing:
        filter_ = seccomp.program(platform.machine(), numbers, reader=READER, writer=WRITER)

    def lock_down(limits: Mapping[str, float]) -> None:
        privileges.no_new_privileges()  # the engine has seen to it; the others ask for it
        if "landlock" not in missing:
            landlock.deny_all()
        privileges.limit_resources(limits)
        if "filter" not in missing:
            seccomp.install(filter_)

    return missing, lock_down


if __name__ == "__main__":
    main(sys.argv[1:])
