"""What a probing found out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from probing.facts import ToolFacts

if TYPE_CHECKING:
    from probing.effects.known import Effects
    from probing.links import ObservedLink
    from probing.teacher.instance import Instance
    from probing.teacher.words import Words


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One round: its number (0: each tool alone), the calls sent in it, and the tools that first answered in it."""

    number: int
    calls: int
    documented: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Probed:
    """All that is known after probing, by tool."""

    facts: Mapping[str, ToolFacts]
    links: tuple[ObservedLink, ...] = ()
    effects: Mapping[str, Effects] = field(default_factory=dict)
    words: Mapping[str, Words] = field(default_factory=dict)
    instances: Mapping[str, tuple[Instance, ...]] = field(default_factory=dict)
    stopped: Mapping[str, str] = field(default_factory=dict)
    """Tools that were not called, or not to the end, and why."""
    rounds: tuple[Round, ...] = ()
    made: tuple[Mapping[str, Any], ...] = ()
    """Each record that the probing made: by which calls, with which marks and ids, whether it was removed, and why."""
