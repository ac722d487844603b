"""Runs an MCP server's command for its client. Started as a script of its own, with the standard library alone.

    python -I -S launcher.py LIMIT_BYTES VARIABLE,VARIABLE… COMMAND [ARGUMENT…]

It gives the command no other variables than those named, passes messages on both ways, and ends the command and all
that it started when its own input ends: when the client closes it, and also when the client was killed. What is no
message goes to stderr instead of stdout; an answer over the limit, or nested too deeply, becomes an error.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading

MAX_DEPTH = 200  # levels; deeper messages are not read by the client at all, and their request would wait for ever
_CHUNK = 65_536
_GRACE_SECONDS = 1.0  # for a server to go by itself once its input has ended; the client waits for two
_TERM_SECONDS = 0.5
_KEPT = 400  # bytes of a long message's beginning and end, in which its id stands
_ID = rb'("[^"\\]{0,100}"|\d{1,18})'
_FIRST = re.compile(rb'\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*' + _ID)
_LAST = re.compile(rb'"id"\s*:\s*' + _ID + rb'\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*\Z')
_ENDING = threading.Lock()
_TEXTS = re.compile(rb'"(?:[^"\\]++|\\.?)*+"?', re.DOTALL)  # one without an end goes to the end: no byte is read twice


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
    try:
        while data := os.read(0, _CHUNK):
            _write(data, server.stdin.fileno())
    except (OSError, ValueError):  # the server has closed its input
        pass
    _end(server)


def _pass_on(server: subprocess.Popen[bytes], limit: int) -> None:
    """The server's output → ours, message by message."""
    assert server.stdout is not None
    line, tail, size = bytearray(), b"", 0
    while data := os.read(server.stdout.fileno(), _CHUNK):
        *ended, rest = data.split(b"\n")
        for part in ended:
            _emit(bytes(line) + part, (tail + part)[-_KEPT:], size + len(part), limit)
            line, tail, size = bytearray(), b"", 0
        size += len(rest)
        tail = (tail + rest)[-_KEPT:]
        if size <= limit:
            line += rest
        else:
            del line[_KEPT:]


def _emit(line: bytes, tail: bytes, size: int, limit: int) -> None:
    if size > limit:
        _write(_instead(line, tail, f"the answer has {size:,} bytes, over the limit of {limit:,}"))
    elif not line.strip().startswith((b"{", b"[")):
        if line.strip():
            os.write(2, line + b"\n")
    elif line.count(b"{") + line.count(b"[") > MAX_DEPTH and _depth(line) > MAX_DEPTH:
        _write(_instead(line, line[-_KEPT:], f"the answer is nested deeper than {MAX_DEPTH} levels"))
    else:
        _write(line + b"\n")


def _instead(line: bytes, tail: bytes, problem: str) -> bytes:
    """An error in the place of an answer that is not passed on; nothing where no id says whose answer it was."""
    found = _FIRST.match(line) or _LAST.search(tail)
    if found is None:
        _say(problem)
        return b""
    told = json.dumps({"code": -32603, "message": problem})
    return b'{"jsonrpc":"2.0","id":' + found[1] + b',"error":' + told.encode() + b"}\n"


def _depth(line: bytes) -> int:
    depth = deepest = 0
    for byte in _TEXTS.sub(b"", line):
        if byte in b"{[":
            depth += 1
            deepest = max(deepest, depth)
        elif byte in b"}]":
            depth -= 1
    return deepest


def _write(data: bytes, descriptor: int = 1) -> None:
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
        _end_once(server)


def _end_once(server: subprocess.Popen[bytes]) -> None:
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
