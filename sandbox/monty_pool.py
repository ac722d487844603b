"""The interpreter processes of the monty backend."""

from __future__ import annotations

import importlib
import shlex
import tempfile
from pathlib import Path
from typing import Any

from sandbox.base import SandboxUnavailable

START_SECONDS = 30.0
TURN_SECONDS = 3600.0


def import_monty() -> Any:
    """Import and return `pydantic_monty`, which is an optional dependency."""
    return importlib.import_module("pydantic_monty")


class MontyPool:
    """The interpreter processes of one sandbox."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="atc-monty-")
        most = {
            "max_processes": 1024,
            "checkout_timeout": START_SECONDS,
            "request_timeout": TURN_SECONDS,
        }
        try:
            self._pool = import_monty().Monty(
                binary_path=_write_quiet_worker(Path(self._folder.name)), **most
            )
            self._pool.__enter__()
        except Exception as error:
            raise SandboxUnavailable(
                f"the monty sandbox cannot start its interpreter: {error}"
            ) from error
        self.checkout = self._pool.checkout

    def stop(self) -> None:
        """End all interpreter processes of the pool."""
        self._pool.__exit__(None, None, None)
        self._folder.cleanup()


def _write_quiet_worker(folder: Path) -> Path:
    """Write a script that starts an interpreter and discards its standard error.

    The interpreter would report exceeded memory limits there.
    """
    binary = importlib.import_module("pydantic_monty._binary").find_monty_binary()
    script = folder / "monty"
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(binary)} "$@" 2>/dev/null\n')
    script.chmod(0o700)
    return script
