"""Numbers and names by chance, the same for the same key in every process."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

_FIRST_WORDS = """
Amber Bright Cold Copper Crimson Distant Early Golden Hidden Hollow Iron Ivory Late Lonely Long Lost Midnight Northern
Open Pale Paper Quiet Restless Rising Scarlet Second Silent Silver Slow Winter
"""
_SECOND_WORDS = """
Anchor Arrow Bay Bell Bridge Canyon Circle Coast Echo Field Forest Garden Gate Harbor Hill House Island Lantern Letter
Meadow Mirror Mountain Orchard Road River Shore Signal Station Tide Valley
"""
_FIRST, _SECOND = tuple(_FIRST_WORDS.split()), tuple(_SECOND_WORDS.split())


@lru_cache(maxsize=1 << 17)
def draw(*key: object) -> int:
    """A number from 0 to 2**48 - 1 that depends on `key` alone."""
    text = "\0".join(map(str, key)).encode()
    return int.from_bytes(blake2b(text, digest_size=6).digest(), "big")


def labels(count: int, *key: object) -> list[str]:
    """`count` different names in an order that depends on `key`."""
    total = len(_FIRST) * len(_SECOND)
    start = draw(*key) % total
    places = [(start + 7 * number) % total for number in range(count)]
    return [
        f"{_FIRST[place % len(_FIRST)]} {_SECOND[(place // len(_FIRST) + place) % len(_SECOND)]}" for place in places
    ]
