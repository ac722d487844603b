"""Lists: all elements of all lists of a place are one body of evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from probing.infer.known import kept
from probing.infer.strategy import Strategy

if TYPE_CHECKING:
    from probing.infer.place import Place


class Array(Strategy):
    """Lists. Pairs such as [lon, lat] are lists like others."""

    JS_TYPE = "array"
    PYTHON_TYPES = (list,)

    def to_schema(self, place: Place) -> dict[str, Any]:
        """With `items`, unless every list was empty and nothing is known of elements."""
        inside = place.item()
        items = self.gathered((element, reply) for elements, reply in self.seen for element in elements)
        schema: dict[str, Any] = {"type": "array"}
        if place.known is not None:
            schema |= kept(place.known.facets("array"), [elements for elements, _ in self.seen])
        if items.count:
            # What is known but says nothing of elements allows any: only evidence of a place that is silent may bind.
            schema["items"] = items.to_schema(inside)
        elif inside.known is not None:
            schema["items"] = place.writer.verbatim(inside.known)
        return schema
