"""What the writes of one run left in a service: records by collection, forgotten when the next task begins."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field

from protocols.schema import Json, JsonObject
from toolflow_bench.services.database import opaque_text
from toolflow_bench.services.operation import Refusal

MOST_RECORDS = 1000
"""Of one collection, so that a program in a loop cannot fill the memory."""


@dataclass
class ServiceState:
    """Records by collection and id, oldest first. Handlers run one at a time; a grader reads when the run is over.

    A record contains what belongs to it and never refers to another record of the state by id: ids differ with the
    order of creation, and `snapshot`, by which tasks are graded, leaves them out.
    """

    _records: dict[str, dict[str, JsonObject]] = field(default_factory=dict)
    _created: int = 0

    def reset(self) -> None:
        """Forget every write."""
        self._records = {}
        self._created = 0

    def add(self, collection: str, record: JsonObject, *, id_field: str, prefix: str) -> JsonObject:
        """Keep `record` under a new opaque id (`bk_x3f6q`), which becomes its first field `id_field`.

        Raises:
            Refusal: 422; the collection is full.
        """
        if len(self._records.get(collection, ())) >= MOST_RECORDS:
            raise Refusal(422, f"there are {MOST_RECORDS} {collection} already; remove some first.")
        self._created += 1
        name = f"{prefix}_{opaque_text(self._created, salt=0x1C3F9D)}"
        kept: dict[str, Json] = {id_field: name, **record}
        self._records.setdefault(collection, {})[name] = kept
        return dict(kept)

    def get(self, collection: str, name: str, *, otherwise: str) -> dict[str, Json]:
        """A copy of the record of this id.

        Raises:
            Refusal: 404 with the sentence `otherwise`; there is none.
        """
        found = self._records.get(collection, {}).get(name)
        if found is None:
            raise Refusal(404, otherwise)
        return deepcopy(dict(found))

    def all(self, collection: str) -> list[dict[str, Json]]:
        """Copies of all records of a collection, oldest first."""
        return [deepcopy(dict(record)) for record in self._records.get(collection, {}).values()]

    def change(
        self, collection: str, name: str, *, otherwise: str, **fields: Json
    ) -> dict[str, Json]:
        """Replace fields of a record and give it.

        Raises:
            Refusal: 404 with the sentence `otherwise`; there is none.
        """
        record = self.get(collection, name, otherwise=otherwise) | fields
        self._records[collection][name] = record
        return deepcopy(record)

    def remove(self, collection: str, name: str, *, otherwise: str) -> dict[str, Json]:
        """Forget a record and give it.

        Raises:
            Refusal: 404 with the sentence `otherwise`; there is none.
        """
        record = self.get(collection, name, otherwise=otherwise)
        del self._records[collection][name]
        return record

    def snapshot(self) -> dict[str, list[JsonObject]]:
        """Every collection that has records, each record without its id. What final states are compared by."""
        return {
            collection: [
                deepcopy(dict(list(record.items())[1:])) for record in list(records.values())
            ]
            for collection, records in sorted(self._records.items())
            if records
        }
