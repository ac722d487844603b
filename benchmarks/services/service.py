"""What the services of the suite share: how they are installed, and what is known of each."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from protocols.errors import SourceUnavailable

DOCUMENTS = Path(__file__).with_name("documents")
_LOG_LINES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningService:
    """A service with its data, and what its user tells `atc`."""

    tools: str
    """The value of `--tools`: an address, a file or a module."""
    truths: Mapping[str, Any]
    """The true answer of each task, computed from the data of the service without `atc`."""
    settings: str = ""
    """The user's own settings file: credentials and fixed headers."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Environment variables, among them the secrets that the settings name."""
    written: Mapping[str, Callable[[], bool]] = field(default_factory=dict)
    """For each task that writes: a function that asks the service, without `atc`, if it holds what
    the task asked for.
    """


@contextmanager
def work_folder(folder: Path) -> Iterator[Path]:
    """Yield a new folder for one run of a service. It is removed if the run ends without an error.

    `folder` is the service's own folder, in which it is installed.
    """
    work = Path(tempfile.mkdtemp(prefix="run-", dir=folder))
    yield work
    shutil.rmtree(work, ignore_errors=True)


def install_python(folder: Path, *packages: str) -> Path:
    """Return the Python of a virtual environment in `folder` that has the packages from PyPI.

    Raises:
        SourceUnavailable: a package could not be installed.
    """
    python = folder / "venv" / "bin" / "python"
    _once(
        folder / "installed",
        [
            [sys.executable, "-m", "venv", str(folder / "venv")],
            [str(python), "-m", "pip", "install", "--quiet", *packages],
        ],
    )
    return python


def install_node(folder: Path, package: str) -> Path:
    """Return the folder with the commands of a package of the npm registry, installed in `folder`.

    Raises:
        SourceUnavailable: the package could not be installed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    command = ["npm", "install", "--silent", "--no-save", "--prefix", str(folder), package]
    _once(folder / "installed", [command])
    return folder / "node_modules" / ".bin"


def install_debian(folder: Path, package: str) -> Path:
    """Return the root folder in which a Debian package was unpacked, without installing it.

    Raises:
        SourceUnavailable: the package could not be fetched.
    """
    root = folder / "root"
    unpack = f"apt-get download {package} && dpkg-deb --extract {package}_*.deb {root}"
    _once(folder / "installed", [["sh", "-c", unpack]])
    return root


def _once(marker: Path, commands: Sequence[Sequence[str]]) -> None:
    """Run the commands in the marker's folder, unless the marker says that they succeeded before.

    Raises:
        SourceUnavailable: a command failed.
    """
    if marker.exists():
        return
    marker.parent.mkdir(parents=True, exist_ok=True)
    for command in commands:
        done = subprocess.run(
            command, cwd=marker.parent, capture_output=True, text=True, check=False
        )
        if done.returncode:
            last = " ".join(done.stderr.strip().splitlines()[-_LOG_LINES:])
            raise SourceUnavailable(
                f"{' '.join(command)!r} failed ({last}); the service cannot be measured here."
            )
    marker.touch()
