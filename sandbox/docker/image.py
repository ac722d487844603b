"""The image of the containers: any that has Python. The code that runs in one comes with its command.

`python -m sandbox.docker.image import` makes such an image from the running Python where none can be pulled.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zlib
from contextlib import closing
from pathlib import Path
from typing import Any

from sandbox.docker.engine import connect, sdk, speaking_to_engine
from sandbox.errors import SandboxUnavailable

USUAL_BASE = "python:3.12-slim"

LOCAL_BASE = "atc-python:local"
"""The tag of the image that `import_base` makes."""

BASE_VARIABLE = "ATC_DOCKER_BASE"

_PACKAGE = Path(__file__).resolve().parent.parent
_INSIDE = ("docker/inside.py", "hints.py", "layers/[!_]*.py", "zygote/[!_h]*.py")
"""What runs in a container: not the host's side, nor what imports it."""

_START = """
import base64, importlib.abc, importlib.util, json, sys, zlib
sources = json.loads(zlib.decompress(base64.b64decode(sys.argv[2])))
class Sent(importlib.abc.InspectLoader):
    def find_spec(self, name, path=None, target=None):
        return importlib.util.spec_from_loader(name, self, is_package=not sources[name]) if name in sources else None
    def get_source(self, name):
        return sources[name]
sys.meta_path.append(Sent())
from sandbox.docker.inside import main
main(json.loads(sys.argv[1]))
"""

_LEFT_OUT = re.compile(r".*/(test|tests|idlelib|tkinter|ensurepip|posix|right|site-packages|dist-packages|config-\d.*)")
_LIBRARY = re.compile(r"^\s*(?:(\S+) => )?(/\S+) \(0x[0-9a-f]+\)$", re.MULTILINE)


def ensure_image(client: Any, base: str | None = None) -> str:
    """The name of an image with Python 3.11 or newer as `python3`, pulled where the engine does not have it.

    It is `base`, else the one that ATC_DOCKER_BASE names, else the imported one where the engine has it, else
    `USUAL_BASE`.

    Raises:
        SandboxUnavailable: it cannot be had.
    """
    base = base or os.environ.get(BASE_VARIABLE) or (LOCAL_BASE if _has(client, LOCAL_BASE) else USUAL_BASE)
    try:
        if not _has(client, base):
            with speaking_to_engine(f"pull the image {base!r}"):
                client.images.pull(base)
    except SandboxUnavailable as error:
        raise SandboxUnavailable(
            f"{error}; name an image with Python 3.11 or newer in {BASE_VARIABLE}, or make one from this machine's "
            "Python: python -m sandbox.docker.image import"
        ) from error
    return base


def command(options: dict[str, Any]) -> list[str]:
    """What a container executes: `sandbox.docker.inside.main` with these options, all its code included."""
    sources = dict.fromkeys(("sandbox", "sandbox.docker", "sandbox.layers", "sandbox.zygote"), "")
    for path in [path for pattern in _INSIDE for path in _PACKAGE.glob(pattern)]:
        name = ".".join(path.relative_to(_PACKAGE.parent).with_suffix("").parts)
        sources[name] = path.read_text(encoding="utf-8")
    sent = base64.b64encode(zlib.compress(json.dumps(sources).encode("ascii"))).decode("ascii")
    # Not -I: it would ignore PYTHONHASHSEED.
    return ["python3", "-s", "-S", "-B", "-P", "-c", _START, json.dumps(options), sent]


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


def _has(client: Any, name: str) -> bool:
    """Whether the engine has an image of that name."""
    with speaking_to_engine(f"look for the image {name}"):
        try:
            client.images.get(name)
        except sdk().errors.ImageNotFound:
            return False
    return True


if __name__ == "__main__":
    if sys.argv[1:] != ["import"]:
        sys.exit("usage: python -m sandbox.docker.image import")
    with closing(connect()) as client:
        print(import_base(client))
