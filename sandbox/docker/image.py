"""The image that programs run in: Python, and the code of the child. Built from the project's Dockerfile when needed.

`python -m sandbox.docker.image import` makes a base image from the running Python where none can be pulled.
"""

from __future__ import annotations

import hashlib
import io
import os
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

from sandbox.docker.engine import connect, sdk, speaking_to_engine
from sandbox.errors import SandboxUnavailable

LOCAL_BASE = "atc-python:local"
"""The tag of the image that `import_base` makes."""

BASE_VARIABLE = "ATC_DOCKER_BASE"

_PACKAGE = Path(__file__).resolve().parent.parent
_INSIDE = ("docker/inside.py", "hints.py", "layers/*.py", "zygote/[!h_]*.py")
"""What runs in a container: not the host's side, nor what imports it."""

_LEFT_OUT = re.compile(r".*/(test|tests|idlelib|tkinter|ensurepip|posix|right|site-packages|dist-packages|config-\d.*)")
_LIBRARY = re.compile(r"^\s*(?:(\S+) => )?(/\S+) \(0x[0-9a-f]+\)$", re.MULTILINE)


def ensure_image(client: Any, base: str | None = None) -> str:
    """The tag of an image that holds this version of the child's code, built where there is none.

    `base` is an image with Python 3.11 or newer as `python3`; else it is the one that ATC_DOCKER_BASE names, else the
    imported one where the engine has it, else the Dockerfile's own, which the engine pulls.

    Raises:
        SandboxUnavailable: it cannot be built.
    """
    files = context_files()
    base = base or os.environ.get(BASE_VARIABLE) or (LOCAL_BASE if _image_id(client, LOCAL_BASE) else None)
    text = repr((base, base and _image_id(client, base), sorted(files.items())))
    tag = f"atc-sandbox:{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    if _image_id(client, tag):
        return tag
    context = io.BytesIO()
    with tarfile.open(fileobj=context, mode="w") as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    context.seek(0)
    options = {"target": "sandbox", "tag": tag, "network_mode": "none", "rm": True, "forcerm": True}
    with speaking_to_engine("build its image"):
        try:
            client.images.build(
                fileobj=context, custom_context=True, buildargs={"BASE": base} if base else {}, **options
            )
        except sdk().errors.BuildError as error:
            raise SandboxUnavailable(
                f"the docker sandbox cannot build its image from {base or 'the base of its Dockerfile'!r}: {error}; "
                f"name an image with Python 3.11 or newer in {BASE_VARIABLE}, or make one from this machine's Python: "
                "python -m sandbox.docker.image import"
            ) from error
    return tag


def context_files() -> dict[str, bytes]:
    """What the image is built from, by path within the build context: the Dockerfile and the child's code."""
    packaged = Path(__file__).with_name("Dockerfile")  # where the wheel has it
    dockerfile = packaged if packaged.is_file() else _PACKAGE.parent / "Dockerfile"
    paths = [path for pattern in _INSIDE for path in sorted(_PACKAGE.glob(pattern))]
    return {
        "Dockerfile": dockerfile.read_bytes(),
        **{path.relative_to(_PACKAGE.parent).as_posix(): path.read_bytes() for path in paths},
    }


def import_base(client: Any, tag: str = LOCAL_BASE) -> str:
    """Make an image of the running Python: interpreter, standard library, the shared libraries that they need.

    Gives its tag. Raises `SandboxUnavailable` where the libraries cannot be found or the engine refuses.
    """
    repository, _, name = tag.partition(":")
    with tempfile.TemporaryFile() as file:
        with tarfile.open(fileobj=file, mode="w", dereference=True) as tar:
            write_base(tar)
        file.seek(0)
        changes = ["ENV PATH=/usr/local/bin:/usr/bin:/bin"]
        with speaking_to_engine("import a base image"):
            client.api.import_image_from_data(file, repository=repository, tag=name or "latest", changes=changes)
    return tag


def write_base(tar: tarfile.TarFile) -> None:
    """Write the base image's files."""
    python = Path(getattr(sys, "_base_executable", "") or sys.executable).resolve()
    library = Path(sysconfig.get_path("stdlib", vars={"installed_base": sys.base_prefix, "base": sys.base_prefix}))
    files = {"usr/local/bin/python3": python, "usr/share/zoneinfo": Path("/usr/share/zoneinfo")}
    files[f"usr/local/{library.relative_to(sys.base_prefix)}"] = library
    files |= _libraries([python, *library.glob("lib-dynload/*.so")])
    folder = tarfile.TarInfo("tmp")
    folder.type, folder.mode = tarfile.DIRTYPE, 0o1777
    tar.addfile(folder)
    for name, path in files.items():
        if path.exists():
            tar.add(path, name, filter=lambda entry: None if _LEFT_OUT.fullmatch(entry.name) else entry)


def _libraries(native: list[Path]) -> dict[str, Path]:
    """The shared libraries that those files need, by where each goes: beside the C library, which is always found."""
    ldd = shutil.which("ldd")
    if ldd is None:
        raise SandboxUnavailable("making a base image needs `ldd`; install it, or name an image in ATC_DOCKER_BASE")
    told = subprocess.run([ldd, *map(str, native)], capture_output=True, text=True, check=False).stdout  # noqa: S603
    found = {(soname or path): Path(path) for soname, path in _LIBRARY.findall(told)}
    home = next((path.parent for soname, path in found.items() if re.match(r"libc\.(so|musl)", soname)), Path("/lib"))
    # The loader is named by its whole path.
    return {(soname if soname.startswith("/") else str(home / soname)).lstrip("/"): p for soname, p in found.items()}


def _image_id(client: Any, name: str) -> str:
    """The identity of an image that the engine has; empty where it has none of that name."""
    with speaking_to_engine(f"look for the image {name}"):
        try:
            return str(client.images.get(name).id)
        except sdk().errors.NotFound:
            return ""


if __name__ == "__main__":
    if sys.argv[1:] != ["import"]:
        sys.exit("usage: python -m sandbox.docker.image import")
    with closing(connect()) as client:
        print(import_base(client))
