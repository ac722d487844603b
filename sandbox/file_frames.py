"""The parts of a child's frames that are about files. Each may be an attack."""

from __future__ import annotations

from typing import NamedTuple

from protocols.files import FilePath
from protocols.schema import Json
from sandbox.frames import LONGEST_PATH

MOST_FILES = 1000
"""Maximum number of files that a program passes to one call, or hands over at its end."""
_LARGEST = 2**48
"""Numbers of files and positions in files must be smaller than this."""


class FileRead(NamedTuple):
    """A message of the child: it reads a part of a file that the host has."""

    number: int
    start: int
    size: int


def read_request(item: Json) -> FileRead | None:
    """Return what the child wants to read, or None if the frame has the wrong shape."""
    match item:
        case [number, start, size] if _are_counts(number, start, size):
            return FileRead(number, start, size)
    return None


def passed_files(items: Json) -> tuple[tuple[FilePath, int], ...] | None:
    """Return the paths and numbers of the files in the arguments of a call.

    Return None if the frame has the wrong shape.
    """
    match items:
        case list() if len(items) <= MOST_FILES and all(_is_place(item) for item in items):
            return tuple((tuple(path), number) for path, number in items)
    return None


def numbers_of_files(items: Json) -> tuple[int, ...] | None:
    """Return the numbers of the files that a program hands over.

    Return None if the frame has the wrong shape.
    """
    is_right = type(items) is list and len(items) <= MOST_FILES and _are_counts(*items)
    return tuple(items) if is_right else None


def _is_place(item: Json) -> bool:
    match item:
        case [[str(), *path], number] if len(path) < LONGEST_PATH:
            return _are_counts(number) and all(type(one) is str or _are_counts(one) for one in path)
    return False


def _are_counts(*numbers: Json) -> bool:
    return all(type(number) is int and 0 <= number < _LARGEST for number in numbers)
