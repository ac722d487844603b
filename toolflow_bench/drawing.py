"""Seeded samples, drawn before any result is seen."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

_T = TypeVar("_T")


def draw(
    things: Sequence[_T], count: int, *, seed: int, name: Callable[[_T], str], stratum: Callable[[_T], str]
) -> tuple[_T, ...]:
    """`count` of `things` (all where there are no more), in their order, drawn by seed and `name` alone.

    Stratified: each `stratum` gets its share of `count`, rounded so that the largest remainders get one more.
    """
    count = min(count, len(things))
    strata: dict[str, list[_T]] = {}
    for thing in things:
        strata.setdefault(stratum(thing), []).append(thing)
    exact = {key: count * len(members) / len(things) for key, members in strata.items()}
    shares = {key: int(share) for key, share in exact.items()}
    by_remainder = sorted(strata, key=lambda key: (shares[key] - exact[key], key))
    for key in by_remainder[: count - sum(shares.values())]:
        shares[key] += 1
    drawn = set()
    for key, members in strata.items():
        order = sorted(map(name, members))
        random.Random(f"{seed} {key}").shuffle(order)  # noqa: S311 - a sample, not secrecy
        drawn |= set(order[: shares[key]])
    return tuple(thing for thing in things if name(thing) in drawn)
