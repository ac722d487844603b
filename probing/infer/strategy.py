"""What all strategies share: the values seen, each with the number of its reply."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from genson import SchemaStrategy

from protocols.jsontypes import Json

if TYPE_CHECKING:
    from probing.infer.place import Place

Seen = list[tuple[Json, int]]
"""Values, each with the number of the reply that it came in."""


class Strategy(SchemaStrategy):  # type: ignore[misc]
    """The values of one JSON type at one place. `to_schema(place)` decides; nothing is decided before."""

    JS_TYPE: ClassVar[str]
    PYTHON_TYPES: ClassVar[tuple[type, ...]]

    def __init__(self, node_class: Any) -> None:
        super().__init__(node_class)
        self.seen: Seen = []

    @classmethod
    def match_object(cls, value: Json) -> bool:
        """Whether a value is of this type; True is no number."""
        return isinstance(value, cls.PYTHON_TYPES) and (cls.JS_TYPE == "boolean" or not isinstance(value, bool))

    @classmethod
    def match_schema(cls, schema: Any) -> bool:  # noqa: ARG003
        """Never: known documents are merged place by place, beside the evidence (`known.py`)."""
        return False

    def add_object(self, value: Json, reply: int = 0) -> None:
        """Note a value."""
        self.seen.append((value, reply))

    def to_schema(self, place: Place) -> dict[str, Any]:
        """The schema of these values at a place."""
        raise NotImplementedError

    def gathered(self, values: Iterable[tuple[Json, int]]) -> Any:
        """A node that holds `values`."""
        node = self.node_class()
        for value, reply in values:
            node.add_object(value, reply)
        return node
