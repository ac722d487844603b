"""What the pool executes in the interpreter's place on Linux: a script that leads to `sandbox.monty.launcher`."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

CONFINES = sys.platform == "linux"
"""Whether this system has the layers."""

_MFD_EXEC = 0x10
_REPORT_BYTES = 65536

# The packages without their __init__ files, which import what is ours.
_BOOTSTRAP = """
import json, sys, types
home = sys.argv[1]
for name, path in (("sandbox", ""), ("sandbox.layers", "/layers"), ("sandbox.monty", "/monty")):
    module = sys.modules[name] = types.ModuleType(name)
    module.__path__ = [home + path]
from sandbox.monty.launcher import main
main(json.loads(sys.argv[2]), sys.argv[3:])
"""


class Script:
    """A file without a place, which starts the interpreter inside its layers, and the pipe that tells which it has."""

    def __init__(self, without: Collection[str]) -> None:
        binary = find_binary()
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)
        self._closed = False
        self._missing: dict[str, str] = {}
        options: dict[str, Any] = {
            "binary": binary,
            "files": _loaded_by(binary),
            "without": sorted(without),
            "report": f"/proc/{os.getpid()}/fd/{self._writer}",
        }
        home = str(Path(__file__).resolve().parent.parent)
        command = [sys.executable, "-I", "-S", "-B", "-c", _BOOTSTRAP, home, json.dumps(options)]
        self._script = _memory_file()
        os.write(self._script, f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n'.encode())
        self.path = f"/proc/{os.getpid()}/fd/{self._script}"

    def reported(self) -> dict[str, str]:
        """The layers that the process started last has not."""
        if not self._closed:
            with suppress(BlockingIOError):
                self._missing = json.loads(os.read(self._reader, _REPORT_BYTES).splitlines()[-1])
        return self._missing

    def close(self) -> None:
        """Take the script away; what was started goes on."""
        if not self._closed:
            self.reported()
            self._closed = True
            for descriptor in (self._reader, self._writer, self._script):
                os.close(descriptor)


def find_binary() -> str:
    """The interpreter's executable.

    Raises:
        FileNotFoundError: it is not installed.
    """
    from pydantic_monty._binary import find_monty_binary

    return find_monty_binary()


def _memory_file() -> int:
    """An executable file without a place, so that none is left behind."""
    try:
        return os.memfd_create("atc-monty", os.MFD_CLOEXEC | _MFD_EXEC)
    except OSError:  # kernels before 6.3 do not know the flag
        return os.memfd_create("atc-monty", os.MFD_CLOEXEC)


def _loaded_by(binary: str) -> list[str]:
    """The files that the loader reads to start `binary`."""
    environment = {"LD_TRACE_LOADED_OBJECTS": "1"}
    shown = subprocess.run([binary], env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    words = (word for line in shown.stdout.splitlines() for word in line.split())
    files = [word for word in words if word.startswith("/") and Path(word).is_file()]
    return [*files, *(path for path in ("/etc/ld.so.cache",) if Path(path).is_file())]
