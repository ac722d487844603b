"""Why a run that was asked for cannot be had."""

from __future__ import annotations

from collections.abc import Sequence

from protocols.errors import AtcError


class UnknownRun(AtcError):
    """No run, or more than one, of this name; `suggestions` are the ids that come near."""

    def __init__(self, name: str, suggestions: Sequence[str], *, ambiguous: bool = False) -> None:
        super().__init__(name)
        self.name, self.suggestions, self.ambiguous = name, tuple(suggestions), ambiguous

    def __str__(self) -> str:
        names = ", ".join(self.suggestions)
        if self.ambiguous:
            return f"run {self.name!r} could be any of {names}; give more of its id."
        return f"no run {self.name!r}; " + (f"did you mean {names}?" if names else "'atc runs list' shows all.")


class RunTaken(AtcError):
    """A run that another living process works on."""


class RunEnded(AtcError):
    """A run that has come to its end and cannot go on."""


class ToolsChanged(AtcError):
    """A run whose tools are not those that it began with, so that it cannot go on."""
