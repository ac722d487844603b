"""What llama.cpp computed for a prompt, kept on disk: reading 4,000 tokens takes a CPU a minute, loading them a moment.

The prompts of one toolbox begin alike (rules, worked example, stubs) and differ in the task at their end. So the state
of a long prompt is worth keeping for the next process that begins so.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path

_WORTH_LOADING = 4_000
"""Characters that a kept state must share with a prompt beyond what the process already holds: some 1,100 tokens."""
_MOST_STATES = 3
"""Kept at a time, the latest used; 28 KB a token, so some 120 MB each for a full prompt."""


class PromptStates:
    """A folder of prompt states. `kind` tells what wrote them: only the same model and runtime can read them."""

    def __init__(self, folder: Path, *, kind: str) -> None:
        self.folder = folder
        self._kind = hashlib.sha256(kind.encode()).hexdigest()[:12]

    def nearest(self, prompt: str, *, held: str = "") -> str | None:
        """The file of the state that shares enough of its beginning with `prompt`, more than `held` does; or None."""
        best, most = None, shared(held, prompt) + _WORTH_LOADING
        if most > len(prompt):
            return None  # nothing is looked for on the disk while a conversation goes on from what is held
        for note in self.folder.glob(f"{self._kind}-*.json"):
            with contextlib.suppress(OSError, ValueError):
                common = shared(json.loads(note.read_text(encoding="utf-8"))["prompt"], prompt)
                if common >= most and note.with_suffix(".state").exists():
                    best, most = note.with_suffix(".state"), common
        if best is not None:
            with contextlib.suppress(OSError):
                os.utime(best)
        return best.name if best is not None else None

    def file_for(self, prompt: str) -> str:
        """The name under which the state of `prompt` is to be saved."""
        return f"{self._kind}-{hashlib.sha256(prompt.encode()).hexdigest()[:12]}.state"

    def saved(self, name: str, prompt: str) -> None:
        """Note that `name` now holds the state of `prompt`, and drop the states not used for longest."""
        with contextlib.suppress(OSError):  # a cache that cannot be kept costs time, nothing else
            note = (self.folder / name).with_suffix(".json")
            note.write_text(json.dumps({"prompt": prompt}), encoding="utf-8")
            states = sorted(self.folder.glob("*.state"), key=lambda path: path.stat().st_mtime, reverse=True)
            for stale in states[_MOST_STATES:]:
                self.drop(stale.name)

    def drop(self, name: str) -> None:
        """Delete a state, one that cannot be read for instance."""
        for path in (self.folder / name, (self.folder / name).with_suffix(".json")):
            path.unlink(missing_ok=True)


def shared(left: str, right: str) -> int:
    """How many characters two texts begin with alike."""
    return len(os.path.commonprefix((left, right)))  # noqa: RUF071 - characters are what is meant
