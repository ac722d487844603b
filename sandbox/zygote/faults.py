"""Pages that every child writes, made its own in a few system calls instead of one page fault each.

A forked child shares its parent's memory until it writes; each first write to a page is a fault, and Python, which
counts references in the objects themselves, writes hundreds of pages to print one number. Which ones is learned from
a rehearsal: the pages that a child alone had when it was done. Standard library alone.
"""

from __future__ import annotations

import ctypes
import mmap
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

PAGE = mmap.PAGESIZE
MOST_PAGES = 440
"""A child that waits for its program should have no more than two megabytes of its own; the rest faults as ever."""

_PRESENT, _EXCLUSIVE = 1 << 63, 1 << 56  # bits of /proc/PID/pagemap
_MADV_POPULATE_WRITE = 23  # Linux 5.14; elsewhere the call fails, and pages fault one by one as they did

_madvise = ctypes.CDLL(None).madvise
_madvise.argtypes = [ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int]

Ranges = Sequence[tuple[int, int]]
"""Address and length in bytes, of whole pages."""


def learn(pid: int) -> Ranges:
    """The ranges that the process `pid`, a child of ours, has for itself within what it was forked with.

    Raises:
        OSError: they cannot be read.
    """
    ours = set(_writable("self"))
    pages = []
    with Path(f"/proc/{pid}/pagemap").open("rb", buffering=0) as pagemap:
        for start, end in _writable(str(pid)):
            if (start, end) not in ours:
                continue
            pagemap.seek(start // PAGE * 8)
            entries = struct.iter_unpack("=Q", pagemap.read((end - start) // PAGE * 8))
            own = _PRESENT | _EXCLUSIVE
            pages += [start + number * PAGE for number, (entry,) in enumerate(entries) if entry & own == own]
    return list(_joined(pages[:MOST_PAGES]))


def populate(ranges: Ranges) -> None:
    """Make these pages this process's own."""
    for address, length in ranges:
        _madvise(address, length, _MADV_POPULATE_WRITE)


def _writable(process: str) -> Iterator[tuple[int, int]]:
    for line in Path(f"/proc/{process}/maps").read_text(encoding="ascii", errors="replace").splitlines():
        place, rights = line.split()[:2]
        if rights.startswith("rw-p"):
            start, end = place.split("-")
            yield int(start, 16), int(end, 16)


def _joined(pages: Sequence[int]) -> Iterator[tuple[int, int]]:
    start = end = -1
    for page in pages:
        if page != end:
            if start >= 0:
                yield start, end - start
            start = page
        end = page + PAGE
    if start >= 0:
        yield start, end - start
