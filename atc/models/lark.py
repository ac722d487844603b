"""Tests Lark grammars and JSON Schemas with the local llguidance before they are sent to a model.

This is necessary because errors would go unnoticed: llama.cpp's server silently ignores a grammar
that its llguidance refuses, and other servers ignore request fields that they do not know.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from atc.models.decode.errors import Undecodable
from atc.models.decode.grammar import classify_text
from protocols.errors import ModelUnavailable


def is_installed() -> bool:
    """Return True if llguidance, which compiles Lark grammars, is installed."""
    return find_spec("llguidance") is not None


def require_compilable(grammar: str) -> str:
    """Check that llguidance accepts a Lark grammar, and return the grammar unchanged.

    Raises:
        ModelUnavailable: llguidance refuses the grammar, or is not installed.
    """
    if not is_installed():
        raise ModelUnavailable(
            "a grammar in Lark needs 'llguidance', which is not installed: "
            'pip install "automatic-tool-chain[decode]", or ask without one.'
        )
    if reason := _problem(grammar):
        raise ModelUnavailable(
            f"no reply can be held to this grammar: {reason}; correct it, or ask without one."
        )
    return grammar


def to_usable_schema(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a JSON Schema, changed such that llama.cpp enforces as much of it as it can.

    If llama.cpp cannot enforce some keywords (`not`, `uniqueItems` …), the returned schema tells it
    to ignore them. The result is None if llama.cpp cannot use the schema at all.
    """
    lenient = {**schema, "x-guidance": {"lenient": True}}
    if not is_installed():
        return lenient
    forms = (dict(schema), lenient)
    return next(
        (
            form
            for form in forms
            if not _problem(f"%llguidance {{}}\nstart: %json {json.dumps(form)}\n")
        ),
        None,
    )


def _problem(grammar: str) -> str:
    """Return why llguidance refuses a Lark grammar, on one line, or "" if it accepts it."""
    try:
        classify_text(grammar, "")
    except Undecodable as error:
        return " ".join(str(error).split())[:300]
    return ""
