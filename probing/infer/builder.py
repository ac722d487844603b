"""GenSON's builder and node with our strategies: evidence is kept by reply, and decided when the schema is written."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any

from genson import SchemaBuilder

from probing.infer.arrays import Array
from probing.infer.combine import combine
from probing.infer.described import described
from probing.infer.known import ONLY_NULL, Known, readable
from probing.infer.objects import Object
from probing.infer.place import MAX_DEPTH, Place
from probing.infer.scalars import Boolean, Null, Number, String
from probing.infer.strategy import Strategy
from protocols.jsontypes import Json, JsonObject


class _Strategies(SchemaBuilder):  # type: ignore[misc]
    EXTRA_STRATEGIES = (Object, Array, String, Number, Boolean, Null)


class Node(_Strategies.NODE_CLASS):  # type: ignore[misc, name-defined]
    """All values of one place, each with the number of the reply that it came in, sorted by type."""

    def __init__(self) -> None:
        super().__init__()
        self._by_class: dict[type, Strategy] = {}

    def add_object(self, value: Json, reply: int = 0) -> None:
        """Note a value. The value is kept, not copied."""
        strategy = self._by_class.get(type(value))
        if strategy is None:
            # GenSON asks each strategy whether it matches; once for each class of values is enough.
            strategy = self._by_class[type(value)] = self._get_strategy_for_object(value)
        strategy.seen.append((value, reply))

    @property
    def evidence(self) -> dict[str, Strategy]:
        """The strategies that have evidence, by JSON type; whole and other numbers stand under `number`."""
        return {strategy.JS_TYPE: strategy for strategy in self._active_strategies}

    @property
    def count(self) -> int:
        """How many values were noted."""
        return sum(len(strategy.seen) for strategy in self._active_strategies)

    def to_schema(self, place: Place | None = None) -> dict[str, Any]:
        """The strictest schema that all values noted and all that the known document allows here conform to."""
        place = place or Place.root(None)
        if place.depth > MAX_DEPTH:
            return {}
        known, evidence = place.known, self.evidence
        if place.path and evidence.keys() == {"null"} and (known is None or known.only_null):
            return dict(ONLY_NULL)
        if known is None:
            return combine(strategy.to_schema(place) for strategy in evidence.values())
        values = [value for strategy in evidence.values() for value, _ in strategy.seen]
        if not values:
            return place.writer.verbatim(known)
        if known.opaque or known.values is not None:
            if place.writer.conform(known, values):
                return place.writer.verbatim(known)
            if known.opaque:
                found = combine(strategy.to_schema(place.unknown()) for strategy in evidence.values())
                return {"anyOf": [place.writer.verbatim(known), found]}
            known = known.widened(values)
            place = place.knowing(known)
            if known.values is not None:
                return place.writer.verbatim(known)
        return combine(_merged(evidence, known, place)) | known.annotations


def _merged(evidence: dict[str, Strategy], known: Known, place: Place) -> list[dict[str, Any]]:
    """A schema for each type that was seen or that the known document allows."""
    parts = []
    for name in ("object", "array", "string", "number", "boolean", "null"):
        strategy = evidence.get(name)
        if strategy is not None:
            parts.append(strategy.to_schema(place if known.allows(name) else place.unknown()))
        elif known.allows(name):
            parts.append(place.writer.verbatim_part(known, name))
    return parts


class Builder(_Strategies):
    """Collects replies."""

    def __init__(self, known: JsonObject | None) -> None:
        super().__init__(schema_uri=None)
        self.known = known
        self.replies = 0
        self.sent: dict[int, AbstractSet[str]] = {}

    def add_object(self, response: Json, sent: AbstractSet[str] = frozenset()) -> None:
        """Note one more reply; `sent` are the texts that its call was given."""
        self.replies += 1
        if sent:
            self.sent[self.replies] = sent
        self._root_node.add_object(response, self.replies)

    def to_schema(self) -> dict[str, Any]:
        """The schema of a reply, with the definitions that it refers to."""
        known = Known.of(self.known, self.known) if self.known is not None and readable(self.known) else None
        place = Place.root(known, self.sent)
        replies = [reply for strategy in self._root_node.evidence.values() for reply, _ in strategy.seen]
        if known is not None and described(known, replies) and place.writer.conform(known, replies):
            # Nothing more is permitted than what is known, and nothing less.
            return dict(known.root)
        return place.writer.finished(self._root_node.to_schema(place))


Builder.NODE_CLASS = Node  # the metaclass has made a plain one
