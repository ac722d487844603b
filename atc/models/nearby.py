"""Which other models this machine could run: what servers on it offer, and what would fit its free memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import requests

_WAIT_SECONDS = 0.5
SUGGESTIONS = {
    "qwen2.5-coder:3b": 3.4e9,
    "qwen2.5-coder:7b": 6.2e9,
    "qwen2.5-coder:14b": 10.5e9,
    "qwen3-coder:30b": 20.5e9,
}
"""Models that write programs better than the embedded one, smallest first: tag at Ollama → bytes of memory, for weights
of 4 bits, the context and the runtime (1.5 GB). Any GGUF file can be used as well, by its path."""


def free_memory() -> float | None:
    """Bytes that a model could take now, what a container allows included; None where the system does not tell."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError, StopIteration):
        return None
    with suppress(OSError, ValueError):  # no container, or one without a limit ("max")
        group = Path("/sys/fs/cgroup")
        limit, used = (int((group / name).read_text(encoding="ascii")) for name in ("memory.max", "memory.current"))
        return min(free, limit - used)
    return free


def recommended(free: float | None) -> str | None:
    """The largest of SUGGESTIONS that fits; None where only the embedded model does, or nothing is known."""
    return next((tag for tag in reversed(SUGGESTIONS) if free is not None and SUGGESTIONS[tag] <= free), None)


def served(ollama: str, llamacpp: str) -> Iterator[tuple[str, str]]:
    """The names for `--model` that servers at these addresses offer, and where; a server that is not there has none."""
    for entry in _listed(f"{ollama}/api/tags", "models"):
        yield f"ollama:{entry.get('name')}", ollama
    if any(entry.get("owned_by") == "llamacpp" for entry in _listed(f"{llamacpp}/v1/models", "data")):
        yield "llamacpp", llamacpp


def _listed(url: str, key: str) -> list[dict[str, object]]:
    try:
        entries = requests.get(url, timeout=_WAIT_SECONDS, allow_redirects=False).json().get(key)
    except (requests.RequestException, ValueError, AttributeError):
        return []
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
