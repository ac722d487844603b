"""The command `atc` at a terminal of its own, where a person types answers and presses Ctrl-C or Ctrl-D."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from tests.labs import commands

CTRL_C = b"\x03"
CTRL_D = b"\x04"


def at_a_terminal(
    folder: Path, env: Mapping[str, str], *words: str, typed: Iterable[bytes] = (b"n\n",)
) -> tuple[str, int]:
    """Run `atc` with these words at a terminal; return what it says there and its exit status.

    Each question gets the next of `typed`, once it is there: what is typed before is no answer. Results go nowhere.
    """
    return finish(*begin(folder, env, *words), typed=typed)


def begin(
    folder: Path, env: Mapping[str, str], *words: str, script: str | None = None
) -> tuple[subprocess.Popen[bytes], int]:
    """Start `atc` or a script at a terminal; return it with our end of the terminal."""
    ours, theirs = pty.openpty()
    streams = {"stdin": theirs, "stdout": subprocess.DEVNULL, "stderr": theirs}
    process = commands.Command(
        words, script=script, controlling=True, cwd=folder, env=env, **streams
    )
    os.close(theirs)
    return process, ours


def finish(
    process: subprocess.Popen[bytes], ours: int, *, typed: Iterable[bytes] = ()
) -> tuple[str, int]:
    """Answer the questions of a command until it ends; return what it said and its exit status."""
    said = b""
    answers = iter(typed)
    with suppress(OSError):  # the end of a terminal
        while part := os.read(ours, 65_536):
            said += part
            if said.endswith(b"[y/N]: "):
                os.write(ours, next(answers, b""))
    os.close(ours)
    return said.decode().replace("\r\n", "\n"), process.wait()
