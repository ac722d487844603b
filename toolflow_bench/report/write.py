"""Writing a page where the person said, and never over something that is no report."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from toolflow_bench.report.page import GENERATOR
from toolflow_bench.report.runs import InvalidReport

_HEAD = 4096  # bytes, within which a page says what made it


def check_target(path: Path) -> None:
    """See that a report may be written at `path`, before anything is computed.

    Raises:
        InvalidReport: there is no such folder, or something else stands there.
    """
    if not path.parent.is_dir():
        raise InvalidReport(f"there is no folder {str(path.parent)!r} to write to; make it, or give another -o.")
    try:
        found = path.stat()
    except FileNotFoundError:
        return
    except OSError as error:
        raise _unwritable(path, error) from error
    if not stat.S_ISREG(found.st_mode):
        raise InvalidReport(f"{str(path)!r} is no regular file; give another -o.")
    if found.st_size and not _is_report(path):
        raise InvalidReport(f"{str(path)!r} is there and is no report of ours; give another -o, or remove it.")


def write_report(path: Path, page: str) -> None:
    """Write `page` at `path`, whole or not at all; a report that stands there is replaced.

    Raises:
        InvalidReport: as `check_target`, or the disk does not take it.
    """
    check_target(path)
    target = path.resolve()  # a link goes on pointing where it does
    mask = os.umask(0)
    os.umask(mask)
    temporary = None
    try:
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}-", delete=False) as file:
            temporary = file.name
            file.write(page.encode())
            os.fchmod(file.fileno(), 0o666 & ~mask)
        Path(temporary).replace(target)
    except OSError as error:
        if temporary is not None:
            with suppress(OSError):
                Path(temporary).unlink()
        raise _unwritable(path, error) from error


def _is_report(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return f'name="generator" content="{GENERATOR} '.encode() in file.read(_HEAD)
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> InvalidReport:
    return InvalidReport(f"cannot write {str(path)!r}: {error.strerror}; give another -o.")
