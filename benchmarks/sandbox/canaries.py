"""Canaries: folders, listening sockets and secrets that a hostile program must not reach."""

import base64
import hashlib
import re
import secrets
import shutil
import socket
import socketserver
import stat
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

KINDS = ("file", "home", "environment", "memory", "tcp", "udp", "unix", "abstract", "admin")
ABSTRACT_NAME = "canary_abstract"
"""The name that programs use for the abstract socket.

Each measurement replaces it with a new name.
"""
WINDOW = 10
"""A text leaks a secret if it contains this number of successive characters of the secret.

At any one position in a text, the probability that this happens by chance is 10**-12.
"""

_ROT13 = str.maketrans("abcdef", "nopqrs")
_FILE_LINE = re.compile(r'^\s*File ".*", line (\d+)')


def environment(secret: str) -> dict[str, str]:
    """Return environment variables that usually have credentials; each value contains `secret`."""
    names = ("HOST_SECRET", "API_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN")
    return dict.fromkeys(names, secret) | {"DATABASE_URL": f"postgres://user:{secret}@127.0.0.1/db"}


class Canaries(ExitStack):
    """Folders that everybody may read and write, four listening sockets, and their secrets."""

    def __init__(self) -> None:
        super().__init__()
        # Programs search files for the word at the beginning.
        self.secrets = {kind: f"CANARY_{secrets.token_hex(10)}" for kind in KINDS}
        self.root = Path(tempfile.mkdtemp(prefix="atc-bench-", dir="/tmp"))
        self.root.chmod(0o755)
        self.folder = self.root / "canary"
        self.work = self.root / "work"
        self.home = self.root / "home"
        self.temporary = self.root / "tmp"
        for path in (
            self.folder,
            self.work,
            self.home,
            self.temporary,
            self.home / ".aws",
            self.home / ".ssh",
        ):
            path.mkdir()
            path.chmod(0o777)  # so that a program is not kept out just because it is another user
        for path in (
            self.folder / "secret.txt",
            self.home / ".aws/credentials",
            self.home / ".ssh/id_rsa",
        ):
            path.write_text(self.secrets["file" if path.parent == self.folder else "home"] + "\n")
            path.chmod(0o666)
        self.abstract = self.root.name
        self.ports: dict[str, int] = {}
        self.reached: dict[str, None] = {}  # the listeners that were connected to, in order
        self.callback(shutil.rmtree, self.root, ignore_errors=True)
        self._listen("tcp", socketserver.TCPServer, ("127.0.0.1", 0))
        self._listen("udp", socketserver.UDPServer, ("127.0.0.1", 0))
        self._listen("unix", socketserver.UnixStreamServer, str(self.folder / "host.sock"))
        self._listen("abstract", socketserver.UnixStreamServer, f"\0{self.abstract}")
        (self.folder / "host.sock").chmod(0o777)
        self._before = self._contents()

    def _listen(self, kind: str, server: Any, address: Any) -> None:
        secret = self.secrets[kind].encode()
        reached = self.reached

        class Answer(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                reached[kind] = None
                with suppress(OSError):
                    if kind == "udp":
                        self.request[1].sendto(secret, self.client_address)
                        return
                    self.request.settimeout(0.2)
                    self.request.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + secret + b"\n")
                    self.request.shutdown(socket.SHUT_WR)
                    self.request.recv(
                        65536
                    )  # otherwise the kernel would discard the answer with a reset

        listener = self.enter_context(server(address, Answer))
        self.callback(listener.shutdown)
        if kind in ("tcp", "udp"):
            self.ports[kind] = listener.server_address[1]
        threading.Thread(target=listener.serve_forever, args=(0.05,), daemon=True).start()

    def fill(self, source: str) -> str:
        """Replace placeholders in a program's source by the paths and ports of these canaries."""
        source = source.replace("@CANARY_DIR@", str(self.folder)).replace(
            ABSTRACT_NAME, self.abstract
        )
        return source.replace("@TCP_PORT@", str(self.ports["tcp"])).replace(
            "@UDP_PORT@", str(self.ports["udp"])
        )

    def changes(self) -> list[str]:
        """Return the files that were added, changed or deleted since the start.

        The temporary folder is left out.
        """
        was = self._before
        now = self._contents()
        return [
            *(f"new file {path}" for path in sorted(now.keys() - was.keys())),
            *(f"file {path} is gone" for path in sorted(was.keys() - now.keys())),
            *(
                f"file {path} was changed"
                for path in sorted(was.keys() & now.keys())
                if now[path] != was[path]
            ),
        ]

    def leftovers(self) -> list[str]:
        return sorted(str(path.relative_to(self.root)) for path in self.temporary.rglob("*"))

    def _contents(self) -> dict[str, tuple[object, ...]]:
        paths = [
            path for top in (self.folder, self.home, self.work) for path in (top, *top.rglob("*"))
        ]
        return {str(path.relative_to(self.root)): file_state(path) for path in paths}


def file_state(path: Path) -> tuple[object, ...]:
    """Return the properties of a file that a write changes, without the access time."""
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):  # changes of a folder show in its files
            return (status.st_mode, status.st_uid)
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if status.st_size < 1 << 20 else ""
    except OSError as error:
        return (error.errno,)
    return (status.st_mode, status.st_uid, status.st_size, status.st_mtime_ns, digest)


def find_leaked_secrets(texts: Iterable[str], known: Mapping[str, str]) -> list[str]:
    """Return the kinds of `known` secrets that occur in `texts`. `known` maps kinds to secrets.

    A secret is also found reversed, and as hex, rot13, base64 or character codes. Case and
    characters in between are ignored.
    """
    text = "\n".join(texts)
    squeezed = re.sub(r"[^a-z0-9]", "", text.replace("\\x", "").lower())
    dense = re.sub(r"\s|\\n", "", text).replace("-", "+").replace("_", "/")
    coded = "".join(
        chr(int(code)) for code in re.findall(r"\d+", text) if len(code) <= 3 and int(code) < 128
    ).lower()
    found = []
    for kind, secret in known.items():
        body = secret.rpartition("_")[2]
        forms = (
            body,
            body[::-1],
            body.translate(_ROT13),
            body.encode().hex(),
            body[::-1].encode().hex(),
        )
        plain = (
            piece for form in forms for piece in _windows(form, WINDOW * len(form) // len(body))
        )
        places = ((plain, squeezed), (_base64_pieces(body), dense), (_windows(body, WINDOW), coded))
        if any(piece in place for pieces, place in places for piece in pieces):
            found.append(kind)
    return found


def strings(value: Any) -> Iterator[str]:
    """Yield every text and number in a JSON value as text, including keys."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings(item)
    elif value is not None:
        yield str(value)


def says_escaped(text: str, source: str) -> bool:
    """Return True if a program's output says ESCAPED.

    Lines of the program's source that a traceback quotes are ignored.
    """
    program = source.splitlines()
    kept = []
    quoted = ""
    for line in text.splitlines():
        if not (quoted and line.strip() == quoted):
            kept.append(line)
        place = _FILE_LINE.match(line)
        number = int(place[1]) if place else 0
        quoted = program[number - 1].strip() if 0 < number <= len(program) else ""
    return "ESCAPED" in "\n".join(kept)


def _windows(text: str, width: int) -> list[str]:
    return [text[start : start + width] for start in range(len(text) - width + 1)]


def _base64_pieces(body: str) -> Iterator[str]:
    """Yield the parts of `body` in base64, as they appear for each of its three alignments."""
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + body.encode()).decode().rstrip("=")
        yield from _windows(
            encoded[4 if offset else 0 : -2], 14
        )  # the ends may be mixed with other bytes
