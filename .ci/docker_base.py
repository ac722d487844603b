"""Makes a Docker image of the running Python, for machines that cannot reach an image registry.

Usage: python .ci/docker_base.py TAG
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from sandbox.base import SandboxUnavailable
from sandbox.docker.engine import connect, translate_engine_errors

_LEFT_OUT = re.compile(
    r".*/(test|tests|idlelib|tkinter|ensurepip|posix|right|site-packages|dist-packages|config-\d.*)"
)
_LIBRARY = re.compile(r"^\s*(?:(\S+) => )?(/\S+) \(0x[0-9a-f]+\)$", re.MULTILINE)


def import_base(client: Any, tag: str) -> str:
    """Make an image of the running Python: interpreter, standard library and shared libraries.

    Return its tag. `client` is a client of the Docker engine.

    Raises:
        SandboxUnavailable: The shared libraries cannot be found, or the engine reports an error.
    """
    repository, _, name = tag.partition(":")
    with tempfile.TemporaryFile() as file:
        with tarfile.open(fileobj=file, mode="w", dereference=True) as tar:
            write_base(tar)
        file.seek(0)
        changes = ["ENV PATH=/usr/local/bin:/usr/bin:/bin"]
        with translate_engine_errors("import a base image"):
            client.api.import_image_from_data(
                file, repository=repository, tag=name or "latest", changes=changes
            )
    return tag


def write_base(tar: tarfile.TarFile) -> None:
    """Write the files of the image into a tar archive."""
    python = Path(getattr(sys, "_base_executable", "") or sys.executable).resolve()
    library = Path(
        sysconfig.get_path(
            "stdlib", vars={"installed_base": sys.base_prefix, "base": sys.base_prefix}
        )
    )
    files = {"usr/local/bin/python3": python, "usr/share/zoneinfo": Path("/usr/share/zoneinfo")}
    files[f"usr/local/{library.relative_to(sys.base_prefix)}"] = library
    files |= _libraries([python, *library.glob("lib-dynload/*.so")])
    folder = tarfile.TarInfo("tmp")
    folder.type, folder.mode = tarfile.DIRTYPE, 0o1777
    tar.addfile(folder)
    for name, path in files.items():
        if path.exists():
            tar.add(
                path, name, filter=lambda entry: None if _LEFT_OUT.fullmatch(entry.name) else entry
            )


def _libraries(native: list[Path]) -> dict[str, Path]:
    """Return the shared libraries that native files need, keyed by their paths in the image.

    They are put into the folder of the C library, because the loader always searches it.
    """
    ldd = shutil.which("ldd")
    if ldd is None:
        raise SandboxUnavailable(
            "making a base image needs `ldd`; install it, or name an image in ATC_DOCKER_BASE"
        )
    told = subprocess.run(  # noqa: S603
        [ldd, *map(str, native)], capture_output=True, text=True, check=False
    ).stdout
    found = {(soname or path): Path(path) for soname, path in _LIBRARY.findall(told)}
    home = next(
        (path.parent for soname, path in found.items() if re.match(r"libc\.(so|musl)", soname)),
        Path("/lib"),
    )
    # ldd names the loader by its absolute path, the other libraries by their names.
    return {
        (soname if soname.startswith("/") else str(home / soname)).lstrip("/"): p
        for soname, p in found.items()
    }


if __name__ == "__main__":
    with closing(connect()) as client:
        print(import_base(client, sys.argv[1]))
