"""The schema of a tool's responses: responses in, one schema out, by three laws.

1. Every response that was added conforms to the schema.
2. What a known document allows stays allowed: every value that conforms to it, its objects taken to have no other keys
   than it names, conforms to the schema. Where the document says nothing, evidence alone speaks.
3. The schema is as strict as these permit: a type that no value has, a key that is always there and not required, a
   keyword of the document that no response breaks and that is missing, are errors.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import Any

from probing.infer.builder import Builder
from probing.infer.counts import count_fields
from protocols.jsontypes import Json, JsonObject


class Inference:
    """Collects the responses of one tool. Adding them in another order gives an equal schema.

    `known` is a document of the responses that may be partial or wrong. Responses are kept, not copied.
    """

    def __init__(self, known: JsonObject | None = None) -> None:
        self._builder = Builder(known)
        self._responses: list[Json] = []
        self._schema: dict[str, Any] | None = None

    @property
    def observations(self) -> int:
        """How many responses were added."""
        return len(self._responses)

    def add(self, response: Json, sent: AbstractSet[str] = frozenset()) -> None:
        """Note one more response: any JSON value. `sent` are the texts that its call was given: such keys are data."""
        self._responses.append(response)
        self._builder.add_object(response, sent)
        self._schema = None

    def schema(self) -> dict[str, Any]:
        """The schema (JSON Schema 2020-12, self-contained); `{}` while there is neither a response nor a document."""
        if self._schema is None:
            self._schema = self._builder.to_schema()
        return self._schema

    def fields(self) -> dict[str, int]:
        """Response path (`airports[].code`, `rates.*`) → in how many responses it was seen."""
        return count_fields(self.schema(), self._responses)


def infer(responses: Iterable[Json], known: JsonObject | None = None) -> dict[str, Any]:
    """The schema of `responses`, merged with a `known` one."""
    inference = Inference(known)
    for response in responses:
        inference.add(response)
    return inference.schema()
