"""The image that programs run in: Python, and the code of the child. Built from the project's Dockerfile when needed.

`python -m sandbox.docker.image import` makes a base image from the running Python where none can be pulled.
"""

from __future__ import annotations

import ast
import hashlib
import io
import os
import re
import sys
import tarfile
import threading
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from sandbox.docker.base import LOCAL_BASE, import_base
from sandbox.docker.engine import connect, not_found, speaking_to_engine
from sandbox.errors import SandboxUnavailable

REPOSITORY = "atc-sandbox"
DIGEST_LABEL = "org.atc.sandbox.digest"
TARGET = "sandbox"
"""The stage of the Dockerfile that is this image."""

BASE_VARIABLE = "ATC_DOCKER_BASE"

_PACKAGE = Path(__file__).resolve().parent.parent
_ENTRY = "sandbox/docker/inside.py"
_building = threading.Lock()


def ensure_image(client: Any, base: str | None = None) -> str:
    """The tag of an image that holds this version of the child's code, built where there is none.

    `base` is an image with Python 3.11 or newer as `python3`; else it is the one that ATC_DOCKER_BASE names, else the
    imported one where the engine has it, else the Dockerfile's own, which the engine pulls.

    Raises:
        SandboxUnavailable: it cannot be built.
    """
    files = context_files()
    base = base or os.environ.get(BASE_VARIABLE) or _default_base(client, files["Dockerfile"])
    with _building:
        digest = _digest(files, base, _image_id(client, base))
        tag = f"{REPOSITORY}:{digest[:16]}"
        if not _is_image(client, tag, digest):
            _build(client, files, base=base, tag=tag, digest=digest)
    return tag


def context_files() -> dict[str, bytes]:
    """What the image is built from, by path within the build context: the Dockerfile and the child's code."""
    files = {"Dockerfile": _dockerfile().read_bytes()}
    wanted = [_ENTRY]
    while wanted:
        name = wanted.pop()
        if name not in files:
            files[name] = (_PACKAGE.parent / name).read_bytes()
            wanted += _imported(files[name])
    return files


def main(arguments: list[str]) -> None:
    """`import [TAG]`: make a base image from the running Python. `build [BASE]`: build the image. Prints the tag."""
    match arguments:
        case ["import" | "build" as verb] | ["import" | "build" as verb, _]:
            pass
        case _:
            sys.exit("usage: python -m sandbox.docker.image import [TAG] | build [BASE]")
    try:
        with closing(connect()) as client:
            print((import_base if verb == "import" else ensure_image)(client, *arguments[1:]))
    except SandboxUnavailable as error:
        sys.exit(str(error))


def _dockerfile() -> Path:
    packaged = Path(__file__).with_name("Dockerfile")  # where the wheel has it
    return packaged if packaged.is_file() else _PACKAGE.parent / "Dockerfile"


def _imported(source: bytes) -> list[str]:
    """The files of our own modules that a module imports, also within its functions."""
    names = [
        f"{node.module}.{alias.name}"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == _PACKAGE.name
        for alias in node.names
    ]
    # `from sandbox.zygote import child` is of a module, `from sandbox.zygote.values import plain` of what is in one.
    modules = {module for name in names for module in (name, name.rpartition(".")[0])}
    paths = [module.replace(".", "/") + ".py" for module in sorted(modules)]
    return [path for path in paths if (_PACKAGE.parent / path).is_file()]


def _default_base(client: Any, dockerfile: bytes) -> str:
    if _image_id(client, LOCAL_BASE):
        return LOCAL_BASE
    default = re.search(rb"^ARG BASE=(\S+)$", dockerfile, re.MULTILINE)
    if default is None:
        raise SandboxUnavailable("the Dockerfile has no line `ARG BASE=…`; install atc again")
    return default[1].decode("ascii")


def _digest(files: Mapping[str, bytes], base: str, base_id: str) -> str:
    digest = hashlib.sha256()
    for part in (base.encode(), base_id.encode(), *(item for pair in sorted(files.items()) for item in pair)):
        data = part if isinstance(part, bytes) else part.encode()
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


def _image_id(client: Any, name: str) -> str:
    """The identity of an image that the engine has; empty where it has none of that name."""
    with speaking_to_engine(f"look for the image {name}"):
        try:
            return str(client.images.get(name).id)
        except not_found():
            return ""


def _is_image(client: Any, tag: str, digest: str) -> bool:
    with speaking_to_engine(f"look for the image {tag}"):
        try:
            return bool(client.images.get(tag).labels.get(DIGEST_LABEL) == digest)
        except not_found():
            return False


def _build(client: Any, files: Mapping[str, bytes], *, base: str, tag: str, digest: str) -> None:
    options = {"target": TARGET, "buildargs": {"BASE": base}, "labels": {DIGEST_LABEL: digest}, "tag": tag}
    with speaking_to_engine("build its image"):
        steps = client.api.build(
            fileobj=_tar(files), custom_context=True, network_mode="none", rm=True, forcerm=True, decode=True, **options
        )
        for step in steps:
            if "error" in step:
                raise SandboxUnavailable(
                    f"the docker sandbox cannot build its image from {base!r}: {step['error'].strip()}; name an image "
                    f"with Python 3.11 or newer in {BASE_VARIABLE}, or make one from this machine's Python: "
                    "python -m sandbox.docker.image import"
                )


def _tar(files: Mapping[str, bytes]) -> io.BytesIO:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    out.seek(0)
    return out


if __name__ == "__main__":
    main(sys.argv[1:])
