"""Files written whole or not at all, and files and folders that nobody else may read."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from protocols.errors import AtcError


class CannotWrite(AtcError):
    """A file of the result cannot be written."""


def write_whole(path: Path, text: str, *, mode: int = 0o644) -> None:
    """Write a file whole or not at all.

    Raises:
        CannotWrite: it cannot be; says why.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
                file.write(text)
            Path(temporary).chmod(mode)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise cannot_write(path, error) from error


class NotPrivate(AtcError):
    """A file or folder that was to be the user's alone is a link, or belongs to somebody else."""


def keep_private(path: Path) -> None:
    """Take from everybody but the owner what they may do with `path`; nothing where there is none.

    Raises:
        NotPrivate: it is a link, or another user's.
    """
    try:
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            raise NotPrivate(f"{str(path)!r} is a symbolic link, so what it holds may be somebody else's; remove it.")
        if status.st_uid != os.geteuid():
            raise NotPrivate(f"{str(path)!r} belongs to another user, who could read and change it.")
        if status.st_mode & 0o077:
            path.chmod(stat.S_IMODE(status.st_mode) & 0o700)
    except FileNotFoundError:
        return


def private_folder(path: Path) -> None:
    """Make a folder that nobody else may look into, or keep one that is there so.

    Raises:
        NotPrivate, OSError: it is a link, or another user's, or cannot be made.
    """
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    keep_private(path)


def cannot_write(path: Path, error: OSError) -> CannotWrite:
    """The sentence for a file that the system does not let us write."""
    return CannotWrite(f"cannot write {str(path)!r}: {error.strerror or error}; give another file.")
