"""All mutants of a gold program, and some of them drawn by seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence

from toolflow_bench.mutants.enums import wrong_enums
from toolflow_bench.mutants.guards import missing_guards
from toolflow_bench.mutants.ids import wrong_ids
from toolflow_bench.mutants.keys import wrong_keys
from toolflow_bench.mutants.mutant import MUTANT_KINDS, Mutant, MutantKind
from toolflow_bench.mutants.observe import Gold
from toolflow_bench.mutants.pages import wrong_pages
from toolflow_bench.mutants.units import wrong_units

_MAKERS: Mapping[MutantKind, Callable[[Gold, random.Random], Iterator[Mutant]]] = {
    "wrong_key": wrong_keys,
    "wrong_id": wrong_ids,
    "wrong_enum": wrong_enums,
    "off_by_one_page": wrong_pages,
    "missing_guard": missing_guards,
    "wrong_unit": wrong_units,
}


def mutants(gold: Gold, *, seed: int = 0, kinds: Sequence[MutantKind] = MUTANT_KINDS) -> tuple[Mutant, ...]:
    """Every mutant of these kinds, each once; what the seed decides is which wrong name or value is taken."""
    found: dict[str, Mutant] = {}
    for kind in kinds:
        rng = random.Random(f"{seed} {gold.task.id} {kind}")  # noqa: S311 - must repeat
        for mutant in _MAKERS[kind](gold, rng):
            found.setdefault(mutant.program, mutant)
    return tuple(found.values())


def pick(found: Sequence[Mutant], *, seed: int = 0, most: int = 1) -> tuple[Mutant, ...]:
    """At most `most` mutants of each kind, drawn by seed: each variant in turn, then each place."""
    chosen: list[Mutant] = []
    for kind in dict.fromkeys(mutant.kind for mutant in found):
        own = [mutant for mutant in found if mutant.kind == kind]
        rng = random.Random(f"{seed} {own[0].task.id} {kind} pick")  # noqa: S311 - must repeat
        rng.shuffle(own)
        variants = list(dict.fromkeys(mutant.variant for mutant in own))
        rank = {id(m): i for v in variants for i, m in enumerate(m for m in own if m.variant == v)}
        chosen += sorted(own, key=lambda mutant: rank[id(mutant)])[:most]
    return tuple(chosen)
