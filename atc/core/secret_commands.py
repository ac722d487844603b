"""Secrets that a command prints, such as that of a password manager."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from contextlib import suppress
from threading import Timer

from atc.core.config import InvalidConfig

COMMAND = "command:"
_SECONDS = 10.0
_MOST_BYTES = 65_536


def run_command(what: str, text: str) -> str:
    """Return the first line that a command prints. `what` names the setting in messages.

    `text` has the words of the command as for a shell, but no shell runs it. What it prints is
    never shown or stored.

    Raises:
        InvalidConfig: The command cannot be run, fails, prints nothing or needs more than 10 s.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InvalidConfig(f"{what}: its command cannot be read: {error}.") from None
    if not words:
        raise InvalidConfig(f"{what}: 'command:' must be followed by a command.")
    output, status, late = _run(what, words)
    if late:
        raise InvalidConfig(
            f"{what}: the command {words[0]!r} did not end within {_SECONDS:g} s; run it yourself"
            " once, for example to unlock it."
        )
    if status:
        raise InvalidConfig(
            f"{what}: the command {words[0]!r} failed with exit status {status}; run it yourself to"
            " see why."
        )
    try:
        secret = output.decode("utf-8").partition("\n")[0].strip()
    except UnicodeDecodeError:
        secret = ""
    if not secret or len(output) > _MOST_BYTES:
        raise InvalidConfig(f"{what}: the first line of the command {words[0]!r} is no secret.")
    return secret


def _run(what: str, words: list[str]) -> tuple[bytes, int, bool]:
    """Run a command; return what it printed, its exit status, and True if it took too long."""
    late = False
    try:
        process = subprocess.Popen(  # noqa: S603 - the words stand in the user's own settings
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InvalidConfig(f"{what}: cannot run {words[0]!r}: {reason}.") from None

    def kill() -> None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    def end() -> None:
        nonlocal late
        late = True
        kill()

    timer = Timer(_SECONDS, end)
    timer.daemon = True
    timer.start()
    try:
        assert process.stdout is not None
        output = process.stdout.read(_MOST_BYTES + 1)
        if len(output) > _MOST_BYTES:
            kill()
        process.stdout.close()
        return output, process.wait(), late
    finally:
        timer.cancel()
        if process.poll() is None:
            kill()
            process.wait()
