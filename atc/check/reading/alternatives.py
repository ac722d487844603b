"""Keys that only some alternatives of a response have (`oneOf`), read without asking which one came."""

from __future__ import annotations

import ast

from atc.check.known.core import Core
from atc.check.known.fields import field_type
from atc.check.known.kinds import Atom, Record
from atc.check.known.lattice import members
from atc.check.report import listed, spelled


def report_partial(core: Core, having: list[Record], lacking: list[Record], key: str, node: ast.Subscript) -> None:
    """Note that `node` reads a key that `lacking` do not have, unless the program seems to know of them."""
    if any(record.calm or not record.shape.document.strict for record in (*having, *lacking)):
        return
    if core.catches("KeyError", "LookupError", "told"):
        return
    if any(key not in record.shape.required for record in having) or core.hints.texts & _signs(having, lacking):
        return
    text, keys = spelled(node.value), list(lacking[0].shape.properties)
    message = (
        f"{text} ({lacking[0].origin}) has a key {key!r} in some cases only; in others its keys are {listed(keys)}. "
        f"Test `{key!r} in {text}` first."
    )
    better = f"if {key!r} in {text}"
    tool = lacking[0].origin.tool
    core.report("missing-key", node.slice, message, tool=tool, better=better, keys=keys, certain=False)


def _signs(having: list[Record], lacking: list[Record]) -> set[str]:
    """What a program says that tells the alternatives apart: keys of the others alone, and constants of any."""
    shared = set[str]().union(*(record.shape.properties.keys() for record in having))
    signs = set[str]().union(*(record.shape.properties.keys() for record in lacking)) - shared
    for record in (*having, *lacking):
        for name in record.shape.properties:
            for kind in members(field_type(record, name) or Atom("str")):
                if isinstance(kind, Atom) and kind.values:
                    signs.update(value for value in kind.values if isinstance(value, str))
    return signs
