"""Services that others made, as `services.yaml` tells of them, started on loopback."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from benchmarks.local import ROOT, free_port, running

SERVICES: Mapping[str, Any] = yaml.safe_load(Path(__file__).with_name("services.yaml").read_text(encoding="utf-8"))
"""What is known of each, by name."""


@contextmanager
def started(name: str, folder: Path) -> Iterator[int]:
    """Run a service in `folder`; gives its port.

    Raises:
        SourceUnavailable: it does not start.
    """
    service, port = SERVICES[name], free_port()
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in service.get("files", {}).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    filled = {"port": port, "folder": folder, "root": ROOT, "python": sys.executable}
    filled["moto"] = os.environ.get("MOTO_SERVER", "moto_server")
    command = [part.format(**filled) for part in service["command"]]
    with running(command, port=port, folder=folder, env={"PYTHONPATH": str(ROOT)}):
        yield port
