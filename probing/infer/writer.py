"""What is written once for a whole schema: definitions, and parts of the known document taken over as they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

from probing.infer.known import Known, conform
from protocols.jsontypes import Json, JsonObject

if TYPE_CHECKING:
    from probing.infer.place import Frame

_MOST_RESTARTS = 64
_DOCUMENT = "document"


class Writer:
    """Collects the definitions of one schema."""

    def __init__(self, known: Known | None, sent: Mapping[int, AbstractSet[str]] | None = None) -> None:
        """`sent` are the texts that each reply's call was given, by the reply's number."""
        self.sent: Mapping[int, AbstractSet[str]] = sent or {}
        self.root: JsonObject = {} if known is None else known.root
        self.defined: dict[str, Any] = {}
        self.restarts = 0

    def may_restart(self) -> bool:
        """Whether one more recursion may be followed. Without a limit, contrived data would take forever."""
        self.restarts += 1
        return self.restarts <= _MOST_RESTARTS

    def name(self, frame: Frame) -> str:
        """A name for the definition of recurring objects: the document's, else after the property that holds them."""
        if frame.known is not None and frame.known.reference.startswith("#/$defs/"):
            return frame.known.reference.removeprefix("#/$defs/")
        words = [step for step in frame.path if isinstance(step, str)]
        base = re.sub(r"\W+", "_", words[-1] if words else "").strip("_") or "node"
        taken = self.defined.keys() | self.root.get("$defs", {}).keys() | {_DOCUMENT}
        outer = frame.outer
        while outer is not None:
            taken |= {outer.name}
            outer = outer.outer
        return next(name for number in range(1, len(taken) + 2) if (name := _numbered(base, number)) not in taken)

    def verbatim(self, known: Known) -> dict[str, Any]:
        """A known schema as it stands, its references led to the definitions of the schema being written."""
        schema: dict[str, Any] = self.copied(
            {key: part for key, part in known.schema.items() if key not in ("$defs", "definitions")}
        )
        return schema

    def verbatim_part(self, known: Known, name: str) -> dict[str, Any]:
        """What a known schema says of one type."""
        part: dict[str, Any] = self.copied(known.part(name))
        return part

    def conform(self, known: Known, values: Iterable[Json]) -> bool:
        """Whether all values conform to a known schema."""
        apart = Writer(known)
        return conform(apart.verbatim(known) | {"$defs": apart.defined}, values)

    def finished(self, schema: dict[str, Any]) -> dict[str, Any]:
        """The whole schema with its definitions; what is always an object is called so at the top, as MCP wants it."""
        kinds = schema["oneOf"] if schema.keys() == {"oneOf"} else [{}]
        # A response that is a reference and no more recurs: it is a tree of objects.
        objects = schema.keys() == {"$ref"} or all(kind.get("type") == "object" for kind in kinds)
        at_top = {"type": "object"} if objects else {}
        return at_top | schema | ({"$defs": self.defined} if self.defined else {})

    def copied(self, part: Any) -> Any:
        """A part of the known document as it stands, its references led to the definitions being written."""
        if isinstance(part, Mapping):
            copy = {key: self.copied(inner) for key, inner in part.items()}
            if isinstance(reference := part.get("$ref"), str):
                copy["$ref"] = self._led(reference)
            return copy
        return [self.copied(inner) for inner in part] if isinstance(part, list | tuple) else part

    def _led(self, reference: str) -> str:
        """Where a reference of the document leads in the schema being written."""
        name = reference.removeprefix("#/$defs/")
        if reference.startswith("#/$defs/") and "/" not in name:
            source = self.root.get("$defs", {}).get(name.replace("~1", "/").replace("~0", "~"))
            target, led = name, reference
        elif reference.startswith("#"):
            source, target, led = self.root, _DOCUMENT, f"#/$defs/{_DOCUMENT}{reference[1:]}"
        else:
            return reference
        plain = target.replace("~1", "/").replace("~0", "~")
        if plain not in self.defined:
            self.defined[plain] = {}  # a definition may refer to itself
            self.defined[plain] = self.copied(source if isinstance(source, Mapping) else {})
        return led


def _numbered(base: str, number: int) -> str:
    return base if number == 1 else f"{base}_{number}"
