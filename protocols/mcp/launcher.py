"""Runs an MCP server's command for its client. Started as a script of its own, with the standard library alone.

    python -I -S launcher.py LIMIT_BYTES VARIABLE,VARIABLE… COMMAND [ARGUMENT…]

It gives the command no other variables than those named, passes messages on both ways, and ends the command and all
that it started when its own input ends: when the client closes it, and also when the client was killed. What is no
message goes to stderr instead of stdout; a message over the limit ends the server.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading

_CHUNK = 65_536
_GRACE_SECONDS = 1.0  # for a server to go by itself once its input has ended; the client waits for two
_TERM_SECONDS = 0.5
_ENDING = threading.Lock()


def main(arguments: list[str]) -> int:
    """Run the command until it ends or our input does; the status is 127 where it cannot be started."""
    limit, names, command = int(arguments[0]), arguments[1].split(","), arguments[2:]
    environment = {name: os.environ[name] for name in names if name in os.environ}
    # Not ignored, which the server would inherit: a handler that does nothing. `_end` sends it to our own group.
    signal.signal(signal.SIGTERM, lambda *_: None)
    pipe = subprocess.PIPE
    try:
        server = subprocess.Popen(command, stdin=pipe, stdout=pipe, bufsize=0, env=environment)  # noqa: S603
    except (OSError, ValueError) as error:
        _say(f"cannot start {command[0]!r}: {getattr(error, 'strerror', None) or error}")
        return 127
    threading.Thread(target=_feed, args=(server,), daemon=True).start()
    try:
        _pass_on(server, limit)
    except OSError:  # nobody reads our output any more
        pass
    finally:
        _end(server)
    return 0


def _feed(server: subprocess.Popen[bytes]) -> None:
    """Our input → the server's; then the server's time is over."""
    assert server.stdin is not None
    with contextlib.suppress(OSError, ValueError):  # the server has closed its input
        while data := os.read(0, _CHUNK):
            _write(data, server.stdin.fileno())
    _end(server)


def _pass_on(server: subprocess.Popen[bytes], limit: int) -> None:
    """The server's output → ours, line by line."""
    assert server.stdout is not None
    line = bytearray()
    while data := os.read(server.stdout.fileno(), _CHUNK):
        *ended, rest = data.split(b"\n")
        for part in ended:
            _write(bytes(line) + part + b"\n", 1 if (line + part).lstrip().startswith((b"{", b"[")) else 2)
            line.clear()
        line += rest
        if len(line) > limit:
            _say(f"the answer is over the limit of {limit:,} bytes")
            return


def _write(data: bytes, descriptor: int) -> None:
    left = memoryview(data)  # which is not copied for each part that the pipe takes
    while left:
        left = left[os.write(descriptor, left) :]


def _say(text: str) -> None:
    os.write(2, text.encode("utf-8", "replace") + b"\n")


def _end(server: subprocess.Popen[bytes]) -> None:
    """End the server and what it started. It gets the time to go by itself, then is told to, then is killed.

    Both threads come here; the second waits for the first, which ends us all.
    """
    with _ENDING:
        if server.stdin is not None:
            with contextlib.suppress(OSError):
                server.stdin.close()
        gone = _waited(server, _GRACE_SECONDS)
        if gone and server.returncode:
            _say(f"the server ended with exit status {server.returncode}")
        if os.getpgrp() != os.getpid():  # started by hand: the group has others in it
            server.kill()
            return
        if not gone:
            os.killpg(0, signal.SIGTERM)
            _waited(server, _TERM_SECONDS)
        os.killpg(0, signal.SIGKILL)  # ourselves, and whatever the server left behind


def _waited(server: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        server.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
