"""The records that one run writes to a service, grouped by collection.

They are discarded before the next task.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field

from protocols.schema import Json, JsonObject
from toolflow_bench.services.database import opaque_text
from toolflow_bench.services.operation import Refusal

MOST_RECORDS = 1000
"""Maximum number of records in a collection.

It keeps a program in an endless loop from exhausting the memory.
"""


@dataclass
class ServiceState:
    """The written records of a service, keyed by collection and id, oldest first.

    Handlers run one at a time, and a grader reads only after the run. A record never refers to
    another record by id: ids depend on the order of creation, and `snapshot`, which grading uses,
    leaves them out.
    """

    _records: dict[str, dict[str, JsonObject]] = field(default_factory=dict)
    _created: int = 0

    def reset(self) -> None:
        """Discard all records that were written to the service."""
        self._records = {}
        self._created = 0

    def add(self, collection: str, record: JsonObject, *, id_field: str, prefix: str) -> JsonObject:
        """Store `record` under a new opaque id, such as `bk_x3f6q`, and return it with the id.

        The id becomes the record's first field, which is named `id_field`.

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
        """Return a copy of the record whose id is `name`.

        Raises:
            Refusal: no record has this id. The response is a 404 with the message `otherwise`.
        """
        found = self._records.get(collection, {}).get(name)
        if found is None:
            raise Refusal(404, otherwise)
        return deepcopy(dict(found))

    def all(self, collection: str) -> list[dict[str, Json]]:
        """Return copies of all records of a collection, oldest first."""
        return [deepcopy(dict(record)) for record in self._records.get(collection, {}).values()]

    def change(
        self, collection: str, name: str, *, otherwise: str, **fields: Json
    ) -> dict[str, Json]:
        """Replace fields of a record and return a copy of it.

        Raises:
            Refusal: no record has this id. The response is a 404 with the message `otherwise`.
        """
        record = self.get(collection, name, otherwise=otherwise) | fields
        self._records[collection][name] = record
        return deepcopy(record)

    def remove(self, collection: str, name: str, *, otherwise: str) -> dict[str, Json]:
        """Remove a record and return it.

        Raises:
            Refusal: no record has this id. The response is a 404 with the message `otherwise`.
        """
        record = self.get(collection, name, otherwise=otherwise)
        del self._records[collection][name]
        return record

    def snapshot(self) -> dict[str, list[JsonObject]]:
        """Return all collections that have records, for the comparison of final states.

        The records' ids are left out.
        """
        return {
            collection: list(map(_without_id, list(records.values())))
            for collection, records in sorted(self._records.items())
            if records
        }


def _without_id(record: JsonObject) -> dict[str, Json]:
    """Return a copy of a record without its id, which is its first field."""
    return deepcopy(dict(list(record.items())[1:]))
