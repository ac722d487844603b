"""Which kinds of values a format specification takes, tried on examples."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

_WIDE = re.compile(r"\d{4}")
_EXAMPLES: dict[str, tuple[Any, ...]] = {
    "str": ("x",), "int": (1,), "float": (1.5,), "number": (1, 1.5), "bool": (True,), "dict": ({},), "list": ([],),
}  # fmt: skip


@lru_cache(maxsize=1024)
def refuses(kind: str, spec: str) -> bool:
    """Whether no value of this kind can be written by `format(value, spec)`."""
    if not spec or _WIDE.search(spec):
        return False
    return all(_fails(example, spec) for example in _EXAMPLES.get(kind, ())) if kind in _EXAMPLES else False


def _fails(example: Any, spec: str) -> bool:
    try:
        format(example, spec)
    except (ValueError, TypeError):
        return True
    return False
