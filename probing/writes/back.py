"""What was altered, altered back."""

from __future__ import annotations

from collections.abc import Iterator

from probing.effects.seen import Timeline, made_here
from probing.sample import Origin, Value
from probing.writes.owned import identifying


def as_before(timeline: Timeline) -> Iterator[tuple[str, dict[str, Value]]]:
    """Calls that give altered things the values that they had at first."""
    for tool, facts in timeline.world.items():
        if timeline.kinds[tool] != "update":
            continue
        done: set[str] = set()
        names = identifying(facts.protocol)
        for sample in made_here(facts):
            which = {name: sample.arguments[name] for name in names if name in sample.arguments}
            ours = any(timeline.kinds.get(value.origin.tool) == "create" for value in which.values())
            pairs = (pair for seen in timeline.seen(sample) if seen.related for pair in seen.altered)
            old, new = next(pairs, ({}, {}))
            others = sample.arguments.keys() - which.keys()
            if ours or repr(which) in done or not old or not others <= old.keys():
                continue
            done.add(repr(which))
            altered = {n for n in facts.protocol.parameters if n in old and n not in which and old[n] != new.get(n)}
            if altered:
                back = {name: Value(old[name], Origin(kind="given")) for name in sorted(altered | others)}
                yield tool, {**which, **back}
