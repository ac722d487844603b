"""The base forms of verbs."""

from __future__ import annotations

_IRREGULAR = {
    "bought": "buy",
    "built": "build",
    "given": "give",
    "paid": "pay",
    "sent": "send",
    "sold": "sell",
}


def base_form(word: str, known: frozenset[str]) -> str:
    """Return the base form of a verb if it is in `known`, else "".

    Examples: `returns`, `returning` → `return`.
    """
    stems = [word, *filter(None, [_IRREGULAR.get(word)])]
    if word.endswith(("ies", "ied")):
        stems.append(f"{word[:-3]}y")
    for ending in ("s", "es", "ing", "ed", "d"):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            stem = word.removesuffix(ending)
            stems += [stem, f"{stem}e", stem[:-1] if stem[-1:] == stem[-2:-1] else stem]
    return next((stem for stem in stems if stem in known), "")
