"""The parts that the probing bench has, one module each."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module

from protocols.errors import AtcError
from toolflow_bench.probing.part import Part

_MODULES = {
    "toolflow": "toolflow",
    "writes": "writes",
    "rules": "rules",
    "gold": "gold",
    "recordings": "replays",
    "real": "real",
    "bfcl": "bfcl",
    "mcp": "mcp",
}

NAMES = tuple(_MODULES)
"""In the order in which they are measured: `gold` reads what `writes` wrote."""


class UnknownPart(AtcError):
    """No part of this name; the message names those that exist."""


def find_part(name: str) -> Part:
    """The part of this name.

    Raises:
        UnknownPart: there is none.
    """
    if name not in NAMES:
        near = get_close_matches(name, NAMES, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there is {', '.join(NAMES)}."
        raise UnknownPart(f"the probing bench has no part {name!r}; {hint}")
    part = import_module(f"toolflow_bench.probing.{_MODULES[name]}").PART
    assert isinstance(part, Part)
    return part
