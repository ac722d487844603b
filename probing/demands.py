"""Which arguments of a tool belong in one call, as far as its replies told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from probing.facts import ArgumentFacts, ToolFacts
from probing.hint import Hint, HintKind


def needed(facts: ToolFacts) -> list[str]:
    """The arguments that a call must give, those that must go with them, and one of each set of which one must be."""
    known = usable(facts)
    names = [name for name in known if facts.arguments[name].required]
    for hint in _told(facts, "any_of"):
        others = [name for name in hint.others if name in known]
        if others and not set(others) & set(names):
            names.append(min(others, key=lambda name: _failures(facts.arguments[name])))
    for name in names:  # grows while it is read: what goes with one may have companions of its own
        for hint in facts.arguments[name].hints:
            if hint.kind == "together":
                names += [other for other in hint.others if other in known and other not in names]
    return names


def usable(facts: ToolFacts) -> list[str]:
    """The arguments that were not refused as unknown."""
    return [
        name
        for name, argument in facts.arguments.items()
        if argument.accepted or all(hint.kind != "unknown" for hint in argument.hints)
    ]


def compatible(facts: ToolFacts, names: Iterable[str], *, beside: Iterable[str] = ()) -> list[str]:
    """Those of `names`, in their order, that may stand beside each other and beside the arguments in `beside`."""
    chosen, together = [], set(beside)
    for name in names:
        if not any(name in pair and pair & together - {name} for pair in _exclusive(facts)):
            chosen.append(name)
            together.add(name)
    return chosen


def _exclusive(facts: ToolFacts) -> list[set[str]]:
    return [{hint.argument, other} for hint in _told(facts, "exclusive") if hint.argument for other in hint.others]


def _told(facts: ToolFacts, kind: HintKind) -> Iterator[Hint]:
    return (hint for said in facts.said.values() for hint in said if hint.kind == kind)


def _failures(argument: ArgumentFacts) -> tuple[bool, int]:
    return not argument.accepted, len(argument.refused) + len(argument.not_found)
