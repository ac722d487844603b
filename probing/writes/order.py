"""In which order writes are tried."""

from __future__ import annotations

from probing.effects.seen import Timeline
from probing.gate.plan import reads
from probing.writes.watch import nouns
from protocols.words import snake

_ORDER = ("read", "create", "update", "remove", "end")


def in_order(timeline: Timeline) -> list[str]:
    """All tools that are not known to be reads: those called like reads, what creates, updates, removes, what ends.

    Of one kind, those that need nothing of another write go first.
    """
    names = [name for name, facts in timeline.world.items() if not reads(facts.protocol)]
    makers = {name: nouns(timeline.world[name].protocol) for name in names if timeline.kinds[name] == "create"}

    def needs(name: str) -> int:
        """How many other writes an argument names: `plan_id` is of what `create_plan` makes."""
        wanted = {snake(argument).rpartition("_")[0] for argument in timeline.world[name].protocol.parameters}
        return sum(bool(wanted & made) for other, made in makers.items() if other != name)

    return sorted(names, key=lambda name: (_ORDER.index(timeline.kinds[name]), needs(name)))
