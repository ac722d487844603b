"""Reads a schema into shapes: one for each alternative, references followed, combinations resolved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn

from atc.decode.arguments.disjoint import disjoint
from atc.decode.arguments.impossible import Impossible
from atc.decode.arguments.keywords import own, types
from atc.decode.arguments.negated import negated
from atc.decode.arguments.shape import Conjunction, Objects, Raw, Shape
from atc.decode.errors import Undecodable
from protocols.jsontypes import JsonObject
from protocols.schema import pointer

_MOST_ALTERNATIVES = 200
_UNKNOWN = ("$dynamicRef", "$recursiveRef", "maxContains", "dependencies")


class Reader:
    """The shapes of the schemas of one document `root`; `place` is where `root` itself stands, `tool` whose it is."""

    def __init__(self, root: JsonObject, *, tool: str = "", place: str = "") -> None:
        self._root, self.tool = root, tool
        self._places: dict[int, str] = {id(root): place}
        self._read: dict[tuple[int, bool], list[Shape]] = {}
        self._reading: set[tuple[int, bool]] = set()
        self._nots: dict[int, dict[str, Raw]] = {}
        self._kept: list[Any] = []

    def place(self, schema: Raw) -> str:
        """Where a schema stands, as a JSON pointer."""
        return self._places.get(id(schema), "")

    def at(self, schema: Raw, *path: str | int, base: str) -> Raw:
        """`schema`, remembered to stand at `path` below `base`."""
        self._kept.append(schema)
        self._places.setdefault(id(schema), base + "".join(f"/{_escaped(part)}" for part in path))
        return schema

    def refuse(self, problem: str, schema: Raw, *path: str | int, hint: str = "") -> NoReturn:
        """An error that names the tool and the clause."""
        clause = self.place(schema) + "".join(f"/{_escaped(part)}" for part in path)
        raise Undecodable(problem, tool=self.tool, clause=clause or "/", hint=hint)

    def shapes(self, schemas: Conjunction, *, implied: bool = True) -> list[Shape]:
        """The alternatives of what conforms to all of `schemas`; together they are no more than that.

        `implied`: whether a keyword that speaks of one type alone says that a value is of that type, which makes less
        conform. So it does in tools' schemas; where something must *not* conform, the letter counts.

        Raises:
            Impossible: nothing conforms.
            Undecodable: a schema is none, or says what cannot be held to.
        """
        found: list[Shape] | None = None
        for schema in schemas:
            these = self._shapes(schema, implied=implied)
            found = these if found is None else self._both(found, these, schema)
        return [Shape()] if found is None else found

    def _both(self, ones: list[Shape], twos: list[Shape], schema: Raw) -> list[Shape]:
        if len(ones) * len(twos) > _MOST_ALTERNATIVES:
            self.refuse("its combinations have too many alternatives.", schema)
        found, why = [], Impossible("nothing conforms", clause=self.place(schema))
        for one in ones:
            for two in twos:
                try:
                    found.append(one.both(two))
                except Impossible as error:
                    why = error.at(self.place(schema))
        if not found:
            raise why
        return found

    def _shapes(self, schema: Raw, *, implied: bool) -> list[Shape]:
        if schema is True:
            return [Shape()]
        if schema is False:
            raise Impossible("nothing conforms to the schema false")
        if not isinstance(schema, Mapping):
            self.refuse(f"a schema is an object, true or false, not {schema!r}.", schema)
        key = (id(schema), implied)
        if key in self._read:
            return self._read[key]
        if key in self._reading:
            raise Impossible("the schema refers to itself and to nothing else", clause=self.place(schema), deep=True)
        self._reading.add(key)
        try:
            self._read[key] = found = self._of(schema, implied=implied)
        finally:
            self._reading.discard(key)
        return found

    def _of(self, schema: Mapping[str, Any], *, implied: bool) -> list[Shape]:
        for word in _UNKNOWN:
            if word in schema:
                self.refuse(f"{word!r} is not supported.", schema, word)
        found = [own(self, schema, implied=implied)]
        for alternatives in self._combined(schema, implied=implied):
            found = self._both(found, alternatives, schema)
        return found

    def _combined(self, schema: Mapping[str, Any], *, implied: bool) -> Iterator[list[Shape]]:
        """The alternatives that each combining keyword leaves."""
        base = self.place(schema)
        if "$ref" in schema:
            yield self._shapes(self.target(schema), implied=implied)
        for i, part in enumerate(self.parts(schema, "allOf")):
            yield self._shapes(self.at(part, "allOf", i, base=base), implied=implied)
        if "anyOf" in schema:
            parts = [self.at(part, "anyOf", i, base=base) for i, part in enumerate(self.parts(schema, "anyOf"))]
            yield self._any(schema, [partial(self._shapes, part, implied=implied) for part in parts])
        if "oneOf" in schema:
            parts = [self.at(part, "oneOf", i, base=base) for i, part in enumerate(self.parts(schema, "oneOf"))]
            yield self._any(schema, [partial(self._alone, i, parts, implied=implied) for i in range(len(parts))])
        if "not" in schema:
            yield self._negated(self.at(schema["not"], "not", base=base))
        if "if" in schema and ("then" in schema or "else" in schema):
            condition = self.at(schema["if"], "if", base=base)
            then = self.at(schema.get("then", True), "then", base=base)
            other = self.at(schema.get("else", True), "else", base=base)
            yield self._any(
                schema,
                [
                    lambda: self._both(
                        self._shapes(condition, implied=False), self._shapes(then, implied=implied), schema
                    ),
                    lambda: self._both(self._negated(condition), self._shapes(other, implied=implied), schema),
                ],
            )
        yield from self._dependent(schema, implied=implied)

    def _dependent(self, schema: Mapping[str, Any], *, implied: bool) -> Iterator[list[Shape]]:
        base = self.place(schema)
        for name, needed in self.mapping(schema, "dependentRequired").items():
            shape = Shape(types=frozenset({"object"}), objects=Objects(required=frozenset({name, *needed})))
            yield [_lacking(name), shape]
        for name, dependent in self.mapping(schema, "dependentSchemas").items():
            part = self.at(dependent, "dependentSchemas", name, base=base)
            yield self._any(schema, [partial(_only, _lacking(name)), partial(self._shapes, part, implied=implied)])

    def _any(self, schema: Raw, branches: Iterable[Callable[[], list[Shape]]]) -> list[Shape]:
        found: list[Shape] = []
        why = Impossible("none of the alternatives can conform", clause=self.place(schema))
        for branch in branches:
            try:
                found += branch()
            except Impossible as error:
                why = error
        if not found:
            raise why
        if len(found) > _MOST_ALTERNATIVES:
            self.refuse("its combinations have too many alternatives.", schema)
        return found

    def _alone(self, index: int, parts: list[Raw], *, implied: bool) -> list[Shape]:
        """What conforms to this one of `parts` and to no other."""
        part = parts[index]
        found = self._shapes(part, implied=implied)
        for other in (*parts[:index], *parts[index + 1 :]):
            found = [left for shape in found for left in self._without(shape, other)]
            if not found:
                raise Impossible("what conforms to one branch conforms to another", clause=self.place(part))
        return found

    def _without(self, shape: Shape, other: Raw) -> Iterator[Shape]:
        """What is of `shape` and does not conform to `other`."""
        try:
            twos = self._shapes(other, implied=False)
        except Impossible as error:
            if not error.deep:
                yield shape
            return
        if all(disjoint(shape, two, self) for two in twos):
            yield shape
            return
        with suppress(Impossible):
            yield from self._both([shape], self._negated(other), other)

    def _negated(self, schema: Raw) -> list[Shape]:
        """Some of what does not conform to `schema`, and nothing else."""
        return negated(schema, self)

    def inverse(self, schema: Raw) -> dict[str, Raw]:
        """The schema `{"not": schema}`, the same object each time."""
        if id(schema) not in self._nots:
            self._nots[id(schema)] = {"not": schema}
            self._places[id(self._nots[id(schema)])] = self.place(schema)
            self._kept.append(schema)
        return self._nots[id(schema)]

    def own(self, schema: Mapping[str, Any]) -> Shape:
        """The constraints that stand in `schema` itself, to the letter."""
        return own(self, schema, implied=False)

    def named(self, schema: Mapping[str, Any]) -> frozenset[str]:
        """The types that `schema` names."""
        return types(self, schema, implied=False)

    def target(self, schema: Mapping[str, Any]) -> Raw:
        """What `$ref` leads to."""
        ref = schema["$ref"]
        found = pointer(self._root, ref) if isinstance(ref, str) else None
        if found is None:
            self.refuse(f"the reference {ref!r} leads nowhere in the tool's own schema.", schema, "$ref")
        return self.at(found, base=self._places[id(self._root)] + ref.removeprefix("#").rstrip("/"))

    def parts(self, schema: Mapping[str, Any], word: str) -> list[Raw]:
        """The schemas that a keyword lists; none where it is absent."""
        parts = schema.get(word, [])
        if not isinstance(parts, list | tuple) or (word in schema and not parts):
            self.refuse(f"{word!r} is a list of at least one schema.", schema, word)
        return list(parts)

    def mapping(self, schema: Mapping[str, Any], word: str) -> Mapping[str, Any]:
        """What a keyword holds by name; nothing where it is absent."""
        found = schema.get(word, {})
        if not isinstance(found, Mapping):
            self.refuse(f"{word!r} is an object.", schema, word)
        return found


def _only(shape: Shape) -> list[Shape]:
    return [shape]


def _lacking(name: str) -> Shape:
    """What has no key of this name."""
    return Shape(objects=Objects(properties={name: (False,)}))


def _escaped(part: str | int) -> str:
    return str(part).replace("~", "~0").replace("/", "~1")
