"""OpenAPI and Swagger documents: their references, and the subtypes named by discriminators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from protocols.errors import InvalidProtocol
from protocols.schema import Json, JsonObject, as_mapping, items_of_type, resolve_pointer


class OpenApiDocument:
    """An OpenAPI or Swagger document whose references can be followed.

    `where` is the document's name in messages.
    """

    def __init__(self, content: JsonObject, where: str) -> None:
        self.content = content
        self.where = where
        self.at = ""
        """The operation that is being read (`GET /airports/{code}`), for messages."""
        self.subtypes = dict[int, list[str]]()
        """References to the subtypes of each schema, keyed by the `id()` of the schema.

        They come from the schema's discriminator. Schemas with `oneOf` or `anyOf` are not included.
        """
        self.marks = dict[str, tuple[str, list[str]]]()
        """For each reference to a subtype: the discriminator property, and the subtype's values.

        Subtypes that other subtypes extend are not included.
        """
        for schema in map(
            as_mapping, as_mapping(as_mapping(content.get("components")).get("schemas")).values()
        ):
            discriminator = as_mapping(schema.get("discriminator"))
            given = {key: str(ref) for key, ref in as_mapping(discriminator.get("mapping")).items()}
            refs = {
                key: ref if "/" in ref else f"#/components/schemas/{ref}"
                for key, ref in given.items()
            }
            found = {
                ref: one
                for ref in refs.values()
                if isinstance(one := resolve_pointer(content, unquote(ref)), Mapping)
            }
            if found and not schema.keys() & {"oneOf", "anyOf"}:
                self.subtypes[id(schema)] = list(found)
            bases = [
                part.get("$ref")
                for one in found.values()
                for part in items_of_type(one.get("allOf"), Mapping)
            ]
            for key, ref in refs.items():
                if ref not in bases:
                    unmarked = (str(discriminator.get("propertyName")), list[str]())
                    self.marks.setdefault(ref, unmarked)[1].append(key)

    def follow(self, value: Json) -> JsonObject:
        """Return an object of the document, such as a parameter or a response, without a reference.

        If `value` is a reference, the result is the object that it refers to, else `value` itself.
        Return {} for a value that is not an object.

        Raises:
            InvalidProtocol: a reference has no target, or leads to itself or out of the document.
        """
        seen: list[str] = []
        while isinstance(value, Mapping) and isinstance(ref := value.get("$ref"), str):
            if ref in seen:
                raise self._broken_reference(ref, "which refers to itself")
            seen.append(ref)
            if (value := self.target(ref)) is None:
                raise self._broken_reference(ref, "which leads nowhere")
        return as_mapping(value)

    def target(self, ref: str) -> Any:
        """Return the target of a reference, or None if it does not exist.

        Raises:
            InvalidProtocol: the target is outside of the document.
        """
        if not ref.startswith("#"):
            hint = (
                "Bundle the document into one file first,"
                " for example with 'npx @redocly/cli bundle'."
            )
            raise self._broken_reference(
                ref, "which lies outside the document; references are not fetched", hint
            )
        return resolve_pointer(self.content, unquote(ref))

    def _broken_reference(self, ref: str, problem: str, hint: str = "") -> InvalidProtocol:
        hint = (
            hint or "Correct the reference, or delete that operation from a copy of the document."
        )
        return InvalidProtocol(
            self.where, f"{self.at} needs {ref!r}, {problem}.", path="$ref", hint=hint
        )
