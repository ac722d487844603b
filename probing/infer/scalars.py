"""Strings, numbers, booleans and null."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from probing.infer.enums import enum_of
from probing.infer.formats import format_of
from probing.infer.known import kept
from probing.infer.strategy import Strategy

if TYPE_CHECKING:
    from probing.infer.place import Place


class Null(Strategy):
    """null."""

    JS_TYPE = "null"
    PYTHON_TYPES = (type(None),)

    def to_schema(self, place: Place) -> dict[str, Any]:  # noqa: ARG002
        """Always the same."""
        return {"type": "null"}


class Boolean(Strategy):
    """true and false."""

    JS_TYPE = "boolean"
    PYTHON_TYPES = (bool,)

    def to_schema(self, place: Place) -> dict[str, Any]:  # noqa: ARG002
        """Always the same: a flag that was never true may be so another time."""
        return {"type": "boolean"}


class Number(Strategy):
    """Whole and other numbers: 1 is an integer, 1.0 and 1.5 are numbers."""

    JS_TYPE = "number"
    PYTHON_TYPES = (int, float)

    def to_schema(self, place: Place) -> dict[str, Any]:
        """Integer where all are."""
        values = {value for value, _ in self.seen}
        known = place.known
        if known is None:
            return {"type": "number" if any(isinstance(value, float) for value, _ in self.seen) else "integer"}
        whole = "number" not in known.types and kept({"type": "integer"}, values)
        return {"type": "integer" if whole else "number"} | kept(known.facets("number"), values)


class String(Strategy):
    """Strings."""

    JS_TYPE = "string"
    PYTHON_TYPES = (str,)

    def to_schema(self, place: Place) -> dict[str, Any]:
        """With an `enum` or a `format` where the evidence is enough; of a known string, what no reply refutes."""
        schema: dict[str, Any] = {"type": "string"}
        if place.known is not None:
            return schema | kept(place.known.facets("string"), {value for value, _ in self.seen})
        seen = Counter(self.seen)
        if (listed := enum_of(seen, place.name)) is not None:
            return schema | {"enum": listed}
        if (found := format_of(seen, place.name)) is not None:
            return schema | {"format": found}
        return schema
