"""Which other models this machine could run: what servers on it offer, and what would fit its free memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import requests

_GB = 10**9
_ROOM = 1.5 * _GB
"""For the context and the runtime, beside the weights."""
_WAIT_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A model that writes programs better than the embedded one: its tag at Ollama, and its weights' bytes (4 bits)."""

    tag: str
    size: float

    @property
    def needs(self) -> float:
        """Bytes of memory."""
        return self.size + _ROOM


SUGGESTIONS = (
    Suggestion("qwen2.5-coder:3b", 1.9 * _GB),
    Suggestion("qwen2.5-coder:7b", 4.7 * _GB),
    Suggestion("qwen2.5-coder:14b", 9.0 * _GB),
    Suggestion("qwen3-coder:30b", 19 * _GB),
)
"""Smallest first. Any GGUF file can be used as well, by its path."""


def free_memory() -> float | None:
    """Bytes that a model could take now, what a container allows included; None where the system does not tell."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError, StopIteration):
        return None
    try:
        group = Path("/sys/fs/cgroup")
        limit, used = ((group / name).read_text(encoding="ascii").strip() for name in ("memory.max", "memory.current"))
        return min(free, int(limit) - int(used)) if limit != "max" else free
    except (OSError, ValueError):
        return free


def recommended(free: float | None) -> Suggestion | None:
    """The largest model that fits; None where only the embedded one does, or nothing is known."""
    fitting = [one for one in SUGGESTIONS if free is not None and one.needs <= free]
    return fitting[-1] if fitting else None


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
