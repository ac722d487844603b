"""Process 1 of a container: imports the modules that programs may import, and runs one program.

The process uses its standard input and output as the channel to the host. They are moved to other
descriptors, so that the host cannot mistake a program's output for frames. The options are the
program's `memory_bytes` and `cpu_seconds`. When its layers are active, the process writes one line
with the names of missing layers (a JSON list), and waits for its program. This module imports only
the standard library.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections.abc import Mapping
from typing import Any, NoReturn

from sandbox.layers import process, seccomp
from sandbox.zygote.server import load

READER = 3
WRITER = 4


def main(options: Mapping[str, Any]) -> NoReturn:
    """Run one program, and then end the process. `options` are the program's limits."""
    processor_time = time.process_time  # taken before it is replaced
    for name in set(os.environ) - {"LANG", "PYTHONHASHSEED", "TZ"}:
        del os.environ[name]  # set by the image
    run = load([])
    sys.meta_path.pop()  # the finder of our own modules
    os.dup2(0, READER, inheritable=False)
    os.dup2(1, WRITER, inheritable=False)
    os.closerange(0, READER)
    # The container is another boundary, so layers that its kernel lacks are left out (gVisor has no
    # Landlock).
    numbers = seccomp.NUMBERS.get(platform.machine(), {})
    present = {"landlock": process.landlock_version() > 0, "filter": bool(numbers)}
    missing = [name for name, is_there in present.items() if not is_there]
    process.no_new_privileges()  # set by the engine already; the next layers require it
    if "landlock" not in missing:
        process.deny_files_and_network()
    # The kernel counts from the start of this process, the limit from the start of the program.
    process.limit_resources({**options, "cpu_seconds": options["cpu_seconds"] + processor_time()})
    if "filter" not in missing:
        seccomp.install(seccomp.program(platform.machine(), numbers, reader=READER, writer=WRITER))
    os.write(WRITER, json.dumps(missing).encode("ascii") + b"\n")
    run(READER, WRITER)
    os._exit(0)
