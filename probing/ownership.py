"""Recognises the records that a probing run created, in the samples of its log.

A sample is a call with its answer. Only records that the run created may be changed or removed. An
id is called confirmed if it certainly belongs to such a record. The run writes a random mark into
the records that it creates. An id is confirmed if it is new and a read-only tool returns it
together with this mark. Some records cannot contain the mark. Then the id in the response to the
creating call is confirmed once a read-only tool returns a record with this id and the sent values.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping

from probing.marker import ProbeMarker
from probing.name_distance import scalar_parts, url_text
from probing.record_fields import (
    argument_parts,
    has_list,
    id_fields,
    is_id_name,
    iter_records,
    value_texts,
)
from probing.record_matching import (
    CreatedRecord,
    Id,
    identifying_parts,
    identity_key,
    is_among,
    match_record,
    parent_ids,
    record_ids,
)
from probing.refusals import may_have_acted, refusal_in
from probing.samples import Log, Sample
from probing.tool_roles import ToolRoles, is_same_noun
from protocols.naming import singular, snake
from protocols.schema import Json, JsonObject


class CreatedRecords:
    """The records that one probing run created, with their ids. They are derived from its log."""

    def __init__(self, roles: ToolRoles, log: Log) -> None:
        self._roles = roles
        self._log = log
        self._records: list[CreatedRecord] = []
        self._first_seen: dict[Id, int] = {}  # number of the first sample that contained an id
        self._shown_values: dict[str, set[str]] = {}  # texts in the responses of each tool
        self._single: set[str] = set()  # read-only tools whose last response was one record
        self._id_values: dict[str, str | int] = {}  # an id's text to its JSON value
        self._last_number = 0
        self._sample_count = 0
        self._mark: ProbeMarker | None = None

    @property
    def mark(self) -> ProbeMarker:
        """The random mark of this probing run. It is chosen when it is first used."""
        self._mark = self._mark or ProbeMarker(self._log)
        return self._mark

    def all(self) -> list[CreatedRecord]:
        """Return all created records and their present state, in order of creation."""
        self.update()
        return self._records

    def present(self) -> list[CreatedRecord]:
        """Return the created records that were not removed, in order of creation."""
        return [record for record in self.all() if record.is_present]

    def marks_in(self, arguments: JsonObject) -> set[str]:
        """Return the strings in a call's arguments that contain this probing run's random mark."""
        parts = argument_parts(arguments)
        return {part for _, part in parts if isinstance(part, str) and self.mark.is_in(part)}

    def count_removable(self) -> int:
        """Return the number of created records that still exist and that a tool can remove."""
        roles = self._roles
        removers = [tool for tool in roles.writes if roles.kinds[tool] == "remove"]
        count = 0
        for record in self.present():
            count += any(roles.works_on(tool, record.noun) for tool in removers)
        return count

    def own_ids(
        self,
        tool: str,
        argument: str,
        *,
        of: CreatedRecord | None = None,
        unconfirmed: bool = False,
    ) -> list[str | int]:
        """Return ids of created records for an argument of a tool, the latest record first.

        If `of` is given, return only ids of this record. Ids that are not confirmed are included
        only if `unconfirmed` is True.
        """
        noun = self._roles.argument_noun(tool, argument)
        texts: list[str] = []
        for record in reversed(self.all()):
            if of is not None and of is not record:
                continue
            for id_noun, text in sorted(record.ids | record.answered_ids):
                confirmed = (id_noun, text) in record.ids or self.mark.is_in(text)
                if (unconfirmed or confirmed) and is_same_noun(id_noun, noun):
                    texts.append(text)
        # For an argument that is named like an id, ids assigned by the service come first, and
        # marked names for any other. Sorting is stable, so the latest records stay in front.
        takes_id = is_id_name(argument)
        texts.sort(key=lambda text: self.mark.is_in(text) == takes_id)
        return [self._id_values.get(text, text) for text in dict.fromkeys(texts)]

    def belongs_to_probe(
        self, tool: str, argument: str, value: Json, *, unconfirmed: bool = False
    ) -> bool:
        """Return True if a value contains this run's random mark, or is the id of a created record.

        Booleans and null are accepted, too, unless the argument identifies a record.
        """
        if isinstance(value, Mapping | list):
            return all(
                self.belongs_to_probe(tool, key, part, unconfirmed=unconfirmed)
                for key, part in scalar_parts(argument, value)
            )
        is_flag = isinstance(value, bool) or value is None
        if is_flag and not self._roles.identifies_record(tool, argument):
            return True
        return self.mark.is_in(value) or self.is_created_id(
            tool, argument, value, unconfirmed=unconfirmed
        )

    def is_created_id(
        self, tool: str, argument: str, value: Json, *, unconfirmed: bool = False
    ) -> bool:
        """Return True if a value is the id of a created record of the argument's kind."""
        noun = self._roles.argument_noun(tool, argument)
        text = url_text(value)
        for record in self._records:
            ids = record.ids | record.answered_ids if unconfirmed else record.ids
            if any(text == other and is_same_noun(id_noun, noun) for id_noun, other in ids):
                return True
        return False

    def exists_already(self, tool: str, key: str, value: Json) -> bool:
        """Return True if a record that probing did not create already has this value.

        `key` is the name of the field. A string may be the value of any field.
        """
        for record in self._records:
            if any((key, value) in argument_parts(call.plain_arguments) for call in record.calls):
                return False
        text = value if isinstance(value, str) else f"{snake(key)}={url_text(value)}"
        return any(
            text in shown and self._roles.is_about(read, tool)
            for read, shown in self._shown_values.items()
        )

    def is_single_record(self, tool: str) -> bool:
        """Return True if a read-only tool with the same URL path returns a single record."""
        return any(self._roles.has_same_path(read, tool) for read in self._single)

    def answers_with_id(self, tool: str) -> bool:
        """Return True if a response of `tool` contained the id of the record that it created."""
        return any(record.answered_ids for record in self._records if record.tool == tool)

    def update(self) -> None:
        """Read the calls that were added to the log since the last update."""
        samples = self._log.samples
        if len(samples) == self._sample_count:
            return
        self._sample_count = len(samples)
        new = [sample for sample in samples if sample.number > self._last_number]
        for sample in sorted(new, key=lambda sample: sample.number):
            self._last_number = sample.number
            if sample.tool in self._roles:
                self._read_sample(sample)

    def _read_sample(self, sample: Sample) -> None:
        refused = sample.done and refusal_in(sample.response)
        if sample.tool in self._roles.writes and not refused:
            if self._roles.kinds[sample.tool] != "remove":
                self._read_write(sample)
            elif sample.done:
                self._read_removal(sample)
        if sample.done:
            self._read_response(sample)

    def _read_write(self, sample: Sample) -> None:
        """Note which record a call created or updated: a new one, or one that was noted before."""
        if not may_have_acted(self._roles.protocol(sample.tool), sample):
            return
        noun = self._roles.noun(sample.tool)
        identifying = identifying_parts(self._roles, sample)
        answered = self._ids_in_response(sample)
        known = self._known_ids(noun)
        updates = self._roles.kinds[sample.tool] == "update"
        if updates and self._changes_existing(sample, identifying, answered, known):
            return
        new_ids = {
            id_ for id_ in answered if self._first_seen.get(id_, sample.number) >= sample.number
        }
        if record := self._find_same_record(sample, answered, new_ids):
            record.calls.append(sample)
            return
        record = CreatedRecord(
            tool=sample.tool,
            noun=noun,
            calls=[sample],
            marks=frozenset(self.marks_in(sample.plain_arguments)),
            answered_ids=new_ids,
        )
        for key, part in identifying:
            existed = updates and url_text(part) in known
            if part is None or existed or not self.belongs_to_probe(sample.tool, key, part):
                continue
            marked = self.mark.is_in(part)
            id_noun = noun if marked else self._roles.argument_noun(sample.tool, key)
            record.ids.add((id_noun, url_text(part)))
        self._records.append(record)

    def _changes_existing(
        self,
        sample: Sample,
        identifying: list[tuple[str, Json]],
        answered: set[Id],
        known: set[str],
    ) -> bool:
        """Return True if an update changed an existing record instead of creating one."""
        noun = self._roles.noun(sample.tool)
        sent = {url_text(part) for _, part in identifying}
        answered_texts = {text for _, text in answered}
        if sent and sent <= known and answered_texts <= known:
            return True
        return any(
            not self.mark.is_in(part)
            and is_same_noun(self._roles.argument_noun(sample.tool, key), noun)
            for key, part in identifying
        )

    def _known_ids(self, noun: str) -> set[str]:
        """Return the confirmed ids of created records of one kind (`noun`) that still exist."""
        return {
            text
            for record in self._records
            if record.is_present
            for id_noun, text in record.ids
            if is_same_noun(id_noun, noun)
        }

    def _find_same_record(
        self, sample: Sample, answered: set[Id], new_ids: set[Id]
    ) -> CreatedRecord | None:
        """Return the known record with the id or name of the one that a call created, or None."""
        noun = self._roles.noun(sample.tool)
        key = identity_key(self._roles, sample)
        for record in self._records:
            if not record.is_present or record.noun != noun:
                continue
            if record.answered_ids & answered:
                return record
            without_ids = not new_ids and not record.answered_ids
            if without_ids and key and key == identity_key(self._roles, record.calls[0]):
                return record
        return None

    def _ids_in_response(self, sample: Sample) -> set[Id]:
        """Return the ids of the created record in a response, without ids that the call sent."""
        if not sample.done:
            return set()
        noun = self._roles.noun(sample.tool)
        sent = {url_text(part) for _, part in argument_parts(sample.plain_arguments)}
        ids: set[Id] = set()
        for fields, parent_noun in iter_records(sample.response, top=True):
            ids.update(self._record_ids(fields, {noun, parent_noun}, noun))
        return {id_ for id_ in ids if id_[1] not in sent}

    def _read_removal(self, sample: Sample) -> None:
        """Note which created records a successful call of a removing tool removed."""
        # `DELETE /buckets/{bucket_id}/records/{id}` removes the record and leaves its bucket.
        removed = {
            (self._roles.argument_noun(sample.tool, key), url_text(part))
            for name, value in sample.plain_arguments.items()
            if not self._roles.is_parent(sample.tool, name)
            for key, part in scalar_parts(name, value)
        }
        for record in self._records:
            if record.is_present and self._is_removed(record, sample.tool, removed):
                record.removed_at = sample.number
                record.removed_by = sample.tool

    def _is_removed(self, record: CreatedRecord, tool: str, removed: set[Id]) -> bool:
        """Return True if a call of the removing tool `tool` removed `record`.

        `removed` has the ids and texts that the call sent. They must include an id of the record or
        of its container. If no id of the record is confirmed, a text of the record that contains
        the random mark is enough.
        """
        ids = record.ids | record.answered_ids | parent_ids(self._roles, record)
        for noun, text in removed:
            if any(text == known and is_same_noun(id_noun, noun) for id_noun, known in ids):
                return True
        if record.ids or not self._roles.works_on(tool, record.noun):
            return False
        return any(text in record.marks for _, text in removed)

    def _read_response(self, sample: Sample) -> None:
        """Store the records, ids and values that a successful response contains."""
        is_read = sample.tool not in self._roles.writes
        if is_read:
            self._note_single(sample)
        shown_values = self._shown_values.setdefault(sample.tool, set())
        for fields, parent_noun in iter_records(sample.response):
            if is_read and self._records:
                self._recognise(fields, parent_noun, sample)
            self._note_ids(fields, parent_noun, sample)
            if is_read:
                shown_values.update(value_texts(fields))

    def _note_single(self, sample: Sample) -> None:
        single = isinstance(sample.response, Mapping) and not has_list(sample.response)
        if single and sample.response:
            self._single.add(sample.tool)
        else:
            self._single.discard(sample.tool)

    def _note_ids(self, fields: JsonObject, parent_noun: str, sample: Sample) -> None:
        """Note for each id in a record the number of the first call that returned it."""
        for word, value in id_fields(fields):
            prefix = singular(word.rpartition("_")[0])
            nouns = {prefix} if prefix else {self._roles.noun(sample.tool), parent_noun} - {""}
            for noun in nouns:
                self._first_seen.setdefault((noun, url_text(value)), sample.number)

    def _recognise(self, fields: JsonObject, parent_noun: str, sample: Sample) -> None:
        """Find the created record that an object in a response shows, and note its ids."""
        earlier = [record for record in self._records if record.calls[0].number < sample.number]
        earlier.sort(key=lambda record: record.removed_at > 0)
        nouns = {self._roles.noun(sample.tool), parent_noun}
        with_same_id = [
            record
            for record in earlier
            if (record.ids | record.answered_ids)
            & set(self._record_ids(fields, nouns, record.noun))
        ]
        for record in with_same_id[:1] or earlier:
            new_ids = self._new_ids(record, fields, nouns)
            ids, is_match = match_record(record, fields, new_ids, self.mark)
            if with_same_id or (is_match and not record.answered_ids):
                if is_match:
                    record.ids |= ids
                record.last_shown = sample.number
                return
        self._note_removed_but_shown(fields, nouns, sample)

    def _note_removed_but_shown(
        self, fields: JsonObject, nouns: Collection[str], sample: Sample
    ) -> None:
        """Note that a removed record still exists, if an object in a response has the mark."""
        same_noun = [
            record
            for record in self._records
            if record.calls[0].number < sample.number and is_among(record.noun, nouns)
        ]
        if not same_noun or not all(record.removed_at for record in same_noun):
            return
        if self.mark.token in json.dumps(fields).lower():
            same_noun[-1].last_shown = sample.number

    def _new_ids(
        self, record: CreatedRecord, fields: JsonObject, nouns: Collection[str]
    ) -> set[Id]:
        """Return the ids in `fields` that no response contained before `record` was created.

        `fields` are the fields of an object in a response. An id that a call of `record` sent is
        left out, unless it contains the mark.
        """
        created_at = record.calls[0].number
        sent = {
            url_text(part)
            for call in record.calls
            for _, part in argument_parts(call.plain_arguments)
        }
        return {
            id_
            for id_ in self._record_ids(fields, nouns, record.noun)
            if self._first_seen.get(id_, created_at) >= created_at
            and (id_[1] not in sent or self.mark.is_in(id_[1]))
        }

    def _record_ids(self, fields: JsonObject, nouns: Collection[str], record_noun: str) -> set[Id]:
        """Return the ids of a record in a response, and store the JSON value of each id.

        See `probing.record_matching.record_ids` for the arguments.
        """
        values = record_ids(fields, nouns, record_noun)
        for value in values.values():
            self._id_values[url_text(value)] = value
        return set(values)
