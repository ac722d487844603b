"""Files written whole or not at all."""

from __future__ import annotations

import os
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


def cannot_write(path: Path, error: OSError) -> CannotWrite:
    """The sentence for a file that the system does not let us write."""
    return CannotWrite(f"cannot write {str(path)!r}: {error.strerror or error}; give another file.")
