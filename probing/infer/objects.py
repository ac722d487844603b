"""Objects: records, maps keyed by data, unions of kinds, and shapes that recur inside themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from probing.infer.kinds import Union, union_of
from probing.infer.known import kept
from probing.infer.maps import asked_for, data_keys, names_of
from probing.infer.place import Frame, Recursive
from probing.infer.strategy import Seen, Strategy

if TYPE_CHECKING:
    from probing.infer.place import Place

Children = dict[str, Any]
"""Key → the node of its values, in the order in which the keys were first seen."""


class Object(Strategy):
    """Objects. What they are is decided when the schema is written, from all of them."""

    JS_TYPE = "object"
    PYTHON_TYPES = (dict,)

    def to_schema(self, place: Place) -> dict[str, Any]:
        """A record, a map, a union of kinds, or a reference to the objects around it that are of the same kind."""
        for around in place.frames():
            if place.path[len(around.path) :] in around.edges:
                return {"$ref": f"#/$defs/{around.name}"}
        objects, children = self.seen, self._children(self.seen)
        frame = _frame(place, children)
        for around in reversed(list(place.frames())):
            if around.leads_to(frame, self.seen) and place.writer.may_restart():
                raise Recursive(around, around.edge_to(frame))
        defined = dict(place.writer.defined)
        while True:
            try:
                schema = self._decided(objects, children, place.inside(frame))
            except Recursive as found:
                if found.frame is not frame:
                    raise
                # What was written of this place does not count; what lies beyond the edge is evidence of it.
                place.writer.defined = dict(defined)
                frame.name = frame.name or place.writer.name(frame)
                frame.edges.add(found.edge)
                objects = frame.joined(self.seen)
                children = self._children(objects)
                frame.kinds = _kinds(children)
                continue
            break
        if not frame.edges:
            return schema
        place.writer.defined[frame.name] = schema
        return {"$ref": f"#/$defs/{frame.name}"}

    def _children(self, objects: Seen) -> Children:
        children: Children = {}
        make = self.node_class
        for value, reply in objects:
            for key, part in value.items():
                node = children.get(key)
                if node is None:
                    node = children[key] = make()
                node.add_object(part, reply)
        return children

    def _decided(self, objects: Seen, children: Children, place: Place) -> dict[str, Any]:
        known = place.known
        named = frozenset(known.properties) if known is not None else frozenset[str]()
        if known is not None and known.rest is not None:
            data = frozenset(children.keys() - named)
        else:
            data = data_keys(children, len(objects), named) or asked_for(objects, place.writer.sent) - named
        if not data and known is None and (union := union_of(objects, children)) is not None:
            kinds = [self._kind(union, values, kind, place) for values, kind in union.kinds]
            return {"oneOf": kinds if union.closed else [*kinds, _other_kinds(union)]}
        return self._record(objects, children, place, data)

    def _kind(self, union: Union, values: list[Any], objects: Seen, place: Place) -> dict[str, Any]:
        children = self._children(objects)
        schema = self._record(objects, children, place, frozenset())
        told = {"const": values[0]} if len(values) == 1 else {"enum": values}
        schema["properties"][union.key] = {"type": union.type} | told
        return schema

    def _record(self, objects: Seen, children: Children, place: Place, data: frozenset[str]) -> dict[str, Any]:
        """The keys in `data` are data, all others are properties."""
        known = place.known
        # In the order of their names, so that what recurs is found in the same place whatever came first.
        written = {key: children[key].to_schema(place.property(key)) for key in sorted(children.keys() - data)}
        properties = {key: written[key] for key in children if key in written}
        required = {key for key in written if children[key].count == len(objects)}
        schema: dict[str, Any] = {"type": "object"}
        if known is not None:
            required &= set(known.schema.get("required", ()))
            schema |= kept(known.facets("object"), [value for value, _ in objects])
            for key in known.properties:
                if key not in written:
                    properties[key] = place.writer.copied(known.properties[key])
        if properties:
            schema["properties"] = properties
        if required:
            schema["required"] = sorted(required)
        if data:
            rest = self.gathered((value[key], reply) for value, reply in objects for key in value if key in data)
            schema["additionalProperties"] = rest.to_schema(place.rest(frozenset(properties)))
            if not properties and "propertyNames" not in schema and (names := names_of(data)) is not None:
                schema["propertyNames"] = names
        elif (
            known is not None and "additionalProperties" in known.schema and children.keys() <= known.properties.keys()
        ):
            schema["additionalProperties"] = place.writer.copied(known.schema["additionalProperties"])
        return schema


def _other_kinds(union: Union) -> dict[str, Any]:
    """Kinds that were not seen yet: where little was seen, an answer of another kind is no wrong answer."""
    told = sorted(value for values, _ in union.kinds for value in values)
    other = {"type": union.type, "not": {"enum": told}}
    return {"type": "object", "properties": {union.key: other}, "required": [union.key]}


def _frame(place: Place, children: Children) -> Frame:
    return Frame(place.path, place.known, place.frame, _kinds(children))


def _kinds(children: Children) -> dict[str, frozenset[str]]:
    return {key: frozenset(node.evidence) for key, node in children.items()}
