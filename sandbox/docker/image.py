"""The image of the containers: any that has Python. The code that runs in one comes with its command."""

from __future__ import annotations

import base64
import json
import os
import zlib
from pathlib import Path
from typing import Any

from sandbox.docker.engine import sdk, speaking_to_engine
from sandbox.errors import SandboxUnavailable

USUAL_BASE, LOCAL_BASE = "python:3.12-slim", "atc-python:local"
"""What is pulled, and the tag of an image that is taken instead where the engine has it."""

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


def ensure_image(client: Any, base: str | None = None) -> str:
    """The name of an image with Python 3.11 or newer as `python3`, pulled where the engine does not have it.

    It is `base`, else the one that ATC_DOCKER_BASE names, else `LOCAL_BASE` where it is there, else
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
        raise SandboxUnavailable(f"{error}; name another image with Python 3.11 or newer in {BASE_VARIABLE}") from error
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


def _has(client: Any, name: str) -> bool:
    """Whether the engine has an image of that name."""
    with speaking_to_engine(f"look for the image {name}"):
        try:
            client.images.get(name)
        except sdk().errors.ImageNotFound:
            return False
    return True
