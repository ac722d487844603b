"""A small vocabulary with tokens of several bytes, as a tokenizer would have them: every byte, and common pieces."""

from __future__ import annotations

from collections import Counter
from functools import cache

from atc.decode.vocabulary import Vocabulary

_TEXT = """{"name": "search_all", "arguments": {"id": "a1", "from_": null, "limit": 10, "tags": ["x", "y"], "on": true}}
get(12, 0.5, "it's", 'say "no"', [1, 2], {"k": None}) <T>max(1, 2) Action: list_items\nAction Input: {"q": "é 名 🛫"}
Thought: the flight leaves at 23:59:58 on 2024-02-29, so the price is -1.5e3. \\n \\" \\\\ \\u00e9 https://example.org/
the quick brown fox jumps over the lazy dog and everybody else who wanted to see what would happen to them afterwards
"""


@cache
def small_vocabulary() -> Vocabulary:
    """About 1,500 tokens; the last one ends a text."""
    data = _TEXT.encode()
    pieces = Counter(data[i : i + size] for size in range(2, 9) for i in range(len(data) - size + 1))
    common = [piece for piece, _ in pieces.most_common(1200)]
    return Vocabulary([*(bytes([byte]) for byte in range(256)), *common, b""], eos=(256 + len(common),))
