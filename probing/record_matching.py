"""Compares records in responses with the calls that may have created them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from probing.marker import ProbeMarker
from probing.name_distance import url_text
from probing.record_fields import argument_parts, id_fields, is_id_name, iter_records
from probing.samples import Sample
from probing.tool_roles import ToolRoles, is_same_noun
from protocols.naming import singular, snake
from protocols.schema import Json, JsonObject

Id = tuple[str, str]
"""An id of a record: the kind of record as a noun, and the text of the id: `("note", "17")`."""


@dataclass
class CreatedRecord:
    """A record that a call of this probing run created, or may have created."""

    tool: str
    """The tool that created the record."""
    noun: str
    """The kind of record, as a noun in the singular: `note`."""
    calls: list[Sample]
    """The calls that created or updated the record, the oldest first."""
    marks: frozenset[str]
    """The texts in the first call's arguments that contain the mark of this probing."""
    answered_ids: set[Id] = field(default_factory=set)
    """Ids in the responses to `calls`."""
    ids: set[Id] = field(default_factory=set)
    """Ids that are confirmed: a read-only tool showed that the record with this id was created by
    this probing."""
    last_shown: int = 0
    """Number of the last sample whose response showed the record; 0 if none did."""
    removed_at: int = 0
    """Number of the sample whose call removed the record; 0 if it was not removed."""
    removed_by: str = ""
    """The tool that removed the record; "" if it was not removed."""

    @property
    def is_present(self) -> bool:
        """True if the record was not removed, or if a response showed it after its removal."""
        return not self.removed_at or self.last_shown > self.removed_at


def match_record(
    record: CreatedRecord, fields: JsonObject, new_ids: set[Id], mark: ProbeMarker
) -> tuple[set[Id], bool]:
    """Check if an object in a response is a record that the calls of this probing run created.

    Return (ids of the record, True) if it is, and (an empty set, False) otherwise.

    Args:
        record: the record that calls created.
        fields: the fields of an object in the response of a read-only tool.
        new_ids: ids in `fields` that no response contained before `record` was created.
        mark: the mark of this run, a random text in every record that it creates.
    """
    answered = new_ids & record.answered_ids
    has_mark = any(mark.is_in(value) for value in fields.values())
    shown = {snake(name): value for name, value in fields.items()}
    for sent in _sent_records(record):
        common = {snake(name): value for name, value in sent.items() if snake(name) in shown}
        equal = [v for name, v in common.items() if url_text(shown[name]) == url_text(v)]
        sent_mark_shown = any(map(mark.is_in, equal))
        if sent_mark_shown and not record.answered_ids:
            return new_ids, True
        all_equal = bool(equal) and len(equal) == len(common)
        if answered and (sent_mark_shown or has_mark or all_equal):
            return answered, True
    return set(), False


def record_ids(fields: JsonObject, nouns: Collection[str], record_noun: str) -> dict[Id, str | int]:
    """Return the record's own ids, without the ids in its fields that identify other records.

    The result maps each id to its JSON value, for example `("note", "17")` to `17`.

    Args:
        fields: the fields of the record.
        nouns: the kinds of record that `fields` may be, as the tool and the response suggest.
        record_noun: the kind of record whose ids are returned.
    """
    ids = [(singular(word.rpartition("_")[0]), value) for word, value in id_fields(fields)]
    own = [(prefix, value) for prefix, value in ids if not prefix or is_among(prefix, nouns)]
    is_expected = is_among(record_noun, nouns)
    found: dict[Id, str | int] = {}
    for prefix, value in own or ids:
        if is_same_noun(prefix, record_noun) if prefix else is_expected:
            found[record_noun, url_text(value)] = value
    return found


def is_among(noun: str, others: Collection[str]) -> bool:
    """Return True if a noun means the same kind of record as one of the others."""
    return any(is_same_noun(noun, other) for other in others)


def _sent_records(record: CreatedRecord) -> Iterator[JsonObject]:
    """Yield the objects in the arguments of the calls that created a record."""
    for call in record.calls:
        for fields, _ in iter_records(call.plain_arguments):
            yield fields


def identifying_parts(roles: ToolRoles, sample: Sample) -> list[tuple[str, Json]]:
    """Return the (name, value) pairs in a call's arguments that identify a record."""
    return [
        (key, part)
        for key, part in argument_parts(sample.plain_arguments)
        if roles.identifies_record(sample.tool, key)
    ]


def identity_key(roles: ToolRoles, sample: Sample) -> frozenset[str]:
    """Return the ids in a call's arguments or, if they contain no id, the names of records."""
    parts = identifying_parts(roles, sample)
    ids = [(key, part) for key, part in parts if is_id_name(key)]
    return frozenset(url_text(part) for _, part in ids or parts)


def parent_ids(roles: ToolRoles, record: CreatedRecord) -> set[Id]:
    """Return the ids of a record's containers, such as `bucket_id` of a record in a bucket."""
    return {
        (roles.argument_noun(record.tool, key), url_text(part))
        for call in record.calls
        for key, part in argument_parts(call.plain_arguments)
        if roles.is_parent(record.tool, key)
    }
