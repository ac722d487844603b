"""A base image made from the running Python, for engines that cannot pull one."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from sandbox.docker.engine import speaking_to_engine
from sandbox.errors import SandboxUnavailable

LOCAL_BASE = "atc-python:local"
"""The tag of the image that `import_base` makes."""

PREFIX = "usr/local"

_LEFT_OUT = frozenset(
    "test tests idlelib tkinter turtledemo turtle.py lib2to3 ensurepip site-packages dist-packages".split()  # noqa: SIM905
)
_LEFT_OUT_PATTERN = re.compile(r"config-\d|_tkinter|_test|_ctypes_test|xxlimited|_xx|.*\.opt-\d\.pyc$")
_LIBRARY = re.compile(r"^\s*(?:(\S+) => )?(/\S+) \(0x[0-9a-f]+\)$", re.MULTILINE)


def import_base(client: Any, tag: str = LOCAL_BASE) -> str:
    """Make an image of the running Python: interpreter, standard library, the shared libraries that they need.

    Gives its tag. Raises `SandboxUnavailable` where the libraries cannot be found or the engine refuses.
    """
    repository, _, name = tag.partition(":")
    with tempfile.TemporaryFile() as file:
        write_base(file)
        file.seek(0)
        changes = [f"ENV PATH=/{PREFIX}/bin:/usr/bin:/bin"]
        with speaking_to_engine("import a base image"):
            client.api.import_image_from_data(file, repository=repository, tag=name or "latest", changes=changes)
    return tag


def write_base(file: IO[bytes]) -> None:
    """Write the base image's files to `file` as a tar."""
    python = Path(getattr(sys, "_base_executable", "") or sys.executable).resolve()
    library = Path(sysconfig.get_path("stdlib", vars={"installed_base": sys.base_prefix, "base": sys.base_prefix}))
    place = f"{PREFIX}/{library.relative_to(sys.base_prefix)}"
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    with tarfile.open(fileobj=file, mode="w") as tar:
        for folder, mode in (("etc", 0o755), ("tmp", 0o1777), ("proc", 0o555), ("sys", 0o555), ("dev", 0o755)):
            _add_folder(tar, folder, mode)
        _add_text(tar, "etc/passwd", "root:x:0:0::/:/sbin/nologin\nnobody:x:65534:65534::/:/sbin/nologin\n")
        _add_text(tar, "etc/group", "root:x:0:\nnogroup:x:65534:\n")
        _add_file(tar, python, f"{PREFIX}/bin/{name}")
        _add_link(tar, f"{PREFIX}/bin/python3", name)
        native = [python]
        for path in _files(library):
            _add_file(tar, path, f"{place}/{path.relative_to(library)}")
            native += [path] if path.suffix == ".so" else []
        for path, where in _libraries(native):
            _add_file(tar, path, where)
        zones = Path("/usr/share/zoneinfo")
        for path in _files(zones) if zones.is_dir() else ():
            if path.relative_to(zones).parts[0] not in ("posix", "right"):
                _add_file(tar, path, str(path).lstrip("/"))


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name in _LEFT_OUT or _LEFT_OUT_PATTERN.match(path.name):
            continue
        if path.is_dir():
            yield from _files(path)
        elif path.is_file():
            yield path


def _libraries(native: list[Path]) -> list[tuple[Path, str]]:
    """The shared libraries that those files need, and where each goes: beside the C library, which is always found."""
    ldd = shutil.which("ldd")
    if ldd is None:
        raise SandboxUnavailable("making a base image needs `ldd`; install it, or name an image in ATC_DOCKER_BASE")
    command = [ldd, *map(str, native)]
    told = subprocess.run(command, capture_output=True, text=True, check=False).stdout  # noqa: S603
    found = {(soname or path): Path(path) for soname, path in _LIBRARY.findall(told)}
    home = next((path.parent for soname, path in found.items() if re.match(r"libc\.(so|musl)", soname)), Path("/lib"))
    loader = [path for soname, path in found.items() if soname.startswith("/")]
    places = {str(path): path for path in loader}
    places.update({str(home / Path(soname).name): path for soname, path in found.items()})
    return [(path.resolve(), where.lstrip("/")) for where, path in sorted(places.items())]


def _add_file(tar: tarfile.TarFile, path: Path, name: str) -> None:
    status = path.stat()
    entry = _entry(name, 0o755 if status.st_mode & 0o100 else 0o644)
    entry.size, entry.mtime = status.st_size, int(status.st_mtime)  # compiled modules are checked against it
    with path.open("rb") as content:
        tar.addfile(entry, content)


def _add_text(tar: tarfile.TarFile, name: str, text: str) -> None:
    entry = _entry(name, 0o644)
    entry.size = len(text)
    tar.addfile(entry, io.BytesIO(text.encode("ascii")))


def _add_folder(tar: tarfile.TarFile, name: str, mode: int) -> None:
    entry = _entry(name, mode)
    entry.type = tarfile.DIRTYPE
    tar.addfile(entry)


def _add_link(tar: tarfile.TarFile, name: str, target: str) -> None:
    entry = _entry(name, 0o777)
    entry.type, entry.linkname = tarfile.SYMTYPE, target
    tar.addfile(entry)


def _entry(name: str, mode: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.mode = mode
    return entry
