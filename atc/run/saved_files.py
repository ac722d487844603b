"""Writes the files of a run to a folder of the user."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from itertools import count
from pathlib import Path

from protocols.file_names import numbered, safe_name
from protocols.files import FileInfo, FileStore, FileValue
from protocols.private_files import CannotWrite

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
"""A name that is taken is never opened, also if it is a link that leads nowhere."""


def save_files(infos: Iterable[FileInfo], files: FileStore, folder: Path) -> list[Path]:
    """Write files to a folder, which is made if it is missing, and return their paths.

    No file takes the place of another one: beside `report.pdf` the next one is `report-2.pdf`.

    Raises:
        CannotWrite: the folder or a file cannot be written.
        FileMissing: the bytes of a file are not stored any more.
    """
    found = list(infos)
    if not found:
        return []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise CannotWrite(
            f"cannot write to the folder {str(folder)!r}: {error.strerror}"
        ) from error
    try:
        return [folder / _save(FileValue(one, files.content(one)), descriptor) for one in found]
    except OSError as error:
        raise CannotWrite(
            f"cannot write to the folder {str(folder)!r}: {error.strerror}"
        ) from error
    finally:
        os.close(descriptor)


def _save(file: FileValue, folder: int) -> str:
    """Write a file to the folder with this descriptor, and return the name that it got."""
    name, written = _create(safe_name(file.info.name), folder)
    try:
        with os.fdopen(written, "wb") as opened:
            for piece in file.pieces():
                opened.write(piece)
    except BaseException:
        with suppress(OSError):
            os.unlink(name, dir_fd=folder)
        raise
    return name


def _create(name: str, folder: int) -> tuple[str, int]:
    """Create an empty file whose name is not taken. Return the name and the descriptor."""
    for number in count(1):
        chosen = name if number == 1 else numbered(name, number)
        with suppress(FileExistsError):
            return chosen, os.open(chosen, _FLAGS, 0o666, dir_fd=folder)
    raise AssertionError
