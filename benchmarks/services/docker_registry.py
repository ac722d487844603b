"""Docker Registry 2.8 from Debian's package, with 130 repositories of which a page has 100."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

from benchmarks.local import free_port, run_in_background
from benchmarks.services.service import DOCUMENTS, RunningService, install_debian, work_folder

REPOSITORIES = [
    *(f"app-{number:03}" for number in range(99)),
    "python",
    *(f"team/app-{number:02}" for number in range(30)),
]
LAYERS = [random.Random(size).randbytes(size) for size in (1_000, 2_500, 9_500_000)]
PYTHON_TAGS = ["3.2", "3.9", "3.10", "latest"]
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_CONFIG = "application/vnd.oci.image.config.v1+json"
_LAYER = "application/vnd.oci.image.layer.v1.tar"
_SETTINGS = """
version: 0.1
log: {{level: error}}
storage: {{filesystem: {{rootdirectory: {folder}/data}}, delete: {{enabled: true}}}}
http: {{addr: "127.0.0.1:{port}"}}
"""


def _image(created: str, *layers: bytes) -> tuple[bytes, list[bytes]]:
    """Return the manifest of an image and its blobs, the configuration first."""
    config = json.dumps({"created": created, "os": "linux", "architecture": "amd64"}).encode()
    blobs = [config, *layers]
    described = [{"digest": _digest(blob), "size": len(blob)} for blob in blobs]
    manifest = {
        "schemaVersion": 2,
        "mediaType": _MANIFEST,
        "config": {"mediaType": _CONFIG, **described[0]},
        "layers": [{"mediaType": _LAYER, **one} for one in described[1:]],
    }
    return json.dumps(manifest).encode(), blobs


def _digest(content: bytes) -> str:
    return "sha256:" + hashlib.sha256(content).hexdigest()


PYTHON = _image("2026-03-14T09:26:53Z", *LAYERS)
BETA = _image("2026-02-01T00:00:00Z", b"beta")
PLAIN = _image("2026-01-01T00:00:00Z", b"plain")


def _push(url: str, name: str, image: tuple[bytes, list[bytes]], *tags: str) -> None:
    manifest, blobs = image
    for blob in blobs:
        begun = requests.post(f"{url}/v2/{name}/blobs/uploads/", timeout=30).headers["Location"]
        query = {"digest": _digest(blob)}
        requests.put(begun, params=query, data=blob, timeout=30).raise_for_status()
    for tag in tags:
        path, kind = f"{url}/v2/{name}/manifests/{tag}", {"Content-Type": _MANIFEST}
        requests.put(path, data=manifest, headers=kind, timeout=30).raise_for_status()


def _truths() -> dict[str, Any]:
    team = [name for name in REPOSITORIES if name.startswith("team/")]
    return {
        "count": len(REPOSITORIES),
        "namespace": len(team),
        "stable": sum(int(name[-2:]) % 2 == 0 for name in team),
        "newest-version": "3.10",
        "digest": _digest(PYTHON[0]),
        "size": sum(map(len, LAYERS)),
        "created": "2026-03-14T09:26:53Z",
        "first-five": sorted(REPOSITORIES)[:5],
        "layer": hashlib.sha256(LAYERS[2]).hexdigest(),
        "delete": ["latest"],
    }


@contextmanager
def run(folder: Path) -> Iterator[RunningService]:
    """Run the registry with its repositories while the context is open."""
    registry = install_debian(folder, "docker-registry") / "usr" / "bin" / "docker-registry"
    port = free_port()
    with work_folder(folder) as work:
        (work / "registry.yml").write_text(
            _SETTINGS.format(folder=work, port=port), encoding="utf-8"
        )
        with run_in_background([str(registry), "serve", "registry.yml"], port=port, folder=work):
            url = f"http://127.0.0.1:{port}"
            for name in REPOSITORIES:
                stable = ["stable"] if name.startswith("team/") and int(name[-2:]) % 2 == 0 else []
                if name == "python":
                    _push(url, name, PYTHON, *PYTHON_TAGS)
                else:
                    _push(url, name, PLAIN, "latest", *stable)
            _push(url, "app-007", BETA, "beta")
            tags = f"{url}/v2/app-007/tags/list"
            yield RunningService(
                tools=f"{DOCUMENTS / 'docker-registry.yaml'}@{url}",
                truths=_truths(),
                written={
                    "delete": lambda: requests.get(tags, timeout=9).json()["tags"] == ["latest"]
                },
            )
