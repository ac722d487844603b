"""Limits that the kernel keeps. Standard library alone."""

from __future__ import annotations

import math
import resource
from collections.abc import Mapping

FILES = 4
"""Descriptors that a program may have open: the channel, and the standard streams where a backend needs them."""


def confine(limits: Mapping[str, float]) -> None:
    """Set them for this process: `memory_bytes`, `cpu_seconds`, and no files, processes or core dumps."""
    memory = int(limits["memory_bytes"])
    cpu = math.ceil(min(max(limits["cpu_seconds"], 1), 1 << 30))
    for what, soft, hard in (
        (resource.RLIMIT_AS, memory, memory),
        (resource.RLIMIT_CPU, cpu, cpu + 1),  # the first raises in the program, the second kills it
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_NPROC, 0, 0),
        (resource.RLIMIT_NOFILE, FILES, FILES),
    ):
        _, most = resource.getrlimit(what)
        if most != resource.RLIM_INFINITY:
            soft, hard = min(soft, most), min(hard, most)
        resource.setrlimit(what, (soft, hard))
