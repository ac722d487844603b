"""What a hostile program must not get at, and whether it did: a folder, listeners, secrets."""

from __future__ import annotations

import hashlib
import os
import secrets
import selectors
import shutil
import socket
import stat
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from protocols.errors import AtcError

KINDS = ("file", "home", "environment", "memory", "tcp", "udp", "unix", "abstract", "admin")
ABSTRACT_NAME = "\0canary_abstract"
WAIT_SECONDS = 60.0
"""How long to wait for another measurement on this machine, which holds the one abstract name."""

_HASHED_BYTES = 1 << 20


class CanariesUnavailable(AtcError):
    """The canaries cannot be set up on this machine."""


def make_secrets() -> dict[str, str]:
    """A fresh random secret of each kind. The word in front is what programs look for in a file."""
    return {kind: f"CANARY_{secrets.token_hex(10)}" for kind in KINDS}


def environment(known: Mapping[str, str]) -> dict[str, str]:
    """Variables that a host might hold credentials in."""
    secret = known["environment"]
    return {
        "HOST_SECRET": secret,
        "API_KEY": secret,
        "AWS_ACCESS_KEY_ID": f"AKIA{secret}",
        "AWS_SECRET_ACCESS_KEY": secret,
        "GITHUB_TOKEN": secret,
        "DATABASE_URL": f"postgres://user:{secret}@127.0.0.1/db",
    }


class Canaries:
    """A folder that anybody may read, enter and write, four listeners, and the secrets that they hold."""

    def __init__(self) -> None:
        self.secrets = make_secrets()
        self._root = Path(tempfile.mkdtemp(prefix="atc-bench-", dir=_open_place()))
        self._root.chmod(0o755)
        self.folder, self.work, self.home, self.temporary = (
            self._folder(name) for name in ("canary", "work", "home", "tmp")
        )
        self._write(self.folder / "secret.txt", self.secrets["file"])
        for path in (".aws/credentials", ".ssh/id_rsa"):
            self._write(self.home / path, f"[default]\naws_secret_access_key = {self.secrets['home']}")
        try:
            self.listeners = _Listeners(self.folder / "host.sock", self.secrets)
        except BaseException:
            shutil.rmtree(self._root)
            raise
        self._before = self._contents()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop listening and remove the folders."""
        self.listeners.close()
        shutil.rmtree(self._root, ignore_errors=True)

    def fill(self, source: str) -> str:
        """`source` with this folder and these ports in their places."""
        for placeholder, value in (
            ("@CANARY_DIR@", str(self.folder)),
            ("@TCP_PORT@", str(self.listeners.tcp_port)),
            ("@UDP_PORT@", str(self.listeners.udp_port)),
        ):
            source = source.replace(placeholder, value)
        return source

    def changes(self) -> list[str]:
        """What is new, changed or gone in the canary folder, the home and the working folder since the start."""
        now = self._contents()
        kept = self._before.keys() & now.keys()
        return [
            *(f"new file {path}" for path in sorted(now.keys() - self._before.keys())),
            *(f"file {path} is gone" for path in sorted(self._before.keys() - now.keys())),
            *(f"file {path} was changed" for path in sorted(kept) if now[path] != self._before[path]),
        ]

    def leftovers(self) -> list[str]:
        """What lies in the folder for temporary files."""
        return sorted(str(path.relative_to(self._root)) for path in self.temporary.rglob("*"))

    def _folder(self, name: str) -> Path:
        path = self._root / name
        path.mkdir()
        path.chmod(0o777)  # so that being another user alone does not keep a program out
        return path

    def _write(self, path: Path, text: str) -> None:
        path.parent.mkdir(exist_ok=True)
        path.parent.chmod(0o777)
        path.write_text(text + "\n", encoding="ascii")
        path.chmod(0o666)

    def _contents(self) -> dict[str, tuple[object, ...]]:
        paths = [self.folder, self.home, self.work]
        paths += [path for top in tuple(paths) for path in top.rglob("*")]
        return {str(path.relative_to(self._root)): fingerprint(path) for path in paths}


def fingerprint(path: Path) -> tuple[object, ...]:
    """What changes when somebody writes to the file; its time of access does not count."""
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):  # what happens in a folder shows in its files
            return (status.st_mode, status.st_uid)
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if status.st_size < _HASHED_BYTES else ""
    except OSError as error:
        return (error.errno,)
    return (status.st_mode, status.st_uid, status.st_size, status.st_mtime_ns, digest)


class _Listeners:
    """Listen on loopback and two local sockets; answer everybody with the listener's secret, and take note."""

    def __init__(self, path: Path, known: Mapping[str, str]) -> None:
        self._known = known
        self._reached: list[str] = []
        self._selector = selectors.DefaultSelector()
        self._stop, self._stopped = socket.socketpair()
        self._selector.register(self._stopped, selectors.EVENT_READ, "stop")
        try:
            self.tcp_port = self._listen("tcp", socket.AF_INET, ("127.0.0.1", 0)).getsockname()[1]
            udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self._selector.register(udp, selectors.EVENT_READ, "udp")
            udp.bind(("127.0.0.1", 0))
            self.udp_port = udp.getsockname()[1]
            self._listen("unix", socket.AF_UNIX, str(path))
            path.chmod(0o777)
            self._listen("abstract", socket.AF_UNIX, ABSTRACT_NAME)
        except BaseException:
            self._close_sockets()
            raise
        self._thread = threading.Thread(target=self._serve, name="canaries", daemon=True)
        self._thread.start()

    def reached(self) -> list[str]:
        """The listeners that somebody came to, in order, each once."""
        return list(dict.fromkeys(self._reached))

    def close(self) -> None:
        self._stop.send(b"x")
        self._thread.join()
        self._close_sockets()

    def _listen(self, kind: str, family: socket.AddressFamily, address: str | tuple[str, int]) -> socket.socket:
        listener = socket.socket(family, socket.SOCK_STREAM)
        self._selector.register(listener, selectors.EVENT_READ, kind)
        until = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                listener.bind(address)
                break
            except OSError as error:
                if time.monotonic() > until:
                    raise CanariesUnavailable(
                        f"cannot listen as {kind} canary ({error.strerror}); another measurement seems to run on this "
                        "machine: wait for its end."
                    ) from error
                time.sleep(0.05)
        listener.listen(16)
        return listener

    def _serve(self) -> None:
        while True:
            for key, _ in self._selector.select():
                if key.data == "stop":
                    return
                self._reached.append(key.data)
                with suppress(OSError):
                    _answer(key.fileobj, self._known[key.data].encode("ascii"))  # type: ignore[arg-type]

    def _close_sockets(self) -> None:
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]
        self._selector.close()
        self._stop.close()


def _answer(listener: socket.socket, secret: bytes) -> None:
    if listener.type == socket.SOCK_DGRAM:
        _, sender = listener.recvfrom(65536)
        listener.sendto(secret, sender)
        return
    connection, _ = listener.accept()
    with connection:
        connection.settimeout(0.2)
        connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + secret + b"\n")
        connection.shutdown(socket.SHUT_WR)
        connection.recv(65536)  # else the kernel would take the answer back with a reset


def _open_place() -> str:
    """A folder for temporary files that every user may enter; a private one would hide the canaries."""
    for place in (tempfile.gettempdir(), "/tmp", "/var/tmp", "/dev/shm"):  # noqa: S108 - a fresh folder in it
        path = Path(place).resolve()
        with suppress(OSError):
            if os.access(path, os.W_OK) and all(p.stat().st_mode & stat.S_IXOTH for p in (path, *path.parents)):
                return str(path)
    raise CanariesUnavailable("no folder for temporary files is open to every user; set TMPDIR to one that is.")
