"""Folders of programs that a sandbox is measured with, one program a file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from toolflow_bench.task import InvalidTask


class InvalidFolder(InvalidTask):
    """A folder that holds no programs, or one that cannot be read."""


@dataclass(frozen=True, slots=True)
class Program:
    """One file of a folder."""

    name: str
    """The file's name without `.py`."""
    source: str

    @property
    def category(self) -> str:
        """What its line `# category: …` says; empty where there is none."""
        found = re.search(r"^#\s*category:\s*(.+)$", self.source, re.MULTILINE)
        return found[1].strip() if found else ""


def load_programs(folder: Path) -> tuple[Program, ...]:
    """The `*.py` files of `folder`, by name.

    Raises:
        InvalidFolder: there is no such folder, it holds no program, or a program is no UTF-8 text.
    """
    if not folder.is_dir():
        raise InvalidFolder(f"{str(folder)!r} is no folder; give one that holds programs as *.py files.")
    paths = sorted(path for path in folder.glob("*.py") if path.is_file())
    if not paths:
        raise InvalidFolder(f"{str(folder)!r} holds no *.py file; give a folder of programs, one a file.")
    return tuple(Program(path.stem, _text(path)) for path in paths)


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise InvalidFolder(f"{str(path)!r} is not UTF-8: {error.reason} at byte {error.start}.") from error
    except OSError as error:
        raise InvalidFolder(f"{str(path)!r} cannot be read: {error.strerror}.") from error
